"""The state that all dry runs of one launch share."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ptokit.machine.execute import ReadyOp
from ptokit.order.footprints import Templates


@dataclass
class DryRunCache:
    """Prepared ops, and the footprints of issued ops.

    `marks` are the ids of barriers that were added for a check; limits do not count them.
    """

    marks: Container[int] = ()
    ready: dict[object, ReadyOp] = field(default_factory=dict[object, ReadyOp])
    templates: Templates = field(default_factory=Templates)

    def for_other_numbers(self) -> DryRunCache:
        """Return the state for other numbers: footprints stay valid, prepared ops do not."""
        return DryRunCache(self.marks, templates=self.templates)
