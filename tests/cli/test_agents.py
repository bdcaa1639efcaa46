"""The server for coding assistants: its tools are commands, with diagnostics as data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest.mock import patch

import anyio
import numpy as np

from account.files import ROOT
from ptokit.tools.cli.asdata import command_result
from ptokit.tools.commandresult import CommandResult

DOUBLED = """\
!T = !pto.tile_buf<vec, 8x8xf32>
!V = !pto.tensor_view<8x8xf32>
!P = !pto.partition_tensor_view<8x8xf32>
func.func @doubled(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %vx = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !V
  %vy = pto.make_tensor_view %y, shape = [%c8, %c8], strides = [%c8, %c1] : !V
  %px = pto.partition_view %vx, offsets = [%c0, %c0], sizes = [%c8, %c8] : !V -> !P
  %py = pto.partition_view %vy, offsets = [%c0, %c0], sizes = [%c8, %c8] : !V -> !P
  %t = pto.alloc_tile : !T
  pto.tload ins(%px : !P) outs(%t : !T)
  pto.tadd ins(%t, %t : !T, !T) outs(%t : !T)
  pto.tstore ins(%t : !T) outs(%py : !P)
  return
}
"""
WRONG = DOUBLED.replace("vec, 8x8xf32", "vec, 8x4xf32")


def test_a_client_checks_and_runs_kernels_over_stdio(tmp_path: Path) -> None:
    from mcp import StdioServerParameters  # slow to import
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    (tmp_path / "good.pto").write_text(DOUBLED)
    (tmp_path / "wrong.pto").write_text(WRONG)
    (tmp_path / "other.pto").write_text(DOUBLED.replace("tadd", "tmul"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    np.save(tmp_path / "x.npy", x)
    calls = {
        "check": {"kernels": ["good.pto", "wrong.pto"], "target": "a5"},
        "run": {"kernel": "good.pto", "arguments": ["x.npy"], "save": ["y=y.npy"]},
        "diff": {"found": "good.pto", "expected": "other.pto", "targets": ["a5"]},
    }
    start = StdioServerParameters(
        command=sys.executable, args=["-m", "ptokit", "mcp"], cwd=tmp_path, env={"PYTHONPATH": ""}
    )

    async def talk() -> dict[str, dict[str, object]]:
        async with Client(stdio_client(start)) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert offered == {"check", "run", "explain", "profile", "diff"}
            answers = {name: await client.call_tool(name, given) for name, given in calls.items()}
        assert not any(answer.is_error for answer in answers.values())
        return {name: answer.structured_content or {} for name, answer in answers.items()}

    found = anyio.run(talk)
    assert np.array_equal(np.load(tmp_path / "y.npy"), x + x)
    assert found["run"]["status"] == 0
    assert found["check"]["status"] == 1
    assert found["diff"]["status"] == 1
    assert "pto.tadd" in str(found["diff"]["text"])
    facts = json.loads(json.dumps(found["check"]))
    verdicts = {v["kernel"]: v["verdict"] for v in facts["verdicts"]}
    assert verdicts == {"good.pto": "legal", "wrong.pto": "refused"}
    error = next(d for d in facts["diagnostics"] if d["severity"] == "error")
    assert (error["file"], error["line"]) == ("wrong.pto", 12)


def answer(tool: str, **given: object) -> CommandResult:
    """The result of a call, in this process."""
    from ptokit.tools import agentserver  # slow to import, too

    async def call() -> CommandResult:
        return await getattr(agentserver, tool)(**given)

    return anyio.run(call)


def test_a_kernel_that_does_not_end_or_crashes_leaves_the_server_alone(tmp_path: Path) -> None:
    endless, crash = tmp_path / "endless.py", tmp_path / "crash.py"
    endless.write_text("while True:\n    pass\n")
    crash.write_text("import os\n\nprint('before', flush=True)\nos.abort()\n")
    late = answer("check", kernels=[str(endless)], timeout=1)
    assert (late.status, late.message) == (3, "check: did not end within 1 s")
    gone = answer("check", kernels=[str(crash)])
    assert (gone.status, gone.message.splitlines()[0]) == (
        3,
        "check: the process ended with SIGABRT",
    )


def test_mistakes_are_data() -> None:
    """What a command says where it cannot do its work: of the call, and of the program."""
    call = command_result(["explain", "tlod"])
    assert (call.status, call.text, call.diagnostics) == (2, "", [])
    assert "near: tload" in call.message
    missing = command_result(["run", str(ROOT / "examples" / "gemm.pto"), "zeros"])
    assert (missing.status, missing.text, missing.message) == (2, "", "")
    assert [d["slug"] for d in missing.diagnostics] == ["missing-argument"]


def test_without_the_package_one_message_says_how_to_install_it() -> None:
    with patch("ptokit.tools.cli.mcp_command.find_spec", return_value=None):
        found = command_result(["mcp"])
    assert found.status == 2
    assert "pip install 'ptokit[mcp]'" in found.message
