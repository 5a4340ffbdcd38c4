"""Sentences that travel inside replies, warnings and errors: notes, reasons, what was expected of a value.

They arrive filled, and are recognised by their form.
"""

from __future__ import annotations

PHRASES: dict[str, str] = {
    # notes of answers
    "the query was cut to its first {count} characters": "a consulta foi cortada nos primeiros {count} caracteres",
    "the query was cut to its first {count} words": "a consulta foi cortada nas primeiras {count} palavras",
    "the query has no word that can be searched": "a consulta não tem nenhuma palavra que possa ser buscada",
    "neither lane could answer; see the reason of each": "nenhuma das duas vias respondeu; veja o motivo de cada uma",
    "mode {asked} needs {reason}: ranked as {used}": "o modo {asked} precisa de {reason}: ordenado como {used}",
    "a lane that did not answer": "uma via que não respondeu",
    "evidence that could not be gathered": "evidências que não puderam ser reunidas",
    "{count} passages changed on disk and were left out": "{count} trechos mudaram no disco e ficaram de fora",
    "1 excerpt was shortened to keep to the tokens asked for": "1 excerto foi encurtado para caber nos tokens pedidos",
    "{count} excerpts were shortened to keep to the tokens asked for": (
        "{count} excertos foram encurtados para caber nos tokens pedidos"
    ),
    "{count} results did not fit the answer; ask for them with an offset": (
        "{count} resultados não couberam na resposta; peça-os com --offset"
    ),
    "nobody watches this tree; changes since the last kx index are not known": (
        "ninguém observa esta árvore; as mudanças desde o último kx index não são conhecidas"
    ),
    "the indexer did not say what is waiting ({code})": "o indexador não disse o que está na fila ({code})",
    "the watcher did not say what changed ({code})": "o observador não disse o que mudou ({code})",
    "nothing is indexed yet; make the index: kx index": "nada foi indexado ainda; crie o índice: kx index",
    "the folder {root} is not there; nothing is shown until it is back": (
        "a pasta {root} não está lá; nada é mostrado até ela voltar"
    ),
    "{count} texts wait to be embedded again after {code}": "{count} textos esperam ser vetorizados de novo após {code}",
    "{count} more failed; a listing of the failed names them all": (
        "mais {count} falharam; a lista dos que falharam nomeia todos"
    ),
    "{count} documents are cut by form alone, their parser died: {paths}": (
        "{count} documentos foram cortados só pela forma, o analisador deles morreu: {paths}"
    ),
    "{count} paths changed on disk and are not yet in the index": (
        "{count} caminhos mudaram no disco e ainda não estão no índice"
    ),
    # why a lane is not whole
    "no text has a vector yet": "nenhum texto tem vetor ainda",
    "{count} texts have no vector yet": "{count} textos ainda não têm vetor",
    "the index was rebuilt meanwhile": "o índice foi reconstruído nesse meio-tempo",
    "the mode asks for words only": "o modo pede só palavras",
    "the index was made by another version of kx; run: kx index --full": (
        "o índice foi feito por outra versão do kx; rode: kx index --full"
    ),
    "the index holds vectors of {held}, the model here is {here}": (
        "o índice guarda vetores de {held}, o modelo daqui é {here}"
    ),
    "{code}: {error}": "{code}: {error}",
    # warnings
    "{file}: the unknown key {at} is ignored": "{file}: a chave desconhecida {at} é ignorada",
    "{file}: the unknown key {at} is ignored; did you mean {near}?": (
        "{file}: a chave desconhecida {at} é ignorada; você quis dizer {near}?"
    ),
    "{file}: ignoreKeywords: {word} is too short to be a keyword": (
        "{file}: ignoreKeywords: {word} é curta demais para ser palavra-chave"
    ),
    # what is wrong with a file, a folder or a value
    "it belongs to another user": "ela pertence a outro usuário",
    "others may enter it": "outros podem entrar nela",
    "it is a link that leads nowhere": "é um link que não leva a lugar nenhum",
    "it is a link that leads out of the project": "é um link que leva para fora do projeto",
    "it is not a regular file": "não é um arquivo comum",
    "it is not UTF-8": "não está em UTF-8",
    "it is empty": "está vazio",
    "it is absolute": "é absoluto",
    "it leaves the root": "sai da raiz",
    "the denylist can only grow": "a lista de negação só pode crescer",
    "a bracket or an escape is not finished": "um colchete ou um escape não foi fechado",
    "wrong width": "de largura errada",
    "not finite": "não finito",
    "not of length one": "de norma diferente de um",
    "missing": "ausente",
    "unknown": "desconhecida",
    "given twice": "dada duas vezes",
    "nested too deep": "aninhado demais",
    "a number too long to read": "um número longo demais para ler",
    "a list of {count}": "uma lista de {count}",
    "an object of {count} words": "um objeto de {count} palavras",
    "process {pid} ({mode}, since {since})": "o processo {pid} ({mode}, desde {since})",
    "another process": "outro processo",
    "put model.onnx and tokenizer.json of one {dim}-wide sentence encoder into {folder}": (
        "ponha em {folder} os arquivos model.onnx e tokenizer.json de um mesmo codificador de sentenças "
        "de {dim} dimensões"
    ),
    # why an entry is skipped
    "met while opening": "encontrado ao abrir",
    "link to a git folder": "link para uma pasta do git",
    "another name of a denied file": "outro nome de um arquivo negado",
    "a second work tree of a repository that is read here": "outra work tree de um repositório que já é lido aqui",
    "{count} bytes, the limit is {limit}": "{count} bytes, o limite é {limit}",
    "{count} names, and indexing.hardLinks is deny": "{count} nomes, e indexing.hardLinks é deny",
    "{count} characters that are no blanks": "{count} caracteres que não são espaços",
    # what was expected
    "en or pt": "en ou pt",
    "a path": "um caminho",
    "a whole number": "um número inteiro",
    "a number": "um número",
    "a number in range": "um número dentro do limite",
    "a few levels": "poucos níveis",
    "text": "texto",
    "another value": "outro valor",
    "true or false": "true ou false",
    "given once": "dada uma vez",
    "an object: { … }": "um objeto: { … }",
    "a list: [ … ]": "uma lista: [ … ]",
    "text without NUL and half characters": "texto sem NUL nem meios caracteres",
    "key names without NUL and half characters": "nomes de chaves sem NUL nem meios caracteres",
    "a whole number from {low} to {high}": "um número inteiro de {low} a {high}",
    "a number from {low} to {high}": "um número de {low} a {high}",
    "{low} to {high}": "{low} a {high}",
    "true, false or a number from {low} to {high}": "true, false ou um número de {low} a {high}",
    "debug, info, warning or error": "debug, info, warning ou error",
    "docs, code, config or vault": "docs, code, config ou vault",
    "allow or deny": "allow ou deny",
    "a UUID": "um UUID",
    "a name of at most {count} letters, digits, . _ - that does not begin with . or -": (
        "um nome de no máximo {count} letras, dígitos, . _ - que não comece com . nem -"
    ),
    "a file name such as kx.sqlite": "um nome de arquivo como kx.sqlite",
    "a path inside the root": "um caminho dentro da raiz",
    "a pattern or a list of patterns": "um padrão ou uma lista de padrões",
    "an absolute path that ends in .sqlite": "um caminho absoluto que termine em .sqlite",
    "a list of patterns": "uma lista de padrões",
    "a list of words": "uma lista de palavras",
    "a list of names": "uma lista de nomes",
    "a list of objects": "uma lista de objetos",
    "a text or a list of texts, none empty": "um texto ou uma lista de textos, nenhum vazio",
    "an object: word → text or a list of texts": "um objeto: palavra → texto ou lista de textos",
    "an object: root path → { index, allowDenied }": "um objeto: caminho da raiz → { index, allowDenied }",
    "an object with the keys {keys}": "um objeto com as chaves {keys}",
    "a glob relative to the root, such as secrets/** or *.key": ("um glob relativo à raiz, como secrets/** ou *.key"),
    "at most {count} patterns": "no máximo {count} padrões",
    "at most {count} characters": "no máximo {count} caracteres",
    "at most {count} words": "no máximo {count} palavras",
    "it ends, and is started again": "ele termina, e é iniciado de novo",
}
