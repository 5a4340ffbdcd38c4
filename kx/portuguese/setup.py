"""What `kx setup` and `kx service` say."""

from __future__ import annotations

SETUP: dict[str, str] = {
    # steps and how they ended
    "configuration": "configuração",
    "start at login": "início com a sessão",
    "done": "feito",
    "nothing to change": "nada a mudar",
    "would be changed": "seria mudado",
    "left as it is": "ficou como está",
    "left out": "deixado de fora",
    "cannot be changed by kx": "o kx não pode mudar",
    "to do it by hand, write into {file}:": "para fazer à mão, escreva em {file}:",
    "left for you to type:": "falta você digitar:",
    "index {root}: words now, vectors by and by": "indexar {root}: as palavras agora, os vetores aos poucos",
    "then run: {command}": "depois rodar: {command}",
    "Do this?": "Fazer isso?",
    "nothing was changed: there is no terminal to ask on; with --yes all of it is done": (
        "nada foi mudado: não há terminal para perguntar; com --yes tudo é feito"
    ),
    "nothing was changed; without --dry-run each change is asked about": (
        "nada foi mudado; sem --dry-run cada mudança é perguntada"
    ),
    "agents see kx when they are started anew": "os agentes veem o kx quando são iniciados de novo",
    "the index stays; to remove it: kx project remove --delete-index {root}": (
        "o índice fica; para removê-lo: kx project remove --delete-index {root}"
    ),
    "# What helps in CLAUDE.md or AGENTS.md; kx never writes it:": (
        "# O que ajuda em CLAUDE.md ou AGENTS.md; o kx nunca escreve isso:"
    ),
    """\
## Finding things in this project

Before you read files one by one, ask kx: its tool `search` finds passages of code, docs, configuration and notes by meaning
and by exact words, with exact lines. Where a tool asks for `expected_project_id` and `expected_project_root`, the first is
`mcp.projectId` in `.kx.json`, the second the absolute path of this folder.""": """\
## Como achar coisas neste projeto

Antes de ler arquivo por arquivo, pergunte ao kx: a ferramenta `search` acha trechos de código, documentação, configuração e
notas por significado e por palavras exatas, com as linhas exatas. Onde uma ferramenta pede `expected_project_id` e
`expected_project_root`, o primeiro é `mcp.projectId` do `.kx.json`, o segundo o caminho absoluto desta pasta.""",
    "--undo and --show exclude each other": "--undo e --show se excluem",
    # why a step is refused or left out
    "without a .kx.json agents cannot name the project": "sem um .kx.json os agentes não podem dizer o projeto",
    "mcpServers is not an object of objects": "mcpServers não é um objeto de objetos",
    "it is not plain JSON (comments, a trailing comma, or a mistake)": (
        "não é JSON puro (comentários, uma vírgula sobrando, ou um erro)"
    ),
    "it is not a JSON object": "não é um objeto JSON",
    "it is not TOML, or has a mistake": "não é TOML, ou tem um erro",
    "its table for this project has more in it than kx would write": (
        "a tabela deste projeto tem mais do que o kx escreveria"
    ),
    "it is written in a way kx does not change": "está escrito de um jeito que o kx não muda",
    "it is a link that leads elsewhere": "é um link que leva para fora",
    "it cannot be read": "não pode ser lido",
    "it cannot be written": "não pode ser escrito",
    "it is not a file": "não é um arquivo",
    "it belongs to another user": "pertence a outro usuário",
    "it is very large": "é muito grande",
    "it is not UTF-8": "não é UTF-8",
    "a path in it is not valid UTF-8": "um caminho nele não é UTF-8 válido",
    "a path in it has a control character": "um caminho nele tem um caractere de controle",
    "it was changed by hand since; remove it by hand if you want to": (
        "foi mudado à mão desde então; remova à mão se quiser"
    ),
    "its entry for kx replaced another, and was changed by hand since": (
        "a entrada do kx substituiu outra, e foi mudada à mão desde então"
    ),
    "{file} was changed while kx was about to change it": "{file} foi mudado enquanto o kx ia mudá-lo",
    "nothing was written; run the command again": "nada foi escrito; rode o comando de novo",
    # login
    "only systemd and launchd are known here": "aqui só se conhecem systemd e launchd",
    "you are root, and kx would run as root at every login": "você é root, e o kx rodaria como root a cada sessão",
    "run it as the user who searches, or say that you mean it: kx service install --as-root": (
        "rode como o usuário que busca, ou diga que é isso mesmo: kx service install --as-root"
    ),
    "it is there already, and kx did not write it": "já existe, e não foi o kx que escreveu",
    "WSL runs no systemd: write [boot] and systemd=true into /etc/wsl.conf, then run in Windows: wsl --shutdown": (
        "o WSL está sem systemd: escreva [boot] e systemd=true em /etc/wsl.conf, depois rode no Windows: wsl --shutdown"
    ),
    "a stack runs already; this one takes its place when that ends: kx down": (
        "já há serviços no ar; este assume quando eles terminarem: kx down"
    ),
    "kx does not start at login; to change that: kx service install": (
        "o kx não inicia com a sessão; para mudar isso: kx service install"
    ),
    "enabled": "ligado",
    "not enabled": "desligado",
    "runs": "no ar",
    "does not run": "fora do ar",
    "{file}: {reason}": "{file}: {reason}",
    "see: kx service status": "veja: kx service status",
    "{file} was not written by kx": "{file} não foi escrito pelo kx",
    "remove it by hand: {commands}": "remova à mão: {commands}",
}

SETUP_HELP: dict[str, str] = {
    "Keep kx for the project of PATH: configuration, index, agents, start at login.\n\nEach change is shown before it is made, and "
    "asked about. What is there already stays as it is, and kx setup --undo takes\nback exactly what was changed.": (
        "Fica com o kx no projeto de PATH: configuração, índice, agentes, início com a sessão.\n\nCada mudança é mostrada "
        "antes de ser feita, e perguntada. O que já existe fica como está, e kx setup --undo\ndesfaz exatamente o que foi mudado."
    ),
    "Set up this agent, also where it was not found (default: those that are found).": (
        "Configura este agente, mesmo que não tenha sido achado (padrão: os que forem achados)."
    ),
    "Index the project where it is not indexed (default), or not.": (
        "Indexa o projeto onde ainda não está indexado (padrão), ou não."
    ),
    "Start kx at login (default), or not.": "Inicia o kx com a sessão (padrão), ou não.",
    "Make every change without asking.": "Faz cada mudança sem perguntar.",
    "Show every change and make none.": "Mostra cada mudança e não faz nenhuma.",
    "Take back what setup has changed for this project.": "Desfaz o que o setup mudou neste projeto.",
    "Print the ready-made configuration of an agent, or of all, and change nothing.": (
        "Mostra a configuração pronta de um agente, ou de todos, e não muda nada."
    ),
    "Start kx at login: install, uninstall, status.": "Inicia o kx com a sessão: install, uninstall, status.",
    "Start kx at every login, and now: a systemd user unit, or a launchd agent on macOS.": (
        "Inicia o kx a cada sessão, e agora: uma unit de usuário do systemd, ou um agente do launchd no macOS."
    ),
    "Install also where you are root: kx then runs as root.": "Instala mesmo que você seja root: o kx roda então como root.",
    "No longer start kx at login; what was written is removed, and the one that runs by it ends.": (
        "Deixa de iniciar o kx com a sessão; o que foi escrito é removido, e o que roda por ele termina."
    ),
    "Say whether kx starts at login, and whether it runs; the exit code is 1 where it does not start.": (
        "Diz se o kx inicia com a sessão, e se está no ar; o código de saída é 1 onde não inicia."
    ),
}
