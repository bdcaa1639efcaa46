"""A whole program as one LLVM module: control flow, and a call for every instruction.

The bodies of the pages run once on symbolic handles. A body that makes handles or numbers becomes
arithmetic in the main function. A body that moves data becomes a call of a function that similar
instructions share. Undecided rules are tested before the call; if one is broken, the reference
executes the instruction on the same memories and reports the fault.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from ptokit.diagnostics.diagnostic import PtoError
from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.kernels.overlap import related
from ptokit.engines.native import calls
from ptokit.engines.native.callwriter import CallWriter
from ptokit.engines.native.coroutines import suspend
from ptokit.engines.native.equalops import from_start
from ptokit.engines.native.flow import compiled_regions, look, spend
from ptokit.engines.native.frame import Purpose
from ptokit.engines.native.localregisters import on_registers
from ptokit.engines.native.logwriting import block_begins, executed
from ptokit.engines.native.machine import offer
from ptokit.engines.native.partviews import Views
from ptokit.engines.native.plan import Plan, places
from ptokit.engines.native.runwarnings import warn_once
from ptokit.ir.module import AnyOp, Block, Func, Op, OpaqueOp, Value
from ptokit.isa.formula.formulas import UNKNOWN
from ptokit.isa.formula.rules import Rule, holds_in_a_layout
from ptokit.isa.lang.environment import ByName, arguments, environment
from ptokit.isa.lang.instr import Operand
from ptokit.isa.lang.traits import ALIASES, SIGNALS
from ptokit.machine.arguments import Env
from ptokit.machine.evaluation import scalar
from ptokit.machine.execute import element_of, given, moves, refined, stated
from ptokit.machine.memory import Elements
from ptokit.machine.record.code import (
    Coded,
    Condition,
    Int,
    NotNative,
    Undecided,
    every,
)
from ptokit.machine.record.definite import Proven
from ptokit.machine.record.expressions import (
    AxisWindow,
    Known,
    Recording,
    Scalar,
    Traced,
    WindowStore,
)
from ptokit.machine.record.trace import FRAME, Recorded, TracedTile
from ptokit.values.arrays import BOOL
from ptokit.values.dtypes import u8
from ptokit.values.layouts import Axis, IndexMap


@dataclass
class Compiler(CallWriter):
    """The generator of a module from a function."""

    counts: list[tuple[int, Counter[str]]] = field(default_factory=list[tuple[int, Counter[str]]])
    by_reference: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])  # and why
    single_op: bool = False  # a single instruction: no fallback

    def function(self, func: Func, env: Env) -> None:
        """Compile a whole function; `env` has the handles of arguments and gets the others."""
        self.views = Views(func)
        self.forwarding.follow(func)
        self.places = places(func.body)
        self.repeats = any(op.regions for op in func.body.ops)
        for value in func.args:
            self._define(env, value, env[value])
        if self.suspends:
            suspend(self.code)
        if func.body.ops:
            look(self, func.body.ops[0])
        if self.logged:
            block_begins(self)
        self.compile_block(func.body, env)

    def plan(self) -> Plan:
        """Return the plan for running the compiled code."""
        arrays = self.read_arrays, self.written_arrays
        reads, writes = (frozenset(self.spaces[n].name for n in numbers) for numbers in arrays)
        names = ((m, self.functions[body]) for m, bodies in self.shown.items() for body in bodies)
        return Plan(
            *(self.slots, self.scratch, self.in_order, reads, writes, tuple(self.counts)),
            tuple(s.name for s in self.spaces),
            *(frozenset(self.tracked), tuple(self.requests), self.results),
            *(frozenset(self.by_reference), tuple(names), tuple(self.points)),
        )

    # blocks and control

    def compile_block(self, block: Block, env: Env) -> tuple[object, ...]:
        body = block.ops[:-1] if block.terminator else block.ops
        counted = Counter(op.name for op in body if isinstance(op, Op) and op.page.reported)
        if counted:
            slot = self.slot()
            self.counts.append((slot, counted))
            self.add(slot, 1)
        self.ahead += counted.total()
        for op in body:
            if isinstance(op, Op) and op.page.reported:
                spend(self, op)
                self._op(op, env)
                self.ahead -= 1
            else:
                self._op(op, env)
        self.forwarding.leave(block)
        return tuple(self.now(env[v]) for v in block.outcome)

    # one instruction

    def _op(self, op: AnyOp, env: Env) -> None:
        if self.logged and isinstance(op, Op) and moves(op):
            executed(self, op, env)
        if isinstance(op, OpaqueOp):
            if op.results:
                raise NotNative(f"the result of {op.name} is unknown")
            self._ask(op, env)
            return
        if op.page.run is None:
            raise NotNative(op.page.unexecuted or f"{op.name} at an unknown address")
        pending = self.facts.open.get(op, [])
        self.recording, self.code.unproven = Recording(), {}
        if not op.results and not op.regions and op.page.executes:
            self._data(op, env, pending)
            return
        self._handles(op, env, pending)

    def single(self, op: Op, env: Env) -> None:
        """Compile one instruction without its rules."""
        self.places, self.single_op = {id(op): 0}, True
        self._data(op, env, ())

    def _values(self, op: Op, env: Env) -> ByName:
        """Return the operands by name, as a body gets them."""
        values = given(op)
        for operand in op.page.operands:
            bound = op.bound(operand.name)
            if bound:
                values[operand.name] = self._fetch(op, operand, bound, env)
        return values

    def _fetch(self, op: Op, operand: Operand, bound: tuple[Value, ...], env: Env) -> object:
        if operand.many:
            return tuple(self.now(env[v]) for v in bound)
        value = self.now(env[bound[0]])
        self.views.mark(bound[0], value)
        dtype = element_of(op, operand)
        if dtype is None:
            return value
        if isinstance(value, Int):
            return Scalar(value, dtype)
        if isinstance(value, Coded):
            return Scalar(value.bits, value.dtype, coded=True).cast(dtype)
        return Known(scalar(value, dtype))

    def _open_rules(self, seen: ByName, pending: Sequence[Rule]) -> Condition:
        """Return whether the rules hold that could not be decided at compile time."""
        met = [(rule, holds_in_a_layout(rule, seen)) for rule in pending]
        if any(result is UNKNOWN and rule.required for rule, result in met):
            raise NotNative("a rule that only its instruction decides")
        return every(result for _, result in met if result is not UNKNOWN)

    def _handles(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Compile an instruction that makes handles, views or numbers, or has regions."""
        values = self._values(op, env)
        page, target = op.page, self.facts.target
        results = zip(page.results(), op.results, strict=False)
        types = {r.name: stated(v, target) for r, v in results}
        seen = environment(page, values, op.attrs, target) | types
        condition = self._open_rules(seen, pending)
        if page.type_of is not None and op.results:
            values[page.results()[0].name] = refined(page.type_of, seen, target)
        if op.regions or not op.results:
            self._require(op, env, condition)
        of_rules = dict(self.code.unproven)
        try:
            outcome = page.run(**self._arguments(op, env, values))
        except (ZeroDivisionError, PtoError):  # it may never run: report the fault at run time
            raise NotNative("it goes wrong whenever it runs") from None
        except NotNative as reason:
            if SIGNALS not in page.uses and (op.results or op.regions):
                raise
            self._asked_number(op, env, reason)
            return
        number: object = outcome
        if isinstance(number, Traced):
            self._number(op, env, number, condition)
            return
        if isinstance(number, int | Int):  # program arithmetic wraps
            self.code.unproven = of_rules
        if op.results or op.regions:
            self._results(op, env, outcome, condition)
            return
        if self.recording.stores:
            self._write(op, env)
        else:
            self._require(op, env, every(self.recording.guards))
        self._finish()

    def _results(self, op: Op, env: Env, given: object, condition: Condition) -> None:
        """Define the results of an instruction, or of the regions that it runs."""
        if not op.regions:
            self._require(op, env, every((condition, *self.recording.guards, *self.ends())))
        many = len(op.results) > 1 or op.regions
        several = cast("tuple[object, ...]", given) if many else (given,)
        for result, value in zip(op.results, several, strict=True):
            self._define(env, result, value)
            if isinstance(handle := env[result], Recorded):
                handle.label = f"%{result.name}"
        if not op.regions:
            if self.recording.stores:  # an instruction of a pipe fills its result
                self._write(op, env)
            self._finish()

    def _asked_number(self, op: Op, env: Env, reason: NotNative) -> None:
        """Let the reference execute an operation on signals; take its integer result, if any."""
        slot = self.slot() if op.results else None
        self._by_reference(op, env, reason, slot)
        if slot is not None:
            env[op.results[0]] = self.load(self.place(slot))

    def _finish(self) -> None:
        """Emit the actions for other cores that the instruction recorded."""
        acts, self.recording.after = self.recording.after, []
        for act in acts:
            act()

    def _write(self, op: Op, env: Env) -> None:
        """Emit the writes of the scalar unit, if the rules hold."""
        try:
            self._perform(op, env, self._function(op, env, True))
        except NotNative as reason:
            self._by_reference(op, env, reason)

    def _number(self, op: Op, env: Env, found: Traced, condition: Condition) -> None:
        """Emit a function that loads an element of an array into the frame as a number."""
        result = op.results[0]
        if isinstance(found, Known):
            env[result] = found.array.kept()
            return
        value = cast(Traced, found.cast(u8)) if found.dtype is BOOL else found
        slot, dtype = self.slot(), value.dtype
        one = Axis(((1, 1),))
        place = Elements(FRAME, 8 * slot, dtype, IndexMap(one, one))  # type: ignore[arg-type]  # FRAME stands for a memory
        window = AxisWindow(0, 1)
        self.recording.stores.append(WindowStore(place, window, window, value))
        try:
            function = self._function(op, env, condition)
            self._perform(op, env, function, condition, number=slot)
        except NotNative as reason:
            self._by_reference(op, env, reason, slot)
        bits = self.code.let(f"load i{dtype.size * 8}, ptr {self.place(slot)}")
        if dtype.size < 8:
            word = "sext" if dtype.is_int and dtype.signed else "zext"
            bits = self.code.let(f"{word} i{dtype.size * 8} {bits} to i64")
        number = Int(self.code, bits)
        env[result] = Coded(number, dtype) if dtype.is_float else number

    def _define(self, env: Env, value: Value, handle: object) -> None:
        env[value] = handle = copy(handle) if value.resized else handle
        self.forwarding.lay(value, handle)
        self.resizable(value, handle)
        if value in self.views.mutable and isinstance(handle, TracedTile):
            if handle.elements.map is not handle.type.map:
                raise NotNative("a part of a tile becomes a view in a loop or branch")
            handle.slot = self.variable()
            self.keep_address(handle)

    def keep_address(self, tile: TracedTile) -> None:
        """Store the address of a tile that becomes a view inside a loop or branch."""
        assert tile.slot is not None
        self.store(tile.slot, tile.address)

    def _require(self, op: AnyOp, env: Env, condition: Condition) -> None:
        """Ask the reference if the condition fails: it reports the fault, or goes on."""
        self.leave_where_too_large()
        if condition is True:
            return
        if isinstance(condition, bool):
            self._ask(op, env)
            return
        with self.code.when(~condition):
            self._ask(op, env)

    def _data(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        """Compile an instruction on data, twice if its body branches on a symbolic condition."""
        code = self.code
        try:
            code.asked, self.recording, code.unproven = 0, Recording(), {}
            self._move(op, env, pending)
        except Undecided as question:
            yes, no, after = (code.name(n) for n in ("yes", "no", "after"))
            code.branch(question.condition, yes, no)
            before, ends = self.initial.copy(), list[Proven]()
            for label, answer in ((yes, True), (no, False)):
                code.start(label)
                self.initial.restore(before)
                code.answers.append(answer)
                self._data(op, env, pending)
                code.answers.pop()
                code.jump(after)
                ends.append(self.initial.copy())
            self.initial.meet(*ends)
            code.start(after)
        except NotNative as reason:
            if self.single_op or ALIASES in op.page.traits or self.views.touched(op):
                raise
            self._by_reference(op, env, reason)

    def _by_reference(self, op: Op, env: Env, reason: NotNative, result: int | None = None) -> None:
        """Let the reference execute the instruction; its numeric result goes into a slot."""
        self.forwarding.require_closed()
        self.code.do(f"; {op.name}: by the reference, {reason}")
        self.extents.clear()
        self._ask(op, env, result=result)
        self.initial.unknown(env[v] for _, v in op.values())
        touched = calls.arrays_of(
            h.elements for _, v in op.values() if isinstance(h := env[v], Recorded)
        )
        self.read_arrays |= touched
        self.written_arrays |= touched
        self.by_reference.add((op.name, str(reason)))

    def _move(self, op: Op, env: Env, pending: Sequence[Rule]) -> None:
        self.forwarding.begin(op, env)
        page, seldom = op.page, op.page.needs is not None and self.facts.target.registers
        alike = not self.code.answers and self.forwarding.copies(op)
        kind = None
        if alike and not seldom:
            kind = self.equal.kind(op, env, self.views, counted=self.counted)
        if kind and not pending and self._again(op, env, kind):
            return
        values = self._values(op, env)
        seen = environment(page, values, op.attrs, self.facts.target)
        condition = self._open_rules(seen, [rule for rule in pending if not rule.warns])
        met = self._open_rules(seen, [rule for rule in pending if rule.warns])
        size = calls.size_of_output(op, values)
        warn_once(self, op, env, met)
        if size is False and ALIASES not in page.traits:
            self._require(op, env, condition)
            return
        if seldom:
            self.leave_where_too_large()
            with self.code.when(condition & size):
                self._ask(op, env, Purpose.REGISTERS)
        settled = condition is True and size is True and met is True
        if kind and settled and self._again(op, env, kind):
            return
        kind = kind if settled else None
        inputs = self._arguments(op, env, from_start(values) if kind else values)
        before = [(v, v.elements) for v in values.values() if isinstance(v, Recorded)]
        self.recording.guards += [g for v, _ in before for g in getattr(v, "assumed", ())]
        page.run(**inputs)
        if ALIASES in page.traits:
            self.views.follow(op)
            handle = env[op.bound(page.outs()[0].name)[0]]
            if handle.slot is None:  # the handle of a resized tile was a copy
                handle.elements = values[page.outs()[0].name].elements
        if any(v.elements is not elements for v, elements in before):
            self._require(op, env, every((condition, *self.recording.guards, *self.ends())))
        if self.recording.after and not self.recording.stores:  # the body moves a flag
            self._require(op, env, every((condition, *self.recording.guards)))
            self._finish()
            return
        spoils = [*self.spoiled(op, values)]
        function = self._function(op, env, condition)
        if kind is None:
            self._perform(op, env, function, condition, size)
        elif not (
            function
            and self.equal.keeps(kind, self.recording, function)
            and self._new_kind(op, env, function, kind)
        ):
            self.equal.refused.add(kind.parts)
            self.recording = Recording()
            self._move(op, env, pending)
            return
        self.spoil(spoils, size)

    def _arguments(self, op: Op, env: Env, values: ByName) -> ByName:
        """Return the arguments of the body; NotNative if it needs state of the reference."""
        if not op.page.uses:
            return arguments(op.page, values, {})
        offered = offer(self, op, compiled_regions(self, op, env))
        missing = [u.value for u in op.page.uses if u not in offered]
        if missing:
            raise NotNative(f"it works on the core's {', '.join(missing)}")
        return arguments(op.page, values, offered)

    def _function(self, op: Op, env: Env, condition: Condition) -> OpFunction | None:
        """Emit the function of the recorded operations; None if uses of the result replace it."""
        certain = every((condition, *self.recording.guards)) is True and not self.code.answers
        if self.forwarding.forwards(op, env, self.recording, certain=certain):
            self.initial.effects(self.recording, None)
            return None
        apart = partial(related, guards=self.recording.guards)
        function = OpFunction(self.host, apart, lambda cells: cells.memory.name in self.tracked)
        function.whole, function.by_data = on_registers(op), self.initial.flow.chosen_by_data
        function.body(self.recording)
        return function
