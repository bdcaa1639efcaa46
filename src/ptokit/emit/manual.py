"""Manual pages: what `ptokit explain` prints."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from difflib import get_close_matches

from ptokit.catalogue import CATALOGUE
from ptokit.emit.draw import layout_picture
from ptokit.isa import index, lookup
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.dtypes import f16
from ptokit.isa.examples import EXAMPLES
from ptokit.isa.lang import Attr, Instr, Operand
from ptokit.isa.layouts import Layout
from ptokit.isa.rules import CPU, TARGET_NAMES, Rule
from ptokit.isa.targets import SPACES, TARGETS, Target
from ptokit.isa.tiles import tile_type
from ptokit.isa.words import Loc, Word


def explain(name: str) -> str | None:
    """The manual page of an instruction, a slug, a target or a layout; None if there is none."""
    forms = lookup(name)
    if forms:
        return "\n\n".join(instruction_page(page) for page in forms)
    if name in CATALOGUE:
        return slug_page(name)
    if name in TARGETS:
        return target_page(TARGETS[name])
    if name.upper() in DISPUTES:
        return dispute_page(name.upper())
    layout = Layout.named(name)
    return layout_page(layout) if layout else None


def suggestions(name: str) -> list[str]:
    """Names that are near."""
    known = [*index(), *CATALOGUE, *TARGETS, *(str(m) for m in Layout)]
    return get_close_matches(name.lower(), known, n=3)


def instruction_page(page: type[Instr]) -> str:
    """One form of an instruction: meaning, operands, forms, pipes, rules, disputes."""
    form = f" ({page.form})" if page.form else ""
    lines = [f"{page.mnemonic()}{form}", "", inspect.cleandoc(page.__doc__ or ""), "", "Operands"]
    lines += [f"  {o.name:<10} {_operand(o)}" for o in page.operands]
    lines += [f"  {a.name:<10} {_attribute(a)}" for a in page.attrs]
    lines += ["", "Forms", *(f"  {label:<8} {text}" for label, text in forms(page))]
    if page.paths:
        lines += ["", "Legality", *_legality(page)]
    else:
        lines += ["", "Pipe", f"  {_pipes(page)}"]
    lines += ["", "Rules", *_rules(page)]
    raised = dict.fromkeys(rule.slug for rule in page.all_rules)
    lines += ["", "Diagnostics", f"  {', '.join(raised) or 'none of its own'}"]
    if page.disputes:
        lines += ["", "Where sources disagree"]
        lines += [f"  {d}: {DISPUTES[d].question} -> {DISPUTES[d].choice}" for d in page.disputes]
    if page.__name__ in EXAMPLES:
        example = EXAMPLES[page.__name__].splitlines()
        lines += ["", "Example", *(f"  {line}" for line in example)]
    return "\n".join(lines)


def _legality(page: type[Instr]) -> Iterator[str]:
    """The paths of the instruction: pipe, and on which targets; the rules say the rest."""
    yield f"  {'path':<22}{'pipe':<6}" + "".join(f"{name:<6}" for name in TARGET_NAMES)
    for p in page.paths:
        here = ("yes" if name in p.on or name == CPU else "-" for name in TARGET_NAMES)
        yield f"  {p!s:<22}{p.pipe!s:<6}" + "".join(f"{word:<6}" for word in here).rstrip()


def _operand(o: Operand) -> str:
    kind = o.scalar or o.kind.value
    many = "list of " if o.many else ""
    where = f" in {o.fixed_loc}" if o.fixed_loc else ""
    optional = "" if o.required else ", optional" if o.default is None else f", default {o.default}"
    doc = f": {o.doc}" if o.doc else ""
    return f"{o.role.value}, {many}{kind}{where}{optional}{doc}"


def _attribute(a: Attr) -> str:
    words = " | ".join(a.kind.options()) if issubclass(a.kind, Word) else a.kind.__name__
    default = "" if a.default is None or a.required else f", default {a.default}"
    return f"attribute {a.key}: {words}{default}"


BRACES = str.maketrans("", "", "{}")
BRACKETS = {"bracketed": ("[", "]"), "angled": (" ", "")}


def forms(page: type[Instr]) -> Iterator[tuple[str, str]]:
    """The text of the instruction in each level and in C++, types left out."""
    ins = [o for o in page.ins() if o.required or o.default is not None]
    outs = [o.name for o in (*page.outs(), *page.results())]
    plain = [f"%{o.name}" for o in ins if o.name not in page.indexed]
    indexed = [f"%{o.name}" for o in ins if o.name in page.indexed]
    brackets = f"[{', '.join(indexed)}]" if indexed else ""
    results = f"{', '.join(f'%{o}' for o in outs)} = " if outs else ""
    if page.syntax in BRACKETS:
        left, right = BRACKETS[page.syntax]
        words = [f"<{a.key}>" for a in page.attrs if a.required]
        inside = f"{left}{', '.join((*words, *plain))}{right}"
        yield "PTO-AS", f"{page.asm or page.name}{inside}"
        yield "others", f"{page.mnemonic()}{inside}"
        yield "C++", page.cpp_text or page.cpp
    elif not page.handle:
        yield "PTO-AS", f"{results}{page.name.replace('_', '.')} {', '.join(plain)}{brackets}"
        yield "SSA", f"{results}{page.mnemonic()} {', '.join(f'%{o.name}' for o in ins)} : ..."
        names = ", ".join(f"%{o.name}" for o in ins)
        into = f" outs({results.removesuffix(' = ')} : ...)" if outs else ""
        yield "DPS", f"{page.mnemonic()} ins({names} : ...){into}"
        call = f"{page.cpp}({', '.join(o.cpp_name or o.name for o in page.operands)})"
        yield "C++", page.cpp_text.translate(BRACES) if page.cpp_text else call


def _pipes(page: type[Instr]) -> str:
    if isinstance(page.pipe, dict):
        return ", ".join(f"{loc}: {pipe}" for loc, pipe in page.pipe.items())
    return str(page.pipe)


def _rules(page: type[Instr]) -> Iterator[str]:
    for targets, rules in _by_targets(page.all_rules):
        yield f"  on {', '.join(targets)}" if targets != TARGET_NAMES else "  everywhere"
        yield from (f"    {rule}   [{rule.slug}]" for rule in rules)


def _by_targets(rules: tuple[Rule, ...]) -> list[tuple[tuple[str, ...], list[Rule]]]:
    groups: dict[tuple[str, ...], list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.targets, []).append(rule)
    return sorted(groups.items(), key=lambda g: -len(g[0]))


def slug_page(slug: str) -> str:
    """A diagnostic: what it means, and which instructions raise it."""
    entry = CATALOGUE[slug]
    raised = sorted({p.mnemonic() for ps in index().values() for p in ps if _raises(p, slug)})
    lines = [slug, "", f"{entry.title[0].upper()}{entry.title[1:]}.", "", entry.text]
    return "\n".join(lines + (["", f"Raised by: {', '.join(raised)}"] if raised else []))


def _raises(page: type[Instr], slug: str) -> bool:
    return any(rule.slug == slug for rule in page.all_rules)


def dispute_page(name: str) -> str:
    """Where sources disagree: who says what, what ptokit does, and why."""
    d = DISPUTES[name]
    lines = [f"{name}: {d.question}", "", f"Sources: {d.sources}", f"ptokit: {d.choice}"]
    lines.append(f"Why: {d.why}")
    return "\n".join(lines + ([f"Option: {d.option}"] if d.option else []))


def target_page(target: Target) -> str:
    """A target: its memories and aliases."""
    lines = [f"{target.name}: {target.title}", "", "Memories"]
    for loc in Loc:
        capacity = target.capacity_of(loc)
        size = f"{capacity // 1024} KiB" if capacity else "none"
        lines.append(f"  {loc!s:<12} {SPACES[loc]:<8} {size}")
    lines += ["", f"Addresses are multiples of {target.alignment} bytes.", "", "Aliases"]
    for alias in ("left", "right", "acc", "scale_left", "scale_right"):
        loc = Loc.named(alias)
        assert loc is not None
        layout, fractal = target.alias(loc)
        lines.append(f"  tile_{alias:<12} {layout} fractal {fractal}")
    return "\n".join(lines)


def layout_page(layout: Layout) -> str:
    """A layout: its two letters and a picture."""
    words = f"blayout={layout.blayout.text}, slayout={layout.slayout.text}"
    doc = inspect.cleandoc(Layout.__doc__ or "")
    kind = tile_type(Loc.MAT, f16, 64, 64, layout=layout)
    return "\n".join([f"{layout}: {words}", "", doc, "", layout_picture(kind)])
