"""Emission of ops in place of others: numbers that fold, loops, and constants for known numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ptokit.diagnostics.source import Span
from ptokit.ir.editing import FreshNames, arithmetic_page, constant, new_op, shaped, terminator_of
from ptokit.ir.module import NO_COMMENTS, AnyOp, Binding, Block, Func, Op, Value
from ptokit.isa.lang.instr import Instr
from ptokit.isa.lang.localmemory import Quantity
from ptokit.isa.model.types import INDEX, Type


class Emission:
    """The ops that take the place of one: what `Emitting` says that pages ask for.

    `number` is the type of the numbers that it computes with.
    """

    def __init__(self, names: FreshNames, number: Type) -> None:
        self.names, self.number = names, number
        self.numbers: dict[Value, int] = {}
        self.made: dict[tuple[Type, float], Value] = {}  # constants at the start of the function
        self.first = list[AnyOp]()
        self.ops = list[AnyOp]()  # of the block at hand
        self.at: Op | None = None

    def known(self, term: Quantity) -> int | None:
        """Return a number that is known."""
        if isinstance(term, int):
            return term
        return self.numbers.get(term) if isinstance(term, Value) else None

    def value(self, term: Quantity, kind: Type | None = None) -> Value:
        """Return a number as a value."""
        if isinstance(term, Value):
            return term
        assert isinstance(term, int), term
        return self.constant(term, kind or self.number)

    def constant(self, number: float, kind: Type) -> Value:
        """Return a number as the result of a constant at the start of the function."""
        if (kind, number) not in self.made:
            name = f"at{number}" if isinstance(number, int) and number >= 0 else "number"
            value = Value(self.names.name(name), kind)
            self.first.append(constant(value, number))
            self.made[kind, number] = value
            if isinstance(number, int):
                self.numbers[value] = number
        return self.made[kind, number]

    def sum(self, one: Quantity, other: Quantity) -> Quantity:
        return self._two("add", one, other, lambda a, b: a + b)

    def times(self, one: Quantity, other: Quantity) -> Quantity:
        if self.known(other) == 1:
            return one
        return self._two("mul", one, other, lambda a, b: a * b)

    def less(self, one: Quantity, other: Quantity) -> Quantity:
        return self._two("sub", one, other, lambda a, b: a - b)

    def over(self, one: Quantity, number: int) -> Quantity:
        return one if number == 1 else self._two("floordiv", one, number, lambda a, b: a // b)

    def left_after(self, one: Quantity, number: int) -> Quantity:
        return self._two("max", self.less(one, number), 0, max)

    def _two(
        self, word: str, one: Quantity, other: Quantity, f: Callable[[int, int], int]
    ) -> Quantity:
        first, second = self.known(one), self.known(other)
        if first is not None and second is not None:
            return f(first, second)
        if second == 0 and word in ("add", "sub"):
            return one
        if first == 0 and word == "add":
            return other
        page = arithmetic_page(word, self.number)
        assert page is not None, word
        values = [self.value(one)], [self.value(other)]
        names = [o.name for o in page.ins()]
        return self._emit(page, dict(zip(names, values, strict=True)), {}, [self.number])[0]

    def op(
        self,
        page: type[Instr],
        operands: Mapping[str, Quantity],
        attrs: Mapping[str, object] | None = None,
        results: Sequence[Type] = (),
    ) -> list[Quantity]:
        bound = dict[str, list[Value]]()
        for name, given in operands.items():
            terms = cast("Sequence[Quantity]", given) if isinstance(given, list) else [given]
            bound[name] = [self.value(term) for term in terms if term is not None]
        kept = {a.name: a.default for a in page.attrs}
        chosen = {n: v for n, v in (attrs or {}).items() if n in kept and v != kept[n]}
        return [*self._emit(page, bound, chosen, results)]

    def _emit(
        self,
        page: type[Instr],
        operands: Mapping[str, Sequence[Value]],
        attrs: Mapping[str, object],
        results: Sequence[Type],
    ) -> list[Value]:
        span = None if self.at is None else self.at.span
        made = [Value(self.names.name(self.called(kind)), kind, span) for kind in results]
        self.ops.append(new_op(page, operands, attrs, results=made, spans=self._spans()))
        return made

    def called(self, kind: Type) -> str:
        """Return how values of a type are named, before the numbers that tell them apart."""
        return "_"

    def _spans(self) -> dict[str, Span]:
        span = None if self.at is None else self.at.span
        return {} if span is None else {"": span}

    def repeat(self, count: Quantity, body: Callable[[Quantity], None]) -> None:
        def once(number: Quantity, _: Sequence[Quantity]) -> Sequence[Quantity]:
            body(number)
            return ()

        self.fold(count, (), once)

    def fold(
        self,
        count: Quantity,
        starts: Sequence[Quantity],
        body: Callable[[Quantity, Sequence[Quantity]], Sequence[Quantity]],
    ) -> Sequence[Quantity]:
        """Add a loop whose iterations pass values on; return the last ones."""
        if self.known(count) == 1:
            return body(0, starts)
        page, begun = shaped("for"), [self.value(start) for start in starts]
        counter = Value(self.names.name("i"), INDEX)
        carried, results = (
            [Value(self.names.name(self.called(v.type)), v.type) for v in begun] for _ in range(2)
        )
        loop = Op(page, {}, {}, results, [], self._spans())
        block = self.block(loop, lambda: body(counter, carried), (counter, *carried))
        lower, upper, step, passed = (o.name for o in page.ins()[:4])
        operands: dict[str, Binding] = {
            **{lower: self.value(0), upper: self.value(count), step: self.value(1)},
            **({passed: tuple(begun)} if begun else {}),
        }
        self.ops.append(replace(loop, operands=operands, regions=[block], comments=NO_COMMENTS))
        return results

    def block(
        self, op: Op, body: Callable[[], Sequence[Quantity]], args: Sequence[Value] = ()
    ) -> Block:
        """Return what `body` adds as a region of `op`, which ends with the values it returns."""
        around, self.ops = self.ops, list[AnyOp]()
        given = [self.value(end) for end in body()]
        page = terminator_of(op)
        self.ops.append(new_op(page, {page.operands[0].name: given}))
        made, self.ops = Block([*args], self.ops), around
        return made


class FuncEmission(Emission):
    """The ops that take the place of those of a whole function."""

    def __init__(self, func: Func, number: Type) -> None:
        super().__init__(FreshNames(func), number)
        self.func = func

    def finished(self) -> Func:
        return self.with_body(self._block(self.func.body))

    def with_body(self, body: Block) -> Func:
        """Return the function with another body, which starts with the constants."""
        return replace(self.func, body=replace(body, ops=[*self.first, *body.ops]))

    def _block(self, block: Block) -> Block:
        around, self.ops = self.ops, list[AnyOp]()
        args = self._args(block.args)
        for op in block.ops:
            self._op(op)
        made, self.ops = replace(block, args=args, ops=self.ops), around
        return made

    def _args(self, args: list[Value]) -> list[Value]:
        """Return what takes the place of the arguments of a block."""
        return args

    def _op(self, op: AnyOp) -> None:
        """Add what takes the place of an op."""
        raise NotImplementedError
