"""The cache of machine code: what is found is right, and what is broken only costs time."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import ptokit as pto
from ptokit.engines import native
from ptokit.engines.native.plan import plan_of
from ptokit.engines.reference import engine as reference
from ptokit.ir.module import Op, Value
from ptokit.isa.lang import instr
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import DEFAULT_TARGET
from ptokit.isa.model.tiles import tile_type
from ptokit.isa.pages.layout.ttrans import TTrans
from ptokit.machine import cache, codefolder
from ptokit.machine.execute import Core
from ptokit.machine.memory import Memory
from ptokit.machine.objectcode import ParsedModule
from ptokit.machine.tile import Tile
from ptokit.values.arrays import Cells
from ptokit.values.dtypes import f32
from ptokit.values.enumerations import VEC
from ptokit.values.fixpipe import CPU_READING

llvm = pytest.importorskip("llvmlite.binding", reason="llvmlite is not installed")

KIND = "!pto.tile_buf<vec, 8x16xf32>"
TEXT = f"""
func.func @f(%a: {KIND}, %b: {KIND}, %sum: {KIND}) {{
  pto.tadd ins(%a, %b : {KIND}, {KIND}) outs(%sum : {KIND})
  return
}}
"""
ENGINES = ("reference", "native")
AnyArray: TypeAlias = NDArray[Any]  # Any: float32 or int32
A = np.arange(128, dtype=np.float32).reshape(8, 16)
B = np.full((8, 16), 0.5, np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder, which is not there yet."""
    path = tmp_path / "deep" / "code"
    monkeypatch.setenv("PTOKIT_CACHE", str(path))
    return path


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that are compiled, not found."""
    texts: list[str] = []
    original = cache.parsed

    def generate(text: str, processor: cache.Processor) -> ParsedModule:
        texts.append(text)
        return original(text, processor)

    monkeypatch.setattr(cache, "parsed", generate)
    return texts


def added(a: AnyArray = A, b: AnyArray = B, engine: str = "native", text: str = TEXT) -> AnyArray:
    (result,) = pto.loads(text).execute({"a": a, "b": b}, engine=engine).outputs.values()
    return result


def kept(folder: Path) -> Path:
    """The one file of a folder."""
    (path,) = folder.iterdir()
    return path


def test_the_second_run_finds_what_the_first_made(folder: Path, generated: list[str]) -> None:
    assert np.array_equal(added(), A + B)
    assert folder.is_dir()
    for _ in range(3):
        assert np.array_equal(added(), A + B)
    assert len(generated) == 1
    assert np.array_equal(added(a=B, b=B), B + B)
    assert len(generated) == 1


BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda raw: b"",
    "short": lambda raw: raw[:20],
    "half": lambda raw: raw[: len(raw) // 2],
    "all but the last byte": lambda raw: raw[:-1],
    "longer": lambda raw: raw + b"\0",
    "one bit": lambda raw: raw[:-100] + bytes([raw[-100] ^ 1]) + raw[-99:],
    "another checksum": lambda raw: bytes(32) + raw[32:],
    "noise": lambda raw: np.random.default_rng(1).bytes(len(raw)),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_file_is_made_anew(folder: Path, generated: list[str], how: str) -> None:
    added()
    path = kept(folder)
    whole = path.read_bytes()
    path.write_bytes(BROKEN[how](whole))
    assert np.array_equal(added(), A + B)
    assert len(generated) == 2
    assert np.array_equal(added(), A + B)
    assert len(generated) == 2
    assert kept(folder) == path


def test_a_folder_in_the_place_of_a_file(folder: Path, generated: list[str]) -> None:
    added()
    path = kept(folder)
    path.unlink()
    path.mkdir()
    assert np.array_equal(added(), A + B)
    assert np.array_equal(added(), A + B)
    assert len(generated) == 3  # it cannot be kept
    assert kept(folder) == path  # and leaves nothing behind


def test_a_file_in_the_place_of_the_folder(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("not a folder", encoding="utf-8")
    assert np.array_equal(added(), A + B)
    assert folder.read_text(encoding="utf-8") == "not a folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(folder: Path, generated: list[str]) -> None:
    folder.mkdir(parents=True)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert np.array_equal(added(), A + B)
    assert np.array_equal(added(), A + B)
    assert len(generated) == 2
    assert list(folder.iterdir()) == []


# What is read is run: so it must be this user's, and nobody else's to write.


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had been warned of."""
    monkeypatch.setattr(codefolder, "_warned", set[Path]())


def said(run: Callable[[], object]) -> list[str]:
    """The warnings of the cache."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run()
    assert all(w.category is codefolder.CacheWarning for w in seen)
    return [str(w.message) for w in seen]


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_may_write_is_not_used(
    folder: Path, generated: list[str], fresh: None, mode: int
) -> None:
    added()
    kept(folder).chmod(mode)
    (warned,) = said(lambda: added())
    assert "may be written by other users" in warned
    assert len(generated) == 2
    assert kept(folder).stat().st_mode & 0o777 == 0o600  # written anew
    assert said(lambda: added()) == []
    assert len(generated) == 2


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o703])
def test_a_folder_that_others_may_write_is_not_used(
    folder: Path, generated: list[str], fresh: None, mode: int
) -> None:
    added()
    folder.chmod(mode)
    (warned,) = said(lambda: (added(), added()))  # once
    assert str(folder) in warned
    assert len(generated) == 3
    assert len(list(folder.iterdir())) == 1  # nothing is written either


def test_files_and_folders_of_others_are_not_used(
    folder: Path, generated: list[str], fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    added()
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    (warned,) = said(lambda: added())
    assert "belongs to another user" in warned
    assert len(generated) == 2


def test_code_under_the_name_of_another_program_is_not_used(
    folder: Path, generated: list[str]
) -> None:
    added()
    first = kept(folder)
    other = TEXT.replace("pto.tadd", "pto.tmul")
    added(text=other)
    (second,) = {*folder.iterdir()} - {first}
    second.write_bytes(first.read_bytes())
    assert np.array_equal(added(text=other), A * B)
    assert len(generated) == 3


def test_a_link_is_not_followed(folder: Path, generated: list[str], tmp_path: Path) -> None:
    added()
    path = kept(folder)
    path.rename(tmp_path / "elsewhere.o")
    path.symlink_to(tmp_path / "elsewhere.o")
    assert np.array_equal(added(), A + B)
    assert len(generated) == 2
    assert not path.is_symlink()


def test_a_pipe_is_not_waited_for(folder: Path, generated: list[str]) -> None:
    added()
    path = kept(folder)
    path.unlink()
    os.mkfifo(path)
    assert np.array_equal(added(), A + B)
    assert len(generated) == 2


@pytest.mark.parametrize("mode", [None, 0o777, 0o775])
def test_the_default_folder_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None
) -> None:
    monkeypatch.delenv("PTOKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "ptokit"
    if mode is not None:
        path.mkdir()
        path.chmod(mode)
    assert said(lambda: added()) == []
    assert path.stat().st_mode & 0o777 == 0o700
    assert kept(path).stat().st_mode & 0o777 == 0o600


def test_no_home_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("PTOKIT_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert np.array_equal(added(), A + B)


def test_a_file_holds_no_python(folder: Path) -> None:
    """Neither the file nor the code that reads it: a pickle would run what it says."""
    added()
    raw = kept(folder).read_bytes()[32:]
    size = int.from_bytes(raw[:8], "little")
    assert json.loads(raw[8 : 8 + size])
    sources = Path(cache.__file__).parent.glob("*.py")
    assert not [p.name for p in sources if "pickle" in p.read_text(encoding="utf-8")]


def test_a_plan_names_no_class_of_others() -> None:
    for where in ("os:system", "ptokit.engines.native.plan:import_module", "builtins:eval"):
        text = json.dumps([[[where, ["x"]]], {"object": 0}]).encode()
        with pytest.raises(ValueError, match=where.partition(":")[0]):
            plan_of(text)


def test_other_files_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codefolder, "KEEP", 1)
    monkeypatch.setattr(codefolder, "PRUNE_EVERY", 1)
    folder.mkdir(parents=True, mode=0o700)
    mine = [folder / name for name in ("main.o", "notes.txt")]
    for path in mine:
        path.write_text("mine", encoding="utf-8")
        os.utime(path, (1, 1))
    unfinished = folder / f"{codefolder.UNFINISHED}x"
    unfinished.touch()
    os.utime(unfinished, (1, 1))
    added()
    added(text=TEXT.replace("pto.tadd", "pto.tmul"))
    assert {p for p in folder.iterdir() if p.suffix != ".o" or p in mine} == {*mine}
    assert len(list(folder.iterdir())) == 3


def test_a_file_that_another_process_removes_while_this_one_looks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The listing is closed all the same."""
    found, closed = os.scandir, list[bool]()

    class Gone:
        name = "gone.o"

        def stat(self, **_: object) -> os.stat_result:
            raise FileNotFoundError(self.name)

    class Listing:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            closed.append(True)

        def __iter__(self) -> Iterator[Gone]:
            return iter([Gone()])

    def listed(path: Path) -> Any:  # Any: entries, or what stands for them
        return Listing() if path == folder else found(path)

    monkeypatch.setattr(codefolder, "PRUNE_EVERY", 1)
    monkeypatch.setattr(os, "scandir", listed)
    assert np.array_equal(added(), A + B)
    assert closed == [True]


@pytest.mark.parametrize("word", ["mkdir", "open", "replace"])
def test_a_disk_that_is_full(
    folder: Path, generated: list[str], monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    places = {"mkdir": "pathlib.Path.mkdir", "replace": "os.replace"}
    monkeypatch.setattr(places.get(word, "tempfile.NamedTemporaryFile"), full)
    assert np.array_equal(added(), A + B)
    assert len(generated) == 1
    assert not folder.exists() or list(folder.iterdir()) == []  # nothing half written stays


CHILD = f"""
import sys
import numpy as np
import ptokit as pto
a = np.full((8, 16), 2, np.float32)
sys.stdin.readline()
(got,) = pto.loads({TEXT!r}).run(engine="native", a=a, b=a).values()
assert (got == 4).all()
print("same")
"""


def test_processes_that_compile_the_same_at_once(folder: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for child in children:  # all are ready: go
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    assert [child.communicate(timeout=120)[0] for child in children] == ["same\n"] * 4
    assert kept(folder).suffix == ".o"


def test_each_processor_has_code_of_its_own(folder: Path, generated: list[str]) -> None:
    added()
    processor = cache.this_processor()
    with cache.generating_for(cache.Processor(processor.cpu, f"{processor.features},-fma")):
        assert np.array_equal(added(), A + B)
    added()
    assert len(generated) == len(list(folder.iterdir())) == 2


# What code depends on is part of its name: programs that differ in one thing do not meet.


SQUARE = tile_type(VEC, f32, 16, 16)


def transposed(
    engine: Any, *, shared: bool, page: type[Instr] = TTrans
) -> NDArray[np.uint8]:  # Any: an engine
    """The bytes of a transposed tile, in its own place or in another memory."""
    data = np.arange(1024, dtype=np.uint16).view(np.uint8)
    source = Memory("tile", data[:1024].copy(), written=True)
    target = source if shared else Memory("tile", data[1024:].copy(), written=True)
    src, dst = Value("src", SQUARE), Value("dst", SQUARE)
    handles = {src: Tile(SQUARE, source, 0), dst: Tile(SQUARE, target, 0)}
    op = Op(page, {"dst": dst, "src": src})
    engine.run_op(op, handles, Core(DEFAULT_TARGET, CPU_READING))
    return target.data


def test_operands_that_share_their_bytes_have_other_code(folder: Path) -> None:
    """What is right for separate memories of one name is wrong in place."""
    for shared in (False, True, False):
        expected, got = (transposed(e, shared=shared) for e in (reference, native))
        assert np.array_equal(expected, got), shared


def mine(body: Callable[[Cells, Cells], None]) -> type[Instr]:
    """A page that is not ptokit's, always of the same name."""
    made = type("Mine", (TTrans,), {"__doc__": "Mine.", "run": staticmethod(body)})
    instr.PAGES.remove(made)
    return made


def test_pages_of_one_name_that_are_not_ptokits_have_their_own_code(folder: Path) -> None:
    """As when a notebook defines its page again."""

    def copied(dst: Cells, src: Cells) -> None:
        dst[dst.valid] = src[dst.valid]

    def doubled(dst: Cells, src: Cells) -> None:
        dst[dst.valid] = src[dst.valid] + src[dst.valid]

    for body in (copied, doubled):
        page = mine(body)
        expected, got = (transposed(e, shared=False, page=page) for e in (reference, native))
        assert np.array_equal(expected, got), body.__name__


def test_names_in_errors_are_the_programs_own(folder: Path) -> None:
    """A program that differs in names only finds the same code and says its own names."""
    text = f"""
func.func @f(%sum: {KIND}) {{
  %blank = pto.alloc_tile : {KIND}
  %x = pto.tgetval ins(%blank, 0 : {KIND}, index) outs : f32
  pto.tadds ins(%sum, %x : {KIND}, f32) outs(%sum : {KIND})
  return
}}
"""
    for name in ("blank", "other"):
        renamed = text.replace("%blank", f"%{name}")
        said: list[str] = []
        for engine in ENGINES:
            with pytest.raises(pto.PtoError) as problem:
                pto.loads(renamed).run(engine=engine)
            said.append(str(problem.value))
        assert said[0] == said[1]
        assert "uninitialised-read" in said[1]
        assert f"%{name}" in said[1]
