"""Examples of pages: whole programs, or one statement made from types of operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ptokit.isa.lang.instr import Instr, Operand
from ptokit.isa.lang.samples import VEC_F32
from ptokit.isa.model.types import Kind
from ptokit.values.enumerations import Word

NUMBERS = {Kind.INDEX: "index", Kind.SCALAR: "f32"}


def example_program(page: type[Instr]) -> str:
    """Return the example as a program; tiles that it reads without a definition are its inputs."""
    if isinstance(page.example, str):
        return page.example.replace("NAME", page.mnemonic())
    return _Statement(page, page.example).text()


def _number(operand: Operand) -> str | None:
    """Return the type of an operand that is a number, else None."""
    whole = operand.kind is Kind.SCALAR and operand.whole
    return "i32" if whole else NUMBERS.get(operand.kind)


@dataclass(frozen=True)
class _Statement:
    """One statement: in PTO-AS if it makes one tile, else with `ins` and `outs`."""

    page: type[Instr]
    given: Mapping[str, str | float | Word]

    def text(self) -> str:
        page, outs = self.page, self.page.outs()
        ins = [o for o in page.ins() if o.required or o.name in self.given]
        attrs = self._attributes()
        new = len(outs) == 1 and outs[0].kind is Kind.TILE and not outs[0].read
        if page.asm.attrs_inside or not new:
            inside, after = (attrs, "") if page.asm.attrs_inside else ("", attrs)
            written = f"{self._uses(outs)} : {self._types(outs)}" if outs else ""
            read = f"{self._uses(ins)}{inside} : {self._types(ins)}"
            return f"{page.mnemonic()} ins({read}) outs({written}){after}"
        plain = [o for o in ins if o.name not in page.asm.brackets]
        indices = self._uses(o for o in ins if o.name in page.asm.brackets)
        uses = self._uses(plain) + (f"[{indices}]" if indices else "")
        types = self._types(o for o in ins if o.kind is not Kind.INDEX)
        name = page.asm.name or page.name
        return f"%{outs[0].name} = {name} {uses}{attrs} : {types} -> {self._types(outs)}"

    def _uses(self, operands: Iterable[Operand]) -> str:
        every = self.page.operands
        numbers = {o.name: self.given.get(o.name, 3 if o.whole else 1.5) for o in every}
        tiles = {o.name for o in self.page.operands if o.kind not in (Kind.INDEX, Kind.SCALAR)}
        return ", ".join(
            f"%{o.name}" if o.name in tiles else f"{numbers[o.name]}" for o in operands
        )

    def _types(self, operands: Iterable[Operand]) -> str:
        return ", ".join(_number(o) or str(self.given.get(o.name, VEC_F32)) for o in operands)

    def _attributes(self) -> str:
        words = ((a.key, self.given.get(a.name)) for a in self.page.attrs)
        text = ", ".join(f"{key} = {w.spelled}" for key, w in words if isinstance(w, Word))
        return f" {{{text}}}" if text else ""
