"""Commands as a user types them, right and wrong: output, exit status, files."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from cli.commands import ptokit
from every import every

GEMM = str(ROOT / "examples" / "gemm.pto")
EXTRACT = "%dst = textract %src[%r0, %r1] : !pto.tile<...> -> !pto.tile<...>\n"


@pytest.fixture
def matrices(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    np.save(tmp_path / "a.npy", rng.standard_normal((512, 384)).astype(np.float16))
    np.save(tmp_path / "b.npy", rng.standard_normal((384, 320)).astype(np.float16))
    np.save(tmp_path / "x.npy", rng.standard_normal((64, 256)).astype(np.float16))
    return tmp_path


def test_a_target_by_what_programs_call_it(tmp_path: Path) -> None:
    kernel = tmp_path / "k.pto"
    body = "  func.func @f(%x: !pto.ptr<f32>) {\n    return\n  }\n"
    kernel.write_text(f'module attributes {{pto.target_arch = "a3"}} {{\n{body}}}\n')
    assert ptokit("check", kernel).stdout == (
        "cpu:   legal\nthe program is for a3: use --target a2a3\n"
    )
    assert ptokit("check", kernel, "--target", "a3").stdout == "a2a3:  legal\n"
    assert ptokit("check", kernel, "--target", "cpu").stdout == "cpu:   legal\n"


@pytest.mark.parametrize("target", ["cpu", "a2a3", "a5"])
def test_gemm_from_npy_to_npy(matrices: Path, target: str) -> None:
    c = matrices / "c.npy"
    words = (f"a={matrices / 'a.npy'}", f"b={matrices / 'b.npy'}", "-o", f"c={c}", "--report")
    result = ptokit("run", GEMM, "--target", target, *words)
    assert result.exit_code == 0
    assert "480  pto.textract" in result.output
    a, b = (np.load(matrices / f"{name}.npy").astype(np.float64) for name in "ab")
    found = np.load(c)
    assert found.dtype == np.float32
    assert np.abs(found - a @ b).max() <= 384 * 2.0**-24 * (np.abs(a) @ np.abs(b)).max()


def test_the_seed_line_runs(matrices: Path) -> None:
    kernel = matrices / "extract.pto"
    kernel.write_text(EXTRACT)
    x, y = matrices / "x.npy", matrices / "y.npy"
    result = ptokit("run", kernel, f"src={x}", "r0=0", "r1=64", "-o", f"dst={y}")
    assert result.exit_code == 0
    assert np.array_equal(np.load(y), np.load(x)[:, 64:])


def test_an_elided_type_can_be_given(matrices: Path) -> None:
    y = matrices / "y.npy"
    kind = "dst=!pto.tile_buf<vec, 32x32xf16>"
    words = (f"src={matrices / 'x.npy'}", "r0=8", "r1=16", "--type", kind, "-o", f"dst={y}")
    assert ptokit("run", "-", *words, stdin=EXTRACT).exit_code == 0
    assert np.load(y).shape == (32, 32)


def test_standard_input_and_json() -> None:
    text = Path(ROOT / "examples" / "overrun.pto").read_text()
    result = ptokit("check", "-", "--target", "all", "--format", "json", stdin=text)
    said = json.loads(result.output)
    (found,) = said["diagnostics"]
    assert result.exit_code == 1
    assert [v["target"] for v in said["verdicts"]] == ["cpu", "a2a3", "a5"]
    assert {v["verdict"] for v in said["verdicts"]} == {"refused"}
    assert found["slug"] == "window-out-of-bounds"
    assert found["line"] == 9
    assert found["targets"] == ["cpu", "a2a3", "a5"]


def test_text_is_that_of_the_program(tmp_path: Path) -> None:
    program = pto.load(GEMM)
    for form in ("as", "ssa", "dps", "cpp"):
        assert ptokit("convert", GEMM, "--to", form).output == program.text(form)
    assert ptokit("fmt", GEMM).output == program.text()
    kernel = tmp_path / "gemm.pto"
    kernel.write_text(Path(GEMM).read_text().replace("  ", "   "))
    assert ptokit("fmt", "--in-place", kernel).exit_code == 0
    assert kernel.read_text() == program.text()


WRONG_CALLS = [
    ("run", "nowhere.pto"),
    ("run", GEMM, "a"),
    ("run", GEMM, "a=nowhere.npy"),
    ("run", GEMM, f"a={GEMM}"),
    ("run", GEMM, "--target", "a9"),
    ("run", GEMM, "--target", "all"),
    ("run", GEMM, "--fixpipe", "other"),
    ("run", GEMM),
    ("run", GEMM, "a=1", "b=2"),
    ("run", GEMM, "q=1"),
    ("check", "nowhere.pto"),
    ("check", str(ROOT)),
    ("explain", "textrac"),
    ("layout", "f17", "16x32", "nd"),
    ("layout", "f16", "16", "nd"),
    ("layout", "f16", "16x32", "xx"),
    ("layout", "f16", "16x32", "nd", "--at", "99,0"),
    ("replay", "nowhere"),
    ("convert", GEMM, "--to", "latin"),
    ("frobnicate",),
]


@every("words", WRONG_CALLS, ids=" ".join)
def test_a_wrong_call_has_status_2_and_says_why(words: tuple[str, ...]) -> None:
    result = ptokit(*words)
    assert result.exit_code == 2
    assert result.output.strip()


WRONG_PROGRAMS: dict[str, str | bytes] = {
    "truncated": Path(GEMM).read_text()[:2500],
    "not utf-8": b"// \xff\xfe\n",
    "nul bytes": "\0\0\0",
    "no rows": "%t = pto.alloc_tile : !pto.tile_buf<vec, 0x32xf32>\n",
    "10^12 columns": "%t = pto.alloc_tile : !pto.tile_buf<vec, 16x1000000000000xf32>\n",
}


@every("name", WRONG_PROGRAMS)
@every("command", ["check", "run", "fmt"])
def test_a_wrong_program_has_one_diagnostic_in_bounded_time(name: str, command: str) -> None:
    if command == "fmt" and name in ("no rows", "10^12 columns"):
        return  # fmt prints types as they are; legality is check's business
    start = time.monotonic()
    result = ptokit(command, "-", stdin=WRONG_PROGRAMS[name])
    assert result.exit_code == 1
    assert result.output.count("error[") == 1
    assert len(result.output) < 4000
    assert time.monotonic() - start < 20


def test_nan_and_infinity_move_as_bits(matrices: Path) -> None:
    bits = np.array([[0x7E01, 0xFC00, 0x8000, 0x0001] * 4], np.uint16)
    np.save(matrices / "x.npy", bits.view(np.float16))
    y = matrices / "y.npy"
    words = (f"src={matrices / 'x.npy'}", "r0=0", "r1=0", "-o", f"dst={y}")
    assert ptokit("run", "-", *words, stdin=EXTRACT).exit_code == 0
    assert np.array_equal(np.load(y).view(np.uint16), bits)


@every("command", ["run", "check", "fmt", "convert", "explain", "layout", "replay"])
def test_every_command_has_help(command: str) -> None:
    result = ptokit(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.output
