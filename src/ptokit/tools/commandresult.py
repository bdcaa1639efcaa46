"""The result of a command as data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommandResult:
    """The exit status of a command, what it printed, and its diagnostics.

    Status 0 is success, 1 a wrong program, 2 a wrong call. `text` is standard output, `message`
    standard error without diagnostics, and a diagnostic is as docs/check.schema.json has it.
    """

    status: int
    text: str = ""
    message: str = ""
    diagnostics: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
