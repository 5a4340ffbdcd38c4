"""What `kx doctor` says."""

from __future__ import annotations

DOCTOR: dict[str, str] = {
    "installation": "instalação",
    "database": "banco de dados",
    "home": "pasta do kx",
    "watching": "observação",
    "bus": "barramento",
    "stack": "serviços",
    "tokens": "tokens",
    "another distribution hides packages of kx: {packages}": "outra distribuição esconde pacotes do kx: {packages}",
    "install kx in an environment of its own, for example with pipx or uv tool": (
        "instale o kx num ambiente só dele, por exemplo com pipx ou uv tool"
    ),
    "Python {version}": "Python {version}",
    "SQLite cannot do what kx needs: {problem}": "o SQLite não faz o que o kx precisa: {problem}",
    "install it again: pip install --force-reinstall apsw sqlite-vec": (
        "instale de novo: pip install --force-reinstall apsw sqlite-vec"
    ),
    "SQLite {sqlite}, sqlite-vec {vectors}": "SQLite {sqlite}, sqlite-vec {vectors}",
    "{suffixes} files are not read": "arquivos {suffixes} não são lidos",
    "install the extra that reads them: pip install '{extra}'": ("instale o extra que os lê: pip install '{extra}'"),
    "documents are read behind fewer walls than there could be; missing: {walls}": (
        "documentos são lidos atrás de menos barreiras do que poderia haver; faltam: {walls}"
    ),
    "they are still limited in time and memory; the kernel does not allow the rest here": (
        "ainda assim têm tempo e memória limitados; o resto o kernel daqui não permite"
    ),
    "read behind all {count} walls": "lidos atrás de todas as {count} barreiras",
    "{home} is made when it is needed": "{home} é criada quando for preciso",
    "{home} has {free} GB left": "{home} tem {free} GB livres",
    "free some space, or set KX_HOME to a folder on another disk": (
        "libere espaço, ou defina KX_HOME com uma pasta em outro disco"
    ),
    "{home}, {free} GB free": "{home}, {free} GB livres",
    "this user may watch {limit} folders": "este usuário pode observar {limit} pastas",
    "for large trees raise it: sudo sysctl fs.inotify.max_user_watches=524288": (
        "para árvores grandes, aumente: sudo sysctl fs.inotify.max_user_watches=524288"
    ),
    "{limit} folders may be watched": "{limit} pastas podem ser observadas",
    "it is starting": "está subindo",
    "ask again in a moment": "pergunte de novo daqui a pouco",
    "none runs; commands do their work alone": "nenhum está no ar; os comandos trabalham sozinhos",
    "no answer from {services}": "sem resposta de {services}",
    "start it again: kx down, then kx up -d; its logs are in {logs}": (
        "suba de novo: kx down, depois kx up -d; os logs estão em {logs}"
    ),
    "all services answer": "todos os serviços respondem",
    "knowledge": "conhecimento",
    "1 database of knowledge and memory": "1 banco de conhecimento e memória",
    "{count} databases of knowledge and memory": "{count} bancos de conhecimento e memória",
    "index it: kx index {root}; or forget it: kx project remove {instance}": (
        "indexe-o: kx index {root}; ou esqueça-o: kx project remove {instance}"
    ),
    "{folder} cannot be written": "não é possível escrever em {folder}",
    "make it writable, or set KX_HOME to a folder of your own": (
        "torne-a gravável, ou defina KX_HOME com uma pasta sua"
    ),
    "1 access token": "1 token de acesso",
    "{count} access tokens": "{count} tokens de acesso",
    "the folder {root} is not there": "a pasta {root} não está lá",
    "bring it back, tell where it went (kx project move {instance} FOLDER), or forget it: kx project remove {instance}": (
        "traga-a de volta, diga para onde foi (kx project move {instance} PASTA), ou esqueça-a: kx project remove {instance}"
    ),
    "the index {index} is suspect; the next indexing examines it": (
        "o índice {index} é suspeito; a próxima indexação o examina"
    ),
    "have it examined now: kx index {root}": "mande examiná-lo já: kx index {root}",
    "{project} in {root}": "{project} em {root}",
    "Check installation, database, model, documents, home, stack, tokens and every project; change nothing.\n\nThe exit code is 1 "
    "where something is wrong; warnings leave it 0.": (
        "Examina instalação, banco de dados, modelo, documentos, pasta do kx, serviços, tokens e cada projeto; não muda "
        "nada.\n\nO código de saída é 1 onde algo está errado; avisos o deixam em 0."
    ),
}
