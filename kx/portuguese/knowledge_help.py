"""Knowledge bases and memory: help, and the words of their states; a base or an item may be called like one of them."""

from __future__ import annotations

KNOWLEDGE_HELP: dict[str, str] = {
    # states, roles, kinds, outcomes
    "draft": "rascunho",
    "published": "publicado",
    "archived": "arquivado",
    "active": "em uso",
    "personal": "pessoal",
    "team": "equipe",
    "owner": "dono",
    "admin": "administrador",
    "member": "membro",
    "viewer": "leitor",
    "item": "item",
    "base": "base",
    "durable": "duradouro",
    "working": "temporário",
    "created": "criado",
    "changed": "alterado",
    "unchanged": "sem mudança",
    "denied": "negado",
    "current": "atual",
    "never published": "nunca publicada",
    "1 base": "1 base",
    "… 1 more line": "… mais 1 linha",
    "Importing": "Importando",
    "largest text": "maior texto",
    "largest document": "maior documento",
    "longest title": "maior título",
    # kx kb
    "Keep knowledge bases: write, publish, search, cite.": "Mantém bases de conhecimento: escreve, publica, busca, cita.",
    "List your spaces, the personal one first, with their members and roles.": (
        "Lista seus espaços, o pessoal primeiro, com membros e papéis."
    ),
    "Found a team space, and say who is in it.": "Cria um espaço de equipe e diz quem está nele.",
    "Found the team space NAME; you are its owner.": "Cria o espaço de equipe NAME; você é o dono.",
    "Give PRINCIPAL a role in the team space SPACE, or take it away; `kx token create --principal` names one.": (
        "Dá a PRINCIPAL um papel no espaço de equipe SPACE, ou o retira; `kx token create --principal` dá nome a um."
    ),
    "What PRINCIPAL may do there.": "O que PRINCIPAL pode fazer ali.",
    "Take PRINCIPAL out.": "Retira PRINCIPAL.",
    "List the bases of your spaces, with how much is in them.": "Lista as bases dos seus espaços e quanto há nelas.",
    "Only this space, by name or id.": "Só este espaço, por nome ou id.",
    "Create the base NAME.": "Cria a base NAME.",
    "What it is about.": "Do que se trata.",
    "The space it belongs to, by name or id (default: your own).": (
        "O espaço a que pertence, por nome ou id (padrão: o seu)."
    ),
    "Change the name or the description of BASE; what is not given stays.": (
        "Muda o nome ou a descrição de BASE; o que não for dado fica."
    ),
    "Its new name.": "O novo nome.",
    "List the items of BASE, or of all your bases.": "Lista os itens de BASE, ou de todas as suas bases.",
    "Only items of this state.": "Só itens deste estado.",
    "Write an item into BASE from FILE (`-` is stdin): a draft, until it is published.": (
        "Escreve um item em BASE a partir de FILE (`-` é stdin): um rascunho, até ser publicado."
    ),
    "What it is called.": "Como se chama.",
    "What it says, in the place of FILE.": "O que diz, no lugar de FILE.",
    "markdown, json, python … (default: what FILE's name says).": (
        "markdown, json, python … (padrão: o que diz o nome de FILE)."
    ),
    "markdown, json, python …": "markdown, json, python …",
    "Where it comes from or belongs: a path, an address.": "De onde vem ou aonde pertence: um caminho, um endereço.",
    "Where it comes from or belongs.": "De onde vem ou aonde pertence.",
    "Publish it at once.": "Publica na hora.",
    "Change ITEM: another content is a new revision, the old one stays as it was.\n\n"
    "With nothing given, the content opens in your editor.": (
        "Muda ITEM: outro conteúdo é uma nova revisão, a antiga fica como era.\n\n"
        "Sem nada dado, o conteúdo abre no seu editor."
    ),
    "Only if this revision is still the current one.": "Só se esta revisão ainda for a atual.",
    "Make items of files and folders: texts as they are, documents extracted.\n\n"
    "A file that was imported before gets a new revision, an unchanged one nothing. A folder written by `kx kb export`\n"
    "comes back with its contents, titles and states.": (
        "Faz itens de arquivos e pastas: textos como são, documentos extraídos.\n\n"
        "Um arquivo já importado ganha uma nova revisão, um que não mudou nada. Uma pasta escrita por `kx kb export`\n"
        "volta com seus conteúdos, títulos e estados."
    ),
    "Publish what is imported.": "Publica o que é importado.",
    "Write BASE into FOLDER as Markdown files with front matter, which `kx kb import` reads back.\n\n"
    "What is archived nobody reads: restore it first.": (
        "Escreve BASE em FOLDER como arquivos Markdown com front matter, que `kx kb import` lê de volta.\n\n"
        "O que está arquivado ninguém lê: restaure antes."
    ),
    "Every revision, not only the current ones.": "Todas as revisões, não só as atuais.",
    "Publish items, by id or title: from now on their current revision is found and can be cited.": (
        "Publica itens, por id ou título: a partir de agora a revisão atual é encontrada e pode ser citada."
    ),
    "Hide bases and items at once, by id or name; nothing of them is lost.": (
        "Esconde bases e itens na hora, por id ou nome; nada deles se perde."
    ),
    "Make archived bases and items what they were before.": "Faz de bases e itens arquivados o que eram antes.",
    "Destroy a base with all its items, or one item, and every revision, for good; kx kb archive only hides.": (
        "Destrói uma base com todos os itens, ou um item, e cada revisão, para sempre; kx kb archive só esconde."
    ),
    "The name of the base, or the id of the item: deletes without asking.": (
        "O nome da base, ou o id do item: apaga sem perguntar."
    ),
    "Print what ITEM says now, or what it said in REVISION; a citation is taken as it is.": (
        "Imprime o que ITEM diz agora, ou o que dizia em REVISION; uma citação serve como está."
    ),
    "The exact bytes to stdout, and nothing else.": "Os bytes exatos em stdout, e nada mais.",
    "List the revisions of ITEM, the newest first, with where each comes from.": (
        "Lista as revisões de ITEM, a mais nova primeiro, e de onde cada uma vem."
    ),
    "Show what changed in ITEM from revision OLD to NEW, by number or id; without them in its last edit.": (
        "Mostra o que mudou em ITEM da revisão OLD à NEW, por número ou id; sem elas, na última edição."
    ),
    "Show the published passages that answer QUERY, best first, each with its citation.": (
        "Mostra as passagens publicadas que respondem a QUERY, a melhor primeiro, cada uma com sua citação."
    ),
    "Only this base, by name or id.": "Só esta base, por nome ou id.",
    "List what was done in a space, the oldest first: who, when, what.": (
        "Lista o que foi feito em um espaço, o mais antigo primeiro: quem, quando, o quê."
    ),
    "The space, by name or id (default: your own).": "O espaço, por nome ou id (padrão: o seu).",
    "Tie a base or an item to the project: what is recalled there may then come from it.": (
        "Vincula uma base ou um item ao projeto: o que se recorda ali pode então vir dele."
    ),
    "Untie a base or an item from the project; nothing else changes.": (
        "Desvincula uma base ou um item do projeto; nada mais muda."
    ),
    "List the bases and items tied to the project.": "Lista as bases e os itens vinculados ao projeto.",
    "Say how large what may be, and which files are taken.": "Diz o tamanho máximo de cada coisa e que arquivos servem.",
    # kx memory, kx recall-context
    "Remember what a project learnt, list it, forget it.": "Lembra o que um projeto aprendeu, lista, esquece.",
    "Remember TEXT (`-` is stdin); the same again is kept once.": (
        "Lembra TEXT (`-` é stdin); o mesmo de novo é guardado uma vez."
    ),
    "For now only: it expires (after 14 days, unless --expires says when).": (
        "Só por agora: expira (em 14 dias, se --expires não disser quando)."
    ),
    "When it ends: 30m, 12h, 7d, 2w.": "Quando termina: 30m, 12h, 7d, 2w.",
    "Where it was learnt: a path, an address.": "Onde foi aprendido: um caminho, um endereço.",
    "The team space it belongs to, by name or id (default: yours alone).": (
        "O espaço de equipe a que pertence, por nome ou id (padrão: só seu)."
    ),
    "List what the project remembers, the newest first.": "Lista o que o projeto lembra, o mais novo primeiro.",
    "Only durable or only working records.": "Só registros duradouros ou só temporários.",
    "Destroy records, to the bytes; no knowledge item is touched.": (
        "Destrói registros, até os bytes; nenhum item de conhecimento é tocado."
    ),
    "All that you may forget here; asks first.": "Tudo o que você pode esquecer aqui; pergunta antes.",
    "Do not ask.": "Não pergunta.",
    "Make a working record durable: it expires no more.": "Torna duradouro um registro temporário: não expira mais.",
    "Write all records to FILE (`-` is stdout) as JSON, one a line, each with its source.": (
        "Escreve todos os registros em FILE (`-` é stdout) como JSON, um por linha, cada um com sua origem."
    ),
    "Show what the project remembers that bears on a question, within a budget of tokens.": (
        "Mostra o que o projeto lembra que trata de uma pergunta, dentro de um limite de tokens."
    ),
    "What is about to be done, or asked.": "O que se vai fazer ou perguntar.",
    "Knowledge too: what is tied to the project, and what is team-wide.": (
        "Também conhecimento: o que está vinculado ao projeto e o que é da equipe."
    ),
    "How long all of it together may be.": "Quanto tudo junto pode ter.",
    "How many of each.": "Quantos de cada.",
}
