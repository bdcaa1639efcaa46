"""From LLVM modules to object code, by several threads: the same bytes, whatever their number."""

from __future__ import annotations

import os
from pathlib import Path
from threading import enumerate as threads
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from ptokit.engines.native import partition
from ptokit.engines.native.coroutines import coroutine, suspend
from ptokit.machine import cache
from ptokit.machine.objectcode import ObjectFiles, ParsedModule
from ptokit.machine.record.code import Code

MARK = 0x1234_5678_9ABC_DEF1
TILE = "!pto.tile_buf<vec, 16x16xf32>"
SUM = f"""func.func @f(%x: {TILE}) {{
  pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})
  return
}}
"""
ONES = np.ones((16, 16), np.float32)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the cache keeps code: nothing is there yet."""
    monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path))
    return tmp_path


def attention(engine: str) -> np.ndarray:
    """Cube and vector cores, which wait for each other: coroutines, products, tables."""
    random = np.random.default_rng(5)
    q, k, v = (random.standard_normal((128, 64)).astype(np.float16) for _ in "qkv")
    program = pto.load(ROOT / "examples" / "pto" / "flash_attention.pto")
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "o": np.zeros_like(q), "tokens": 128}
    return program.run(target="a5", blocks=2, engine=engine, **given)["o"]


@pytest.mark.usefixtures("folder")
def test_a_module_of_each_function_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "MANY", 0)
    monkeypatch.setattr(partition, "LINES", 1)
    assert attention("native").tobytes() == attention("reference").tobytes()


def test_the_number_of_threads_changes_no_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = list[dict[str, bytes]]()
    for count in (1, 5):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        monkeypatch.setenv("PTOKIT_CACHE", str(tmp_path / str(count)))
        attention("native")
        files.append({p.name: p.read_bytes() for p in (tmp_path / str(count)).iterdir()})
    assert files[0]
    assert files[0] == files[1]


def test_a_wait_that_is_interrupted_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    wait, waits = ObjectFiles.wait, list[ObjectFiles]()

    def interrupted(files: ObjectFiles) -> list[bytes]:
        waits.append(files)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return wait(files)

    monkeypatch.setattr(ObjectFiles, "wait", interrupted)
    program = pto.loads(SUM).compile(engine="native")
    with pytest.raises(KeyboardInterrupt):
        program.run(x=ONES)
    assert (program.run(x=ONES)["x"] == 2).all()
    assert waits[0] is waits[1]
    assert len([*folder.iterdir()]) == 1
    assert "ptokit code" not in {thread.name for thread in threads()}


def test_a_thread_that_fails_fails_whoever_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: ParsedModule) -> bytes:
        raise MemoryError

    monkeypatch.setattr(ParsedModule, "object_code", fail)
    module = cache.parsed("define i32 @f() {\n  ret i32 0\n}\n", cache.this_processor())
    files = ObjectFiles([module, module])
    for _ in range(2):
        with pytest.raises(MemoryError):
            files.wait()


def test_a_coroutine_has_one_copy_of_its_body() -> None:
    """The function that ends it is made as a second one, in which nothing of it can be reached."""
    code = Code()
    suspend(code)
    code.do(f"store i64 {MARK}, ptr %memories")
    code.do("br label %good")
    module = cache.parsed(coroutine("\n".join(code.lines)), cache.this_processor())
    assert module.object_code().count(MARK.to_bytes(8, "little")) == 1
