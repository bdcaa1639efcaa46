"""The programs of examples/pto give what their comments say, in both engines, where it is legal.

`// targets: cpu, a5` names the targets that take it, `// blocks: N` how many blocks run. A comment
`// NAME = EXPRESSION` is an argument, in its element type; `// EXPRESSION -> EXPRESSION` is what
comes out, with `on TARGETS` behind it where targets differ. Expressions are NumPy's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from account.files import ROOT
from fuzz.scale import sampled
from ptokit.values.host import rounded_codes, values_of

PROGRAMS = sorted((ROOT / "examples" / "pto").glob("*.pto"))
TARGETS = ("cpu", "a2a3", "a5")
EXPECTED = re.compile(r"// (.+?) -> (.+?)(?:\s{2,}on ([a-z0-9, ]+))?$", re.M)


def value(text: str, names: dict[str, Any]) -> Any:  # Any: arrays
    """An expression of a comment."""
    return np.asarray(eval(text, {"np": np}, names))


def array(kind: Any, given: Any) -> Any:  # Any: the type of an argument, arrays
    """Values in the argument's element type."""
    return values_of(rounded_codes(np.asarray(given, np.float32), kind.dtype), kind.dtype)


def said(text: str, target: str) -> list[tuple[str, str]]:
    """What comes out, and what it is."""
    found = [m for m in EXPECTED.finditer(text) if not m[3] or target in re.split(r"\W+", m[3])]
    return [(m[1], m[2]) for m in found]


# each program on one target in turn; from PTOKIT_FUZZ = 3 on, on all of them
CASES = [(p, t) for n, p in enumerate(PROGRAMS) for t in ([*TARGETS] * 2)[n % len(TARGETS) :][:3]]


@pytest.mark.parametrize(("path", "target"), sampled(CASES, 5), ids=str)
def test_the_program_gives_what_its_comments_say(path: Path, target: str) -> None:
    text = path.read_text(encoding="utf-8")
    program = pto.loads(text)
    (targets,) = re.findall(r"^// targets: (.*)$", text, re.M)
    errors = [d.render() for d in program.check(target) if d.is_error]
    assert (errors == []) == (target in targets.split(", ")), errors
    if errors:
        return
    kinds = {a.name: a.type for a in program.func().args}
    arguments = re.findall(r"^// (\w+) = (.*)$", text, re.M)
    given = {name: array(kinds[name], value(v, {})) for name, v in arguments}
    expected = said(text, target)
    assert expected
    blocks = int((re.findall(r"^// blocks: (\d+)$", text, re.M) or ["1"])[0])
    for engine in ("reference", "native"):
        outputs = program.run(target=target, engine=engine, blocks=blocks, **given)
        for what, wanted in expected:
            found = value(what, dict(outputs)).astype(float)
            assert found.tolist() == value(wanted, {}).tolist(), engine
