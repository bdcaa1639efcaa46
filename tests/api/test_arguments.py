"""What an eager call takes for a number, and how it says that something else was given."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptokit as pto
from every import every


def tile(value: float = 1) -> pto.Tile:
    return pto.tile("vec", "f32", 16, 32, data=np.full((16, 32), value, np.float32))


@every(
    "number",
    [
        1.5,
        np.float64(1.5),
        np.float32(1.5),
        np.float16(1.5),
        ml_dtypes.bfloat16(1.5),
        np.array(1.5),
    ],
    ids=lambda n: type(n).__name__,
)
def test_any_float_is_a_number(number: Any) -> None:
    out = tile()
    pto.tmuls(out, tile(2), number)
    assert out[0, 0] == 3


@every("number", [3, np.int8(3), np.array(3)], ids=lambda n: type(n).__name__)
def test_any_integer_is_a_number(number: Any) -> None:
    out = tile()
    pto.tmuls(out, tile(2), number)
    assert out[0, 0] == 6


@every(
    ("given", "shown"),
    [("3", "'3'"), (None, "None"), (1j, "1j"), (tile(), "a value of type Tile")],
    ids=["a string", "nothing", "a complex number", "a tile"],
)
def test_what_is_no_number_is_shown_in_few_words(given: Any, shown: str) -> None:
    with pytest.raises(TypeError) as raised:
        pto.tmuls(tile(), tile(), given)
    assert str(raised.value) == f"tmuls: scalar must be a number, got {shown}"


def test_an_array_is_no_tile() -> None:
    array: Any = np.ones((16, 32))
    with pytest.raises(
        TypeError, match=r"^tadd: src1 must be a tile, got a value of type ndarray$"
    ):
        pto.tadd(tile(), tile(), array)


@every(
    ("given", "meant"),
    [(np.float32, "f32"), (np.dtype("uint8"), "u8"), (ml_dtypes.bfloat16, "bf16"), ("f16", "f16")],
)
def test_an_element_type_is_a_name_or_a_type_of_numpy(given: Any, meant: str) -> None:
    assert pto.tile("vec", given, 16, 32).type.dtype.name == meant


def test_an_unknown_element_type_is_told_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"^element type 'f99': choose one of f32, f16, bf16, "):
        pto.tile("vec", "f99", 16, 32)


@every("given", [b"pto.tadd", 3, None])
def test_a_program_is_text(given: Any) -> None:
    with pytest.raises(TypeError, match=f"^expected a program as str, got {type(given).__name__}$"):
        pto.loads(given)


@every("given", [np.zeros((16, 16), np.float16), 2.5])
def test_what_completes_an_elided_type_fits_its_uses(given: Any, engine: str) -> None:
    text = '"scf.if"(%c) ({ "scf.yield"() : () -> () })'
    assert pto.loads(text).run(1, engine=engine) == {}
    with pytest.raises(pto.PtoError, match=r"condition of scf\.if takes i1"):
        pto.loads(text).run(given, engine=engine)


NO_TILE: Any = None


def test_a_number_must_fit_its_type() -> None:
    text = "func.func @f(%n: u8) {\n  return\n}\n"
    assert pto.loads(text).run(n=255) == {}
    for number in (256, -1, 10**30):
        with pytest.raises(pto.CallError, match="u8"):
            pto.loads(text).run(n=number)


def test_what_is_no_tile_is_said() -> None:
    mat = pto.tile("vec", "f32", 16, 32, data=np.ones((16, 32)))
    for call in (
        lambda: pto.textract(NO_TILE, mat),
        lambda: pto.ttrans(mat, NO_TILE),
        lambda: pto.subview(NO_TILE, mat),
        lambda: pto.tensor(NO_TILE),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("quant", [1 << 70, -1])
def test_a_parameter_has_64_bits(quant: int) -> None:
    acc = pto.tile_acc("f32", 16, 32, data=np.ones((16, 32)))
    mat = pto.tile("mat", "i8", 16, 32, layout="nz")
    with pytest.raises(ValueError, match="u64"):
        pto.textract(mat, acc, quant=quant)


@pytest.mark.parametrize("rows", [10**30, 10**9])
def test_a_tile_larger_than_any_memory(rows: int) -> None:
    with pytest.raises(ValueError, match="larger than any memory"):
        pto.tile("vec", "f32", rows, 1024)
