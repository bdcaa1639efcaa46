"""The reader of one op in any form; a broken op is reported and skipped."""

from __future__ import annotations

from functools import lru_cache

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import AnyOp, Block
from ptokit.ir.strings import unquoted
from ptokit.isa.index import lookup
from ptokit.isa.lang.asm import DIALECTS, OWN_SINCE
from ptokit.isa.lang.instr import Instr
from ptokit.text.read.binding import UnknownOperandType
from ptokit.text.read.build import require_kind
from ptokit.text.read.cursor import Lost
from ptokit.text.read.names import Named
from ptokit.text.read.opaque import read_opaque
from ptokit.text.read.ownscalars import on_numbers, own_forms, own_generic, read_own
from ptokit.text.read.parser import Parser
from ptokit.text.read.recovery import skip
from ptokit.text.read.repeats import line_of, notes_taken, remember, repeated
from ptokit.text.read.shapes import reader_of
from ptokit.text.types.parts import WHOLE


def read_operation(p: Parser, block: Block) -> AnyOp | None:
    """Read the op at the cursor; report and skip a broken one, and return None."""
    first, depth, scopes = p.i, p.depth, len(p.names.scopes)
    try:
        return _operation(p)
    except Lost:
        raise
    except PtoError as problem:
        p.depth = depth
        while len(p.names.scopes) > scopes:
            p.names.close()
        p.broken.append(block)
        p.note(problem)
        skip(p, first)
        return None


def _operation(p: Parser) -> AnyOp:
    """Read the op at the cursor."""
    start, line = p.i, line_of(p, p.i)
    if line and (again := repeated(p, start, line)) is not None:
        return again
    before = notes_taken(p)
    op = _new(p, start)
    if line:
        remember(p, start, line, op, before)
    return op


def _new(p: Parser, start: int) -> AnyOp:
    """Read an op that no earlier statement repeats."""
    results = _results(p) if p.texts[start][:1] == "%" else []
    at = p.i
    name = p.texts[at]
    forms = _forms(name)
    if not forms:
        if not (name[:1].isalpha() or name[:1] in ('"', "_", ".")) or name == '"':
            p.fail("expected an operation")
        return read_opaque(p, start, at, results)
    p.i += 1
    mark, wrong = len(p.names.unnamed), len(p.problems)
    try:
        own = own_forms(name)
        others = [f for f in forms if all(f is not page for page, _ in own)] if own else forms
        if own and (not others or on_numbers(p)):
            op = (own_generic if name[0] == '"' else read_own)(p, own, at, results)
            op.dialect = OWN_SINCE
        elif name[0] == '"':
            from ptokit.text.read.generic import read_generic

            op = read_generic(p, others, at, results)
        else:
            op = reader_of(others[0])(p, others, at, results)
    except (UnknownOperandType, PtoError) as problem:
        if isinstance(problem, PtoError) and not _of_another_level(problem, forms):
            raise
        p.i = at
        del p.names.unnamed[mark:], p.problems[wrong:]
        from ptokit.text.read.registerops import of_text, synopsis

        kept = read_opaque(p, start, at, results)
        kept.expected = " or ".join(synopsis(f) for f in forms if f.below and of_text(f))
        return kept
    p.skip_location()
    if op.page.asm.since and not op.ssa and not op.dialect:
        bare = name.strip('"').rpartition(".")[2]
        versions = (v for v, other in reversed(op.page.asm.since) if bare == other)
        op.dialect = next(versions, DIALECTS[0])
    for operand, value in op.named_results():
        require_kind(p, op.page.operand(operand), value.type, at)
    return op


def _of_another_level(problem: PtoError, forms: tuple[type[Instr], ...]) -> bool:
    """Return whether the error is about types that the instruction has at another level.

    The casts of MLIR's builtin dialect stand between levels.
    """
    slugs = {d.slug for d in problem.diagnostics}
    return forms[0].asm.dialect == "builtin" and slugs <= {"type-mismatch", "operand-count"}


@lru_cache(maxsize=4096)
def _forms(name: str) -> tuple[type[Instr], ...]:
    """Return the pages that a token names, quoted or not."""
    return lookup(unquoted(name) if name[:1] == '"' else name)


def _results(p: Parser) -> list[Named]:
    """Read `%a, %b:2 =`."""
    found: list[Named] = []
    while True:
        at = p.i
        text = p.texts[at]
        if text[:1] != "%" or len(text) == 1:
            p.fail("expected a result name")
        p.i += 1
        if p.accept(":"):
            found += _pack(p, text[1:], at)
        else:
            found.append((text[1:], at))
        if not p.accept(","):
            break
    p.expect("=")
    return found


def _pack(p: Parser, name: str, at: int) -> list[Named]:
    text = p.texts[p.i]
    if not WHOLE.fullmatch(text) or len(text) > 3:
        p.fail("expected a number of results")
    p.i += 1
    return [(f"{name}#{n}", at) for n in range(int(text))]
