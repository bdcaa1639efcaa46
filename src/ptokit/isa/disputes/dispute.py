"""A row of the table: a question that sources answer differently."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dispute:
    """`option` names the setting that gives the other reading, if there is one."""

    question: str
    sources: str
    choice: str
    why: str
    option: str | None = None
