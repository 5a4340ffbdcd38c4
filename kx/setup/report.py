"""What a setup says of each step, as it happens or as one JSON document at the end."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Literal

from kx.context import Context
from kx.render import as_json
from kx.setup.agents import TITLES
from kx.setup.changes import Change, Kind, diff_of
from kx.terminal import visible

JSON_SCHEMA = 1
State = Literal["done", "declined", "planned", "nothing", "refused", "skipped"]
_SIGNS: dict[State, str] = {
    "done": "✓",
    "nothing": "✓",
    "planned": "·",
    "declined": "-",
    "skipped": "-",
    "refused": "✗",
}
_STATES: dict[Kind, State] = {"change": "planned", "nothing": "nothing", "refused": "refused", "skipped": "skipped"}


class Report:
    """Tells a person step by step, a program at the end."""

    def __init__(self, context: Context, *, is_json: bool) -> None:
        self._context = context
        self.is_json = is_json
        self.has_told_agents = False
        self._steps: list[dict[str, Any]] = []

    def planned(self, change: Change) -> None:
        """Tell what would be done, or why nothing is."""
        if change.kind == "change":
            self.diff(change)
        self.ended(change, _STATES[change.kind], why=change.why)

    def skipped(self, change: Change, why: str) -> None:
        """Tell that a step needs another."""
        self.ended(change, "skipped", why=why)

    def diff(self, change: Change, then: Sequence[tuple[str, ...]] = ()) -> None:
        """Show a change before it is made, and the commands that are run after it; a program gets it at the end."""
        if self.is_json:
            return
        text = self._context.catalogue.text
        lines = (
            [diff_of(change)]
            if change.step != "index"
            else [text("index {root}: words now, vectors by and by", root=str(change.path))]
        )
        lines += [text("then run: {command}", command=shlex.join(command)) for command in then]
        self._context.say(visible("\n".join(lines)))

    def ended(
        self,
        change: Change,
        state: State,
        *,
        why: str = "",
        commands: Sequence[tuple[str, ...]] = (),
        hints: Sequence[str] = (),
    ) -> None:
        """Tell how a step ended, with what is left to type."""
        self.has_told_agents |= state == "done" and change.step in TITLES and change.record is None
        typed = [shlex.join(command) for command in commands]
        self._steps.append(
            {
                "step": change.step,
                "state": state,
                "path": "" if change.path is None else str(change.path),
                "diff": diff_of(change) if change.kind == "change" else "",
                "why": why,
                "paste": change.paste,
                "commands": typed,
            }
        )
        if not self.is_json:
            self._tell(change, state, why, [*typed, *hints])

    def _tell(self, change: Change, state: State, why: str, left: Sequence[str]) -> None:
        text = self._context.catalogue.text
        title = TITLES[change.step] if change.step in TITLES else text(_NAMES[change.step])
        head = f"{_SIGNS[state]} {title}: {text(_WORDS[state])}" + (f" ({change.path})" if change.path else "")
        lines = [head, *([f"  {text(why)}"] if why else [])]
        if change.paste:
            lines += ["  " + text("to do it by hand, write into {file}:", file=str(change.path)), change.paste.rstrip()]
        if left:
            lines += ["  " + text("left for you to type:"), *(f"  {text(one)}" for one in left)]
        self._context.say(visible("\n".join(lines)))

    def print(self) -> None:
        """Give the document."""
        if self.is_json:
            self._context.say(as_json({"schema": JSON_SCHEMA, "steps": self._steps}))


_NAMES = {"configuration": "configuration", "index": "index", "login": "start at login"}
_WORDS: dict[State, str] = {
    "done": "done",
    "nothing": "nothing to change",
    "planned": "would be changed",
    "declined": "left as it is",
    "skipped": "left out",
    "refused": "cannot be changed by kx",
}
