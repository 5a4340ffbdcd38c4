"""Notes as people, the original and kx write them, and mutations of them."""

from __future__ import annotations

import random

ORIGINAL = """---
type: atividade
id: 7
titulo: feature de exemplo: reconciliação por IP #3
squad: pdv-core             # time de uma pessoa
modulo: Edge Bootstrap
status: em-andamento        # em-andamento|pendente|bloqueado|concluida
data_inicio: 2026-07-06
data_entrega: 2026-07-15
tags: [atividade]
updated: 2026-07-10
azure_items: [12345, 12346]
sessoes_claude: ["uuid-1", "uuid-2"]   # sessoes que tocaram a atividade
---

# Atividade: feature de exemplo: reconciliação por IP #3

## Descricao

(a preencher)

## Squad e Modulo

- Squad: [[team/squads/pdv-core]]
- Modulo/Servico: Edge Bootstrap

## Branches

| Repositorio | Branch |
|---|---|
| middleware | feature/onboard-v4 |

## Sessoes Claude Code

| ID da Sessao | Data | Resumo |
|---|---|---|
| uuid-1 | 2026-07-06 | Criacao da atividade |

## Log de Progresso

### 2026-07-10

- segundo dia

### 2026-07-06

- Atividade criada.

## Erros e Bloqueios

-

## Status

- [x] Em andamento
- [ ] Bloqueado
- [ ] Pendente / nao iniciado
- [ ] Concluido

## Links Relacionados

- [[MOC-Atividades]]
"""

BY_HAND = """---
aliases:
  - nota
type: Atividade
"titulo": 'Uma "nota" à mão'
status: "Pendente"
tags:
- a
- b
nested:
  status: not this one
  list: [1, 2]
text: |
  status: nor this
  # not a comment
sessoes_claude:
    - s-1
...
Prosa antes de tudo.

Título sublinhado
=================

```sh
# no heading
## Status
```

## 📈 Progresso

- **2026-01-02**: andou
    - detalhe

<!--
## Status
comentário
-->

Observações

| a | b |
|---|---|
"""

FOREIGN_KEYS = (
    "x-foreign: value # with comment", "# a comment", "", "ação: 1", "empty:", "'quoted key': yes",
    "bomb: &a [*a, *a, *a]", "long: " + "x" * 5_000, "anchors: {a: &b [1], c: *b}", "status_note: keep",
)  # fmt: skip
BODY_LINES = (
    "à mão: uma linha", "---", "## Seção alheia", "```", "~~~~", "<!-- aberto", "-->", "- [ ] tarefa", "=====",
    "| x | y |", "\ttab", "\u2028separador", "#sem espaço", "### 2026-03-01", "- 2026-03-02 item", "\x00\x07",
)  # fmt: skip


def mutated(chance: random.Random) -> bytes:
    """Make one note: a base, keys and lines put in, lines taken out, endings and bytes changed."""
    lines = chance.choice([ORIGINAL, BY_HAND, ORIGINAL]).split("\n")
    for _ in range(chance.randrange(4)):
        lines.insert(chance.randrange(1, 8), chance.choice(FOREIGN_KEYS))
    for _ in range(chance.randrange(6)):
        lines.insert(chance.randrange(len(lines)), chance.choice(BODY_LINES))
    if chance.random() < 0.3:
        del lines[chance.randrange(len(lines))]
    if chance.random() < 0.1:
        lines.insert(20, lines[6])  # a key twice, or a line of the body
    if chance.random() < 0.05:
        lines += ["| linha | de tabela |"] * 2_000
    data = "\n".join(lines).encode()
    if chance.random() < 0.4:
        data = data.replace(b"\n", b"\r\n")
    if chance.random() < 0.3:
        data = b"\xef\xbb\xbf" + data
    if chance.random() < 0.2:
        data += b"\xff\xfe latin \xe7\xe3o"
    if chance.random() < 0.2:
        data = data.rstrip(b"\r\n")
    return data


def with_hand_edit(data: bytes, chance: random.Random) -> tuple[bytes, bytes]:
    """Edit a note as a person between two updates: one line put in after the front matter; gives the line too."""
    newline = b"\r\n" if b"\r\n" in data[:200] else b"\n"
    line = f"à mão {chance.randrange(10**9)}".encode()
    lines = data.split(newline)
    lines.insert(chance.randrange(len(lines) // 2, len(lines)), line)
    return newline.join(lines), line
