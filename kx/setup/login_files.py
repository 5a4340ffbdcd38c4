"""The texts that start kx at login: a systemd user unit and a launchd agent (pure)."""

from __future__ import annotations

import plistlib
import re
from collections.abc import Mapping, Sequence

from kx.setup.json_entry import UnchangeableError

LABEL = "local.kx"
UNIT_NAME = "kx.service"
RESTART_S = 30  # also how long a stack that somebody else started is waited for, again and again
STOP_S = 15
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f\"'\\]"
)  # what systemd refuses in the path of a program, though not in an argument

# What a user's manager can do without rights: system call filters. RestrictNamespaces is not among them, because the
# reader of documents makes its own walls of namespaces; IPAddressDeny is not either, because it needs rights.
UNIT = """\
# Written by: kx service install
[Unit]
Description=kx: local search for people and agents

[Service]
Type=exec
ExecStart={command}
{environment}Restart=on-failure
RestartSec={restart_s}
TimeoutStopSec={stop_s}
KillMode=mixed
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Give the unit that runs `command`, whose first word is an absolute path.

    Raises:
        UnchangeableError: a path that is no UTF-8, which systemd does not read.
    """
    program, *arguments = map(_encodable, command)
    if _UNSAFE.search(program):
        program, arguments = "/bin/sh", ["-c", 'exec "$0" "$@"', program, *arguments]
    words = [_quoted(program), *(_quoted(word).replace("$", "$$") for word in arguments)]
    lines = [f"Environment={_quoted(_encodable(f'{name}={value}'))}\n" for name, value in environment.items()]
    return UNIT.format(command=" ".join(words), environment="".join(lines), restart_s=RESTART_S, stop_s=STOP_S)


def launchd_agent(command: Sequence[str], environment: Mapping[str, str], *, log: str) -> bytes:
    """Give the property list of the agent that runs `command`; what it prints goes to the file `log`.

    Raises:
        UnchangeableError: a path that XML cannot say.
    """
    agent: dict[str, object] = {
        "Label": LABEL,
        "ProgramArguments": [_encodable(word) for word in command],
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_S,
        "ExitTimeOut": STOP_S,
        "Umask": 0o077,
        "StandardErrorPath": _encodable(log),
    }
    if environment:
        agent["EnvironmentVariables"] = {name: _encodable(value) for name, value in environment.items()}
    try:
        return plistlib.dumps(agent, sort_keys=False)
    except ValueError as error:  # a control character
        raise UnchangeableError("a path in it has a control character") from error


def _quoted(word: str) -> str:
    """Quote a word for systemd: C escapes, and a percent sign doubled."""
    return '"' + "".join(map(_escaped, word)) + '"'


def _escaped(char: str) -> str:
    if char in '\\"':
        return "\\" + char
    if char == "%":
        return "%%"
    return f"\\x{ord(char):02x}" if ord(char) < ord(" ") or ord(char) == 0x7F else char


def _encodable(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise UnchangeableError("a path in it is not valid UTF-8") from error
    return word
