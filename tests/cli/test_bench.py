"""`make bench` prints its table; the figures are nobody's test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import longprograms
import ptokit as pto
from account.files import ROOT

Array: TypeAlias = np.ndarray[Any, Any]  # Any: of any shape and type


def test_a_row_of_the_bench(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "bench" / "run.py",
            "tadd f32",
            "tadd f16",
            "tadd bf16",
            "--quick",
            "--json",
            file,
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "tadd              f32 64x64 " in done.stdout
    assert "not measured" not in done.stdout  # a recorded row that no row of ours has
    figures = json.loads(file.read_text(encoding="utf-8"))
    assert {row["op"] for row in figures["rows"]} == {"tadd", "tpartadd"}
    assert all(row["ns"] > 0 for row in figures["rows"])
    assert [limit["bound"] for limit in figures["limits"]][:2] == [2.0, 2.0]
    assert figures["starts"] == []


def test_every_row_takes_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their programs are legal, and what they are given fits."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    families, rows = import_module("families"), import_module("instructions")
    every = [*rows.rows(), *families.families()]
    assert len(every) > 100
    for row in every:
        executable = pto.loads(row.kernel.text(1)).compile(target="cpu")
        executable.bound(row.kernel.arrays)
    for kernel in import_module("pythonkernels").python_kernels():
        made = getattr(import_module(kernel.chapter), kernel.function)
        given = (pto.spec(str(a.dtype), a.shape) for a in kernel.arguments)
        found = made.check(*given, **kernel.how)
        assert not [d for d in found if d.is_error and {*d.targets} & {*kernel.targets}]


def test_long_programs_and_first_calls_are_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short ones of each kind; calls are made, other tests execute these kernels."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    texts = [longprograms.chain(5), longprograms.decisions(2), longprograms.phases(1)]
    texts.append(longprograms.straight(20))
    texts += [import_module("reading").program(30), import_module("clusters").TEXT]
    for text in texts:
        assert not any(found.is_error for found in pto.loads(text).check("a2a3"))
    for name in (calls := import_module("firstcalls")).MOST:
        assert callable(calls.made(name))
    assert {*import_module("growing").GROWTHS} >= {"tiles", "branches", "lines", "races"}


def test_loops_in_numba_give_what_numpy_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """On few elements, and as plain Python: numba is installed by `make bench` only."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    loops, kernels = import_module("numbakernels"), import_module("pythonkernels")
    for kernel in kernels.python_kernels():
        wanted, found = ([few(array) for array in kernel.arguments] for _ in range(2))
        kernel.numpy(*wanted)
        getattr(loops, kernel.function)(*found)
        out = int(kernel.out)
        np.testing.assert_allclose(found[out], wanted[out], 1e-3, 1e-5)


def few(array: Array) -> Array:
    """Return a corner, in f32, that fits those of the other arguments."""
    widths = {1024: 16, 64: 8, 128: 16, 32: 32, 8: 8}
    corner = array[: 1 if len(array) == 1 else 16, : widths[array.shape[1]]]
    return corner.astype(np.float32) if corner.dtype.kind == "f" else corner.copy()
