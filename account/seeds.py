"""docs/seeds.md: what each public document says, and the test or the decision that answers it."""

from __future__ import annotations

from collections.abc import Iterator

from account.statements import DOCUMENTS, Document, Statement, statements
from ptokit.isa.disputes import DISPUTES, Dispute

HEAD = """\
# Every statement of the five documents

Generated from the data in `account/statements` by `make docs`; do not edit.

ptokit started from five public documents. Each thing they state stands here in order, in our words
(names, formulas and lines of syntax as they are), with the tests that show what ptokit makes of it.
Where a number stands in the last column, other sources say otherwise: the section
[Where the documents disagree](#where-the-documents-disagree) has all readings and the choice."""


def seeds_page() -> str:
    """The whole page."""
    lines = [HEAD, "", *_summary()]
    for document in DOCUMENTS:
        lines += ["", *_document(document)]
    lines += ["", *_disputes()]
    return "\n".join(lines) + "\n"


def _summary() -> Iterator[str]:
    yield "| document | page | statements | disputed |"
    yield "|---|---|---:|---:|"
    for document in DOCUMENTS:
        disputed = sum(s.dispute is not None for s in document.statements)
        link = f"[{document.title}](#{_anchor(document)})"
        yield f"| {link} | `{document.origin}` | {len(document.statements)} | {disputed} |"


def _anchor(document: Document) -> str:
    return document.name.replace("_", "-")


def _document(document: Document) -> Iterator[str]:
    yield f'<a id="{_anchor(document)}"></a>'
    yield ""
    yield f"## {document.title}"
    number = 0
    for section in document.sections:
        yield from ("", f"### {section}", "")
        yield "| | kind | it says | shown by | disputed |"
        yield "|---:|---|---|---|---|"
        for statement in document.statements:
            if statement.section == section:
                number += 1
                yield f"| {number} | {statement.kind} | {_row(statement)} |"


def _row(statement: Statement) -> str:
    tests = "<br>".join(_test(node) for node in statement.shown_by)
    dispute = statement.dispute
    return f"{_said(statement)} | {tests} | {f'[{dispute}](#{dispute.lower()})' if dispute else ''}"


def _said(statement: Statement) -> str:
    text = statement.says.replace("|", "\\|")
    code = statement.kind in ("syntax", "signature") or "!pto.tile" in text
    return f"`{text}`" if code else text.replace("*", "\\*")


def _test(node: str) -> str:
    path, _, name = node.partition("::")
    return f"[{name}](../{path})"


def _disputes() -> Iterator[str]:
    yield "## Where the documents disagree"
    yield ""
    yield "With each other, with themselves, or with what the public implementations do."
    cited = {s.dispute for s in statements() if s.dispute is not None}
    for name in sorted(cited, key=lambda n: int(n[1:])):
        dispute = DISPUTES.get(name)
        if dispute is not None:
            yield from ("", f'<a id="{name.lower()}"></a>', "", *_dispute(name, dispute))


def _dispute(name: str, dispute: Dispute) -> Iterator[str]:
    yield f"### {name}: {dispute.question}"
    yield ""
    for statement in statements():
        if statement.dispute == name:
            yield f"- {_title(statement)}, {statement.section}: {_said(statement)}"
    yield f"- All sources: {dispute.sources}"
    yield ""
    yield f"ptokit: **{dispute.choice}**. Why: {dispute.why}."
    if dispute.option:
        yield f"Other readings: `{dispute.option}`."


def _title(statement: Statement) -> str:
    return next(d.title for d in DOCUMENTS if d.name == statement.document)
