"""Who refuses a program: each rule names its judges, and `--as` asks for the verdict of one."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from test_assembler import of, tile

import ptokit as pto
from every import every
from ptokit.analysis.legality import Outcome
from ptokit.diagnostics.diagnostic import Judge
from ptokit.isa.formula.rules import by as refused_by
from ptokit.isa.formula.rules import rules_of, warns
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import PAGES
from ptokit.tools.cli import main
from ptokit.tools.manual import explain

HALVES = tile("vec", "8x64xf16")
SAME = of("tcvt", {"a": HALVES, "d": HALVES})  # no C++ call converts f16 to f16
DIVIDED = of(
    "trowexpanddiv",
    {"a": tile("vec", "8x64xf32"), "b": tile("vec", "8x8xf32"), "d": tile("vec", "8x64xf32")},
    " {precisionType = #pto<div_precision high_precision>}",
)
REFUSED = {SAME: {"headers", "hardware"}, DIVIDED: {"assembler"}}


@every("judge", [j.value for j in Judge])
@every("text", REFUSED, ids=["conversion", "division"])
def test_each_judge_has_a_verdict(text: str, judge: str) -> None:
    (verdict,) = pto.loads(text).verdicts("a5", judge=judge)
    assert (verdict.word is Outcome.REFUSED) == (judge in REFUSED[text])
    assert pto.loads(text).verdicts("a5")[0].word is Outcome.REFUSED


@every("judge", [j.value for j in Judge])
@every("text", REFUSED, ids=["conversion", "division"])
def test_a_target_has_a_judge_too(text: str, judge: str, engine: str) -> None:
    """A run goes on where the judge of its target takes what others refuse."""
    program, target = pto.loads(text), f"a5:as-{judge}"
    found = program.check(target)
    again = program.check("a5", judge=judge)
    assert [d.render() for d in found] == [d.render() for d in again]
    numbers = {"f16": np.float16, "f32": np.float32}
    kinds: dict[str, Any] = {a.name: a.type for a in program.module.funcs[0].args}  # of tiles
    given: Any = {n: np.ones(tuple(k.valid), numbers[str(k.dtype)]) for n, k in kinds.items()}
    if judge in REFUSED[text] - {"assembler"}:  # whose rules compare the text, not a run
        with pytest.raises(pto.PtoError):
            program.run(target=target, engine=engine, **given)
    else:
        program.run(target=target, engine=engine, **given)


def test_a_message_says_who_refuses_and_who_accepts() -> None:
    (found,) = pto.loads(SAME).check("a5", judge="assembler")
    assert "refused by: headers, hardware; accepted by: assembler" in found.render()
    assert found.to_json()["by"] == ["headers", "hardware"]
    (everyone,) = pto.loads(SAME.replace("f16", "f8E4M3FN")).check("a5")
    assert "refused by" not in everyone.render()


def test_the_command_line_chooses(tmp_path: Path) -> None:
    file = tmp_path / "same.pto"
    file.write_text(SAME)
    for judge, status in (("assembler", 0), ("headers", 1)):
        args = ["check", str(file), "--target", "a5", "--as", judge, "--format", "json"]
        done = CliRunner().invoke(main, args)
        assert done.exit_code == status, done.output
        assert json.loads(done.output)["verdicts"][0]["as"] == judge
    with pytest.raises(ValueError, match="'nobody': choose one of assembler, headers"):
        pto.loads(SAME).check("a5", judge="nobody")


def test_a_run_is_of_what_was_compiled() -> None:
    """Rules of the assembler alone are about text: they end no run."""
    rules = [rule for page in pages() for rule in page.all_rules if rule.by]
    assert {*Judge} == {judge for rule in rules for judge in rule.by}
    for rule in rules:
        assert rule.required == (not rule.warns and rule.by != (Judge.ASSEMBLER,))


def test_explain_lists_what_one_judge_refuses() -> None:
    for judge in Judge:
        page = explain(judge.value) or ""
        named = [p for p in pages() if any(judge in rule.by for rule in p.all_rules)]
        assert named
        assert all(f"  {p.mnemonic()}: " in page for p in named)


def test_a_warning_of_one_judge_is_that_judges_error() -> None:
    (rule,) = warns(refused_by(Judge.HEADERS, *islice(rules_of(PAGES[0].all_rules), 1)))
    assert (rule.warns, rule.by) == (True, (Judge.HEADERS,))
