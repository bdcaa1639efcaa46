"""Arguments that are memrefs: their strides and extents, and outputs among them."""

from __future__ import annotations

import numpy as np
import pytest

import ptokit as pto
from ptokit.machine.memory import Memory, address_of

MEMREF = """\
func.func @f(%a: memref<16x16xf32, #pto.address_space<gm>>, %c: memref<CxGM>) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tload ins(%a : memref<16x16xf32, #pto.address_space<gm>>) \\
outs(%t : !pto.tile_buf<vec, 16x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 16x16xf32>) outs(%c : memref<CxGM>)
  return
}
""".replace("\\\n", "")
SQUARE = np.arange(256, dtype=np.float32).reshape(16, 16)


def memref(kind: str) -> pto.Program:
    return pto.loads(MEMREF.replace("CxGM", f"{kind}, #pto.address_space<gm>"))


def test_a_memref_in_global_memory_is_an_output(engine: str) -> None:
    program = memref("16x16xf32")
    compiled = program.compile(engine=engine)
    for factor in (1, 2):  # again, on memories that are used again
        assert np.array_equal(compiled.run(factor * SQUARE)["c"], factor * SQUARE)
    found = program.run(SQUARE.reshape(-1), np.zeros((16, 16), np.float32), engine=engine)["c"]
    assert np.array_equal(found, SQUARE)
    assert np.array_equal(memref("?x16xf32").run(SQUARE, 0 * SQUARE, engine=engine)["c"], SQUARE)


def test_strides_of_a_memref_are_those_of_a_flat_array(engine: str) -> None:
    program = memref("16x16xf32, strided<[32, 1]>")
    for given in ((), (np.full(600, 7, np.float32),)):
        found = program.run(SQUARE, *given, engine=engine)["c"]
        lines = np.lib.stride_tricks.as_strided(found, (16, 16), (128, 4))
        assert np.array_equal(lines, SQUARE)
        assert found.shape == (given[0].shape if given else (15 * 32 + 16,))
        assert not given or (found[16:32] == 7).all()


def test_an_array_of_other_extents_is_refused() -> None:
    for kind in ("16x16xf32", "16x16xf32, strided<[32, 1]>"):
        with pytest.raises(pto.CallError, match="%c has the extents 16x16"):
            memref(kind).run(SQUARE, np.zeros((3, 5), np.float32))
    with pytest.raises(pto.CallError, match="496 contiguous elements") as raised:
        memref("16x16xf32, strided<[32, 1]>").run(SQUARE, SQUARE)
    assert "with the gaps between rows" in str(raised.value)
    assert raised.value.__context__ is None  # no story of how the fault was found


def test_an_output_that_grows_element_by_element_is_copied_seldom() -> None:
    memory = Memory.blank("%c", 0)
    memory.forget()
    places = set[int]()
    for count in range(1, 10_000):
        memory.grow(4 * count, (1, 1))
        memory.data[-4:] = 1 + count % 7
        places.add(address_of(memory.data))
    assert len(places) <= 20
    assert memory.data[::4].tolist() == [1 + count % 7 for count in range(1, 10_000)]
    assert not memory.shadow.any()
