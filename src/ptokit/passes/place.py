"""Placement as a pass: every tile that the function allocates gets the address it would run at."""

from __future__ import annotations

from dataclasses import replace

from ptokit.analysis.checker import learned
from ptokit.analysis.liveness import Interference
from ptokit.analysis.placement import check_addresses, plan
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Block, Func, Op, Value
from ptokit.isa.lang.traits import ALLOCATES
from ptokit.isa.model.targets import SPACES, Target
from ptokit.isa.model.types import I64
from ptokit.passes.shared import FreshNames, refuse
from ptokit.text.read.names import constant_page


def place(func: Func, target: Target) -> Func:
    """The function with all tiles at addresses, but for arguments: they come with theirs.

    PtoError where the tiles do not fit their memories, or one lies at an address of the program's
    own that only the run knows: the run would compare it with placed tiles.
    """
    facts, interference = learned(func, target, {}), Interference(func)
    problems = [p for p in check_addresses(interference, facts) if p.is_error]
    if problems:
        raise PtoError(problems)
    planned, names = plan(interference, facts), FreshNames(func)
    for tile in interference.tiles(facts).values():
        if tile.explicit and tile.address is None and planned.tiles.get(SPACES[tile.kind.loc]):
            message = f"%{tile.value.name}: only the run knows its address, so none beside is safe"
            raise refuse(message, tile.value.span, "give every tile of its memory an address")
    addresses = planned.addresses
    numbers: dict[int, Op] = {}  # address -> its constant
    body = _block(func.body, addresses, numbers)
    for address, op in numbers.items():
        op.results[0].name = names.name(f"at_{address}")
    return replace(func, body=replace(body, ops=[*numbers.values(), *body.ops]))


def placed(func: Func) -> bool:
    """Whether every tile that the function allocates has an address."""
    ops = (op for op in func.body.walk() if isinstance(op, Op) and ALLOCATES in op.page.traits)
    return all(op.bound("addr") for op in ops)


def _block(block: Block, addresses: dict[Value, int], numbers: dict[int, Op]) -> Block:
    new = Block(block.args, trailing=block.trailing)
    for op in block.ops:
        if op.regions:
            op = replace(op, regions=[_block(r, addresses, numbers) for r in op.regions])
        elif isinstance(op, Op) and ALLOCATES in op.page.traits and op.results[0] in addresses:
            number = _number(addresses[op.results[0]], numbers)
            op = replace(op, operands={**op.operands, "addr": number})
        new.ops.append(op)
    return new


def _number(address: int, numbers: dict[int, Op]) -> Value:
    """The constant of an address."""
    if address not in numbers:
        page = constant_page()
        attrs: dict[str, object] = {page.attrs[0].name: address}
        numbers[address] = Op(page, attrs=attrs, results=[Value("", I64)])
    return numbers[address].results[0]
