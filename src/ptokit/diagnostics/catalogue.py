"""The catalogue of diagnostics: for each slug a title and the text that `ptokit explain` prints."""

from __future__ import annotations

from ptokit.diagnostics.faults.callfaults import CALLS
from ptokit.diagnostics.faults.catalogueentry import Entry
from ptokit.diagnostics.faults.cppfaults import CPP
from ptokit.diagnostics.faults.kernelfaults import KERNELS
from ptokit.diagnostics.faults.memoryfaults import MEMORY
from ptokit.diagnostics.faults.orderfaults import ORDER
from ptokit.diagnostics.faults.rulefaults import RULES
from ptokit.diagnostics.faults.runfaults import RUNS
from ptokit.diagnostics.faults.textfaults import TEXT

CATALOGUE: dict[str, Entry] = {
    **RULES,
    **KERNELS,
    **MEMORY,
    **RUNS,
    **ORDER,
    **CALLS,
    **TEXT,
    **CPP,
}
# slugs of the release before -> slugs of today
RENAMED = {"pipe": "fifo-mismatch", "type-elided": "type-omitted"}
