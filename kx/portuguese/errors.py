"""Messages of errors: what failed, and with which value."""

from __future__ import annotations

ERRORS: dict[str, str] = {
    # the command
    "the vector extension of SQLite is not installed": "a extensão vetorial do SQLite não está instalada",
    "{root} is not indexed yet": "{root} ainda não foi indexado",
    "{root} is a very large root": "{root} é uma raiz muito grande",
    "{root} has {count} files": "{root} tem {count} arquivos",
    "{file} is there already": "{file} já existe",
    "{path} cannot be used: {reason}": "{path} não pode ser usado: {reason}",
    "the output could not be written: {reason}": "não foi possível escrever a saída: {reason}",
    "the working directory is gone: {reason}": "a pasta atual não existe mais: {reason}",
    "there is no process {name}": "não existe o processo {name}",
    "no project {name} is registered": "nenhum projeto {name} está registrado",
    # the bus and its messages
    "nats-server is not installed: neither {beside} nor on the PATH": (
        "o nats-server não está instalado: nem em {beside} nem no PATH"
    ),
    "a bus of {folder} already runs": "já existe um barramento de {folder} rodando",
    "the port {port} for the bus is taken by another program": (
        "a porta {port} do barramento está ocupada por outro programa"
    ),
    "no bus is running: {file} is missing or unreadable": (
        "nenhum barramento está rodando: {file} não existe ou não pode ser lido"
    ),
    "the bus has no user {user}": "o barramento não tem o usuário {user}",
    "the bus on port {port} cannot be reached as {user}: {reason}": (
        "o barramento na porta {port} não responde ao usuário {user}: {reason}"
    ),
    "the connection to the bus is lost; trying to get it back": (
        "a conexão com o barramento caiu; tentando recuperá-la"
    ),
    "a message for {type} could not be read: {reason}": "uma mensagem para {type} não pôde ser lida: {reason}",
    "{type} has {size} bytes; a message may have {limit}": ("{type} tem {size} bytes; uma mensagem pode ter {limit}"),
    "{type} holds text that is not valid Unicode": "{type} contém texto que não é Unicode válido",
    "messages of the content type {content_type} are not understood": (
        "mensagens do tipo {content_type} não são entendidas"
    ),
    "{instance} is no instance id": "{instance} não é um id de instância",
    "a message about the instance {instance} came on the subject {subject}": (
        "uma mensagem sobre a instância {instance} chegou pelo assunto {subject}"
    ),
    "no answer on {subject} within {timeout_s} s": "sem resposta em {subject} dentro de {timeout_s} s",
    "the service {service} is not running": "o serviço {service} não está rodando",
    "the service {service} failed unexpectedly": "o serviço {service} falhou de forma inesperada",
    "{name} cannot be the name of a user of the bus": "{name} não pode ser nome de usuário do barramento",
    "{name} is the user for the instance {instance} already": "{name} já é o usuário da instância {instance}",
    "the bus does not let the user {name} in": "o barramento não deixa o usuário {name} entrar",
    # a stack
    "no stack of {home} is running": "nenhuma stack de {home} está rodando",
    "a stack of {home} already runs, supervised by process {pid}": (
        "já existe uma stack de {home} rodando, supervisionada pelo processo {pid}"
    ),
    "processes of a stack of {home} run already, started one by one": (
        "processos de uma stack de {home} já estão rodando, iniciados um a um"
    ),
    "the stack of {home} cannot be used: {problem}": "a stack de {home} não pode ser usada: {problem}",
    "the running stack (process {pid}) does not answer on its socket": (
        "a stack que está rodando (processo {pid}) não responde no socket"
    ),
    "the running stack speaks version {found} of the local protocol, this kx version {known}": (
        "a stack que está rodando fala a versão {found} do protocolo local, este kx a versão {known}"
    ),
    "the local socket was not greeted as kx does: {reason}": ("o socket local não foi saudado como o kx faz: {reason}"),
    "no stack of {home} is running, and --no-start forbids to start one": (
        "nenhuma stack de {home} está rodando, e --no-start proíbe iniciar uma"
    ),
    "the stack ended while it was being reached": "a stack encerrou enquanto era contatada",
    "a frame of {size} bytes is above {limit}": "um quadro de {size} bytes passa de {limit}",
    "a frame could not be read: {reason}": "um quadro não pôde ser lido: {reason}",
    # agents
    "--strict-project-root needs the root to be named": "--strict-project-root exige que a raiz seja indicada",
    "{root} has no .kx.json, so it is not a project an agent can be given": (
        "{root} não tem .kx.json, então não é um projeto que se possa dar a um agente"
    ),
    "this server was started for another project than the one you named": (
        "este servidor foi iniciado para outro projeto, não o que você indicou"
    ),
    "this project wants to be named: expected_project_id and expected_project_root are required": (
        "este projeto quer ser indicado: expected_project_id e expected_project_root são obrigatórios"
    ),
    "{service}.{verb} is nothing the command may ask for": "{service}.{verb} não é algo que o comando possa pedir",
    "a message is about another instance than its frame says": (
        "uma mensagem é sobre outra instância, não a que o quadro diz"
    ),
    "{path} is denied by {pattern}": "{path} é negado por {pattern}",
    "there is nothing at {path}": "não há nada em {path}",
    "{folder} cannot hold the local socket: it belongs to another user": (
        "{folder} não pode conter o socket local: pertence a outro usuário"
    ),
    "another gateway already listens on {socket}": "outro gateway já escuta em {socket}",
    "the tool {tool} failed unexpectedly": "a ferramenta {tool} falhou de forma inesperada",
    "the arguments cannot be used: {problem}": "os argumentos não podem ser usados: {problem}",
    # the command line
    "{option} is given {count} times": "{option} foi dada {count} vezes",
    # requests
    "{name} is {value}, expected {expected}": "{name} é {value}, esperado: {expected}",
    "the path glob {glob} cannot be used: {reason}": "o glob de caminho {glob} não pode ser usado: {reason}",
    "a query on the index {path} was cut off after {limit_s} s": (
        "uma consulta ao índice {path} foi interrompida após {limit_s} s"
    ),
    "{count} paths are waiting to be indexed already": "já há {count} caminhos esperando para ser indexados",
    # the model
    "the embedder holds {held}, the index asks for {asked}": "o vetorizador tem {held}, o índice pede {asked}",
    "the model gave a vector that is {flaw}": "o modelo deu um vetor {flaw}",
    "the model gave no vector within {seconds} s": "o modelo não deu um vetor em {seconds} s",
    "the model failed: {reason}": "o modelo falhou: {reason}",
    "the encoder is closed": "o codificador está fechado",
    "{file} cannot be used as a sentence encoder: {found}": (
        "{file} não pode ser usado como codificador de sentenças: {found}"
    ),
    "{file} gives vectors of {found} numbers, an index holds {expected}": (
        "{file} dá vetores de {found} números, um índice guarda {expected}"
    ),
    "{file} is not the model file it should be: expected {expected}, found {found}": (
        "{file} não é o arquivo de modelo que deveria ser: esperado {expected}, encontrado {found}"
    ),
    "{file} is not there": "{file} não está lá",
    "{file} cannot be read: {found}": "{file} não pode ser lido: {found}",
    # the index
    "there is no index at {path}": "não há índice em {path}",
    "the index {path} cannot be written": "o índice {path} não pode ser escrito",
    "the index {path} is busy": "o índice {path} está ocupado",
    "the index {path} is damaged: {reason}": "o índice {path} está danificado: {reason}",
    "{path} would be indexed again at the next look at the tree": (
        "{path} seria indexado de novo na próxima passada pela árvore"
    ),
    "{count} of {probes} pieces of the purged text are still in {path}": (
        "{count} de {probes} trechos do texto expurgado ainda estão em {path}"
    ),
    "the index {path} has an older format": "o índice {path} tem um formato mais antigo",
    "the index {path} cannot be read or written: {reason}": ("o índice {path} não pode ser lido ou escrito: {reason}"),
    "no process can be started to parse source: {reason}": (
        "nenhum processo pode ser iniciado para analisar código: {reason}"
    ),
    "a process reads {path} without end, its log cannot be cut; bulk work waits": (
        "um processo lê {path} sem parar, o log não pode ser cortado; o trabalho em massa espera"
    ),
    "the index {path} is being written by {holder}": "o índice {path} está sendo escrito: {holder}",
    "the index {path} belongs to another tree ({root})": "o índice {path} pertence a outra árvore ({root})",
    "the index {index} belongs to {root}": "o índice {index} pertence a {root}",
    "the index {path} was written by a newer kx (format {found}, this one knows {known})": (
        "o índice {path} foi escrito por um kx mais novo (formato {found}, este conhece o {known})"
    ),
    "SQLite {found} is too old, {wanted} or newer is needed": (
        "o SQLite {found} é antigo demais, é preciso o {wanted} ou mais novo"
    ),
    "the disk that holds {path} is full": "o disco de {path} está cheio",
    "no space left to write {path}": "não há espaço para escrever {path}",
    # files and folders
    "{path} is not a folder": "{path} não é uma pasta",
    "{path} cannot be found: {problem}": "{path} não foi encontrado: {problem}",
    "{path} cannot be read: {reason}": "{path} não pode ser lido: {reason}",
    "{path} is not a regular file": "{path} não é um arquivo comum",
    "the path {path} is not inside the project": "o caminho {path} não está dentro do projeto",
    "the folder {root} is not there": "a pasta {root} não está lá",
    "the root {root} is not there, or another folder stands in its place": (
        "a raiz {root} não está lá, ou há outra pasta no lugar dela"
    ),
    "the root {root} is not usable: {reason}": "a raiz {root} não pode ser usada: {reason}",
    "the root {root} cannot be listed ({reason})": "a raiz {root} não pode ser listada ({reason})",
    # projects
    "no project {instance} is registered": "nenhum projeto {instance} está registrado",
    "{root} is registered as {instance}": "{root} está registrado como {instance}",
    "the registry entry {file} is damaged: {problem}": "o registro {file} está danificado: {problem}",
    # configuration
    "{file} cannot be used: {problem}": "{file} não pode ser usado: {problem}",
    "{file} belongs to another user (uid {uid})": "{file} pertence a outro usuário (uid {uid})",
    "{folder} cannot be kx's folder: {problem}": "{folder} não pode ser a pasta do kx: {problem}",
    "{file}: found {found}, expected {expected}": "{file}: encontrado {found}, esperado: {expected}",
    "{file}: {key} is {found}, expected {expected}": "{file}: {key} é {found}, esperado: {expected}",
    "{file} is not valid JSON at line {line}, column {column}: {problem}": (
        "{file} não é JSON válido na linha {line}, coluna {column}: {problem}"
    ),
    "{flag} is {found}, expected {expected}": "{flag} é {found}, esperado: {expected}",
    "the environment variable {key} is {found}, expected {expected}": (
        "a variável de ambiente {key} é {found}, esperado: {expected}"
    ),
    "the environment variable {key} is not set and this user has no home folder": (
        "a variável de ambiente {key} não está definida e este usuário não tem pasta pessoal"
    ),
    "--project-root is {flag} and KX_PROJECT_ROOT is {variable}": (
        "--project-root é {flag} e KX_PROJECT_ROOT é {variable}"
    ),
    "indexing.deny: the pattern {pattern} is not accepted: {reason}": (
        "indexing.deny: o padrão {pattern} não é aceito: {reason}"
    ),
    "sources[].path: {path} does not stay inside the project": "sources[].path: {path} não fica dentro do projeto",
    "{key} of {file} would let denied files in: {value}": "{key} de {file} deixaria entrar arquivos vetados: {value}",
    "{key} of {file} leads out of the project: {value}": "{key} de {file} leva para fora do projeto: {value}",
    "{key} of {file} is outside kx's data folder: {value}": "{key} de {file} está fora da pasta de dados do kx: {value}",
}
