"""What is said of documents: why one gives no text, and what is missing from it."""

from __future__ import annotations

DOCUMENTS: dict[str, str] = {
    "{name} cannot be read: the extra {extra} is not installed": (
        "{name} não pode ser lido: o extra {extra} não está instalado"
    ),
    "install it: pip install '{extra}'": "instale-o: pip install '{extra}'",
    "no text was taken from {name}: {reason}": "nenhum texto foi tirado de {name}: {reason}",
    "save the document anew, or as text, and try again": "salve o documento de novo, ou como texto, e tente outra vez",
    "document (.{kind}): its text needs the extra {extra}": "documento (.{kind}): seu texto precisa do extra {extra}",
    "also in this document: {spans}": "também neste documento: {spans}",
    "page {number}": "página {number}",
    "slide {number}": "slide {number}",
    "sheet {name}": "planilha {name}",
    "section {name}": "seção {name}",
    # reasons
    "it is larger than a document may be": "é maior do que um documento pode ser",
    "it is encrypted": "está criptografado",
    "it is of the old binary format; save it as .docx, .pptx or .xlsx": (
        "é do formato binário antigo; salve-o como .docx, .pptx ou .xlsx"
    ),
    "its content is not what its name says": "o conteúdo não é o que o nome diz",
    "it is packed of more parts than are read": "é feito de mais partes do que se leem",
    "it would unpack to more than is read": "ocuparia, descompactado, mais do que se lê",
    "its XML declares a document type, which no document needs": (
        "seu XML declara um tipo de documento, de que nenhum documento precisa"
    ),
    "it holds no text, perhaps only pictures of it": "não contém texto, talvez só imagens dele",
    "reading it takes more memory than is allowed": "sua leitura gasta mais memória do que o permitido",
    "reading it takes longer than is allowed": "sua leitura demora mais do que o permitido",
    "it is damaged": "está danificado",
    "its reader died of it": "o leitor morreu ao lê-lo",
    # of an index
    "{count} documents are indexed in part, the rest is too long or unreadable: {named}": (
        "{count} documentos foram indexados em parte, o resto é longo demais ou ilegível: {named}"
    ),
    # notes
    "the text is longer than is kept: its end is missing": "o texto é mais longo do que se guarda: falta o fim",
    "it has more pages, slides or sheets than are read: the last ones are missing": (
        "tem mais páginas, slides ou planilhas do que se leem: faltam as últimas"
    ),
    "some of its pages, slides or sheets could not be read": (
        "algumas de suas páginas, slides ou planilhas não puderam ser lidas"
    ),
}
