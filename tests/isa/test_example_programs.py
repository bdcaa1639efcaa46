"""The programs of examples/pto give on each of their targets what their comments say.

`// targets: cpu, a5` names the targets, `// x = VALUES` an argument, `// y -> VALUES` an output.
VALUES is a list of rows, `2x[1, 2]` a row several times, `16x64 of 1` one number everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from ptokit.numerics.host import rounded, values_of

PROGRAMS = sorted((ROOT / "examples" / "pto").glob("*.pto"))


def values(text: str) -> list[list[float]]:
    if match := re.fullmatch(r"(\d+)x(\d+) of (\S+)", text):
        return [[float(match[3])] * int(match[2])] * int(match[1])
    if match := re.fullmatch(r"(\d+)x(\[.*\])", text):
        return [json.loads(match[2])] * int(match[1])
    return json.loads(text)


def said(text: str, arrow: str) -> Iterator[tuple[str, list[list[float]]]]:
    """The names and values before an arrow, or an equals sign, of comments."""
    for name, given in re.findall(rf"^// (\w+) {arrow} (.*)$", text, re.M):
        yield name, values(given)


def array(kind: Any, given: list[list[float]]) -> Any:  # Any: a tile's type, an array
    """Values in the argument's element type."""
    return values_of(rounded(np.asarray(given, np.float32), kind.dtype), kind.dtype)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_the_program_gives_what_its_comments_say(path: Any, engine: str) -> None:
    text = path.read_text(encoding="utf-8")
    program = pto.loads(text)
    kinds = {a.name: a.type for a in program.func().args}
    given = {n: array(kinds[n], v) for n, v in said(text, "=")}
    (targets,) = re.findall(r"^// targets: (.*)$", text, re.M)
    for target in targets.split(", "):
        assert [d.render() for d in program.check(target) if d.is_error] == []
        outputs = program.execute(dict(given), target=target, engine=engine).outputs
        wanted = dict(said(text, "->"))
        assert wanted
        assert {n: np.asarray(outputs[n]).astype(float).tolist() for n in wanted} == wanted
