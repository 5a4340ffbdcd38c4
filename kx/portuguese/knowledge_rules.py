"""What the service knowledge refuses, and the next step."""

from __future__ import annotations

KNOWLEDGE_RULES: dict[str, str] = {
    "there is no {id} in the knowledge bases": "não há {id} nas bases de conhecimento",
    "see what is there: kx kb list, kx kb items": "veja o que existe: kx kb list, kx kb items",
    "the role {role} with these scopes does not allow this": "o papel {role} com estes escopos não permite isto",
    "ask the owner of the space for another role, or use a token with the scope {scope}": (
        "peça outro papel ao dono do espaço, ou use um token com o escopo {scope}"
    ),
    "{name} names more than one": "{name} é o nome de mais de um",
    "use the id": "use o id",
    "this needs the scope {scope}": "isto exige o escopo {scope}",
    "use a token with it: kx token create": "use um token que o tenha: kx token create",
    "the name {name} is taken": "o nome {name} já está em uso",
    "the database {path} cannot be used: {reason}": "o banco de dados {path} não pode ser usado: {reason}",
    "nothing was changed: look at the file and its disk, or put a copy of it back in its place": (
        "nada foi alterado: verifique o arquivo e o disco, ou ponha uma cópia dele de volta no lugar"
    ),
    "the database {path} was written by a newer kx (format {found}, this one knows {known})": (
        "o banco de dados {path} foi escrito por um kx mais novo (formato {found}, este conhece {known})"
    ),
    "update kx": "atualize o kx",
    "free some space and do it again: nothing was written, and nothing is half done": (
        "libere espaço e repita: nada foi escrito, e nada ficou pela metade"
    ),
    "the database {path} is busy": "o banco de dados {path} está ocupado",
    "a deletion for good is confirmed by {expected}": "uma exclusão definitiva se confirma com {expected}",
    "nothing was deleted; to hide it and keep it, archive it": "nada foi excluído; para ocultar e manter, arquive",
    "a space has at most {limit} bases": "um espaço tem no máximo {limit} bases",
    "use one that is there": "use um dos que existem",
    "{file} is of a kind that is not taken": "{file} é de um tipo que não é aceito",
    "see which are: kx kb limits; or save it as Markdown": "veja quais são: kx kb limits; ou salve como Markdown",
    "secrets are never kept nor shown; write down what is to be known in a file of its own": (
        "segredos nunca são guardados nem mostrados; escreva num arquivo próprio o que deve ser conhecido"
    ),
    "{item} has no content to publish": "{item} não tem conteúdo para publicar",
    "import its file again, or give it a content": "importe o arquivo de novo, ou dê-lhe um conteúdo",
    "{item} is archived": "{item} está arquivado",
    "restore it first, then publish it": "restaure primeiro, depois publique",
    "the content is no text: {reason}": "o conteúdo não é texto: {reason}",
    "save it as UTF-8; a document goes through kx kb import": "salve como UTF-8; um documento entra por kx kb import",
    "{format} is no name of a format": "{format} não é nome de formato",
    "use markdown, or the kind of text: json, python, ...": "use markdown, ou o tipo do texto: json, python, ...",
    "the {name} is empty": "{name} está vazio",
    "write a few words": "escreva algumas palavras",
    "the {name} has {count} characters, at most {limit} are taken": (
        "{name} tem {count} caracteres, no máximo {limit} são aceitos"
    ),
    "keep it short; what is long belongs into the content": "seja breve; o que é longo pertence ao conteúdo",
    "knowledge bases are switched off on this machine": "as bases de conhecimento estão desligadas nesta máquina",
    'set "knowledge": true in {file}': 'ponha "knowledge": true em {file}',
    "{file} is no text: {reason}": "{file} não é texto: {reason}",
    "save it as UTF-8; a document must end with its own suffix": (
        "salve como UTF-8; um documento deve terminar com o sufixo que é o seu"
    ),
    "the item of {locator} was deleted meanwhile": "o item de {locator} foi excluído nesse meio-tempo",
    "import the file again": "importe o arquivo de novo",
    "{item} was changed meanwhile: {current} is current": "{item} mudou nesse meio-tempo: a atual é {current}",
    "read that revision and edit it": "leia essa revisão e edite-a",
    "another item of the base was imported from {locator}": "outro item da base foi importado de {locator}",
    "choose another locator": "escolha outro localizador",
    "a project has at most {limit} links": "um projeto tem no máximo {limit} vínculos",
    "link a base instead": "vincule uma base",
    "{project} is no project id": "{project} não é id de projeto",
    "use the projectId of .kx.json, or the instance of: kx project list": (
        "use o projectId do .kx.json, ou a instância de: kx project list"
    ),
    "offset {offset} is beyond the {size} bytes of the content": (
        "o offset {offset} passa dos {size} bytes do conteúdo"
    ),
    "begin at 0 and go on at next_offset": "comece em 0 e continue em next_offset",
    "use it, or choose another name": "use-o, ou escolha outro nome",
    "a space has at most {limit} members, and a principal at most {limit} spaces": (
        "um espaço tem no máximo {limit} membros, e um principal no máximo {limit} espaços"
    ),
    "a personal space has its owner and nobody else": "um espaço pessoal tem seu dono e mais ninguém",
    "found a team space: kx kb space create": "crie um espaço de equipe: kx kb space create",
    "a space has one owner, who stays: {owner}": "um espaço tem um dono, que permanece: {owner}",
    "give the role admin, member or viewer to another principal": (
        "dê o papel admin, member ou viewer a outro principal"
    ),
    "the item is archived: restore it to have it found": "o item está arquivado: restaure-o para que seja encontrado",
}
