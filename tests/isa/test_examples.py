"""The example of every manual page runs, and is legal on the targets that have the instruction."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import ptokit as pto
from fuzz.scale import sampled, tried
from ptokit.ir.module import AnyOp, Op
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.types import PtrType, Type
from ptokit.launch.fills import Fill
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.tools.cli import main
from ptokit.tools.manual import explain, instruction_page
from ptokit.tools.manual.topics import FUNCTIONS
from ptokit.tools.shown import array_of
from ptokit.tools.tracing import Tracer, defined_or_written

COMPILED = sampled(pages(), 10)  # that native code does what a page says is the law of meaning
WITHOUT_DATA = {p.__name__ for p in pages() if not p.outs() or not p.on_tiles}


def fill(kind: Type) -> Fill:
    """Small numbers of the argument's type and shape."""
    return Fill(content="random", shape=(1024,) if isinstance(kind, PtrType) else None)


class Looks(Tracer):
    """Traces each op and looks at what it wrote, as a debugger does."""

    def __init__(self) -> None:
        self.told = list[str]()
        super().__init__(self.told.append)

    def after(self, op: AnyOp, env: Env, core: Core) -> None:
        super().after(op, env, core)
        if isinstance(op, Op):
            for value in defined_or_written(op):
                repr(array_of(env[value]))


@pytest.mark.parametrize("page", tried(pages(), 2, 4), ids=lambda p: p.__name__)
def test_the_example_runs(page: type[Instr]) -> None:
    program = pto.loads(example_program(page))
    targets = page.homes()
    assert [d.render() for d in program.check(*targets) if d.is_error] == []
    fills = {arg.name: fill(arg.type) for arg in program.func().args}
    engine = "native" if page in COMPILED else "reference"
    if page.unexecuted:
        with pytest.raises(pto.PtoError, match=r"\[not-executed\]") as problem:
            program.execute(fills, target=targets[-1], engine=engine)
        assert [d.slug for d in problem.value.diagnostics] == ["not-executed"]
        return
    looks = Looks()
    observers = [looks] if engine == "reference" else []
    done = program.execute(fills, target=targets[-1], engine=engine, observers=observers)
    outputs = done.outputs
    assert len(looks.told) >= sum(done.instructions.values()) or not observers
    assert not [line for line in looks.told if " at 0x" in line], "no two runs are alike"
    assert outputs or page.__name__ in ("TLoad", "MGatherToL1", *WITHOUT_DATA)


@pytest.mark.parametrize("name", sampled([*FUNCTIONS, *(p.__name__ for p in pages())], 12))
def test_the_example_runs_by_the_command_above_it(name: str, tmp_path: Path) -> None:
    """The last section of a manual page, pasted into a file."""
    page = next((p for p in pages() if p.__name__ == name), None)
    text = explain(name) if page is None else instruction_page(page)
    _, _, pasted = (text or "").rpartition("\nExample\n")
    file = tmp_path / "example.pto"
    file.write_text("\n".join(line.removeprefix("  ") for line in pasted.splitlines()))
    words = pasted.splitlines()[0].removeprefix("  // ").split()
    assert words[:3] == ["ptokit", "run", "example.pto"]
    done = CliRunner().invoke(main, ["run", str(file), *words[3:]])
    if page is not None and page.unexecuted:
        assert "error[not-executed]: " in done.output
    else:
        assert done.exit_code == 0, done.output
