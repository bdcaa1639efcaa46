"""A rule that does not hold, as a diagnostic: where, which rule, the numbers in it, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ptokit.analysis.known import Facts
from ptokit.diagnostics.catalogue import CATALOGUE
from ptokit.diagnostics.diagnostic import Diagnostic, Severity
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Op
from ptokit.isa.formula.formulas import Const, Node, culprit, fields, operators, seen
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.targets import Target

MOST_EXPECTED = 4  # element types that a title lists
UNDEFINED = (
    "the type has a `?`: the assembler accepts this; results of undefined elements are undefined"
)


def tolerated(rule: Rule, env: Mapping[str, Any]) -> bool:
    """Whether chips go on where a rule breaks behind a `?` of a type."""
    return rule.enough is not None and env["machine"].chip and rule.enough.eval(env) is True


def fault(rule: Rule, env: Mapping[str, Any]) -> str:
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
    label: str, rule: Rule, env: Mapping[str, Any], span: Span | None, help: str | None = None
) -> Diagnostic:
    """The diagnostic of a rule that does not hold under `env`, of what `label` names."""
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


def told_before(op: Op, rule: Rule, target: Target) -> bool:
    """Whether a rule only warns and is broken by types and attributes alone: the check says so."""
    return rule.warns and rule.holds(Facts(target).environment(op)) is False


def violation(
    page: type[Instr], rule: Rule, env: Mapping[str, Any], span: Span | None
) -> Diagnostic:
    """The diagnostic of a page's rule that does not hold under `env`; see also `taken`."""
    help = f"`ptokit explain {page.name}` lists what each target supports"
    return broken(page.mnemonic(), rule, env, span, help)


def taken(page: type[Instr], rule: Rule, env: Mapping[str, Any], span: Span | None) -> Diagnostic:
    """The warning of a rule that is `tolerated`."""
    found = violation(page, rule, env, span)
    return replace(found, severity=Severity.WARNING, help=UNDEFINED)


def blamed(op: Op, rule: Rule) -> Span | None:
    """Where to point: at what a rule speaks of first, an attribute or index before a tile."""
    mentioned = list(fields(rule.formula))
    attrs = {a.name for a in op.page.attrs} if rule.slug == "attribute" else set[str]()
    for part in sorted(mentioned, key=lambda f: (f.operand not in attrs, bool(f.path))):
        if part.operand in op.spans:
            return op.spans[part.operand]
    return op.span
