"""Every statement of the five public documents that ptokit started from, in order.

Data: `docs/seeds.md` prints it, and the laws in `tests/seeds` hold it to the tests it names.
"""

from __future__ import annotations

from account.statements.layout_set import LAYOUT_SET
from account.statements.model import KINDS, Document, Kind, Statement
from account.statements.subview import SUBVIEW
from account.statements.textract import TEXTRACT
from account.statements.textract_zh import TEXTRACT_ZH
from account.statements.tgather import TGATHER

DOCUMENTS: tuple[Document, ...] = (TEXTRACT, TEXTRACT_ZH, LAYOUT_SET, TGATHER, SUBVIEW)


def statements() -> tuple[Statement, ...]:
    """All of them, document by document."""
    return tuple(s for d in DOCUMENTS for s in d.statements)


__all__ = ["DOCUMENTS", "KINDS", "Document", "Kind", "Statement", "statements"]
