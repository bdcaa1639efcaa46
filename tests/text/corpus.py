"""The example programs of the pages and of the tree, in each form of assembly."""

from __future__ import annotations

from functools import cache

from ptokit.isa.pages.examples import EXAMPLES

from account.files import ROOT
from ptokit.api.program import loads
from ptokit.diagnostics.diagnostic import PtoError


@cache
def corpus() -> tuple[str, ...]:
    """Programs of the tree in each form."""
    texts = [
        *EXAMPLES.values(),
        *(p.read_text() for p in sorted((ROOT / "examples").glob("*.pto"))),
    ]
    made = dict.fromkeys(texts)
    for text in texts:
        for form in ("as", "ssa", "dps"):
            try:
                made[loads(text).text(form)] = None
            except PtoError:
                continue
    return tuple(made)
