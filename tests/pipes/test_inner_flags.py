"""Flags that are up while an instruction uses the same ones itself."""

from __future__ import annotations

import ptokit as pto
from account.files import ROOT

TEXT = (ROOT / "tests" / "errors" / "flag-clash.pto").read_text(encoding="utf-8")
ID0, ID1 = "<PIPE_MTE3>, <EVENT_ID0>", "<PIPE_MTE3>, <EVENT_ID1>"


def slugs(text: str, target: str = "a2a3") -> set[str]:
    return {d.slug for d in pto.loads(text).races(target)}


def test_the_same_pipes_and_id_clash() -> None:
    assert "flag-clash" in slugs(TEXT)


def test_another_id_does_not() -> None:
    assert "flag-clash" not in slugs(TEXT.replace(ID0, ID1))


def test_a_flag_that_is_down_again_does_not() -> None:
    lines = TEXT.splitlines()
    wait = next(line for line in lines if "wait_flag" in line and ID0 in line)
    lines.remove(wait)
    up = next(n for n, line in enumerate(lines) if "set_flag" in line and ID0 in line)
    lines.insert(up + 1, wait)
    assert "flag-clash" not in slugs("\n".join(lines))


def test_a_target_whose_instruction_uses_none_has_no_clash() -> None:
    assert "flag-clash" not in slugs(TEXT, "a5")
