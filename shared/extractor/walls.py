"""The walls around a child that reads a hostile document: raised by itself, before it sees the first byte.

What a kernel does not allow is left out and not told as standing. From the last wall on nothing can be opened, so
whatever the readers need is imported before.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_PR_SET_DUMPABLE = 4
_CAPABILITIES = 64  # more than there are
_CAPABILITY_VERSION_3 = 0x20080522
_STDERR = 2
_NOBODY = 65_534
_IS_ROOT = os.getuid() == 0  # before a user namespace hides it


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def raise_walls(*, memory_bytes: int, cpu_s: int) -> list[str]:
    """Raise every wall there is; give the names of those that stand."""
    os.umask(0o077)
    names = ["group"] if os.getpgrp() == os.getpid() else []
    names += ["namespace"] if _own_namespaces() else []
    names += ["folder"] if _empty_folder() else []
    is_somebody = _become_nobody()
    limits = {
        "cpu": (resource.RLIMIT_CPU, cpu_s),
        "memory": (resource.RLIMIT_AS, memory_bytes),
        "files": (resource.RLIMIT_FSIZE, 0),
        "core": (resource.RLIMIT_CORE, 0),
    }
    if is_somebody:  # the kernel keeps root to no number of processes
        limits["processes"] = (resource.RLIMIT_NPROC, 0)
    names += [name for name, (limit, value) in limits.items() if _limit(limit, value)]
    names += ["privileges"] if _drop_privileges() else []
    if _close_descriptors() and _limit(resource.RLIMIT_NOFILE, _STDERR + 1):
        names.append("descriptors")
    return names


def _limit(limit: int, value: int) -> bool:
    try:
        resource.setrlimit(limit, (value, value))
    except (OSError, ValueError):
        return False
    # macOS takes a limit of the address space and does not keep to it.
    return not (sys.platform == "darwin" and limit == resource.RLIMIT_AS)


def _own_namespaces() -> bool:
    """Leave the network; whoever may not do that does it as root of a user namespace."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWUTS | _CLONE_NEWNS
    return bool(libc.unshare(wanted) == 0 or libc.unshare(wanted | _CLONE_NEWUSER) == 0)


def _empty_folder() -> bool:
    """Make the folder it stands in, which is deleted already, all there is of the file system."""
    try:
        os.chroot(".")
        os.chdir("/")
    except OSError:
        return False
    return True


def _become_nobody() -> bool:
    """Stop being root; tell whether the user is an ordinary one."""
    if os.getuid() != 0:
        return not _IS_ROOT
    try:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except OSError:
        return False
    return True


def _drop_privileges() -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    for capability in range(_CAPABILITIES):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    is_bare = libc.capset(ctypes.byref(header), nothing) == 0
    return bool(is_bare and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)


def _close_descriptors() -> bool:
    os.closerange(_STDERR + 1, 65_536)
    with suppress(OSError):
        signal.set_wakeup_fd(-1)
    return True
