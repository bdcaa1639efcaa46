"""Diagnostics of broken rules: the place, the rule, the numbers and the remedy.

Also of unknown ops, attributes and types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ptokit.analysis.known import Facts
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Judge, Severity
from ptokit.diagnostics.nearest import did_you_mean
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Op, OpaqueOp, Value
from ptokit.isa.below import NAMES, TYPES, below_tiles, unsaid
from ptokit.isa.formula.formulas import Const, Env, Node, culprit, fields, operators, seen
from ptokit.isa.formula.rules import Rule
from ptokit.isa.index import lookup, pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.traits import MADE, WINDOW
from ptokit.isa.model.targets import Target
from ptokit.isa.model.tiles import COUNTS, VECTORS, RegisterType
from ptokit.isa.model.types import OpaqueType, PtrType

TILES = "tiles are !pto.tile_buf<...> or !pto.tile<...>"
NUMBERS = "numbers are index, i1, i8 to i64, u8 to u64, f16, bf16 and f32"
# attributes of the fix-pipe (without case and `_`) that the assembler refuses at FIFO ops
UNPUBLISHED = frozenset(
    ("stphase", "atomictype", "subblockid", "cliprelumode", "ischannelsplit", "channelsplit")
)
BELOW = "not checked: below the level of tiles"
INNER = "not checked: a name between the passes of a compiler, not of the public level pto.vmi"
PARTS = frozenset((MADE, WINDOW))  # the bytes that an access reaches
OTHER_OPERANDS = "not checked: no form has these operands"
TILES_OF_F64 = r"!pto\.tile(?:_buf)?<.*f64\b"
# MLIR dialects of text before buffers become tiles; their ops are read unchecked
FOREIGN = frozenset({"affine", "builtin", "linalg", "math", "memref", "tensor", "vector"})


def _similar(name: str) -> str | None:
    """Return a question that names the nearest instruction below tiles, for an unknown name."""
    known = {f"pto.{one}" for one in NAMES} | {p.mnemonic() for p in pages() if p.below}
    return None if name in known else did_you_mean(name, sorted(known))


def unknown_op(op: OpaqueOp, of_threads: bool = False) -> Diagnostic:
    """Return the diagnostic of an unknown op; ops of threads are below the level of tiles."""
    types = [v.type for v in (*op.uses, *op.results)]
    kinds = [kind for kind in types if isinstance(kind, OpaqueType)]
    below = any(isinstance(kind, PtrType) and kind.space != "gm" for kind in types)
    below |= any(isinstance(kind, RegisterType) for kind in types)
    below |= below_tiles(op.name) or any(kind.spelling.startswith(TYPES) for kind in kinds)
    if below or of_threads:
        level = INNER if op.name.startswith("pto.vmi.") else BELOW
        message = f"{op.name}: {OTHER_OPERANDS if op.expected else level}"
        said = unsaid(op.name.removeprefix("pto.")) or _similar(op.name)
        help = f"expected {op.expected}" if op.expected else said
        return Diagnostic("foreign-op", message, op.span, Severity.WARNING, help=help)
    wide = next((k for k in kinds if re.match(TILES_OF_F64, k.spelling)), None)
    if wide is not None and any(page.executes for page in lookup(op.name)):
        message = f"{op.name}: unsupported operand type {wide}"
        return Diagnostic("element-type", message, op.span, help=NUMBERS)
    spelled = {str(getattr(v.type, "written", "")) for v in op.uses}
    vector = next((one for one in VECTORS if one in spelled), None)
    if vector is not None:
        message = f"{op.name}: {vector} holds {COUNTS} and cannot be an operand"
        help = "use a scalar type: index, i16, i32 or another"
        return Diagnostic("foreign-op", message, op.span, Severity.WARNING, help=help)
    meant = all(kind.foreign for kind in kinds) and (kinds or lookup(op.name))
    if meant or op.name.partition(".")[0] in FOREIGN:
        of = f"{kinds[0]} " if kinds else ""
        message = f"{op.name}: {of}{CATALOGUE['foreign-op'].title}"
        return Diagnostic("foreign-op", message, op.span, Severity.WARNING)
    if kinds and lookup(op.name):
        message = f"{op.name}: unsupported operand type {kinds[0]}"
        return Diagnostic("unknown-op", message, op.span, Severity.WARNING, help=NUMBERS)
    names = [page.mnemonic() for page in pages()]
    return Diagnostic(
        "unknown-op",
        f"{op.name}: {CATALOGUE['unknown-op'].title}",
        op.span,
        Severity.WARNING,
        help=did_you_mean(op.name if "." in op.name else f"pto.{op.name}", names),
    )


def without_effect(op: Op) -> Iterator[Diagnostic]:
    """Yield warnings for unknown attributes; a name with a dot belongs to another tool."""
    known = {a.name: a.key for a in op.page.attrs}
    for name, value in op.attrs.items():
        promise = str(value).startswith("#arith.")  # a promise to an optimiser
        if name not in known and "." not in name and not promise:
            message = f"{op.name} has no attribute {name!r}; it is ignored"
            takes = f"it takes {', '.join(known.values())}" if known else "it takes no attributes"
            at, warning = op.span_of(name), Severity.WARNING
            found = Diagnostic("unknown-attribute", message, at, warning, help=takes)
            if op.page.fifo_role is not None and name.replace("_", "").lower() in UNPUBLISHED:
                found = replace(found, severity=Severity.ERROR, by=(Judge.ASSEMBLER,))
            yield found


def unknown_type(value: Value, kind: OpaqueType) -> Diagnostic:
    return Diagnostic(
        "unknown-type",
        f"%{value.name}: unknown type {kind}",
        value.span,
        help=TILES if kind.spelling.startswith("!") else NUMBERS,
    )


def elided(value: Value) -> Diagnostic:
    return Diagnostic(
        "type-omitted",
        f"%{value.name}: {CATALOGUE['type-omitted'].title}",
        value.span,
        Severity.WARNING,
        help="write the type out, or bind an array to it when running",
    )


MOST_EXPECTED = 4  # element types that a title lists
UNDEFINED = (
    "the type has a `?`: the assembler accepts this; results of undefined elements are undefined"
)


def tolerated(rule: Rule, env: Env) -> bool:
    """Return whether chips accept a broken rule, because a `?` of a type hides it."""
    return rule.enough is not None and env["machine"].chip and rule.enough.eval(env) is True


def fault(rule: Rule, env: Env) -> str:
    """Return the title of a broken rule, with the element type or the operand in it."""
    formula = culprit(rule.formula, env)
    if rule.slug == "level" and str(formula).endswith(".given"):
        name, level = next(fields(formula)).operand, env["machine"].level
        missing = "not allowed" if operators(formula) else "required"
        return f"`{name}` is {missing} at level {level}"
    if rule.slug == "element-type" and isinstance(formula, Node) and formula.op == "in":
        kind, options = formula.args
        *most, last = map(str, options.value if isinstance(options, Const) else ("another",))
        expected = f"{', '.join(most)} or {last}" if most else last
        if len(most) < MOST_EXPECTED:
            return f"unsupported element type {kind.eval(env)} (expected {expected})"
    return CATALOGUE[rule.slug].title


def broken(
    label: str, rule: Rule, env: Env, span: Span | None, help: str | None = None
) -> Diagnostic:
    """Return the diagnostic of a rule that is broken under `env`; `label` names the subject."""
    return Diagnostic(
        slug=rule.slug,
        message=f"{label}: {fault(rule, env)}",
        span=span,
        severity=Severity.WARNING if rule.warns else Severity.ERROR,
        rule=str(rule.formula),
        when=None if rule.condition is None else str(rule.condition),
        seen=seen(rule.formula, env),
        help=rule.help or help,
        targets=(env["machine"].name,),
        by=rule.by,
    )


def statically_reported(op: Op, rule: Rule, target: Target) -> bool:
    """Return whether a rule only warns and is broken statically, so that `check` reports it."""
    return rule.warns and rule.holds(Facts(target).environment(op)) is False


def violation(page: type[Instr], rule: Rule, env: Env, span: Span | None) -> Diagnostic:
    """Return the diagnostic of a page's rule that is broken under `env`."""
    help = f"`ptokit explain {page.name}` lists what each target supports"
    label = page.mnemonic()
    if span is not None and page.below and not PARTS.isdisjoint(page.traits):
        label = span.source.text[span.start : span.end]  # what the program says
    return broken(label, rule, env, span, help)


def tolerated_warning(page: type[Instr], rule: Rule, env: Env, span: Span | None) -> Diagnostic:
    """Return the warning of a rule that is `tolerated`."""
    found = violation(page, rule, env, span)
    return replace(found, severity=Severity.WARNING, help=UNDEFINED)


def blamed(op: Op, rule: Rule) -> Span | None:
    """Return the span to point at: the rule's first attribute or index, before its tiles."""
    mentioned = list(fields(rule.formula))
    attrs = {a.name for a in op.page.attrs} if rule.slug == "attribute" else set[str]()
    for part in sorted(mentioned, key=lambda f: (f.operand not in attrs, bool(f.path))):
        if part.operand in op.spans:
            return op.spans[part.operand]
    return op.span
