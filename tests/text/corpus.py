"""The example programs of the pages and of the tree, in each form of assembly."""

from __future__ import annotations

from functools import cache

from account.files import ROOT
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.index import pages
from ptokit.isa.lang.example import example_program


@cache
def corpus() -> tuple[str, ...]:
    """Programs of the tree in each form."""
    texts = [
        *(example_program(page) for page in pages()),
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
