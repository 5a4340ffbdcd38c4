#!/bin/sh
# The installed `kx`. A shell starts Python because only the command line can isolate it: a script with Python in its
# first line would already have run a `sitecustomize` or a `kx` that PYTHONPATH names (an empty entry is the current
# folder). Costs a millisecond; re-executing Python would cost sixteen.
self=$0
if [ -L "$self" ]; then # pipx and uv link it from a folder on the PATH
  self=$(readlink -f -- "$self")
fi
python=${self%/*}/python3
if [ ! -x "$python" ]; then
  echo "kx: no Python beside $self; install kx in an environment of its own, for example with pipx or uv tool" >&2
  exit 78
fi
exec "$python" -I -m kx "$@"
