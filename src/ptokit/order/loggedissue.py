"""The issue trace of a run in either engine: entries, or logs that are read on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ptokit.ir.garbage import gc_disabled
from ptokit.isa.model.targets import Target
from ptokit.machine.executionlog import Logged
from ptokit.order.executed import ExecutedLog
from ptokit.order.issue import Issue
from ptokit.order.waiting import QueueEntry


class LoggedIssue(Issue):
    """An issue trace of either engine."""

    logs: ClassVar[bool] = True

    def __init__(self, target: Target, *, between_blocks: bool = False) -> None:
        super().__init__(target)
        self.unread: list[Logged] = []
        self.between_blocks = between_blocks
        self.blocks_apart = False  # proven without a list of entries

    def executed(self, log: Logged) -> None:
        """Keep the log, which is read when the entries are requested."""
        self.cut |= log.full
        self.unread.append(log)

    @property
    def cores(self) -> Sequence[Sequence[QueueEntry]]:
        with gc_disabled():
            while self.unread:
                ExecutedLog(self, self.unread.pop(0)).read()
        return super().cores

    def executed_apart(self, logs: Sequence[Logged]) -> bool:
        """Return whether the logs suffice: blocks are proven not to conflict."""
        full = any(log.full for log in logs)
        self.blocks_apart = not full and _order_holds(self.target, logs, blocks_only=True)
        return self.blocks_apart

    def proven(self, *, blocks_only: bool) -> bool:
        if self.blocks_apart:
            return blocks_only
        known = self.unread and not self.issues
        return bool(known) and _order_holds(self.target, self.unread, blocks_only=blocks_only)


def _order_holds(target: Target, logs: Sequence[Logged], *, blocks_only: bool) -> bool:
    from ptokit.order.orderproof import order_holds  # takes LLVM, as the engine that writes logs

    return order_holds(target, logs, blocks_only=blocks_only)
