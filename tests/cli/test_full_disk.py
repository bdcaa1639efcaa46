"""A full disk: each output option of each command names its file, and what was there stays."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from forking import python
from ptokit.tools.cli import main

KERNEL = """func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %vx = pto.make_tensor_view %x, shape = [8, 16], strides = [16, 1]
    : !pto.tensor_view<?x?xf32>
  %vy = pto.make_tensor_view %y, shape = [8, 16], strides = [16, 1]
    : !pto.tensor_view<?x?xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
  pto.tload ins(%vx : !pto.tensor_view<?x?xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%vy : !pto.tensor_view<?x?xf32>)
  return
}
"""
# by the file that the command writes
COMMANDS = {
    "y.npy": "run k.pto x=x.npy y=zeros:128 -o y=OUT",
    "y.bin": "run k.pto x=x.npy y=zeros:128 -o y=OUT",
    "trace.txt": "run k.pto x=x.npy y=zeros:128 --trace OUT",
    "failing.txt": "run k.pto x=x.npy y=zeros:8 --trace OUT",
    "memory.svg": "check k.pto --memory OUT",
    "opt.pto": "opt k.pto --passes place -o OUT",
    "k.pto": "fmt -i k.pto",
    "trace.json": "profile k.pto --trace OUT",
    "report.html": "profile k.pto --html OUT",
    "layout.svg": "layout f16 64x64 nz --svg OUT",
    "mine.py": "new kernel mine",
}


@contextmanager
def full() -> Generator[None]:
    """Files take no more than 16 bytes: the system says so where a disk would say that it is full.

    Python ignores the signal that comes with it. A module that is first imported here leaves no
    bytecode: 16 bytes of it would be what later imports find.
    """
    old, written = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        sys.dont_write_bytecode = written


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.pto").write_text(KERNEL, encoding="utf-8")
    np.save(tmp_path / "x.npy", np.ones((8, 16), np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("file", COMMANDS)
def test_the_file_is_named_and_nothing_changes(file: str, folder: Path, old: bool) -> None:
    if old and file != "mine.py" and not (folder / file).exists():
        (folder / file).write_bytes(b"old")
    before = contents(folder)
    with full():
        result = CliRunner().invoke(main, COMMANDS[file].replace("OUT", file).split())
    assert f"error[unwritable-file]: cannot write {file}: " in result.output
    assert result.exit_code == 2
    assert contents(folder) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("file", [f for f in COMMANDS if "OUT" in COMMANDS[f]])
def test_a_device_that_is_full_is_named(file: str, folder: Path) -> None:
    (folder / file).symlink_to("/dev/full")
    result = CliRunner().invoke(main, COMMANDS[file].replace("OUT", file).split())
    assert f"error[unwritable-file]: cannot write {file}: No space left" in result.output
    assert result.exit_code == 2


@pytest.mark.parametrize("words", ["--help", "check k.pto"])
def test_a_full_standard_output_is_named(words: str, folder: Path) -> None:
    command = [*python(), "-m", "ptokit", *words.split()]
    with open("/dev/full", "wb") as out:
        done = subprocess.run(
            command, cwd=folder, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.stderr.decode().splitlines() == [
        f"error[unwritable-file]: cannot write standard output: {os.strerror(28)}"
    ]
    assert done.returncode == 2
