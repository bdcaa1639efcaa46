"""Errors for statements that leave a recorded loop or branch.

Also for a name that only one branch binds.
"""

from __future__ import annotations

import re
from typing import TypeVar

from ptokit.api.kernel.callplaces import CallPlace, here, refused, span_of
from ptokit.api.kernel.recorder import Recorder, recorder
from ptokit.api.kernel.runtimenumbers import RunTimeNumber
from ptokit.diagnostics.diagnostic import Note, PtoError, error
from ptokit.launch.settings import recording

T = TypeVar("T")
AFTER = "both branches are recorded: put the rest under `else`, and bind a result in both"
LEAVING = {
    "raise": "both branches are recorded, so Python would raise in any case: check numbers before",
    "yield": "both branches are recorded: yield the items of each in a separate loop",
}


def left(place: CallPlace, note: Note | None = None) -> PtoError:
    """Return the error for a loop that `break` or `return` left."""
    message = "early exit from a recorded loop"
    help = "limit its bounds, guard its body with `if`, or unroll it with Python's range"
    notes = () if note is None else (note,)
    return error("left-loop", message, place.span(), help=help, notes=notes)  # type: ignore[arg-type]  # `error` types only text fields


def decided(test: T, word: str, at: tuple[int, int, int]) -> T:
    """Return the test of an `if` that Python decides, because a statement inside leaves it."""
    if recording.get() is None or not isinstance(test, RunTimeNumber):
        return test
    place, record = here(), recorder()
    note = Note(f"`{word}` is here", span_of(place.code.co_filename, at[0], *at))
    what = f"`{word}` in a recorded branch"
    help = LEAVING.get(word, AFTER)
    problem = error("left-branch", what, place.span(), help=help, notes=(note,))  # type: ignore[arg-type]  # `error` types only text fields
    if record.sees(place.code):
        record.refused = problem
    raise problem


def unbound(record: Recorder, problem: UnboundLocalError) -> Exception:
    """Return the error for a name that only the other branch binds, or `problem` itself."""
    name = (re.findall(r"'(\w+)'", str(problem)) or [""])[0]
    if name not in record.gone:
        return problem
    help = f"bind {name} before, and write into it in both branches with `out={name}`; "
    help += f"pto.matmul(a, b, acc={name}, first=...) starts a new accumulator"
    what = f"{name} is bound in only one branch of a recorded `if`"
    return refused("rebound", what, help, record.gone[name])
