"""Why a question shows a file or not: the sentences of the answer, and the words around them."""

from __future__ import annotations

EXAMINATION: dict[str, str] = {
    # what keeps it out whatever its words
    "it is not indexed: {reason}": "não é indexado: {reason}",
    "its folder {folder} is not indexed: {reason}": "sua pasta {folder} não é indexada: {reason}",
    "{code} ({reason})": "{code} ({reason})",
    "it could not be indexed: {reason}": "não pôde ser indexado: {reason}",
    "there is no such file on disk": "não há tal arquivo no disco",
    "the index still has it, and forgets it at the next look at the tree": (
        "o índice ainda o tem e o esquece na próxima olhada na árvore"
    ),
    "it may be indexed, and is not yet": "pode ser indexado, mas ainda não foi",
    "it is {kind}, and only {kinds} was asked for": "é {kind}, e só foi pedido {kinds}",
    "its path does not match {glob}": "seu caminho não corresponde a {glob}",
    "nothing of it can be searched": "nada dele pode ser buscado",
    "no passage holds line {line}; the last ends at line {last}": (
        "nenhum trecho contém a linha {line}; o último termina na linha {last}"
    ),
    "{path} is a folder, and answers show files": "{path} é uma pasta, e respostas mostram arquivos",
    "name a file in it, as kx search prints them": "indique um arquivo nela, como kx search os mostra",
    # where it stands
    "it is result {number}": "é o resultado {number}",
    "its file is result {number}, which shows {place} first": (
        "seu arquivo é o resultado {number}, que mostra {place} primeiro"
    ),
    "the same text is shown as {place}, result {number}": "o mesmo texto é mostrado como {place}, resultado {number}",
    "it is result {number}, and the first {count} were left out by the offset": (
        "é o resultado {number}, e os primeiros {count} ficaram de fora pelo offset"
    ),
    "it is result {number}, and no more than {count} were asked for": (
        "é o resultado {number}, e não foram pedidos mais de {count}"
    ),
    "its text is not on disk any more as it was indexed, so it is not shown": (
        "seu texto não está mais no disco como foi indexado, por isso não é mostrado"
    ),
    "it changed on disk since it was indexed; this is about the text that is indexed": (
        "mudou no disco desde que foi indexado; isto é sobre o texto indexado"
    ),
    "mode {mode} does not look at the lane that found it": "o modo {mode} não olha a via que o encontrou",
    "no word that was asked for stands in it": "nenhuma palavra pedida está nele",
    "by words nothing could be found: {reason}": "por palavras nada pôde ser encontrado: {reason}",
    "by meaning nothing could be found: {reason}": "por significado nada pôde ser encontrado: {reason}",
    "by words it scores {score}, and the last of {count} candidates {last}": (
        "por palavras ele tem {score}, e o último de {count} candidatos {last}"
    ),
    "by meaning it scores {score}, and the last of {count} candidates {last}": (
        "por significado ele tem {score}, e o último de {count} candidatos {last}"
    ),
    "by meaning it was not compared": "por significado ele não foi comparado",
    "it has no vector yet, so it cannot be found by meaning": (
        "ainda não tem vetor, por isso não pode ser encontrado por significado"
    ),
    "its text could not be embedded ({code}), so it cannot be found by meaning": (
        "seu texto não pôde ser vetorizado ({code}), por isso não pode ser encontrado por significado"
    ),
}

EXAMINATION_SAID: dict[str, str] = {
    # the frame of the answer
    "is shown": "é mostrado",
    "is not shown": "não é mostrado",
    "{count} more passages of it stand behind these": "mais {count} trechos dele vêm depois destes",
    "the last result shown, {number}, is {place}: {score}": "o último resultado mostrado, {number}, é {place}: {score}",
    "asked and not in it: {words}": "pedido e ausente nele: {words}",
    "by the ranks of both lanes alone: {rank}": "só pelas posições das duas vias: {rank}",
    "ranked {rank} of all passages: {score}": "posição {rank} entre todos os trechos: {score}",
    "not found": "não encontrado",
    "rank {rank}, {score}": "posição {rank}, {score}",
    "beyond the {count} candidates, {score}": "além dos {count} candidatos, {score}",
    # --help
    "Say why the answer to QUERY shows the file PATH or not, and its passage at LINE.\n\n"
    "PATH is relative to the project, as answers print it, or to the working directory. Exit code 0: it is shown; 1: it\n"
    "is not, and the reason is printed.": (
        "Diz por que a resposta a QUERY mostra ou não o arquivo PATH, e seu trecho na linha LINE.\n\n"
        "PATH é relativo ao projeto, como as respostas o mostram, ou à pasta atual. Código de saída 0: é mostrado; 1: não "
        "é, e o motivo é mostrado."
    ),
}
