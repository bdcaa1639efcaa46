"""Tiles as arrays of NumPy and of others; copies of everything a program holds; threads."""

from __future__ import annotations

import ast
import copy
import multiprocessing
import pickle
import pydoc
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from fuzz.scale import sampled
from ptokit.api.eager import instructions
from ptokit.isa.index import pages
from ptokit.isa.model.targets import TARGETS
from ptokit.values.dtypes import DTYPES

X = np.arange(32, dtype=np.float32).reshape(2, 16)
PROGRAM = """
func.func @double(%x: !pto.tile_buf<vec, 2x16xf32>, %y: !pto.tile_buf<vec, 2x16xf32>) {
  pto.tadd ins(%x, %x : !pto.tile_buf<vec, 2x16xf32>, !pto.tile_buf<vec, 2x16xf32>)
    outs(%y : !pto.tile_buf<vec, 2x16xf32>)
  return
}
"""
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy": copy.deepcopy,
}


def filled(layout: str = "nz") -> pto.Tile:
    data = np.arange(32 * 32).reshape(32, 32).astype(np.float32)
    return pto.tile("mat", "f16", 32, 32, layout=layout, valid=(20, 30), data=data[:20, :30])


def test_a_tile_is_an_array_of_its_valid_region() -> None:
    tile = filled()
    whole = tile.numpy()
    assert (tile.shape, len(tile), tile.dtype) == ((20, 30), 20, pto.f16)
    assert np.asarray(tile).dtype == np.float16
    assert np.array_equal(np.asarray(tile, np.float64), whole)
    for key in (np.s_[3, 4], np.s_[1:4], np.s_[:, 2], np.s_[::2, ::-1], np.s_[...], whole > 100):
        assert np.array_equal(tile[key], whole[key])
    assert type(tile[0, 0]) is np.float16
    with pytest.raises(ValueError, match="always a copy"):
        tile.__array__(copy=False)
    with pytest.raises(IndexError):
        tile[20, 0]


def test_what_is_assigned_is_rounded_and_written() -> None:
    tile = pto.tile("vec", "f16", 4, 16)
    tile[1] = 0.1
    tile[2:, ::2] = np.arange(8)
    written = np.zeros((4, 16), bool)
    written[1] = written[2:, ::2] = True
    assert np.array_equal(tile.written(), written)
    assert tile[1, 5] == np.float16(0.1)
    assert tile[3, ::2].tolist() == list(range(8))
    whole = pto.tile("vec", "i8", 2, 32)
    whole[...] = 7
    assert (whole.numpy() == 7).all()
    with pytest.raises(ValueError, match="not all values fit i8"):
        whole[0, 0] = 200


def test_unwritten_elements_are_told() -> None:
    tile = pto.tile("vec", "f32", 2, 8)
    tile[0] = 1
    reads: list[Callable[[], object]] = [
        tile.numpy,
        lambda: np.asarray(tile),
        lambda: tile[1, 3],
        lambda: np.from_dlpack(tile),
    ]
    for read in reads:
        with pytest.warns(pto.UnwrittenWarning, match="are undefined") as seen:
            read()
        assert [w.filename for w in seen] == [__file__]
    assert (tile[0] == 1).all(), "without a warning"
    assert repr(tile).splitlines() == [
        "<Tile vec f32 2x8 nd at 0x0 of its own memory",
        "  1.0 1.0 1.0 ... 1.0 1.0 1.0",
        "   --  --  -- ...  --  --  -->",
    ]


@every("dtype", DTYPES, ids=str)
def test_every_element_type_is_an_array_and_prints(dtype: pto.DType) -> None:
    tile = pto.tile("vec", dtype, 2, 64, data=np.ones((2, 64), np.float32))
    assert np.array_equal(np.asarray(tile, np.float32), np.ones((2, 64), np.float32))
    assert "1" in repr(tile)
    assert np.array_equal(pto.tile("vec", dtype, 2, 64, data=tile).storage(), tile.storage())


def test_a_placed_tile_tells_its_address() -> None:
    tile = pto.tile("vec", "f32", 2, 16)
    pto.tassign(tile, 256)
    assert tile.address == 256
    assert "at 0x100 of UB" in repr(tile)


def test_convolution_tiles_and_tensors_are_arrays() -> None:
    data = np.arange(64, dtype=np.float16).reshape(1, 1, 2, 2, 16)
    conv = pto.conv_tile("f16", data.shape, layout="nc1hwc0", data=data)
    array = X.copy()
    tensor = pto.tensor(array)
    for one, values in ((conv, data), (tensor, X)):
        assert one.shape == values.shape
        assert np.array_equal(np.asarray(one), values)
        assert np.array_equal(np.from_dlpack(one), values)
    tensor[0, 0] = 9
    assert array[0, 0] == 9
    assert np.shares_memory(np.asarray(tensor), array)


def test_a_type_dlpack_has_not_is_refused_with_advice() -> None:
    tile = pto.tile("vec", "bf16", 2, 16, data=X)
    with pytest.raises(BufferError, match=r"bf16: .*exchange the bits"):
        np.from_dlpack(tile)


def test_tiles_and_pytorch_exchange_arrays() -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
    tile = pto.tile("mat", "f32", 16, 32, layout="nz", data=torch.arange(512.0).reshape(16, 32))
    assert torch.equal(torch.from_dlpack(tile), torch.arange(512.0).reshape(16, 32))
    assert torch.equal(torch.as_tensor(np.asarray(tile)), torch.from_dlpack(tile))
    ones = torch.ones(2, 16, requires_grad=True)
    assert (pto.tile("vec", "f32", 2, 16, data=ones).numpy() == 1).all()
    bits = torch.ones(2, 16, dtype=torch.bfloat16).view(torch.uint16)
    assert (pto.tile("vec", "bf16", 2, 16, data=bits).numpy() == 1).all()


def refused() -> pto.PtoError:
    tile = pto.tile("mat", "f32", 16, 32)
    with pto.target("a5"), pytest.raises(pto.PtoError, match="location") as problem:
        pto.texp(tile, tile)
    return problem.value


@pytest.mark.parametrize("how", COPIES)
def test_errors_are_copied_whole(how: str) -> None:
    for error in (refused(), pto.CallError(refused().diagnostics)):
        again = COPIES[how](error)
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert [d.to_json() for d in again.diagnostics] == [d.to_json() for d in error.diagnostics]


@pytest.mark.parametrize("how", COPIES)
def test_tiles_and_tensors_are_copied_with_bytes_of_their_own(how: str) -> None:
    tile = filled()
    placed = pto.tile("vec", "f32", 2, 16)
    pto.tassign(placed, 256)
    placed[0] = 1
    conv = pto.conv_tile("f16", (1, 1, 2, 2, 16), layout="nc1hwc0")
    conv[0, 0, 1] = 3
    for one in (tile, placed, conv):
        again = COPIES[how](one)
        assert again.type == one.type
        assert np.array_equal(again.storage(), one.storage())
        assert np.array_equal(again.written(), one.written())
    again = COPIES[how](tile)
    again[0, 0] = -1
    assert tile[0, 0] == 0
    tensor = COPIES[how](pto.tensor(X.copy(), shape=(2, 8), stride=(16, 1), offset=8))
    part = pto.tile("vec", "f32", 2, 8)
    pto.tload(part, tensor)
    assert np.array_equal(part.numpy(), X[:, 8:])


@pytest.mark.parametrize("how", COPIES)
def test_programs_types_and_pages_are_copied(how: str) -> None:
    program = COPIES[how](pto.loads(PROGRAM))
    assert program.text("dps") == pto.loads(PROGRAM).text("dps")
    assert np.array_equal(program.run(x=X)["y"], 2 * X)
    for one in (*DTYPES, *TARGETS.values(), *pages()):
        assert COPIES[how](one) is one


def doubled(task: tuple[pto.Program, Any, str]) -> Any:
    program, x, engine = task
    return program.run(x=x, engine=engine)["y"]


def failing(_: int) -> None:
    raise refused()


@pytest.mark.parametrize(
    ("start", "engine"),
    sampled([("fork", "native"), ("spawn", "reference"), ("spawn", "native")], 2),
)
def test_processes_share_the_work(start: str, engine: str) -> None:
    program = pto.loads(PROGRAM)
    assert np.array_equal(doubled((program, X, engine)), 2 * X)
    context = multiprocessing.get_context(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside pytest's threads
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            tasks = [(program, X + n, engine) for n in range(4)]
            for n, found in enumerate(pool.map(doubled, tasks)):
                assert np.array_equal(found, 2 * (X + n))
            with pytest.raises(pto.PtoError, match="location"):
                pool.submit(failing, 0).result()


def test_one_program_runs_on_many_threads(engine: str) -> None:
    program = pto.loads(PROGRAM)
    with ThreadPoolExecutor(4) as pool:
        tasks = [(program, X + n, engine) for n in range(40)]
        for n, found in enumerate(pool.map(doubled, tasks)):
            assert np.array_equal(found, 2 * (X + n))


def test_each_thread_has_a_target_and_memories_of_its_own() -> None:
    def alone(n: int) -> bool:
        from ptokit.launch.settings import current_target

        started = current_target().name
        with pto.target("a2a3"):
            for _ in range(20):
                x, y = (pto.tile("vec", "f32", 2, 16) for _ in range(2))
                pto.tassign(x, 0)
                pto.tassign(y, 128)
                x[...] = n
                pto.tadd(y, x, x)
                assert (y.numpy() == 2 * n).all()
        return started == "cpu"

    with pto.target("a5"), ThreadPoolExecutor(4) as pool:
        assert all(pool.map(alone, range(8)))


def test_help_and_stub_show_every_form_of_an_instruction() -> None:
    assert pto.__file__ is not None
    stub = Path(pto.__file__).parent / "api" / "intrinsics.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    stubs: dict[str, list[list[str]]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            a = node.args
            rest = [a.vararg] if a.vararg else []
            names = [p.arg for p in (*a.args, *rest, *a.kwonlyargs)]
            stubs.setdefault(node.name, []).append(names)
    for name, forms in instructions().items():
        text = pydoc.plain(pydoc.render_doc(getattr(pto, name)))
        shown = [line for line in text.splitlines() if line.strip().startswith(f"{name}(")]
        assert len(stubs[name]) == len(forms)
        if len(forms) > 1:
            assert len(shown) == len(forms) + 1  # pydoc's own line shows the first
            for line, parameters in zip(shown[1:], stubs[name], strict=True):
                call = ast.parse(f"def {line.strip()}: ...").body[0]
                assert isinstance(call, ast.FunctionDef)
                a = call.args
                rest = [a.vararg] if a.vararg else []
                assert [p.arg for p in (*a.args, *rest, *a.kwonlyargs)] == parameters


def test_the_stub_has_every_instruction_on_registers() -> None:
    """An editor completes the names of pto.lanes, and a type checker knows their operands."""
    assert pto.__file__ is not None
    stub = Path(pto.__file__).parent / "api" / "kernel" / "lanenames.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    (names,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    stubs: dict[str, list[tuple[list[str], int]]] = {}
    for node in names.body:
        assert isinstance(node, ast.FunctionDef)
        a = node.args
        parameters = [p.arg for p in (*a.args, *a.kwonlyargs)]
        stubs.setdefault(node.name, []).append((parameters, len(a.defaults)))
    assert [*stubs] == dir(pto.lanes)
    for name, forms in stubs.items():
        shown = [signature(form) for form in getattr(pto.lanes, name).forms]
        expected = [
            ([*s.parameters], sum(p.default is not p.empty for p in s.parameters.values()) - 1)
            for s in shown
        ]
        assert all(form in expected for form in forms), name
        assert {len(p) for p, _ in forms} == {len(p) for p, _ in expected}, name
