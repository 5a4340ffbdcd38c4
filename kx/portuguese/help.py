"""What `--help` says of the verbs and their options."""

from __future__ import annotations

HELP: dict[str, str] = {
    # kx
    "Search a project's docs, code, configuration and notes by meaning and by exact words, on this machine.": (
        "Busca na documentação, no código, na configuração e nas notas de um projeto, por significado e por palavras "
        "exatas, nesta máquina."
    ),
    """\b
Try it:   kx search --index 'how are errors retried'
Keep it:  kx setup

\b
Exit codes:
  0    it worked
  1    it failed, and will until someone acts
  2    the command line, or a value in it, is wrong
  3    no index or no such project yet; the message says how to begin
  75   busy or unreachable: try again
  78   the configuration or the installation is wrong
  130  interrupted""": """\b
Experimente:  kx search --index 'como os erros são repetidos'
Para ficar:   kx setup

\b
Códigos de saída:
  0    funcionou
  1    falhou, e vai falhar até alguém agir
  2    a linha de comando, ou um valor nela, está errada
  3    ainda não há índice ou projeto; a mensagem diz como começar
  75   ocupado ou inacessível: tente de novo
  78   a configuração ou a instalação está errada
  130  interrompido""",
    "Example:": "Exemplo:",
    "Examples:": "Exemplos:",
    "Folder kx keeps everything in (default ~/.kx).": "Pasta em que o kx guarda tudo (padrão: ~/.kx).",
    "Language of help and messages (default: KX_LANG, the locale).": (
        "Idioma da ajuda e das mensagens (padrão: KX_LANG, o locale)."
    ),
    "Least severe log line (default: warning).": "Nível mínimo das linhas de log (padrão: warning).",
    "Threads the model may use (default 0: one for each core).": (
        "Threads que o modelo pode usar (padrão 0: uma por núcleo)."
    ),
    "Folder of another 384-dimensional sentence encoder (default: the one that came with kx).": (
        "Pasta de outro codificador de sentenças de 384 dimensões (padrão: o que veio com o kx)."
    ),
    "Port of the local bus (default 0: any free one).": "Porta do barramento local (padrão 0: qualquer uma livre).",
    # kx init
    "Write .kx.json into PATH and register the project.": "Cria .kx.json em PATH e registra o projeto.",
    "Leave out the project id: agents need not prove which project they mean.": (
        "Não grava o id do projeto: agentes não precisam provar de que projeto falam."
    ),
    "Name of the project (default: the folder's).": "Nome do projeto (padrão: o da pasta).",
    # kx index
    "Index the project of each PATH (default: of the working directory).\n\n"
    "A PATH inside a project indexes that part of it. Ctrl+C keeps everything that is done.": (
        "Indexa o projeto de cada PATH (padrão: o da pasta atual).\n\n"
        "Um PATH dentro de um projeto indexa só aquela parte. Ctrl+C guarda tudo o que já foi feito."
    ),
    "Build everything anew; the old index answers until the new one is complete.": (
        "Constrói tudo de novo; o índice antigo responde até o novo ficar completo."
    ),
    "Stop after the words, or go on until every passage has its vector (default).": (
        "Para depois das palavras, ou continua até cada trecho ter seu vetor (padrão)."
    ),
    "Try again what was set aside after failing.": "Tenta de novo o que foi deixado de lado por falhar.",
    "Do not ask before indexing a very large root.": "Não pergunta antes de indexar uma raiz muito grande.",
    "Use the running services, or never (default: if they run).": (
        "Usa os serviços que estão rodando, ou nunca (padrão: se estiverem rodando)."
    ),
    # kx search
    "Show the passages of a project that answer QUERY, best first.": (
        "Mostra os trechos de um projeto que respondem a QUERY, do melhor para o pior."
    ),
    "The project, by any path in it (default: the working directory).": (
        "O projeto, por qualquer caminho dentro dele (padrão: a pasta atual)."
    ),
    "Bring the index up to date first: words, and the vectors that matter here.": (
        "Antes, atualiza o índice: as palavras, e os vetores que importam aqui."
    ),
    "How many results.": "Quantos resultados.",
    "Results to leave out, for paging.": "Resultados a pular, para paginar.",
    "Only this kind of file.": "Só este tipo de arquivo.",
    "Only paths that match, e.g. 'src/**/*.py'.": "Só caminhos que casam, por exemplo 'src/**/*.py'.",
    "How the lanes are put together.": "Como as vias são combinadas.",
    "Constant of reciprocal rank fusion.": "Constante da fusão por posição recíproca.",
    "Hybrid mode: 1 words only, 0 meaning only.": "Modo hybrid: 1 só palavras, 0 só significado.",
    "Lines of each excerpt (default: maxSnippetLines of the project, 7).": (
        "Linhas de cada excerto (padrão: maxSnippetLines do projeto, 7)."
    ),
    "So many of the first results have an excerpt (default: maxSnippetResults of the project, 3).": (
        "Quantos dos primeiros resultados têm excerto (padrão: maxSnippetResults do projeto, 3)."
    ),
    "Pack the best that fits into so many tokens: excerpts are shortened before results are left out.": (
        "Reúne o melhor que cabe em tantos tokens: excertos são encurtados antes de resultados ficarem de fora."
    ),
    "One result a file, or a flat list of passages.": "Um resultado por arquivo, ou uma lista corrida de trechos.",
    "Show the named parts of each score.": "Mostra as partes de cada pontuação, com nome.",
    "Print JSON (documented in docs/commands.md).": "Imprime JSON (documentado em docs/commands.md).",
    # kx status
    "Show documents, chunks, vectors, skipped and failed entries, and the services.": (
        "Mostra documentos, trechos, vetores, entradas ignoradas e com falha, e os serviços."
    ),
    "List every indexed document.": "Lista cada documento indexado.",
    "List every skipped entry with its reason.": "Lista cada entrada ignorada, com o motivo.",
    # kx watch, kx up, kx down
    "Index the project of each PATH (default: of the working directory), then follow every change.\n\n"
    "Ctrl+C stops it and says what was done. The work is the stack's: it goes on for other clients.": (
        "Indexa o projeto de cada PATH (padrão: o da pasta atual) e depois acompanha cada mudança.\n\n"
        "Ctrl+C para e diz o que foi feito. O trabalho é da stack: ela continua para os outros clientes."
    ),
    "Start a stack when none runs (default), or never.": "Inicia uma stack quando não há nenhuma (padrão), ou nunca.",
    "Run every service of kx, start again what dies, and stop all in order on Ctrl+C or `kx down`.": (
        "Roda todos os serviços do kx, reinicia o que morre e encerra tudo em ordem com Ctrl+C ou `kx down`."
    ),
    "Return once every service answers; the stack goes on in the background.": (
        "Volta quando todos os serviços respondem; a stack continua em segundo plano."
    ),
    "End the stack: return when none of its processes runs any more.": (
        "Encerra a stack: volta quando nenhum processo dela roda mais."
    ),
    # kx bus
    "Give other programs on this machine their own credentials to ask kx over NATS.": (
        "Dá a outros programas desta máquina credenciais próprias para falar com o kx por NATS."
    ),
    "Print what a program needs to search one project, and nothing else, over NATS; made on first use.": (
        "Imprime o que um programa precisa para buscar em um projeto, e nada mais, por NATS; criado no primeiro uso."
    ),
    "The tree it may ask about (default: the one of the working directory).": (
        "A árvore sobre a qual ele pode perguntar (padrão: a da pasta atual)."
    ),
    "What to call the program, so that its credentials can be revoked alone.": (
        "Como chamar o programa, para que só as credenciais dele possam ser revogadas."
    ),
    "Show the users that other programs were given; never their passwords.": (
        "Mostra os usuários dados a outros programas; nunca as senhas."
    ),
    "Take back the credentials of one program; a running bus hangs up on it.": (
        "Revoga as credenciais de um programa; um barramento que esteja rodando o desconecta."
    ),
    # kx mcp
    "Serve one project to an agent over stdin and stdout (Model Context Protocol).": (
        "Serve um projeto a um agente por stdin e stdout (Model Context Protocol)."
    ),
    "Root of the project to serve; it must have a .kx.json (default: the project of the working directory).": (
        "Raiz do projeto a servir; precisa ter um .kx.json (padrão: o projeto da pasta atual)."
    ),
    "Refuse to start unless the root is named.": "Recusa iniciar se a raiz não for indicada.",
    "Do not start a stack when none runs.": "Não inicia uma stack quando não há nenhuma.",
    # kx project
    "List, add, remove or move registered projects.": "Lista, registra, remove ou move projetos registrados.",
    "List the registered projects by root.": "Lista os projetos registrados, por raiz.",
    "Register the tree at PATH without indexing it.": "Registra a árvore em PATH sem indexá-la.",
    "Where its index file shall be (default: in ~/.kx/data).": (
        "Onde deve ficar o arquivo de índice (padrão: em ~/.kx/data)."
    ),
    "Forget a project; its files are not touched, its index only with --delete-index.": (
        "Esquece um projeto; os arquivos não são tocados, o índice só com --delete-index."
    ),
    "Delete its index file too.": "Apaga também o arquivo de índice.",
    "Tell kx that a tree now lies at NEW_ROOT; its index goes on as it is.": (
        "Diz ao kx que uma árvore agora está em NEW_ROOT; o índice continua como está."
    ),
    # kx vacuum
    "Make the index file of a project as small as it can be; searching goes on meanwhile.": (
        "Deixa o arquivo de índice de um projeto o menor possível; a busca continua enquanto isso."
    ),
    # kx purge
    "Remove what is indexed of PATH (a file or a folder, also one that is gone) and every trace of it.\n\n"
    "The file itself is not touched. Earlier versions of any text and vectors nobody uses are erased with it.": (
        "Remove o que está indexado de PATH (arquivo ou pasta, mesmo que não exista mais) e todo vestígio dele.\n\n"
        "O arquivo em si não é tocado. Versões anteriores de textos e vetores que ninguém usa são apagados junto."
    ),
    "Look at every byte of the index afterwards, and say what was found.": (
        "Depois, examina cada byte do índice e diz o que encontrou."
    ),
    "Purge also what would be indexed again at the next look at the tree.": (
        "Expurga também o que seria indexado de novo na próxima passada pela árvore."
    ),
    # kx serve
    "Run NAME (bus, watcher, indexer, embedder, query or mcp_gateway) until it is told to stop.": (
        "Roda NAME (bus, watcher, indexer, embedder, query ou mcp_gateway) até receber ordem de parar."
    ),
}
