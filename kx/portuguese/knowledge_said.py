"""Knowledge bases and memory: what the command itself says and refuses."""

from __future__ import annotations

KNOWLEDGE_SAID: dict[str, str] = {
    # bases, items, revisions
    "no base; create one with: kx kb create NAME": "nenhuma base; crie uma com: kx kb create NOME",
    "there is no base {base}": "não existe a base {base}",
    "see them with: kx kb list; or create it: kx kb create {base}": (
        "veja-as com: kx kb list; ou crie-a: kx kb create {base}"
    ),
    "there is no item {item}": "não existe o item {item}",
    "see them with: kx kb items": "veja-os com: kx kb items",
    "there is no revision {revision}": "não existe a revisão {revision}",
    "see them with: kx kb revisions ITEM": "veja-as com: kx kb revisions ITEM",
    "{name} is the name of {count}: {ids}": "{name} é o nome de {count}: {ids}",
    "give the id of the one that is meant": "use o id daquele de que se trata",
    "items {items}, published {published}, drafts {drafts}": (
        "itens {items}, publicados {published}, rascunhos {drafts}"
    ),
    "{count} bases": "{count} bases",
    "{shown} of {total} items": "{shown} de {total} itens",
    "1 revision": "1 revisão",
    "{count} revisions": "{count} revisões",
    "no item; write one with: kx kb add BASE --title TITLE FILE": (
        "nenhum item; escreva um com: kx kb add BASE --title TÍTULO ARQUIVO"
    ),
    "no content: {reason}": "sem conteúdo: {reason}",
    "{count} bytes": "{count} bytes",
    "{count} characters": "{count} caracteres",
    "published {when}": "publicada em {when}",
    "{title} · revision {number} of {when}": "{title} · revisão {number} de {when}",
    "… {count} more lines": "… mais {count} linhas",
    "it was so before; nothing was changed": "já estava assim; nada mudou",
    "only what is published in a base that is not archived is found; see: kx kb items": (
        "só se encontra o que está publicado em uma base não arquivada; veja: kx kb items"
    ),
    # writing
    "nothing was given to write": "nada foi dado para escrever",
    "name a FILE, - for stdin, or --content TEXT": "indique um FILE, - para stdin, ou --content TEXTO",
    "nothing was given to change": "nada foi dado para mudar",
    "name a FILE, - for stdin, --content TEXT, --title or --locator": (
        "indique um FILE, - para stdin, --content TEXTO, --title ou --locator"
    ),
    "give FILE or --content, not both": "dê FILE ou --content, não os dois",
    "leave one of them out": "deixe um deles de fora",
    "{path} cannot be read: {problem}": "{path} não pode ser lido: {problem}",
    "name a file that is there": "indique um arquivo que exista",
    "{name} is no UTF-8 text": "{name} não é texto UTF-8",
    "documents are read by: kx kb import BASE FILE": "documentos são lidos por: kx kb import BASE ARQUIVO",
    "give one of --role and --remove": "use um destes: --role ou --remove",
    "for example: kx kb space member {space} {principal} --role member": (
        "por exemplo: kx kb space member {space} {principal} --role member"
    ),
    # files in and out
    "no file was found": "nenhum arquivo foi encontrado",
    "denied by the pattern {pattern}": "negado pelo padrão {pattern}",
    "no kind of file that is taken; see which are: kx kb limits": (
        "não é um tipo de arquivo aceito; veja quais são: kx kb limits"
    ),
    "a link, which is not followed": "um link, que não é seguido",
    "it cannot be read: {problem}": "não pode ser lida: {problem}",
    "what you wrote is kept in {path}": "o que você escreveu está guardado em {path}",
    "it is no file": "não é um arquivo",
    "look at its permissions, then import it again": "veja suas permissões e importe-o de novo",
    "there is no {path}": "não existe {path}",
    "name files or folders that are there": "indique arquivos ou pastas que existam",
    "the front matter of this exported item cannot be used: {problem}": (
        "o front matter deste item exportado não serve: {problem}"
    ),
    "mend it in an editor, or export the base again": "corrija-o em um editor, ou exporte a base de novo",
    "{path} is there already and not empty": "{path} já existe e não está vazia",
    "name a folder that is not there yet": "indique uma pasta que ainda não exista",
    "left out, because it is archived: {title}": "ficou de fora, porque está arquivado: {title}",
    "left out, because it has no content: {title}": "ficou de fora, porque não tem conteúdo: {title}",
    "written to {path}: {items} in {files}": "escrito em {path}: {items} em {files}",
    # destroying
    "the base {name} with {items} is destroyed for good; type its name to go on:": (
        "a base {name} com {items} é destruída para sempre; digite o nome dela para continuar:"
    ),
    "Destroy the item {item} and all its revisions for good?": (
        "Destruir para sempre o item {item} e todas as suas revisões?"
    ),
    "{name} was not confirmed; nothing was destroyed": "{name} não foi confirmado; nada foi destruído",
    "to mean it: {command}": "se é isso mesmo: {command}",
    "destroyed: {items}, {revisions}": "destruído: {items}, {revisions}",
    "bytes of what was destroyed were still found in {count} files": (
        "bytes do que foi destruído ainda foram encontrados em {count} arquivos"
    ),
    "stop whatever else reads them (kx down), then delete once more; the rows are gone": (
        "pare quem mais os lê (kx down) e apague outra vez; as linhas já não existem"
    ),
    # links and limits
    "nothing is tied to this project; tie a base with: kx kb link BASE": (
        "nada está vinculado a este projeto; vincule uma base com: kx kb link BASE"
    ),
    "{kinds} (not installed: pip install 'kx[documents]')": "{kinds} (não instalado: pip install 'kx[documents]')",
    # memory
    "nothing is remembered; remember something with: kx memory remember TEXT": (
        "nada é lembrado; lembre algo com: kx memory remember TEXTO"
    ),
    "it is remembered already": "isso já é lembrado",
    "Nothing is remembered that bears on it.": "Nada do que é lembrado trata disso.",
    "expires {when}": "expira em {when}",
    "{memory} of memory, {knowledge} of knowledge, {tokens} tokens": (
        "{memory} da memória, {knowledge} do conhecimento, {tokens} tokens"
    ),
    "1 record written to {path}": "1 registro escrito em {path}",
    "{count} records written to {path}": "{count} registros escritos em {path}",
    "{path} cannot be written: {problem}": "{path} não pode ser escrito: {problem}",
    "name a place that is not there yet, in a folder you may write to": (
        "indique um lugar que ainda não exista, em uma pasta onde você possa escrever"
    ),
    "name the records to forget, or give --all": "indique os registros a esquecer, ou use --all",
    "see them with: kx memory list": "veja-os com: kx memory list",
    "Forget all that {project} remembers?": "Esquecer tudo o que {project} lembra?",
    "nothing was forgotten": "nada foi esquecido",
    "to mean it: kx memory forget --all --yes": "se é isso mesmo: kx memory forget --all --yes",
    "{count} forgotten": "{count} esquecidos",
    "{value} is no span of time": "{value} não é um período de tempo",
    "write 30m, 12h, 7d or 2w": "escreva 30m, 12h, 7d ou 2w",
}
