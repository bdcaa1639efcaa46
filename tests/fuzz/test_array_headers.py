"""Headers of .npy files with anything in them: the array that NumPy reads, or `unreadable-file`."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from fuzz.scale import scaled
from ptokit.launch.files import read_array

TYPES = (
    *("'<f4'", "'>f4'", "'|b1'", "'<c8'", "'|O'", "'|S3'", "'<U2'", "'<M8[s]'", "'|V2'", "'|V0'"),
    *("[('a', '<f4')]", "[('a', '<f4', (2,))]", "('<f4', (2,))", "('<f4', {})", "'(2,)f4'"),
    *("'<f4,<f4'", "'f4'", "4", "None", "True", "()", "[]", "{}", "'x'", "''", "b'<f4'"),
)
ORDERS = ("True", "False", "1", "0", "None", "'a'", "-1", "[]")
SHAPES = (
    *("(8,)", "(2, 4)", "(8, 1, 1)", "(0,)", "()", "(True, 8)", "(False, 8)", "(-1,)", "(0, -1)"),
    *("(-2, -4)", "8", "[8]", "None", "(None,)", "(8.0,)", "('8',)", "((8,),)", "(1j,)"),
    *("(10**30,)", "(99999999999999999999, 0)", "(2**63, 0)", "(1,) * 33", "(1,) * 70"),
)
MAGIC = (*(b"\x01\x00",) * 8, b"\x02\x00", b"\x03\x00", b"\x01\x01", b"\x00\x00")
VALUES = np.arange(8, dtype="<f4").tobytes()


def header(choose: random.Random) -> bytes:
    """The text of a header: keys with odd values, some bytes changed."""
    kind = choose.choice(TYPES) if choose.random() < 0.5 else TYPES[0]
    order = choose.choice(ORDERS) if choose.random() < 0.3 else "False"
    keys = [f"'descr': {kind}", f"'fortran_order': {order}", f"'shape': {choose.choice(SHAPES)}"]
    if choose.random() < 0.1:
        keys.pop(choose.randrange(3))
    text = bytearray(f"{{{', '.join(keys)}, }}".encode())
    if choose.random() < 0.2:
        for _ in range(choose.randrange(1, 4)):
            text[choose.randrange(len(text))] = choose.randrange(256)
    return bytes(text) + b"\n"


def file(choose: random.Random) -> bytes:
    text, version = header(choose), choose.choice(MAGIC)
    size = len(text) + choose.choice((0,) * 6 + (-1, 1, -5, 1000))
    length = max(size, 0).to_bytes(2 if version[0] == 1 else 4, "little")
    whole = b"\x93NUMPY" + version + length + text + VALUES + bytes(choose.choice((0, 0, 32)))
    return whole[: choose.randrange(len(whole))] if choose.random() < 0.05 else whole


def test_an_array_or_a_refusal(tmp_path: Path) -> None:
    choose, path, read = random.Random(7), tmp_path / "x.npy", 0
    for _ in range(scaled(2000)):
        path.write_bytes(file(choose))
        try:
            found = read_array(path)
        except pto.CallError as problem:
            (diagnostic,) = problem.diagnostics
            assert diagnostic.slug == "unreadable-file"
            continue
        wanted = np.load(path)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()
        read += 1
    assert read > 10


@pytest.mark.parametrize("shape", ["(True, 8)", "(False, 8)", "(-1,)", "(0, -1)"])
def test_extents_are_counts(shape: str, tmp_path: Path) -> None:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + VALUES)
    with pytest.raises(pto.CallError, match=r"unreadable-file.*its header has the shape"):
        read_array(path)
