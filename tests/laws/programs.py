"""Programs of one instruction, and handles for running it, from the operands of a witness."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from space import Placed, Space, State

from ptokit.analysis.checker import Checker
from ptokit.api import hostarrays as host
from ptokit.api.eager import execute
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.formula.rules import Rule
from ptokit.isa.lang.instr import Operand, Role
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import I64, INDEX, Kind, ScalarType, Type
from ptokit.launch import settings
from ptokit.machine.memory import Memory
from ptokit.machine.tile import ConvTile, GlobalView, Matrix, Tile
from ptokit.values.enumerations import Loc

Said = tuple[str | None, str | None]  # a rule and its condition, as a diagnostic gives them


def said(rule: Rule) -> Said:
    return str(rule.formula), None if rule.condition is None else str(rule.condition)


def typed(operand: Operand, built: Any) -> Type:  # Any: a type or a number
    """The type of a value for what was built for an operand."""
    if isinstance(built, Placed):
        return built.kind
    if built is UNKNOWN or isinstance(built, int):
        if operand.kind in (Kind.INDEX, Kind.ANY):
            return INDEX
        return I64 if operand.scalar is None else ScalarType(operand.scalar)
    return built


def checked(space: Space, state: State) -> list[Diagnostic]:
    """What the checker says of a function whose only instruction has these operands."""
    args: list[Value] = []
    numbers: dict[Value, Any] = {}
    op = Op(space.page)
    for operand in space.page.operands:
        built = space.build(operand.name, state)
        if built is None:
            continue
        many = built if operand.many else (built,)
        stated = state.get((operand.name, "type"))
        values = tuple(
            Value(f"{operand.name}{i}", stated or typed(operand, b)) for i, b in enumerate(many)
        )
        numbers |= {v: b for v, b in zip(values, many, strict=True) if isinstance(b, int)}
        if operand.role is Role.RESULT:
            op.results += values
            continue
        args += values
        op.operands[operand.name] = values if operand.many else values[0]
    given = {a.name: space.build(a.name, state) for a in space.page.attrs}
    op.attrs = {name: value for name, value in given.items() if value is not None}
    checker = Checker(space.target, numbers)
    checker.func(Func("f", Block(args, [op])))
    return checker.found


def refused(space: Space, state: State) -> list[Diagnostic]:
    """What the eager function says of these operands; only for operands that break a rule."""
    given = handles(space, state, 0)
    try:
        with settings.target(space.target.name):
            execute(space.page, wrapped(given))
    except PtoError as problem:
        return list(problem.diagnostics)
    return []


def wrapped(given: dict[str, Any]) -> dict[str, Any]:  # Any: handles, numbers, words
    """What a user passes to an eager function: arrays around the handles."""
    return {n: _host(v) for n, v in given.items()}


def _host(value: Any) -> Any:  # Any: as above
    match value:
        case Tile():
            return host.Tile(value)
        case ConvTile():
            return host.ConvTile(value)
        case GlobalView():
            return host.Tensor(value, value.memory.data)
        case _:
            return value


def handles(space: Space, state: State, nbytes: int | None = None) -> dict[str, Any]:
    """Every operand and attribute, data as handles; None where absent.

    `nbytes`: the size of each memory, where no body will run. Any: handles, numbers, words.
    """
    names = [f.name for f in (*space.page.operands, *space.page.attrs)]
    shared: dict[Loc, Memory] = {}  # of tiles whose addresses matter
    return {n: _handle(space.build(n, state), nbytes, shared) for n in names}


def _handle(built: Any, nbytes: int | None, shared: dict[Loc, Memory]) -> Any:  # Any: as above
    """A handle on uninitialised memory of its own, or at its address in its location's memory."""
    if isinstance(built, Placed):
        kind = built.kind
        memory = shared.setdefault(kind.loc, Memory.blank("tile", _size(1 << 19, nbytes)))
        return Tile(kind, memory, built.address)
    match built:
        case TileType():
            return Tile(built, Memory.blank("tile", _size(built.nbytes, nbytes)), 0)
        case ConvTileType():
            return ConvTile(built, Memory.blank("tile", _size(built.nbytes, nbytes)), 0)
        case GlobalType():
            count = prod(n or 1 for n in built.shape)
            nbytes = _size(built.dtype.nbytes(count), nbytes)
            return GlobalView(built, Memory.blank("array", nbytes), 0)
        case _:
            return built


def _size(needed: int, given: int | None) -> int:
    return needed if given is None else given


def randomise(made: Matrix, random: np.random.Generator, largest: int) -> None:
    """Fill the memory behind a handle with bytes up to `largest`."""
    made.memory.data[:] = random.integers(0, largest + 1, made.memory.size, np.uint8)
    made.memory.shadow[:] = 0xFF
