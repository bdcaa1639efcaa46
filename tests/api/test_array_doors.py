"""Every door that takes an array, with every kind of array: the right values, or a refusal.

A door gives back what it was given: a copy made by a kernel, a program, a tile or a file. The
expected values are those that NumPy has of the kind.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from fuzz.scale import sampled
from ptokit.tools.cli import main

Array: TypeAlias = Any  # Any: whatever somebody passes
REFUSALS = (pto.PtoError, ValueError, TypeError)
ROWS, COLS = 8, 64
X = (np.arange(ROWS * COLS).reshape(ROWS, COLS) * 37 % 100).astype(np.float32)
PROGRAM = """func.func @f(%x: !pto.ptr<TYPE>, %y: !pto.ptr<TYPE>, %n: index) {
  %vx = pto.make_tensor_view %x, shape = [8, 64], strides = [64, 1] : !pto.tensor_view<?x?xTYPE>
  %vy = pto.make_tensor_view %y, shape = [8, 64], strides = [64, 1] : !pto.tensor_view<?x?xTYPE>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xTYPE>
  pto.tload ins(%vx : !pto.tensor_view<?x?xTYPE>) outs(%t : !pto.tile_buf<vec, 8x64xTYPE>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x64xTYPE>) outs(%vy : !pto.tensor_view<?x?xTYPE>)
  return
}"""


class Library:
    """An array of another library."""

    def __init__(self, array: Array) -> None:
        self.array = array


class Interface(Library):
    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class DLPacked(Library):
    def __dlpack__(self, **how: Any) -> Any:
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Copied(Library):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.array.copy()


class Shared(Library):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.array


class Broken(Library):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        raise RuntimeError("the file is closed")


def unaligned(array: Array) -> Array:
    room = np.zeros(array.nbytes + 1, np.uint8)
    made = np.frombuffer(room, array.dtype, array.size, 1).reshape(array.shape)
    made[...] = array
    assert not made.flags.aligned or array.itemsize == 1
    return made


def stepped(array: Array) -> Array:
    made = np.zeros((array.shape[0], 2 * array.shape[1]), array.dtype)[:, ::2]
    made[...] = array
    return made


def frozen(array: Array) -> Array:
    made = array.copy()
    made.flags.writeable = False
    return made


def mapped(array: Array, mode: Any = "r+") -> Array:
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(array.tobytes())
    made = np.memmap(file.name, array.dtype, mode, shape=array.shape)
    Path(file.name).unlink()
    return made


def swapped(array: Array) -> Array:
    return array.astype(array.dtype.newbyteorder(">"))


def one_row(array: Array) -> Array:
    return np.lib.stride_tricks.as_strided(array.copy(), array.shape, (0, array.itemsize))


def masked(array: Array) -> Array:
    return np.ma.masked_greater(array, 50)


# kinds of arrays in which an output may be: stores arrive in the memory that was given
WRITABLE: dict[str, Callable[[Array], Array]] = {
    "plain": np.copy,
    "big-endian": swapped,
    "big-endian in columns": lambda a: np.asfortranarray(swapped(a)),
    "in columns": np.asfortranarray,
    "from the end": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "stepped": stepped,
    "unaligned": unaligned,
    "unaligned big-endian": lambda a: unaligned(swapped(a)),
    "np.matrix": lambda a: a.copy().view(np.matrix),
    "memory map": mapped,
    "nothing masked": np.ma.array,
    "an interface": lambda a: Interface(a.copy()),
    "DLPack alone": lambda a: DLPacked(a.copy()),
    "the memory itself": lambda a: Shared(a.copy()),
}
# kinds that are inputs only
READABLE: dict[str, Callable[[Array], Array]] = {
    "read-only": frozen,
    "read-only map": lambda a: mapped(a, "r"),
    "one row for all": one_row,
    "one element for all": lambda a: np.broadcast_to(a[:1, :1], a.shape),
    "a copy": lambda a: Copied(a),
}
# kinds that no door takes
REFUSED: dict[str, Callable[[Array], Array]] = {
    "masked": masked,
    "objects": lambda a: a.astype(object),
    "records": lambda a: a.astype([("re", "<f4")]),
    "complex": lambda a: a.astype(np.complex64),
    "text": lambda a: a.astype("U8"),
    "dates": lambda a: a.astype("M8[s]"),
    "ragged": lambda a: [[1.0], [1.0, 2.0]],
    "raises": Broken,
    "a string": lambda a: "x.npy",
    "a set": lambda a: {1.0},
    "too many rows": lambda a: np.concatenate([a, a, a]),
    "no rows": lambda a: a[:0],
    "no dimension": lambda a: np.array(a[0, 0]),
}
# kinds that some doors take: with the right values
SOME: dict[str, Callable[[Array], Array]] = {
    "lists": lambda a: a.tolist(),
    "float64": lambda a: a.astype(np.float64),
    "long double": lambda a: a.astype(np.longdouble),
    "float16": lambda a: a.astype(np.float16),
    "bfloat16": lambda a: a.astype(ml_dtypes.bfloat16),
    "bool": lambda a: a > 50,
    "int64": lambda a: a.astype(np.int64),
    "uint8 big": lambda a: a.astype(np.uint8),
    "raw bytes": lambda a: a.view(f"V{a.itemsize}"),
    "raw bytes of another size": lambda a: a.astype(np.float16).view("V2"),
}


@pto.kernel(shapes="x[rows, D] y[rows, D]")
def copying(x: pto.In, y: pto.Out, n: int = 0) -> None:
    rows, width = x.shape
    for i in pto.grid(pto.cdiv(rows, 8)):
        t = pto.load(pto.block(x, i * 8, 0, 8, width))
        pto.store(pto.block(y, i * 8, 0, 8, width), t)


def program(dtype: str) -> pto.Program:
    return pto.loads(PROGRAM.replace("TYPE", dtype))


def named(array: Array) -> str:
    return pto.tensor(np.zeros_like(array)).dtype.name


# A door: what comes out of it, for an array that has the values and the type of `like`.
Door: TypeAlias = Callable[[Array, Array], Array]


def by_kernel(launch: Callable[..., None]) -> Door:
    def door(given: Array, like: Array) -> Array:
        out = np.zeros_like(like)
        launch(given, out)
        return out

    return door


def by_program(**how: Any) -> Door:
    return lambda given, like: program(named(like)).run(x=given, y=like * 0, n=1, **how)["y"]


def again(given: Array, like: Array) -> Array:
    """An executable that ran on other arrays before."""
    made = program(named(like)).compile(slots=True)
    made.run(x=like + 1, y=like * 0, n=2)
    return made.run(x=given, y=like * 0, n=3)["y"]


def of_a_rank(given: Array, like: Array) -> Array:
    arrays: dict[str, Any] = {"x@0": like + 1, "x@1": given, "y@0": like * 0, "y@1": like * 0}
    return program(named(like)).run(ranks=2, n=1, **arrays)["y@1"]


def assigned(given: Array, like: Array) -> Array:
    tile = pto.tile("vec", named(like), ROWS, COLS)
    tile[...] = given
    return tile.numpy()


def compared(given: Array, like: Array) -> Array:
    """The first array is as expected: `like`, and differs from another one."""
    assert not pto.compare(given, like + 1)
    assert not pto.compare(like + 1, given)
    pto.compare(given, given)
    return like if pto.compare(like, given, rtol=0, atol=0) else like + 1


def on_the_command_line(option: Callable[[str, str], list[str]]) -> Door:
    def door(given: Array, like: Array) -> Array:
        if not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
            raise TypeError("no .npy file")
        with tempfile.TemporaryDirectory() as folder:
            files = {name: f"{folder}/{name}.npy" for name in ("x", "like", "y")}
            np.save(files["x"], given)  # pyright: ignore[reportUnknownArgumentType]
            np.save(files["like"], like)
            kernel = Path(folder, "p.pto")
            kernel.write_text(PROGRAM.replace("TYPE", named(like)), encoding="utf-8")
            words = ["y=zeros:8x64", "n=1", "-o", f"y={files['y']}"]
            words += option(files["x"], files["like"])
            result = CliRunner().invoke(main, ["run", str(kernel), *words])
            if result.exit_code:
                assert result.exit_code in (1, 2), result.output
                raise ValueError(result.output)
            return np.load(files["y"])

    return door


KERNELS: dict[str, Callable[..., None]] = {
    "a kernel": copying,
    "a kernel by the reference": copying.on(engine="reference"),
    "debug": copying.debug,
    "two blocks": copying.on(blocks=2),
}
DOORS: dict[str, Door] = {
    **{name: by_kernel(launch) for name, launch in KERNELS.items()},
    "run": by_program(),
    "run by the reference": by_program(engine="reference"),
    "compiled": lambda given, like: program(named(like)).compile().run(given, like * 0, 1)["y"],
    "compiled, again": again,
    "a rank": of_a_rank,
    "a tile": lambda given, like: pto.tile("vec", named(like), ROWS, COLS, data=given).numpy(),
    "a tile's elements": assigned,
    "compare": compared,
    "a file": on_the_command_line(lambda x, like: [f"x={x}", "--expect", f"y={like}"]),
    "an expected file": on_the_command_line(lambda x, like: [f"x={like}", "--expect", f"y={x}"]),
}
NO_FILE = (
    "nothing masked",
    "np.matrix",
    "an interface",
    "DLPack alone",
    "the memory itself",
    "a copy",
)


@contextlib.contextmanager
def refusal() -> Generator[None]:
    """One message, of few lines, and no fault of ours."""
    with pytest.raises(REFUSALS) as caught:
        yield
    text = str(caught.value)
    assert text, "a refusal says why"
    assert "internal error in ptokit" not in text


@pytest.mark.parametrize("door", DOORS)
def test_inputs_have_their_values(door: str) -> None:
    for kind, make in {**WRITABLE, **READABLE}.items():
        if "file" in door and kind in NO_FILE:
            continue
        given = make(X)
        held = getattr(given, "array", given)
        found = DOORS[door](given, np.array(held, np.float32, order="C"))
        assert np.array_equal(found, np.array(held)), kind


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_array_of_numbers_is_refused(door: str) -> None:
    for kind, make in REFUSED.items():
        if (door, kind) in ANYHOW:
            continue
        with refusal():
            print(kind, DOORS[door](make(X), X))


# NumPy spreads what is assigned; a kernel of named extents takes any number of rows; a program
# views the first rows of a larger array
ANYHOW = {
    *(("a tile's elements", kind) for kind in ("no dimension",)),
    *((door, "too many rows") for door in ("run", "run by the reference", "compiled")),
    *((door, "too many rows") for door in ("compiled, again", "a rank", "a file")),
}


@pytest.mark.parametrize("door", DOORS)
def test_other_elements_are_converted_or_refused(door: str) -> None:
    for kind, make in SOME.items():
        given = make(X)
        wanted = X if "raw" in kind else np.asarray(given, np.float32)
        with contextlib.suppress(*REFUSALS):
            assert np.array_equal(DOORS[door](given, X), wanted), kind


@pytest.mark.parametrize("code", sampled(("f4", "i8", "f2", "u4", "i2", "u8", "i4", "u2"), 2))
def test_every_type_has_its_values_in_any_byte_order(code: str) -> None:
    like = X.astype(code)
    for order in "<>=":
        for name, door in DOORS.items():
            assert np.array_equal(door(X.astype(f"{order}{code}"), like), like), (name, order)


@every("launch", KERNELS)
def test_stores_arrive_in_any_array_that_can_be_written(launch: str) -> None:
    for kind, make in WRITABLE.items():
        out = make(X * 0)
        KERNELS[launch](X, out)
        assert np.array_equal(getattr(out, "array", out), X), kind


@every("launch", KERNELS)
def test_an_output_that_would_lose_stores_is_refused(launch: str) -> None:
    for make in (*READABLE.values(), masked, np.ndarray.tolist):
        out = make(X.copy())
        before = np.array(getattr(out, "array", out)).copy()
        with refusal():
            KERNELS[launch](X + 1, out)
        assert np.array_equal(getattr(out, "array", out), before)


@pto.kernel
def halves(x: pto.In, y: pto.Out, z: pto.Out) -> None:
    pto.store(pto.block(y, 0, 0, 4, 8), pto.load(pto.block(x, 0, 0, 4, 8)))
    pto.store(pto.block(z, 4, 0, 4, 8), pto.load(pto.block(x, 4, 0, 4, 8)))


@every("launch", [halves, halves.on(engine="reference"), halves.debug])
def test_outputs_that_share_bytes_are_refused(launch: Callable[..., None]) -> None:
    x, room = X[:8, :8], np.zeros((24, 32), np.float32)
    one = room[:8, :8]
    shared = (one, room[4:12, :8], room[:8, 4:12], one[::-1], room[:8, :8].view(), room.T[:8, :8])
    for other in shared:
        with refusal():
            launch(x, one, other)
        assert not room.any()
    for other in (room[8:16, :8], room[:8, 8:16], room[:16:2, 16:24]):  # near one another
        launch(x, one, other)
        assert np.array_equal(one[:4], x[:4])
        assert np.array_equal(other[4:], x[4:])
        room[...] = 0
    launch(x, room[:8, :16:2], room[:8, 1:16:2])
    assert np.array_equal(room[:4, :16:2], x[:4])
    assert np.array_equal(room[4:8, 1:16:2], x[4:])


@every("launch", KERNELS)
def test_an_input_that_overlaps_an_output_is_read_as_it_was(launch: str) -> None:
    for first in (0, 1, 4):
        room = np.arange(24 * 8, dtype=np.float32).reshape(24, 8)
        wanted = room[:16].copy()
        KERNELS[launch](room[:16], room[first : first + 16])
        assert np.array_equal(room[first : first + 16], wanted)


@every("wrong", [X[::-1], swapped(X), frozen(X), masked(X), X.T, X.tolist()])
def test_a_tensor_is_the_memory_itself_or_none(wrong: Array) -> None:
    with refusal():
        pto.tensor(wrong)


@every("stride", [(0, 1), (32, 1), (1, 1)])
def test_a_store_into_elements_that_share_bytes_is_refused(stride: tuple[int, int]) -> None:
    room = np.zeros(ROWS * COLS, np.float32)
    tile = pto.tile("vec", "f32", ROWS, COLS, data=X)
    view = pto.tensor(room, shape=(ROWS, COLS), stride=stride)
    with refusal():
        pto.tstore(view, tile)
    assert not room.any()
    pto.tload(tile, view)  # reading them is no fault


def test_a_number_is_one_of_64_bits_at_every_door() -> None:
    out = np.zeros_like(X)
    for number in (3, True, np.int8(3), np.uint64(3), 2.5, np.float16(2.5), np.longdouble(2.5)):
        for launch in KERNELS.values():
            launch(X, out, number)
    made = program("f32").compile(slots=True)
    launches: list[Callable[..., object]] = [*KERNELS.values(), program("f32").run, made.run]
    made.run(X, out, 1)
    for number in (
        1 << 63,
        10**30,
        -(1 << 63) - 1,
        np.uint64(1 << 63),
        1j,
        np.complex64(1),
        10**400,
    ):
        for launch in launches:
            with refusal():
                launch(X, out, number)


def test_numbers_that_are_slots_are_those_of_the_call() -> None:
    text = PROGRAM.replace("TYPE", "f32").replace("%n: index", "%n: f32, %k: i8")
    kind = "!pto.tile_buf<vec, 8x64xf32>"
    adds = f"  pto.tadds ins(%t, %n : {kind}, f32) outs(%t : {kind})"
    text = text.replace("  pto.tstore", f"{adds}\n  pto.tstore")
    made = pto.loads(text).compile(slots=True)
    for number in (1, 2, 2.5, np.int32(7), np.float16(0.5)):
        assert np.array_equal(made.run(X, X * 0, number, 1)["y"], X + np.float32(number))
    with refusal():
        made.run(X, X * 0, 1, 300)
