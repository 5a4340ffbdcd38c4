"""What the command says about its work, and the words of its answers."""

from __future__ import annotations

ANSWERS: dict[str, str] = {
    # kx search
    "1 result": "1 resultado(s) encontrado(s).",
    "{count} results": "{count} resultado(s) encontrado(s).",
    "No results.": "Nenhum resultado encontrado.",
    "Try other words, or leave out --type and --path; after changes bring the index up to date with: kx index": (
        "Tente outras palavras ou deixe de fora --type e --path; depois de mudanças, atualize o índice com: kx index"
    ),
    "line {line}, in part:": "linha {line}, em parte:",
    "nothing here answers it well: the confidence is {percent} % at best": (
        "nada aqui responde bem: a confiança é de {percent} % no máximo"
    ),
    "lines {start}-{end}, in part:": "linhas {start}-{end}, em parte:",
    "line {line}:": "linha {line}:",
    "lines {start}-{end}:": "linhas {start}-{end}:",
    "more: --offset {offset}": "mais: --offset {offset}",
    "also in this file: lines {spans}": "também neste arquivo: linhas {spans}",
    "same text: {places}": "mesmo texto: {places}",
    "the {lane} lane is {state}: {reason}": "via {lane} {state}: {reason}",
    "pending: {text} changed files not indexed yet, {vectors} passages without a vector": (
        "pendente: {text} arquivos alterados ainda não indexados, {vectors} trechos sem vetor"
    ),
    "both": "ambas",
    "vector": "vetorial",
    "lexical": "lexical",
    # kx status
    "project": "projeto",
    "root": "raiz",
    "documents": "documentos",
    "chunks": "trechos",
    "vectors": "vetores",
    "{ready} of {total} ready": "{ready} de {total} prontos",
    "skipped": "ignorados",
    "failed": "com falha",
    "model": "modelo",
    "index": "índice",
    "services": "serviços",
    # states of a project, of a lane and of a service
    "ready": "pronto",
    "indexing": "indexando",
    "incomplete": "incompleto",
    "to complete it: kx index {root}": "para completar: kx index {root}",
    "rebuilding": "reconstruindo",
    "not indexed": "não indexado",
    "root missing": "raiz ausente",
    "ok": "ok",
    "partial": "parcial",
    "off": "desligada",
    "degraded": "degradado",
    "down": "fora do ar",
    "not running": "não está rodando",
    # kx index, kx init, kx project
    "Reading": "Lendo",
    "Embedding": "Vetorizando",
    "files": "arquivos",
    "texts": "textos",
    "1 document": "1 documento",
    "{count} documents": "{count} documentos",
    "1 passage": "1 trecho",
    "{count} passages": "{count} trechos",
    "1 file": "1 arquivo",
    "{count} files": "{count} arquivos",
    "1 item": "1 item",
    "{count} items": "{count} itens",
    "{project}: {documents}, {passages}, {ready} of {total} vectors ready "
    "({announced} of {walked} files looked at again)": (
        "{project}: {documents}, {passages}, {ready} de {total} vetores prontos "
        "({announced} de {walked} arquivos revistos)"
    ),
    "1 passage could not be embedded; see: kx status": "1 trecho não pôde ser vetorizado; veja: kx status",
    "{count} passages could not be embedded; see: kx status": (
        "{count} trechos não puderam ser vetorizados; veja: kx status"
    ),
    "stopped; all that is done is kept: {ready} of {total} vectors ready. Go on with: kx index {root}": (
        "interrompido; tudo o que foi feito está guardado: {ready} de {total} vetores prontos. "
        "Continue com: kx index {root}"
    ),
    "{root} is a very large root. Index all of it?": "{root} é uma raiz muito grande. Indexar tudo?",
    "Index all {count} files of {root}?": "Indexar todos os {count} arquivos de {root}?",
    "{root} has {count} files; most of them are in:": "{root} tem {count} arquivos; a maioria está em:",
    "{files}  {path}": "{files}  {path}",
    "to leave one out, write into {file}: {line}": "para deixar uma de fora, escreva em {file}: {line}",
    "{question} [y/N]": "{question} [s/N]",
    "{file} written; next: kx index {root}": "{file} criado; agora rode: kx index {root}",
    # kx up, kx down, kx watch, kx bus
    "the stack is ready; see how it is with: kx status; end it with: kx down": (
        "a stack está pronta; veja como ela está com: kx status; encerre-a com: kx down"
    ),
    "no stack is running; starting one in the background": (
        "nenhuma stack está rodando; iniciando uma em segundo plano"
    ),
    "the stack is ready; Ctrl+C ends it": "a stack está pronta; Ctrl+C a encerra",
    "the stack has ended": "a stack foi encerrada",
    "no stack is running": "nenhuma stack está rodando",
    "no stack was started by kx up; end the processes where they were started (honcho, systemd, compose)": (
        "nenhuma stack foi iniciada por kx up; encerre os processos onde foram iniciados (honcho, systemd, compose)"
    ),
    "{project}: following; {documents}, {passages}, {files} indexed since the start": (
        "{project}: acompanhando; {documents}, {passages}; indexação desde o início: {files}"
    ),
    "{project}: {files} indexed, {passages} embedded in {took}": (
        "{project}: em {took}, indexação de {files}, vetorização de {passages}"
    ),
    "{project}: {before} MiB before, {after} MiB now": "{project}: {before} MiB antes, {after} MiB agora",
    "the indexer stands still ({code})": "o indexador está parado ({code})",
    "the index was damaged; it was set aside as {set_aside} and built anew": (
        "o índice estava danificado; foi posto de lado como {set_aside} e construído de novo"
    ),
    "traces of removed text are being erased from the index": "vestígios de texto removido estão sendo apagados do índice",
    "1 entry purged from the index of {project}": "1 entrada expurgada do índice de {project}",
    "{count} entries purged from the index of {project}": "{count} entradas expurgadas do índice de {project}",
    "verified: none of {count} pieces of its text stands in {files}": (
        "verificado: nenhum de {count} trechos do texto está em {files}"
    ),
    "nothing was known that only this text holds, so there was nothing to look for": (
        "nada se sabia que só este texto contém, então não havia o que procurar"
    ),
    "{name} may not use the bus any more": "{name} não pode mais usar o barramento",
    "no bus is running; it will know this user when it starts: kx up -d": (
        "nenhum barramento está rodando; ele conhecerá este usuário quando iniciar: kx up -d"
    ),
    # everywhere
    "warning: {text}": "aviso: {text}",
    "no project is registered; try one at once: kx search --index 'your question' --in PATH; or keep it: kx setup PATH": (
        "nenhum projeto está registrado; experimente um já: kx search --index 'sua pergunta' --in PATH; ou fique com ele: "
        "kx setup PATH"
    ),
    "{root} is forgotten": "{root} foi esquecido",
    "{instance} is now at {root}": "{instance} agora está em {root}",
}
