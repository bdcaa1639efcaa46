"""The typed signatures of the instruction functions, for editors and type checkers.

Each has the docstring that `help` shows, which an editor shows where the mouse rests on a name.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from textwrap import indent

from ptokit.api.eager import documentation, instructions, public_signature
from ptokit.api.kernel.choices import rooms, sources, value_names, windowed
from ptokit.api.kernel.laneforms import LaneForm, lane_forms, lane_names
from ptokit.api.kernel.valueforms import listed
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Attr, Instr, Operand
from ptokit.isa.lang.traits import READDRESSES
from ptokit.isa.model.types import Kind, ScalarType
from ptokit.values.enumerations import Word

HEAD = '''"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from collections.abc import Sequence
from typing import Literal, overload

from ptokit.api.events import Event
from ptokit.api.hostarrays import ConvTile, Tensor, Tile
'''
TYPES = {
    **{Kind.TILE: "Tile", Kind.GLOBAL: "Tensor", Kind.CONV: "ConvTile"},
    **{Kind.REGISTER: "LaneRegister", Kind.PTR: "Tile"},  # a tile stands for a pointer
}


def stub() -> str:
    """The text of intrinsics.pyi."""
    forms = instructions()
    moved = sorted((p for p in pages() if READDRESSES in p.traits), key=lambda page: page.derives)
    every = (*forms, *(page.python() for page in moved))
    names = "".join(f'    "{name}",\n' for name in every)
    lines = [HEAD, *_words(forms), f"__all__ = [\n{names}]\n"]
    for several in forms.values():
        for page in several:
            lines += ["@overload"] if len(several) > 1 else []
            lines.append(_function(page))
    placing = "tile: Tile, address: int"
    lines += [_documented("dst: Tile, src: Tile" if p.derives else placing, p) for p in moved]
    return "\n".join(lines)


def _documented(parameters: str, page: type[Instr], name: str = "", result: str = "None") -> str:
    """The stub of a function with the docstring of a page; `name`: where it is another one's."""
    text = documentation(page).strip().replace("\\", "\\\\")
    text = indent(f'"""{text}\n"""' if "\n" in text else f'"""{text}"""', " " * 4)
    return f"def {name or page.python()}({parameters}) -> {result}:\n{text}\n"


VALUES = '''"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import overload

from ptokit.api.hostarrays import ConvTile, Tensor, Tile
from ptokit.api.intrinsics import (
'''
NUMBERS_TOO = ("max", "min")  # also of two numbers


def value_stub() -> str:
    """The text of valuenames.pyi."""
    names = "".join(f'    "{name}",\n' for name in listed())
    shown = (page for name in listed() for page in value_names()[name])
    words = {a.kind.__name__ for page in shown for a in page.attrs if issubclass(a.kind, Word)}
    imported = "".join(f"    {word}Word,\n" for word in sorted(words))
    lines = [f"{VALUES}{imported})\n", f"__all__ = [\n{names}]\n"]
    for name in listed():
        forms = {_kinds(page): page for page in reversed(value_names()[name])}
        texts = [_value(name, page) for page in reversed(forms.values())]
        texts += [f"def {name}(a: int, b: int, /) -> int: ..."] if name in NUMBERS_TOO else []
        for text in texts:
            lines += ["@overload"] if len(texts) > 1 else []
            lines.append(text)
    return "\n".join(lines)


LANES = '''"""Generated from the pages of ptokit.isa by `make docs`; do not edit."""

from typing import overload

from ptokit.api.hostarrays import LaneRegister, Tile
from ptokit.api.tensors import ElementType
'''


def lane_stub() -> str:
    """The text of lanenames.pyi."""
    lines = [LANES, "class LaneNames:"]
    for several in map(lane_forms, lane_names()):
        texts = {_lane_form(f).partition(") ->")[0]: _lane_form(f) for f in reversed(several)}
        for text in reversed(texts.values()):
            overloaded = "@overload\n" if len(texts) > 1 else ""
            lines.append(indent(f"{overloaded}@staticmethod\n{text}", " " * 4))
    return "\n".join([*lines, "lanes: LaneNames\n"])


def _lane_form(form: LaneForm) -> str:
    """The stub of an instruction on registers."""
    fields = {f.name: f for f in (*form.operands, *form.page.attrs)}
    parameters: list[str] = []
    for parameter in form.__signature__.parameters.values():
        field = fields.get(parameter.name)
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        if field is None:
            parameters.append("*")
        kind = "ElementType | None" if field is None else _annotation(field)
        parameters.append(f"{parameter.name}: {kind}{default}")
    given = [_annotation(result) for result in form.results]
    several = f"tuple[{', '.join(given)}]" if given else "None"
    result = given[0] if len(given) == 1 else several
    lines = "".join(f"    {parameter},\n" for parameter in parameters)
    return _documented(f"\n{lines}", form.page, form.name, result)


def _kinds(page: type[Instr]) -> tuple[str, ...]:
    return tuple(_annotation(o) for o in (*sources(page), *rooms(page)) if o.required)


def _value(name: str, page: type[Instr]) -> str:
    fields = sources(page)
    first = [f"{o.name}: {_annotation(o)}" for o in fields if o.required]
    later = [o for o in fields if not o.required]
    first += [f"{o.name}: {_annotation(o)} = ..." for o in later if o.kind is Kind.INDEX]
    if windowed(page):
        first.append("shape: tuple[int, int] = ...")
    last = [*(["valid: tuple[int, int] = ..."] if windowed(page) else ()), "out: Tile | None = ..."]
    others = [*(o for o in later if o.kind is not Kind.INDEX), *page.attrs]
    named = [f"{o.name}: {_annotation(o)}" for o in rooms(page) if o.required]
    others = [*(o for o in rooms(page) if not o.required), *others]
    named += [f"{f.name}: {_annotation(f)} = ..." for f in others]
    lines = "".join(f"    {p},\n" for p in (*first, "*", *named, *last))
    return _documented(f"\n{lines}", page, name, "Tile")


def _words(forms: dict[str, list[type[Instr]]]) -> Iterator[str]:
    """Aliases for the words of the attributes."""
    kinds = {a.kind for several in forms.values() for page in several for a in page.attrs}
    for kind in sorted((k for k in kinds if issubclass(k, Word)), key=lambda k: k.__name__):
        first, *others = (f'"{word}"' for word in kind.options())
        lines = (
            [f"[{first}]"] if not others else ["[", *(f"    {w}," for w in (first, *others)), "]"]
        )
        lines[0] = f"{kind.__name__}Word = Literal{lines[0]}"
        yield from lines


def _function(page: type[Instr]) -> str:
    fields = {f.name: f for f in (*page.operands, *page.attrs)}
    parameters: list[str] = []
    keyword_only = False
    for parameter in public_signature(page).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            parameters.append(f"*{parameter.name}: Event")
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            parameters.append("*")
            keyword_only = True
        default = "" if parameter.default is inspect.Parameter.empty else " = ..."
        field = fields.get(parameter.name)
        kind = "Sequence[Event]" if field is None else _annotation(field)
        parameters.append(f"{parameter.name}: {kind}{default}")
    return _documented("\n" + "".join(f"    {parameter},\n" for parameter in parameters), page)


def _annotation(field: Operand | Attr) -> str:
    optional = " | None" if field.default is None else ""
    if isinstance(field, Operand):
        number = field.kind is Kind.SCALAR and ScalarType(field.scalar or "f32").is_float
        return TYPES.get(field.kind, "float" if number else "int") + optional
    if not issubclass(field.kind, Word):
        return field.kind.__name__ + optional
    return field.kind.__name__ + "Word" + optional
