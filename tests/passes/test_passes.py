"""Passes on text: the first line of a program is its command, the output stands beside it.

`PTOKIT_UPDATE=1 pytest tests/passes` writes the outputs anew: read the difference first.
"""

from __future__ import annotations

import os
import shlex
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from every import every
from fuzz.scale import tried
from ptokit.api.kernel.loading import load, loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Func, Module
from ptokit.ir.verify import verify
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import TARGETS
from ptokit.passes.ownflags import KeptFlagsWarning
from ptokit.passes.pipeline import PASSES, Pass, each, run_passes
from ptokit.text.read.reader import read
from ptokit.tools.cli import main

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


@pytest.mark.parametrize("program", sorted(HERE.glob("*.pto")), ids=lambda p: p.stem)
def test_text_in_text_out(program: Path) -> None:
    command = program.read_text(encoding="utf-8").splitlines()[0]
    assert command.startswith("// $ ptokit opt ")
    words = [str(program) if w == "FILE" else w for w in shlex.split(command)[3:]]
    result = CliRunner().invoke(main, ["opt", *words[1:]])
    output = f"{result.output.replace(f'{HERE}{os.sep}', '')}[status {result.exit_code}]\n"
    expected = program.with_suffix(".out")
    if os.environ.get("PTOKIT_UPDATE"):
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_is_tried_and_explained(name: str) -> None:
    commands = [p.read_text(encoding="utf-8").splitlines()[0] for p in HERE.glob("*.pto")]
    assert any(name in command for command in commands), (
        f"{name}: write a program for it, tests/passes/NAME.pto, that begins with "
        f"`// $ ptokit opt --passes {name} FILE`"
    )
    assert name in CliRunner().invoke(main, ["explain", "passes"]).output


def test_the_program_goes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.pto"
    words = ["opt", "--passes", "complete", "-o", str(path), str(EXAMPLES / "gemm.pto")]
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.output) == (0, "")
    assert load(path).text() == load(EXAMPLES / "gemm.pto").text()


@every("page", tried(pages(), 1, step=20), ids=lambda p: p.__name__)
def test_passes_transform_or_refuse_each_example(page: type[Instr]) -> None:
    program, target = loads(example_program(page)), TARGETS[page.homes()[-1]]
    for name in PASSES:
        with suppress(PtoError), warnings.catch_warnings():
            warnings.simplefilter("ignore", KeptFlagsWarning)
            program.after([name], target)


def test_launches_of_some_threads_are_refused() -> None:
    text = example_program(next(p for p in pages() if p.mnemonic() == "pto.simt_launch"))
    with pytest.raises(PtoError, match="constant number of threads"):
        loads(text).after(["synchronise"], TARGETS["a5"])


def without_its_first_op(func: Func, _: object) -> Func:
    return replace(func, body=replace(func.body, ops=func.body.ops[1:]))


def test_what_a_pass_breaks_is_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "%a = arith.constant 1 : index\n%b = arith.addi %a, %a : index\n"
    monkeypatch.setitem(PASSES, "break", Pass("break", "", each(without_its_first_op)))
    with pytest.raises(AssertionError, match="used where it is not defined"):
        run_passes(read(text), ["break"], TARGETS["cpu"])
    monkeypatch.setitem(PASSES, "lie", Pass("lie", "", lambda m, _: m, (), lambda f: False))
    with pytest.raises(AssertionError, match="after lie"):
        run_passes(read(text), ["lie"], TARGETS["cpu"])


def test_a_value_is_defined_once() -> None:
    module: Module = read("%a = arith.constant 1 : index\n")
    (func,) = module.funcs
    func.body.ops *= 2
    with pytest.raises(AssertionError, match="defined twice"):
        verify(func)
