"""Pointers into local memory as byte addresses, and the instructions that take them as others.

Pages say in their hook `lowered` what takes their place. Afterwards no value of the function is
such a pointer, and what is read and written at an address is a tile there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import cast

from ptokit.analysis.violation import blamed, violation
from ptokit.diagnostics.diagnostic import PtoError, error
from ptokit.ir.editing import number_of, refuse
from ptokit.ir.emission import FuncEmission
from ptokit.ir.module import AnyOp, Binding, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.index import walk
from ptokit.isa.lang.environment import call
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import AT_START, Inside, LocalPointer, Quantity
from ptokit.isa.lang.traits import ALLOCATES, MADE, OUTSIDE, TERMINATOR, WINDOW
from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import TileType
from ptokit.isa.model.types import I64, Elided, Kind, PtrType, ScalarType

OPEN = "an extent, or what a register holds, is not known before the run"
MOST = 256  # iterations of loops that are lowered one by one
KNOWN = "use constants, and straight code between the setting of a register and its use"


def _local(value: Value) -> bool:
    """Return whether the value is a pointer into local memory."""
    return isinstance(value.type, PtrType) and value.type.space != "gm"


def _lowerable(op: AnyOp) -> bool:
    if not isinstance(op, Op) or op.page.lowered is None:
        return False
    ends = (*op.results, *(v for _, v in op.values()))
    return op.page.run is None or any(map(_local, ends))


def _on_tiles(page: type[Instr]) -> bool:
    return any(o.kind in (Kind.TILE, Kind.GLOBAL) for o in page.operands)


def lowered(func: Func, numbers: Mapping[Value, int]) -> Func:
    """Return the function without pointers into local memory, if their addresses are known.

    `numbers` are arguments that are known.

    The function itself if it has none, or if one of its types is omitted, which its check reports.
    """
    values = (*func.args, *(result for op in func.ops for result in op.results))
    omitted = any(isinstance(value.type, Elided) for value in values)
    if omitted or not any(map(_lowerable, func.ops)):
        return func
    return _Lowered(func, numbers).finished()


class _Lowered(FuncEmission):
    """The lowering of one function."""

    def __init__(self, func: Func, numbers: Mapping[Value, int]) -> None:
        super().__init__(func, I64)
        self.numbers |= numbers
        self.now: dict[Value, Value] = {}  # value -> its replacement
        self.pointers: dict[Value, LocalPointer] = {}
        self.addresses: dict[Value, Value] = {}  # tile -> its address
        self.kept = list[Op]()  # ops whose pointers into a tile only others may need
        self.registers = dict(AT_START)
        self.unrolled = 0  # iterations
        self.alone = not any(isinstance(o, OpaqueOp) or _on_tiles(o.page) for o in func.ops)

    def finished(self) -> Func:
        body = self._block(self.func.body)
        self._drop_unused(body)
        return self.with_body(body)

    def _args(self, args: list[Value]) -> list[Value]:
        return [self._renamed(arg) for arg in args]

    def _drop_unused(self, body: Block) -> None:
        """Remove pointers into tiles that nothing uses as pointers."""
        for op in reversed(self.kept):
            others = [other for other in body.walk() if isinstance(other, Op)]
            used = {v for other in others for _, v in other.values()}
            if used.isdisjoint(op.results):
                for block in (body, *(r for o in body.walk() for r in o.regions)):
                    block.ops = [other for other in block.ops if other is not op]

    def _renamed(self, value: Value) -> Value:
        """Return a value that carries the address, for a pointer that goes around a loop."""
        if not _local(value):
            return value
        number = Value(value.name, I64, value.span)
        self.pointers[value] = LocalPointer(number, cast(PtrType, value.type).dtype)
        return number

    def _op(self, op: AnyOp) -> None:
        if isinstance(op, OpaqueOp):
            uses = [self._value(v) for v in op.uses]
            self.ops.append(replace(op, uses=uses, regions=[self._block(r) for r in op.regions]))
            return
        page = op.page
        if isinstance(number := number_of(op), int):
            self.numbers[op.results[0]] = number
        if ALLOCATES in page.traits and (addr := op.bound("addr")):
            self.addresses[op.results[0]] = self._now(addr[0])
        given = {n: self._given(op, n) for n in op.operands}
        pointers = [t for t in given.values() if isinstance(t, Value) and _local(t)]
        if not _lowerable(op) or pointers:
            self._keep(op)
        else:
            self._replace(op, given)

    def _judge(self, op: Op) -> None:
        """Raise PtoError for an op that breaks a rule of all targets: its page cannot lower it."""
        chip = next((t for n in op.page.homes() if (t := TARGETS[n]).chip), UNKNOWN)
        env: dict[str, object] = {"machine": chip, **op.page.unset, **op.attrs}
        for name, value in op.values():
            number = self.known(self._now(value))
            plain = isinstance(value.type, ScalarType)
            env[name] = value.type if not plain else UNKNOWN if number is None else number
        rules = [r for r in op.page.all_rules if r.targets is None and r.required]
        wrong = [r for r in rules if r.holds(env) is False]
        if wrong:
            raise PtoError([violation(op.page, r, env, blamed(op, r)) for r in wrong])

    def _keep(self, op: Op) -> None:
        """Keep an op, with addresses for pointers."""
        operands = {n: self._binding(b) for n, b in op.operands.items()}
        before, begun, registers = self.ops, len(self.ops), dict(self.registers)
        try:
            regions = self._regions(op)
        except PtoError as problem:
            iterations = self._iterations(op)
            self.unrolled += len(iterations)
            if not iterations or self.unrolled > MOST or problem.diagnostics[0].help != KNOWN:
                raise
            self.ops, self.registers = before, registers
            del before[begun:]
            self._unroll(op, iterations)
            return
        results = [self._renamed(r) if op.regions else r for r in op.results]
        self.ops.append(replace(op, operands=operands, regions=regions, results=results))
        self._fold(op)
        for name, operand in op.page.changes.items():
            self.registers.pop(name, None)
            if operand is not None:
                self.registers[name] = self._value(op.bound(operand)[0])

    def _fold(self, op: Op) -> None:
        """Note the result of an op on integers that are known."""
        known = {value: self.known(self._now(value)) for _, value in op.values()}
        if not (op.page.folds and known) or None in known.values():
            return
        from ptokit.machine.execute import ReadyOp, whole_number  # needs NumPy

        ready = ReadyOp(op)
        if ready.standalone and all(map(whole_number, op.results)):
            with suppress(ArithmeticError, PtoError):  # the run reports the fault
                number = ready.run(ready.values(known), {})
                if isinstance(number, int):
                    self.numbers[op.results[0]] = number

    def _regions(self, op: Op) -> list[Block]:
        """Lower regions; what they change is not known where they may run twice, or not at all."""
        inner = (o for r in op.regions for o in r.walk() if isinstance(o, Op))
        changed = {name for o in inner for name in o.page.changes}
        once = op.page.routes == ((OUTSIDE, 0), (0, OUTSIDE)) or self._one_iteration(op)
        found = list[Block]()
        for region in op.regions:
            for name in () if once else changed:
                self.registers.pop(name, None)
            found.append(self._block(region))
        for name in () if once else changed:
            self.registers.pop(name, None)
        return found

    def _unroll(self, op: Op, iterations: range) -> None:
        """Lower each iteration of a loop on its own, since numbers of its counter have to be known.

        What passes from one to the next are values and pointers.
        """
        passed = [self._passed(value) for value in op.bound("carried")]
        for number in iterations:
            body = _copied(op.regions[0])
            counter, *args = body.args
            self.now[counter] = self.constant(number, counter.type)
            self._receive(args, passed)
            for inner in body.ops:
                if isinstance(inner, Op) and TERMINATOR in inner.page.traits:
                    passed = [self._passed(value) for _, value in inner.values()]
                else:
                    self._op(inner)
        self._receive(op.results, passed)

    def _passed(self, value: Value) -> Value | LocalPointer:
        return self.pointers.get(value, self._now(value))

    def _receive(self, values: Sequence[Value], passed: Sequence[Value | LocalPointer]) -> None:
        for value, term in zip(values, passed, strict=True):
            if isinstance(term, LocalPointer):
                self.pointers[value] = term
            else:
                self.now[value] = term

    def _one_iteration(self, op: Op) -> bool:
        """Return whether the op is a loop that is known to have one iteration."""
        return len(self._iterations(op)) == 1

    def _iterations(self, op: Op) -> range:
        """Return the iterations of a loop, if they are known, else none."""
        bounds = [op.bound(n) for n in ("lower", "upper", "step") if n in op.operands]
        known = [self.known(self._now(value)) for (value, *_) in bounds]
        numbers = [n for n in known if n is not None]
        return range(*numbers) if len(numbers) == 3 and numbers[2] > 0 else range(0)

    def _replace(self, op: Op, given: Mapping[str, object]) -> None:
        """Replace an op by those that its page names."""
        page, begun = op.page, len(self.ops)
        self.at = op
        self._judge(op)
        values = {o.name: o.default for o in page.operands if not o.required}
        values |= {a.name: op.attrs.get(a.name, a.default) for a in page.attrs}
        values |= given
        values |= {name: value.type for name, value in op.named_results()}
        assert page.lowered is not None
        found = call(page.lowered, {**values, "make": self})
        if found is None and page.unexecuted:
            self._keep(op)  # its page says why it is not executed
            return
        if found is None:
            raise error("not-executed", f"{op.name}: {OPEN}", op.span, help=KNOWN)
        several = cast("Sequence[object]", found if isinstance(found, list) else [found])
        for result, term in zip(op.results, several, strict=False):
            if isinstance(term, LocalPointer):
                self.pointers[result] = term
                if isinstance(term.address, Inside):
                    self._keep(op)
                    self.kept.append(cast(Op, self.ops[-1]))
            else:
                value = self.value(term, result.type)
                if (number := self.known(term)) is not None:
                    self.numbers[result] = number
                self.now[result] = value
                value.name = result.name if value.name.startswith("_") else value.name
        if len(self.ops) > begun:
            self.ops[begun].comments = op.comments
        self.at = None

    def _given(self, op: Op, name: str) -> object:
        bound = op.operands[name]
        if isinstance(bound, tuple):
            return tuple(self.pointers.get(v, self._now(v)) for v in bound)
        return self.pointers.get(bound, self._now(bound))

    def _now(self, value: Value) -> Value:
        return self.now.get(value, value)

    def _value(self, value: Value) -> Value:
        """Return the value that stands for a value of the text: for a pointer its address."""
        pointer = self.pointers.get(value)
        known = pointer is not None and not isinstance(pointer.address, Inside)
        return self.value(pointer.address) if pointer and known else self._now(value)

    def _binding(self, binding: Binding) -> Binding:
        if isinstance(binding, tuple):
            return tuple(map(self._value, binding))
        return self._value(binding)

    def sum(self, one: Quantity, other: Quantity) -> Quantity:
        if isinstance(one, Inside):
            return Inside(one.tile, self.sum(one.offset, other))
        return super().sum(one, other)

    def over(self, one: Quantity, number: int) -> Quantity:
        if isinstance(one, Inside):
            raise self._without_address()
        return super().over(one, number)

    def _without_address(self) -> PtoError:
        """Return the error for an access by indices to a tile whose place is not known yet."""
        assert self.at
        help = "give the tile an address, or load its lanes with a distribution"
        return refuse(f"{self.at.name}: indices into a tile without an address", self.at.span, help)

    def window(self, kind: TileType, address: Quantity, cols: Quantity = None) -> Quantity:
        if isinstance(address, Inside):
            if cols is not None:
                raise self._without_address()
            given = dict(zip((o.name for o in _inside().ins()), address, strict=True))
            return self.op(_inside(), given, {}, [kind])[0]
        page = _placing()
        given = {"addr": address} if cols is None else {"addr": address, "valid_col": cols}
        return self.op(page, given, {}, [kind])[0]

    def address(self, tile: Quantity) -> Quantity:
        return self.addresses.get(cast(Value, tile), Inside(tile, 0))


def _used(op: AnyOp) -> Iterator[Value]:
    yield from op.uses if isinstance(op, OpaqueOp) else (value for _, value in op.values())


def _copied(block: Block) -> Block:
    """Return a copy of a region, in which values that it does not define are the same."""
    inner = [*block.walk()]
    blocks = [block, *(region for op in inner for region in op.regions)]
    defined = {value for op in inner for value in op.results}
    defined |= {arg for one in blocks for arg in one.args}
    used = (value for op in inner for value in _used(op))
    return deepcopy(block, {id(value): value for value in used if value not in defined})


@cache
def _inside() -> type[Instr]:
    """Return the page whose result is the bytes of a tile from an offset on."""
    return next(page for page in walk() if {MADE, WINDOW} <= {*page.traits})


@cache
def _placing() -> type[Instr]:
    """Return the page whose result is the bytes at an address of local memory."""
    return next(page for page in walk() if {MADE, ALLOCATES} <= {*page.traits})
