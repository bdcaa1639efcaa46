"""The types of scalars in recorded programs: those that pages require or that tiles have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ptokit.isa.formula.formulas import Const
from ptokit.isa.lang.instr import Instr, Operand, Role
from ptokit.isa.lang.vectors import Exact
from ptokit.isa.model.types import ScalarType
from ptokit.values.dtypes import DType


def scalar_kind(
    page: type[Instr], operand: Operand, number: object, dtypes: Mapping[str, DType]
) -> ScalarType:
    """Return the type of a scalar operand; `dtypes` are the element types of tiles by name.

    A constant with the same meaning in the signed type gets that type, as in text for chips.
    """
    fixed, kind = operand.scalar or _asked(page, operand.name), signed_kind(page, operand, dtypes)
    if isinstance(number, float) and not kind.is_float and not fixed:
        kind = ScalarType("f32")  # as in a call
    return kind if operand.exact else _signless(kind, number)


def signed_kind(page: type[Instr], operand: Operand, dtypes: Mapping[str, DType]) -> ScalarType:
    """Return the type of a scalar with the sign of its tiles."""
    fixed = operand.scalar or _asked(page, operand.name)
    return ScalarType(fixed or _like(page, dtypes))


def _signless(kind: ScalarType, number: object) -> ScalarType:
    dtype = kind.dtype
    unsigned = dtype is not None and not dtype.is_float and not dtype.signed
    if not unsigned or not isinstance(number, int) or not 0 <= number < 1 << (kind.bits - 1):
        return kind
    return ScalarType(f"i{kind.bits}")


@cache
def _asked(page: type[Instr], name: str) -> str | None:
    """Return the element type that some target requires of a scalar, whatever the tiles have."""
    for asked in (r.formula for r in page.all_rules if isinstance(r.formula, Exact)):
        if asked.kind.of.name == name and isinstance(asked.dtype, Const):
            return asked.dtype.value.name
    return None


def _like(page: type[Instr], dtypes: Mapping[str, DType]) -> str:
    """Return the element type of the tile that results are like.

    If there is none, return that of the first tile that is read, or written.
    """
    models = [like.model.operand for like in page.elided.values() if like.model is not None]
    order = sorted(page.operands, key=lambda o: (o.role is Role.SCRATCH, o.written))
    names = [o.name for o in order]
    known = (dtypes[name] for name in (*models, *names) if name in dtypes)
    return next((dtype.name for dtype in known), "f32")
