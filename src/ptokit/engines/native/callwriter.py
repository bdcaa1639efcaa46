"""The calls of instruction functions in the main function, with their guards and fallbacks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from ptokit.analysis.liveness import spoiled
from ptokit.engines.kernels.opfunction import OpFunction
from ptokit.engines.native import calls
from ptokit.engines.native.calllines import CallLine, CallText
from ptokit.engines.native.equalops import EmittedOp, EqualOps, OpKind, Place, moved
from ptokit.engines.native.mainfunction import LARGEST_MEMORY
from ptokit.engines.native.modulewriter import ModuleWriter
from ptokit.engines.native.partviews import Views
from ptokit.engines.native.plan import Purpose
from ptokit.ir.module import AnyOp, Op
from ptokit.machine.arguments import Env
from ptokit.machine.record.code import Code, Condition, Int, Truth, every, text
from ptokit.machine.record.definite import PlacedFact, reached


@dataclass
class CallWriter(ModuleWriter):
    """The main function so far, and what is known of the instructions that it calls."""

    scratch: int = 64
    read_arrays: set[int] = field(default_factory=set[int])  # the numbers of their spaces
    in_order: bool = False  # blocks write the same bytes: the last block wins
    written_arrays: set[int] = field(default_factory=set[int])
    views: Views = field(default_factory=Views)
    equal: EqualOps = field(default_factory=EqualOps)

    def _perform(
        self,
        op: Op,
        env: Env,
        function: OpFunction | None,
        condition: Condition = True,
        size: Condition = True,
        number: int | None = None,
    ) -> None:
        """Call the function of recorded operations, if any: with its guard, and the fallback."""
        if function is None:
            return
        condition = every((condition, *self.recording.guards, *self.ends()))
        self._learn(op, env, function, size)
        if not self.recording.stores:
            return
        self.leave_where_too_large()
        self._call(op, env, function, condition, size, number)

    def _call(
        self,
        op: Op,
        env: Env,
        function: OpFunction,
        condition: Condition,
        size: Condition = True,
        number: int | None = None,
    ) -> None:
        """Call a function if the condition holds, else the reference."""
        name = self.shared(function, op, env)
        self.scratch = max(self.scratch, function.scratch.size)
        if condition is False:
            self._ask(op, env, result=number)
            return
        after, slow, fast, some = (self.code.name(n) for n in ("next", "slow", "fast", "some"))
        for test, yes, no in ((condition, fast, slow), (size, some, after)):
            if isinstance(test, Truth):
                self.code.branch(test, yes, no)
                self.code.start(yes)
        result = self.code.let(f"call i32 @{name}({calls.passed(self, function)})")
        if function.checks:
            self.code.branch(self.code.let(f"icmp ne i32 {result}, 0"), slow, after)
        elif isinstance(condition, Truth) or isinstance(size, Truth):
            self.code.jump(after)
        if function.checks or isinstance(condition, Truth):
            self.code.start(slow)
            self._ask(op, env, result=number, after=after)
        elif isinstance(size, Truth):
            self.code.start(after)

    def _learn(self, op: Op, env: Env, function: OpFunction, size: Condition) -> bool:
        """Add what the recorded operations do to the facts about memories and arrays.

        Return whether all reads are proven.
        """
        counts = None if size is True else calls.counts_of_output(self, op, env)
        recording = self.forwarding.copied(self.recording)
        proven = self.initial.effects(recording, counts, lanes=function.whole)
        self.read_arrays |= calls.arrays_of(r.cells for r in self.recording.reads)
        written = [s.cells for s in self.recording.stores]
        self.written_arrays |= calls.arrays_of(written)
        here = (c for c in written if text(c.origin) not in self.code.by_block)
        self.in_order |= bool(calls.arrays_of(here))
        return proven

    def _ask(self, op: AnyOp, env: Env, purpose: Purpose = Purpose.RUN, **how: Any) -> None:
        """Call the reference for one instruction, with the current numbers of its operands.

        `how`: see `request`.
        """
        used = self.views.marked(op, env) if isinstance(op, Op) else []
        how["registers"] = (env.get(v) for _, v in op.values()) if isinstance(op, Op) else ()
        self.request(op, purpose, tuple(map(self.kept_value, used)), **how)

    # instructions whose operands have no symbolic numbers

    @property
    def counted(self) -> bool:
        """True in regions with symbolic arguments, which requests to the reference keep."""
        return any(not isinstance(arg, int) for _, args in self.inside for arg in args)

    def _new_kind(self, op: Op, env: Env, function: OpFunction, kind: OpKind) -> bool:
        """Compile an instruction of a new kind, from which equal ones are made.

        Return False, and do nothing, if the text of its call would depend on the region.
        """
        self.shared(function, op, env)
        self.scratch = max(self.scratch, function.scratch.size)
        requests = len(self.requests)
        call = self._text(op, env, function, kind.places)
        if call.asks and self.counted:
            del self.requests[requests:]
            return False
        emitted = self.equal.keep(kind, self.recording, function, spoiled(op, self.facts), call)
        self.recording = emitted.at(kind.places)
        self._learn_once(op, env, emitted, emitted.facts_at(kind.places))
        self._line(call, kind.places, requests)
        return True

    def _again(self, op: Op, env: Env, kind: OpKind) -> bool:
        """Compile an instruction that equals an earlier one; return whether there is one."""
        earlier = self.equal.emitted.get(kind.parts)
        if earlier is None:
            return False
        facts, requests = earlier.facts_at(kind.places), len(self.requests)
        applied = self.initial.applied
        if not (earlier.adds and all(fact in applied.get(fact[0], ()) for fact in facts)):
            self.recording = earlier.at(kind.places)
            self._learn_once(op, env, earlier, facts)
        if earlier.call.asks:
            before, self.code = self.code, Code()
            self._ask(op, env)
            self.code = before
        self._line(earlier.call, kind.places, requests)
        self.spoil([env[op.bound(name)[0]] for name in earlier.spoiled], True)
        return True

    def _learn_once(
        self, op: Op, env: Env, emitted: EmittedOp, facts: Sequence[PlacedFact]
    ) -> None:
        """Add what an instruction does to the facts; note what equal ones need not add again."""
        if self._learn(op, env, emitted.function, True) and emitted.adds:
            cells = [r.cells for r in self.recording.reads]
            cells += [store.cells for store in self.recording.stores if store.definite]
            for fact, one in zip(facts, cells, strict=True):
                self.initial.applied.setdefault(fact[0], {})[fact] = reached(one)

    def _text(self, op: Op, env: Env, function: OpFunction, places: tuple[Place, ...]) -> CallText:
        """Return the text of a call, and of the request if it fails, with addresses left open."""
        before, self.code = self.code, Code(prefix="{0}.")
        requests, there = len(self.requests), dict[Place, Any]()  # Any: symbols
        for number, place in enumerate(places, 1):
            there[place] = Int(self.code, f"{{{number}}}", limits=(0, LARGEST_MEMORY))
        starts = {place[0]: there[place] for place in places}
        function = copy(function)
        pointers = function.pointers.items()
        function.pointers = {key: (name, moved(c, there)) for key, (name, c) in pointers}
        self._call(op, env, function, every(self.ends(starts)))
        lines, block = "\n".join(self.code.lines), self.code.block
        asks, self.code = len(self.requests) > requests, before
        number = f"{{{len(places) + 1}}}"
        lines = lines.replace(f"%callback(i64 {requests})", f"%callback(i64 {number})")
        return CallText(lines, "" if block == "entry" else block, asks)

    def _line(self, call: CallText, places: tuple[Place, ...], request: int) -> None:
        """Emit a call for operands at these places."""
        for place in call.fields:
            self.field(place)
        numbers = *(address for _, address in places), *([request] if call.asks else ())
        name = self.code.name("r")
        self.code.lines.append(CallLine.of(name, call, numbers))
        if call.block:
            self.code.block, self.code.known = call.block.format(name), {}  # another basic block
