"""Activities and artifacts: help, errors, hints and notes of answers."""

from __future__ import annotations

NOTES: dict[str, str] = {
    # the command
    "the same was recorded before; nothing was changed": "o mesmo já estava registrado; nada mudou",
    "no artifact is recorded; record one with: kx artifact add URL": (
        "nenhum artefato registrado; registre um com: kx artifact add URL"
    ),
    "no activity; begin one with: kx activity add TITLE": "nenhuma atividade; comece uma com: kx activity add TITLE",
    "give one of --progress, --block, --done and --reopen": "use um destes: --progress, --block, --done ou --reopen",
    "for example: kx activity update {ref} --progress 'what was done'": (
        "por exemplo: kx activity update {ref} --progress 'o que foi feito'"
    ),
    # what was asked
    "the title is empty": "o título está vazio",
    "name the activity in a few words": "diga em poucas palavras qual é a atividade",
    "offset {offset} and limit {limit} cannot be used": "offset {offset} e limit {limit} não servem",
    "offset from 0, limit from 1 to {most}": "offset a partir de 0, limit de 1 a {most}",
    "at most {tags} tags and {branches} branches are taken": "são aceitas no máximo {tags} tags e {branches} branches",
    "name fewer of them": "indique menos",
    "{name} is {value}, which is no day": "{name} é {value}, que não é um dia",
    "write days as 2026-01-31": "escreva dias assim: 2026-01-31",
    "the text is empty": "o texto está vazio",
    "say in a sentence what was done or what is in the way": "diga em uma frase o que foi feito ou o que impede",
    "{name} has {count} characters, at most {limit} are taken": (
        "{name} tem {count} caracteres; são aceitos no máximo {limit}"
    ),
    "keep it short; what is long belongs into a document of its own": (
        "seja breve; o que é longo merece um documento próprio"
    ),
    "{url} is no address of a published page": "{url} não é o endereço de uma página publicada",
    "give an http or https address without credentials": "use um endereço http ou https sem credenciais",
    # activities
    "there is no activity {ref}": "não existe a atividade {ref}",
    "see them with: kx activity status": "veja-as com: kx activity status",
    "{ref} is the number of several notes: {slugs}": "{ref} é o número de várias notas: {slugs}",
    "give the slug, and give one of them another id in an editor": (
        "use o slug, e dê outro id a uma delas em um editor"
    ),
    "the activity {slug} is there already": "a atividade {slug} já existe",
    "record in it: kx activity update {slug} --progress '…'; or choose another title": (
        "registre nela: kx activity update {slug} --progress '…'; ou escolha outro título"
    ),
    "choose another title; what is denied is never indexed nor shown": (
        "escolha outro título; o que é negado nunca é indexado nem mostrado"
    ),
    "#{id} {slug} is concluded": "#{id} {slug} está concluída",
    "reopen it first: kx activity update {slug} --reopen 'why'": (
        "reabra antes: kx activity update {slug} --reopen 'por quê'"
    ),
    "no artifact {url} is recorded": "o artefato {url} não está registrado",
    "record it with: kx artifact add {url}": "registre-o com: kx artifact add {url}",
    # the vault
    "{root} has no .kx.json and no .vault, so nothing is written there": (
        "{root} não tem .kx.json nem .vault, por isso nada é escrito ali"
    ),
    "make it a project first: kx setup {root}": "torne-o um projeto antes: kx setup {root}",
    "mend the file in an editor; nothing was changed": "corrija o arquivo em um editor; nada foi alterado",
    "it is no regular file, or larger than 10 MB": "não é um arquivo comum, ou passa de 10 MB",
    "its front matter has no closing ---": "o front matter não tem o --- final",
    "line {line} of its front matter is neither a key nor a value": (
        "a linha {line} do front matter não é chave nem valor"
    ),
    "the list {key} has no closing bracket": "a lista {key} não tem o colchete final",
    "it holds no number": "não contém um número",
    "write the highest number that any activity ever had into it": (
        "escreva nele o maior número que uma atividade já teve"
    ),
    "check owner and permissions of the file and its folder": "verifique dono e permissões do arquivo e da pasta",
    "{path} is a link, or lies behind one": "{path} é um link, ou fica atrás de um",
    "put a file or folder in its place; links inside the vault are not followed": (
        "ponha um arquivo ou pasta no lugar; links dentro do vault não são seguidos"
    ),
    "another program is writing in {path}": "outro programa está escrevendo em {path}",
    "the map of contents was not written: {error}": "o mapa de atividades não foi escrito: {error}",
    "the note of the activity was not written: {error}": "a nota da atividade não foi escrita: {error}",
    "the page of artifacts was not written: {error}": "a página de artefatos não foi escrita: {error}",
}

NOTES_HELP: dict[str, str] = {
    # states
    "em-andamento": "em andamento",
    "pendente": "pendente",
    "bloqueado": "bloqueado",
    "concluida": "concluída",
    # kx activity
    "Record what is worked on: begun, got on, blocked, done.": (
        "Registra em que se trabalha: começo, avanço, bloqueio, conclusão."
    ),
    "Begin the activity TITLE: a note in .vault/megabrain and a line in the map of contents.": (
        "Começa a atividade TITLE: uma nota em .vault/megabrain e uma linha no mapa de atividades."
    ),
    "What it is about, in Markdown.": "Do que se trata, em Markdown.",
    "Team, one of `squads` in .kx.json (default: transversal).": (
        "Time, um dos `squads` de .kx.json (padrão: transversal)."
    ),
    "Module or service it is about.": "Módulo ou serviço de que trata.",
    "A tag; may be given several times.": "Uma tag; pode ser dada várias vezes.",
    "REPOSITORY:BRANCH; may be given several times.": "REPOSITÓRIO:BRANCH; pode ser dado várias vezes.",
    "Where the feature is documented.": "Onde a feature está documentada.",
    "Day it began, as 2026-01-31 (default: today).": "Dia em que começou, como 2026-01-31 (padrão: hoje).",
    "Day it is planned for.": "Dia para o qual está planejada.",
    "It is planned, not begun.": "Está planejada, não começou.",
    "Name of the session it is done in (default: KX_SESSION_ID).": (
        "Nome da sessão em que é feita (padrão: KX_SESSION_ID)."
    ),
    "Show the states as columns, each with its activities.": "Mostra os estados em colunas, cada um com suas atividades.",
    "Print the note of REF, its number or slug.": "Imprime a nota de REF, número ou slug.",
    "List the activities, the one changed last first, and where each stopped.": (
        "Lista as atividades, a alterada por último primeiro, e onde cada uma parou."
    ),
    "How many.": "Quantas.",
    "How many to leave out first.": "Quantas pular antes.",
    "Only this state: em-andamento, pendente, bloqueado or concluida.": (
        "Só este estado: em-andamento, pendente, bloqueado ou concluida."
    ),
    "Record progress, a block, the end or a new beginning of REF, its number or slug.": (
        "Registra avanço, bloqueio, conclusão ou reabertura de REF, número ou slug."
    ),
    "What was done.": "O que foi feito.",
    "What is in the way; it is blocked from now on.": "O que impede; fica bloqueada a partir de agora.",
    "How it ended; may be empty.": "Como terminou; pode ser vazio.",
    "Why it goes on; may be empty.": "Por que continua; pode ser vazio.",
    # kx artifact
    "Record published pages, and find them again.": "Registra páginas publicadas, e as encontra de novo.",
    "Record the page at URL; a known address gets its next version, and keeps what is not given.": (
        "Registra a página em URL; um endereço conhecido ganha a próxima versão e mantém o que não for dado."
    ),
    "What the page is called.": "Como a página se chama.",
    "What it is about, on one line.": "Do que se trata, em uma linha.",
    "Number or slug of its activity (default: the one of the session).": (
        "Número ou slug da atividade (padrão: a da sessão)."
    ),
    "The file that was published.": "O arquivo que foi publicado.",
    "Who published it.": "Quem publicou.",
    "A word for this version.": "Uma palavra para esta versão.",
    "Tie the page at URL to ACTIVITY, its number or slug.": "Vincula a página em URL a ACTIVITY, número ou slug.",
    "List the recorded pages, the one published last first.": (
        "Lista as páginas registradas, a publicada por último primeiro."
    ),
    "Only those of this activity, by number or slug.": "Só as desta atividade, por número ou slug.",
    # kx mcp
    "Name of the session, recorded with activities (default: KX_SESSION_ID).": (
        "Nome da sessão, registrado nas atividades (padrão: KX_SESSION_ID)."
    ),
}
