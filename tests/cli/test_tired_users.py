"""What a tired user types, and what an unexpected exception looks like, at each command."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from account.files import ROOT
from cli.commands import ptokit
from every import every
from ptokit.launch.settings import DEFAULT_ENGINE
from ptokit.launch.signals import Ended
from ptokit.tools import cli

GEMM = str(ROOT / "examples" / "gemm.pto")


@pytest.fixture
def array(tmp_path: Path) -> Path:
    np.save(tmp_path / "a.npy", np.ones((16, 16), np.float32))
    return tmp_path / "a.npy"


# our own faults

# what each command is given, and a function that it calls
COMMANDS = {
    "run": ((GEMM,), "ptokit.api.kernel.loading.load"),
    "check": ((GEMM,), "ptokit.api.program.Program.verdicts"),
    "fmt": ((GEMM,), "ptokit.api.program.Program.text"),
    "convert": ((GEMM, "--to", "ssa"), "ptokit.text.write.printer.print_module"),
    "opt": ((GEMM, "--passes", "place"), "ptokit.passes.pipeline.run_passes"),
    "explain": (("textract",), "ptokit.tools.manual.explain"),
    "layout": (("f16", "16x32", "nd"), "ptokit.tools.draw.layout_picture"),
    "replay": ((str(ROOT),), "ptokit.tools.replay.replay"),
    "new": (("kernel", "scaled"), "ptokit.launch.files.write_files"),
    "profile": ((GEMM, "--target", "a2a3"), "ptokit.api.kernel.loading.load"),
    "diff": (("zeros:f32:2x2", "zeros"), "ptokit.tools.arraydiff.report"),
    "completion": (("bash",), "click.shell_completion.get_completion_class"),
    "cxx": (("build", GEMM), "ptokit.api.cxx.cxxkernel.CxxKernel.build"),
    "repro": ((GEMM, "zeros", "zeros", "-o", "bundle"), "ptokit.api.kernel.loading.load"),
    "mcp": ((), "ptokit.tools.agentserver.server"),
    "lsp": ((), "ptokit.tools.lsp.answers.start"),
}


def test_every_command_is_tried() -> None:
    assert set(cli.main.list_commands(click.Context(cli.main))) == set(COMMANDS)


@pytest.mark.parametrize("kind", [ValueError, TypeError, AssertionError, RecursionError, OSError])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_is_one_line_with_status_3(
    command: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise kind("a broken part")

    words, part = COMMANDS[command]
    monkeypatch.setattr(part, broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = ptokit(command, *words)
    assert result.exit_code == 3
    (line,) = result.output.splitlines()
    match = re.fullmatch(r"internal error in ptokit, please report: (\S+) has the traceback", line)
    assert match is not None, line
    text = Path(match[1]).read_text()
    assert Path(match[1]).parent == tmp_path
    assert f"{kind.__name__}: a broken part" in text
    assert text.startswith("ptokit ")


def test_a_signal_while_python_makes_a_class_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 wraps what is raised where a class names its fields."""

    def interrupted(*_: object) -> None:
        raise RuntimeError("Error calling __set_name__") from Ended(signal.SIGINT)

    monkeypatch.setattr(COMMANDS["fmt"][1], interrupted)
    result = ptokit("fmt", GEMM)
    assert result.exit_code == 128 + signal.SIGINT
    assert result.output == "ended by SIGINT: nothing was written\n"


def test_a_fault_without_room_for_a_file_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(COMMANDS["fmt"][1], broken)
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    result = CliRunner().invoke(cli.main, ["fmt", GEMM])
    assert result.exit_code == 3
    assert result.output.startswith("internal error in ptokit, please report:\n")
    assert "ZeroDivisionError" in result.output


# machine-readable diagnostics


@every("text", ["%d = ", b"\xff\xfe", "\0", "%t = pto.alloc_tile : !pto.tile<q>"])
def test_json_of_what_cannot_be_read(text: str | bytes) -> None:
    result = ptokit("check", "-", "--format", "json", stdin=text)
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)["diagnostics"]
    assert found["severity"] == "error"
    assert result.stderr == ""


def test_json_of_a_file_that_is_not_there() -> None:
    result = ptokit("check", "nowhere.pto", "--format", "json")
    assert result.exit_code == 2
    (found,) = json.loads(result.stdout)["diagnostics"]
    assert found["slug"] == "unreadable-file"


# words of the call


@every(
    ("words", "advice"),
    [
        ((GEMM,), f"`ptokit check {GEMM}`"),
        (("chekc", GEMM), "did you mean check?"),
        (("xyzzy",), "option -h lists all"),
        (("cxx", "buidl"), "did you mean build?"),
        (("new", "kernal"), "did you mean kernel?"),
        (("check", GEMM.replace("gemm.pto", "gem.pto")), f"did you mean {GEMM}?"),
        (("check", __file__), "a function with the decorator @pto.kernel is a kernel"),
        (("fmt", str(ROOT)), "give a .pto file"),
        (("run", str(ROOT / "examples" / "nix" / "a.pto")), "give a .pto file"),
        (("run", GEMM, "--entry", "g"), "--entry NAME"),
        (("new", "kernel", "class"), "not a valid Python name"),
        (("new", "kernel", "copy"), "choose another name"),
        (("new", "kernel", "pto"), "choose another name"),
    ],
)
def test_what_a_newcomer_types_first(words: tuple[str, ...], advice: str) -> None:
    done = ptokit(*words)
    assert done.exit_code == 2, done.output
    assert advice in done.output


@every(
    "words",
    [
        ("f16", "16\u00b2x32", "nd"),
        ("f16", "-1x32", "nd"),
        ("f16", "9" * 5000 + "x32", "nd"),
        ("f16", "16x32", "nd", "--at", "\u0663,1"),
        ("f16", "16x32", "nd", "--at", "16,0"),
        ("f16", "16x32", "nd", "--at", "-1,0"),
        ("f16", "16x32", "nd", "--loc", "sky"),
        ("f16", "16x32", "nd", "--fractal", "x"),
    ],
)
def test_wrong_words_of_layout(words: tuple[str, ...]) -> None:
    done = ptokit("layout", *words)
    assert done.exit_code == 2
    assert "Error: " in done.output
    assert "in memory order" not in done.output  # nothing is drawn before


def test_a_type_that_does_not_fit_its_use(array: Path) -> None:
    text = "%d = textract %a[%r, %r] : !pto.tile<...> -> !pto.tile<...>\n"
    for stated in ("a=index", "d=f32", "d=!pto.ptr<f32>", "r=!pto.ptr<f32>"):
        result = ptokit("run", "-", f"a={array}", "r=0", "--type", stated, stdin=text)
        assert result.exit_code == 2, (stated, result.output)
        assert "argument-type" in result.output
    result = ptokit("run", "-", "a=1", "r=0", stdin=text)
    assert result.exit_code == 2
    assert "rule: %a is a tile" in result.output


def test_help_offers_what_runs() -> None:
    text = ptokit("run", "--help").output
    assert "all" not in re.findall(r"\[(.*?)\]", text.partition("--target")[2])[0]
    assert f"[default: {DEFAULT_ENGINE}]" in " ".join(text.split())


# arguments of run in Python


def test_a_folder_without_recordings_says_so(tmp_path: Path) -> None:
    result = ptokit("replay", tmp_path)
    assert result.exit_code == 2
    assert "no recorded cases" in result.output


@pytest.mark.parametrize(
    ("text", "arrays", "message"),
    [
        ("{", b"", "k.json: Expecting"),
        ("7", b"", "k.json: it is no list of cases with id, op"),
        ('[{"id": 1}]', b"", "k.json: it is no list of cases with id, op"),
        ("[]", None, "k.npz: No such file or directory"),
        ("[]", b"PK", "k.npz: "),
        ("[]", b"\x93NUMPY", "k.npz: "),
    ],
)
def test_broken_recordings_are_named(
    text: str, arrays: bytes | None, message: str, tmp_path: Path
) -> None:
    (tmp_path / "k.json").write_text(text)
    if arrays is not None:
        (tmp_path / "k.npz").write_bytes(arrays)
    result = ptokit("replay", tmp_path)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "NAME.npz beside it" in result.output


def test_one_array_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "k.json").write_text("[]")
    with (tmp_path / "k.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    assert "k.npz: it is no archive of arrays" in ptokit("replay", tmp_path).output


@every("text", ["", "// to be written\n", "module {\n}\n"])
def test_an_empty_file_is_legal_and_warned_of(text: str) -> None:
    for words in (("check", "--target", "all"), ("run",))[: 1 if "module" in text else 2]:
        done = ptokit(*words, "-", stdin=text)
        assert done.exit_code == 0
        assert done.output.startswith("warning[empty-program]: ")
