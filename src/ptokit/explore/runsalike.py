"""What dry runs of one launch have in common, worked out once for all of them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ptokit.machine.execute import ReadyOp
from ptokit.order.footprints import Templates


@dataclass
class RunsAlike:
    """Ops made ready, and the footprints of those that are issued.

    `marks` are barriers, by their identities, that are no part of the program: nothing limits them.
    """

    marks: Container[int] = ()
    ready: dict[object, ReadyOp] = field(default_factory=dict[object, ReadyOp])
    templates: Templates = field(default_factory=Templates)

    def on_other_numbers(self) -> RunsAlike:
        """Which rules are left open depends on the numbers of a launch; what ops touch does not."""
        return RunsAlike(self.marks, templates=self.templates)
