"""The manual page of an instruction."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.lang.asm import NOWHERE, OWN_SINCE, own_names
from ptokit.isa.lang.example import example_program
from ptokit.isa.lang.instr import NOT_ON_TARGET, SHARED_STORAGE, Attr, Instr, Operand
from ptokit.isa.model.targets import DEFAULT_TARGET, TARGETS
from ptokit.isa.model.types import PtrType
from ptokit.tools.manual.ruletree import outline
from ptokit.values.enumerations import Word


class ManualSection(NamedTuple):
    """A titled part of a manual page: indented lines, or rows of a name and what it is."""

    title: str
    lines: list[str]


def instruction_page(
    page: type[Instr], titles: Mapping[str, str] | None = None, summary: str = ""
) -> str:
    """Return one form of an instruction: meaning, operands, forms, pipes, rules, disputes.

    `titles` in another language by the English ones, and a `summary` in it, if that is asked for.
    """
    said = [summary, ""] if summary else []
    lines = [heading(page), "", *said, inspect.cleandoc(page.__doc__ or "")]
    for title, body in sections(page):
        lines += ["", (titles or {}).get(title, title), *body]
    return "\n".join(lines)


def heading(page: type[Instr]) -> str:
    """Return the mnemonic, and which form of it the page declares where there are several."""
    return f"{page.mnemonic()} ({page.form})" if page.form else page.mnemonic()


def sections(page: type[Instr]) -> Iterator[ManualSection]:
    """Yield the parts of an instruction's page below its meaning, without empty ones."""
    if "specials" in vars(page) or (page.specials and "NaN" not in (page.__doc__ or "")):
        yield ManualSection(
            "NaN and infinity", [f"  {line}" for line in page.specials.splitlines()]
        )
    operands = [f"  {o.name:<10} {_operand(o)}" for o in page.operands]
    yield ManualSection(
        "Operands", operands + [f"  {a.name:<10} {_attribute(a)}" for a in page.attrs]
    )
    written = [f"  {label:<8} {text}" for label, text in forms(page)]
    if written:
        yield ManualSection("Forms", written)
    if page.paths:
        yield ManualSection("Legality", [*_legality(page)])
    else:
        yield ManualSection("Pipe", [f"  {_pipes(page)}"])
    if NOT_ON_TARGET in slugs(page):
        yield ManualSection("Targets", [f"  {', '.join(page.homes()) or 'none'}"])
    if page.all_rules:
        yield ManualSection("Rules (on every target where none is named)", [*outline(page)])
    if page.apart or page.spoiled:
        yield ManualSection("Storage", [f"  {each}" for each in (*page.apart, *page.spoiled)])
    raised = ", ".join(dict.fromkeys(slugs(page)))
    yield ManualSection("Diagnostics", [f"  {raised or 'none of its own'}"])
    if page.disputes:
        rows = [f"  {d}: {DISPUTES[d].question} -> {DISPUTES[d].choice}" for d in page.disputes]
        yield ManualSection("Where sources disagree", rows)
    homes = page.homes()
    elsewhere = "" if DEFAULT_TARGET.name in homes else f" --target {homes[0]}"
    example = example_section(example_program(page), elsewhere)
    if example:
        yield ManualSection(example[1], example[2:])


def slugs(page: type[Instr]) -> list[str]:
    """Return the slugs that the rules of a page report, on any target."""
    absent = [] if len(page.homes()) == len(TARGETS) else [NOT_ON_TARGET]
    shared = [SHARED_STORAGE] if any(each.targets for each in page.apart) else []
    return absent + [rule.slug for rule in page.all_rules] + shared


def example_section(program: str, more: str = "") -> list[str]:
    """Return an example program, below the command that runs it, with `more` options."""
    lines = [f"  {line}" for line in program.splitlines()]
    try:
        lines.insert(0, f"  // {_command(program)}{more}")
    except PtoError:  # the example has instructions that this build lacks
        return []
    return ["", "Example", *lines]


def _command(text: str, file: str = "example.pto") -> str:
    """Return the command that runs a program on random arguments."""
    func = loads(text).func()
    words = ["ptokit", "run", file]
    for arg in func.args:
        words.append(f"{arg.name}=random" + (":1024" if isinstance(arg.type, PtrType) else ""))
    return " ".join(words)


def _legality(page: type[Instr]) -> Iterator[str]:
    """Yield the paths of the instruction: pipe and targets of each."""
    yield f"  {'path':<22}{'pipe':<6}" + "".join(f"{name:<6}" for name in TARGETS)
    for p in page.paths:
        here = ("yes" if page.moves_on(t, p) else "-" for t in TARGETS.values())
        yield f"  {p!s:<22}{p.pipe!s:<6}" + "".join(f"{word:<6}" for word in here).rstrip()


def _operand(o: Operand) -> str:
    kind = o.scalar or o.kind_name
    many = "list of " if o.many else ""
    where = f" in {o.fixed_loc}" if o.fixed_loc else ""
    optional = "" if o.required else ", optional" if o.default is None else f", default {o.default}"
    doc = f": {o.doc}" if o.doc else ""
    return f"{o.role.value}, {many}{kind}{where}{optional}{doc}"


def _attribute(a: Attr) -> str:
    words = " | ".join(a.kind.options()) if issubclass(a.kind, Word) else a.kind.__name__
    default = "" if a.default is None or a.required else f", default {a.default}"
    return f"attribute {a.key}: {words}{default}{f'; {a.doc}' if a.doc else ''}"


BRACES = str.maketrans("", "", "{}")
BRACKETS = {"bracketed": ("[", "]"), "angled": (" ", "")}


def forms(page: type[Instr]) -> Iterator[tuple[str, str]]:
    """Yield the text of the instruction in each form and in C++, without types."""
    ins = [o for o in page.ins() if o.required or o.default is not None]
    outs = [o.name for o in (*page.outs(), *page.results())]
    plain = [f"%{o.name}" for o in ins if o.name not in page.asm.brackets]
    indexed = [f"%{o.name}" for o in ins if o.name in page.asm.brackets]
    brackets = f"[{', '.join(indexed)}]" if indexed else ""
    results = f"{', '.join(f'%{o}' for o in outs)} = " if outs else ""
    if page.asm.shape in BRACKETS:
        left, right = BRACKETS[page.asm.shape]
        words = [f"<{a.key}>" for a in page.attrs if a.required]
        inside = f"{left}{', '.join((*words, *plain))}{right}"
        yield "PTO-AS", f"{page.asm.name or page.name}{inside}"
        yield "others", f"{page.mnemonic()}{inside}"
        if page.asm.cpp_on is not NOWHERE:
            yield "C++", page.asm.cpp_text or page.cpp
    elif page.executes:
        yield "PTO-AS", f"{results}{page.name.replace('_', '.')} {', '.join(plain)}{brackets}"
        yield "SSA", f"{results}{page.mnemonic()} {', '.join(f'%{o.name}' for o in ins)} : ..."
        names = ", ".join(f"%{o.name}" for o in ins)
        into = f" outs({results.removesuffix(' = ')} : ...)" if outs else ""
        yield "DPS", f"{page.mnemonic()} ins({names} : ...){into}"
        call = f"{page.cpp}({', '.join(o.cpp_name or o.name for o in page.operands)})"
        if page.asm.cpp_on is not NOWHERE:
            yield "C++", page.asm.cpp_text.translate(BRACES) if page.asm.cpp_text else call
    for own in own_names(page.own):
        words = [", ".join(plain), *(["|".join(own.signs)] if own.signs else [])]
        yield OWN_SINCE, f"{results}pto.{own.name} {' '.join(words).strip()} : ..."


def _pipes(page: type[Instr]) -> str:
    if isinstance(page.pipe, dict):
        return ", ".join(f"{loc}: {pipe}" for loc, pipe in page.pipe.items())
    return str(page.pipe)
