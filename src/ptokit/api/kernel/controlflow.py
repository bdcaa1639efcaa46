"""Recorded loops and branches: iterators that observe the frame they run in."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dis import opmap
from types import FrameType
from typing import Any

from ptokit.api.hostarrays import HostArray
from ptokit.api.kernel.callplaces import CallPlace, here, refused, span_of, user_frame
from ptokit.api.kernel.carried import held_by, is_register, joined, kind_of, passes, value_of
from ptokit.api.kernel.leaving import decided, left
from ptokit.api.kernel.pagesearch import page_called, shaped
from ptokit.api.kernel.pythonstate import PythonState
from ptokit.api.kernel.recorded import RecordedRegister
from ptokit.api.kernel.recorder import Recorder, recorder
from ptokit.api.kernel.runtimenumbers import Number, RunTimeNumber, is_number, require_whole
from ptokit.diagnostics.diagnostic import Note, PtoError, error
from ptokit.diagnostics.source import Span
from ptokit.ir.module import Block, Value
from ptokit.isa.model.types import I1, I64, INDEX, ScalarType, Type
from ptokit.isa.pages.grid import launch_query
from ptokit.launch.settings import current_core, recording

ITERATES = opmap["GET_ITER"]  # the first bytecode of `for` and comprehensions
NEXT = opmap["FOR_ITER"]  # the next bytecode of `for`, in the same function
EXTENDED = opmap["EXTENDED_ARG"]  # before a jump over a long body
GONE = object()  # stands for an unbound name
ONCE = "in a loop, whose body is recorded once for all iterations"
BOTH = "in a branch, and both branches run while the kernel is recorded"
LOCAL = "change {} outside: loops and branches carry only numbers bound to local names"
INLINE = "mark {name} with @pto.inline to record its names and branches"


class ProgramRange:
    """`pto.range`: a recorded loop; a Python loop without a recorder."""

    def __init__(
        self,
        *bounds: Any,  # Any: numbers, for checkers ints
        buffers: int = 1,
        index: Callable[[Number], object] = lambda i: i,
    ) -> None:
        if not 1 <= len(bounds) <= 3:
            raise TypeError(f"pto.range: expected 1 to 3 bounds, got {len(bounds)}")
        for bound in bounds:
            require_whole(bound, "pto.range counts")
        first = (0,) if len(bounds) == 1 else ()
        self.lower, self.upper, self.step = (*first, *bounds, 1)[:3]
        if not isinstance(self.step, RunTimeNumber) and self.step < 1:
            help = "give a positive step, and compute n - 1 - i inside to go backward"
            raise ValueError(f"the step of a recorded loop is positive: {help}")
        if buffers < 1:
            raise ValueError("buffers is at least 1")
        self.buffers, self.index = buffers, index

    def __iter__(self) -> Iterator[Any]:  # Any: numbers, for checkers ints
        if recording.get() is None:
            return map(self.index, builtins.range(self.lower, self.upper, self.step))
        if not _begins_for(user_frame()):
            raise refused(
                "run-time-number",
                "the iterations of pto.range are not known statically",
                "iterate in a plain `for`: comprehensions, enumerate, zip, list and "
                "reversed need Python's range",
            )
        return ProgramLoop(self, None, frozenset(), "i")


def _begins_for(frame: FrameType) -> bool:
    """Return whether a `for` statement requests the iterator, not a comprehension or call."""
    code, at = frame.f_code.co_code, frame.f_lasti
    after = next(n for n in builtins.range(at + 2, len(code), 2) if code[n] != EXTENDED)
    return code[at] == ITERATES and code[after] == NEXT and frame.f_code.co_name[:1] != "<"


def grid(*extents: Any) -> ProgramRange:  # Any: numbers, for checkers ints
    """Return a loop over this block's share of the items of a grid."""
    total = extents[0]
    for extent in extents[1:]:
        total = total * extent

    def indices(item: Number) -> object:
        found: list[Number] = []
        for extent in reversed(extents[1:]):
            found.insert(0, item % extent)
            item = item // extent
        return (item, *found) if found else item

    if recording.get() is None:
        core = current_core()
        return ProgramRange(core.block_idx, total, core.block_num, index=indices)
    first, count = (_place(recorder(), name) for name in ("block_idx", "block_num"))
    return ProgramRange(first, total, count, index=indices)


def _place(record: Recorder, name: str) -> RunTimeNumber:
    """Return a number of the launch, queried once at the function's start."""
    page = launch_query(name)
    assert page is not None
    if page not in record.known:
        before, record.stack = record.stack, [record.head]
        wide = record.value(name, I64, record.head)
        record.emit(page, {}, {}, [wide])
        record.known[page] = record.number(RunTimeNumber.of(wide, I64), INDEX)
        record.stack = before
    return RunTimeNumber.of(record.known[page])


class Rebinding(dict[str, object]):
    """Names that the rewritten function takes from here; `gone`: names that become unbound."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self.names, self.gone = names, frozenset[str]()

    def now(self, frame: FrameType) -> dict[str, object]:
        """Return the current bindings of the names."""
        local = frame.f_locals
        return {name: local[name] for name in self.names if name in local}

    def end(self) -> None:
        """Finish after the loop or branch."""


class PythonLoop(Rebinding):
    """A Python loop in a rewritten function."""

    def __init__(
        self,
        iterable: Iterable[object],
        names: Mapping[str, tuple[int, int, int]],
        late: Sequence[str],
    ) -> None:
        super().__init__(frozenset((*names, *late)))
        self.iterable, self.place = iterable, here()

    def __iter__(self) -> Iterator[Any]:  # Any: the user's items; of a dict, names
        record = recording.get()
        if not isinstance(record, Recorder):
            return iter(self.iterable)
        return self._watched(record, user_frame())

    def _watched(self, record: Recorder, frame: FrameType) -> Iterator[object]:
        """Yield the items; names must stay unchanged while a generator's recorded loop is open."""
        around = len(record.open)
        for item in self.iterable:
            before = self.now(frame)
            yield item
            if len(record.open) > around:
                after = self.now(frame)
                for name in sorted(after):
                    if not _equal(after[name], before.get(name, GONE)):
                        raise self._rebound(name)

    def _rebound(self, name: str) -> PtoError:
        what = f"{name} is rebound {ONCE}"
        help = "iterate over pto.range here, not in a generator, to carry names"
        return refused("rebound", what, help, self.place)


class ProgramLoop(Rebinding):
    """A recorded loop, whose body Python runs once for each buffer.

    `names` are rebound in the body and read in a later iteration or afterwards; None: the function
    was not rewritten, and all names are watched. `late` are first bound inside and may be read
    afterwards. `bound` are all names that the body binds; it must not change other state.
    """

    def __init__(
        self,
        spec: ProgramRange,
        names: Mapping[str, tuple[int, int, int]] | None,
        late: frozenset[str],
        counter: str,
        bound: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(frozenset(names or ()))
        self.places = names or {}
        self.record, self.spec, self.late, self.counter = recorder(), spec, late, counter
        self.bound = bound
        self.watching = names is None
        self.iteration, self.place, self.block = 0, here(), Block()
        self.given: object = None

    def __iter__(self) -> ProgramLoop:
        return self

    def __next__(self) -> Any:  # Any: a number, or several; of a dict, names
        frame = user_frame()
        self.iteration += 1
        if self.iteration == 1:
            self._begin(frame)
        else:
            self._end_iteration(frame)
        if self.iteration > self.spec.buffers:
            self._finish(frame)
            raise StopIteration
        self.given = self.spec.index(self._begin_iteration())
        return self.given

    def _begin(self, frame: FrameType) -> None:
        record, spec = self.record, self.spec
        if self.watching:
            self.names = frozenset(frame.f_locals) - {*_targets(frame)}
        before = self.now(frame)
        self.late = frozenset(n for n in self.late if n not in frame.f_locals)
        numbers = {} if self.watching else {n: v for n, v in before.items() if passes(v)}
        self.fixed = {n: v for n, v in before.items() if n not in numbers}
        self.state = record.state(self.bound)
        self.limits = record.numbers((spec.lower, spec.upper))
        kinds = {n: kind_of(v) for n, v in numbers.items()}
        self.init = tuple(value_of(record, v, kinds[n]) for n, v in numbers.items())
        self.index = record.value(self.counter, INDEX, self.block)
        self.carried = {n: record.value(n, kinds[n], self.block) for n in numbers}
        self.block.args = [self.index, *self.carried.values()]
        self.update({n: held_by(v, kinds[n]) for n, v in self.carried.items()})
        if spec.buffers > 1:
            record.buffers.append(record.stack[-1])
        record.stack.append(self.block)
        record.open.append(self)
        self.guard: Guard | None = None

    def _begin_iteration(self) -> Number:
        """Return the counter of the next iteration; further buffers run under a guard."""
        spec, first = self.spec, RunTimeNumber.of(self.index)
        counter = first + (self.iteration - 1) * spec.step
        if self.iteration > 1 and not self._divides():
            self.guard = Guard(self.record, counter < spec.upper, dict(self))
        return counter

    def _divides(self) -> bool:
        """Return whether the trip count is a multiple of the number of buffers."""
        rest, step = self.spec.upper - self.spec.lower, self.spec.step
        return (
            isinstance(rest, int)
            and isinstance(step, int)
            and not rest % (step * self.spec.buffers)
        )

    def _end_iteration(self, frame: FrameType) -> None:
        """Set the next values of the carried names after an iteration."""
        now = self.now(frame)
        for name, value in self.fixed.items():
            if not self._same(now.get(name), value):
                raise self._rebound(name, value, frame)
        _require_same(self.state, ONCE, self.place)
        found = {n: now[n] for n in self.carried}
        for name, number in found.items():
            if self._becomes_float(number, self.carried[name].type):
                what = f"{name} starts as an integer and is a float after an iteration"
                raise refused("rebound", what, f"start with a float: {name} = 0.0", self.place)
        for name, number in found.items():
            kind = self.carried[name].type
            changed = kind_of(number) != kind if is_register(kind) else not is_number(number)
            if changed or not passes(number):
                raise self._rebound(name, number, frame)
        if self.guard is not None:
            found = self.guard.end(found)
            self.guard = None
        self.update(found)

    @staticmethod
    def _becomes_float(number: object, kind: Type) -> bool:
        found = kind_of(number) if is_number(number) and kind is INDEX else None
        return isinstance(found, ScalarType) and found.is_float

    def _same(self, now: object, before: object) -> bool:
        if now is before or now is self.given:
            return True
        kind = type(now)
        return kind is type(before) and kind in (int, float, str, bool) and now == before

    def _rebound(self, name: str, value: object, frame: FrameType) -> PtoError:
        message = f"{name} is rebound {ONCE}"
        helper = frame.f_code.co_name
        if self.watching:
            help = INLINE.format(name=helper)
        elif isinstance(value, RecordedRegister):
            help = "a loop carries registers of one type: bind another name inside the loop"
        elif isinstance(value, HostArray):
            help = f"write into {name} with `out={name}`, or bind another name inside the loop"
        else:
            help = f"only numbers can be loop-carried: bind {name} outside of the loop"
        at = self.span(self.places[name]) if name in self.places else self.place.span()
        return error("rebound", message, at, help=help)

    def span(self, place: tuple[int, int, int]) -> Span | None:
        """Return a place in the file of the loop."""
        line, column, stop = place
        return span_of(self.place.code.co_filename, line, line, column, stop)

    def _finish(self, frame: FrameType) -> None:
        record, spec = self.record, self.spec
        ends = tuple(value_of(record, self[n], v.type) for n, v in self.carried.items())
        page = shaped("for")
        if ends:
            record.emit(shaped("yield", symbol=""), {"values": ends})
        record.stack.pop()
        record.open.pop()
        if spec.buffers > 1:
            record.buffers.pop()
        step = record.number(spec.step * spec.buffers)
        names = [o.name for o in page.ins()]
        given = zip(names, ((self.limits[0],), (self.limits[1],), (step,), self.init), strict=True)
        results = [record.value(n, v.type) for n, v in self.carried.items()]
        operands = {name: values for name, values in given if values}
        record.emit(page, operands, {}, results, [self.block])
        made = zip(self.carried, results, strict=True)
        self.update({n: held_by(v, v.type) for n, v in made})
        for name in sorted(self.late):
            value = frame.f_locals.get(name)
            if value is not None and not isinstance(value, RunTimeNumber | HostArray):
                raise refused(
                    "out-of-scope",
                    f"{name} is first bound inside a loop, and read after it",
                    f"bind {name} before the loop",
                    self.place,
                )

    def end(self) -> None:
        """Check after the loop that it ran to its end."""
        if any(open is self for open in self.record.open):
            raise left(self.place)


def _require_same(state: PythonState, where: str, place: CallPlace) -> None:
    """Raise PtoError if a loop or a branch changed Python state."""
    what = state.changed()
    if what is not None:
        raise refused("rebound", f"{what} is changed {where}", LOCAL.format(what), place)


def _targets(frame: FrameType) -> Iterator[str]:
    """Yield names that Python loops bind themselves, which are not watched."""
    return (n for n in frame.f_locals if n.startswith("."))


class Guard:
    """A branch around an iteration, which runs only if the loop continues."""

    def __init__(self, record: Recorder, condition: Number, before: dict[str, object]) -> None:
        self.record, self.before, self.blocks = record, before, (Block(), Block())
        self.condition = record.number(condition, I1)
        record.stack.append(self.blocks[0])

    def end(self, after: Mapping[str, object]) -> dict[str, object]:
        """Return the bindings of names after the guarded iteration."""
        self.record.stack.pop()
        return merge(self.record, self.condition, self.blocks, (after, self.before), set(after))


def merge(
    record: Recorder,
    condition: Value,
    blocks: tuple[Block, Block],
    ends: Sequence[Mapping[str, object]],
    names: set[str],
) -> dict[str, object]:
    """End a branch: numbers that differ become results."""
    differ = [n for n in sorted(names) if not _equal(ends[0][n], ends[1][n])]
    kinds = {n: joined(ends[0][n], ends[1][n]) for n in differ}
    for block, values in zip(blocks, ends, strict=True):
        record.stack.append(block)
        if differ:
            passed = tuple(value_of(record, values[n], kinds[n]) for n in differ)
            record.emit(shaped("yield"), {"values": passed})
        record.stack.pop()
    page = shaped("if")
    results = [record.value(n, kinds[n]) for n in differ]
    regions = blocks if blocks[1].ops else blocks[:1]
    record.emit(page, {page.ins()[0].name: (condition,)}, {}, results, regions)
    made = {n: held_by(v, kinds[n]) for n, v in zip(differ, results, strict=True)}
    return {n: made.get(n, ends[0][n]) for n in names}


def _equal(a: object, b: object) -> bool:
    if a is b:
        return True
    if isinstance(a, RunTimeNumber) and isinstance(b, RunTimeNumber):
        return a.kind is b.kind and a.terms == b.terms and a.const == b.const
    return type(a) is type(b) and isinstance(a, int | float | str) and a == b


class ProgramBranch(Rebinding):
    """An `if` of a rewritten function: both branches run if its test is a run-time number.

    `names` are bound in a branch; the names in `live` may be read afterwards.
    """

    def __init__(self, test: object, names: frozenset[str], live: frozenset[str]) -> None:
        super().__init__(names)
        self.test, self.live = test, live
        if isinstance(test, RunTimeNumber):
            self.record, self.place, self.blocks = recorder(), here(), (Block(), Block())
            self.condition = self.record.number(test, I1)

    def __iter__(self) -> Iterator[Any]:  # Any: bools; of a dict, names
        if not isinstance(self.test, RunTimeNumber):
            return iter((bool(self.test),))
        return self._branches()

    def _branches(self) -> Iterator[bool]:
        frame = user_frame()
        before = self.now(frame)
        missing = self.names - before.keys()
        state = self.record.state(self.names)
        self.record.stack.append(self.blocks[0])
        yield True
        first = self.now(user_frame())
        _require_same(state, BOTH, self.place)
        self.record.stack[-1] = self.blocks[1]
        self.update(before)
        self.gone = frozenset(n for n in missing if n in first)
        self.record.gone.update(dict.fromkeys(self.gone, self.place))
        yield False
        self.clear()
        self.gone = frozenset[str]()
        second = self.now(user_frame())
        _require_same(state, BOTH, self.place)
        self.record.stack.pop()
        self._merge(first, second)

    def _merge(self, first: dict[str, object], second: dict[str, object]) -> None:
        names: set[str] = set()
        for name in sorted(self.live & (first.keys() | second.keys())):
            if name not in first or name not in second:
                raise self._refused(name, "bound in one branch only")
            a, b = first[name], second[name]
            if _equal(a, b):
                continue
            registers = isinstance(a, RecordedRegister) and isinstance(b, RecordedRegister)
            if not (is_number(a) and is_number(b)) and not (registers and kind_of(a) == kind_of(b)):
                raise self._refused(name, f"{_what(a)} in one branch and {_what(b)} in the other")
            names.add(name)
        self.update(merge(self.record, self.condition, self.blocks, (first, second), names))

    def _refused(self, name: str, what: str) -> PtoError:
        help = f"bind {name} before, and write into it in both branches with `out={name}`"
        return refused("rebound", f"{name} is {what} of a recorded `if`", help, self.place)


def _what(thing: object) -> str:
    if is_number(thing):
        return "a number"
    kind = "tile" if hasattr(thing, "valid") else type(thing).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def loop(
    iterable: Iterable[object],
    names: dict[str, tuple[int, int, int]],
    late: list[str],
    counter: str,
    leaving: tuple[int, int, int] | None,
    bound: list[str],
) -> Rebinding:
    """Return the iterable that the rewritten function uses instead of `iterable`.

    `names` are rebound inside, with their places. `leaving` is a statement that leaves the loop.
    `bound` are all names that the loop binds.
    """
    if recording.get() is None or not isinstance(iterable, ProgramRange):
        return PythonLoop(iterable, names, late)
    made = ProgramLoop(iterable, names, frozenset(late), counter, frozenset(bound))
    if leaving is not None:
        raise left(made.place, Note("left here", made.span(leaving)))
    return made


def branch(test: object, names: Sequence[str], live: Sequence[str]) -> ProgramBranch:
    """Return the iterable that the rewritten function uses for an `if`."""
    return ProgramBranch(test, frozenset(names), frozenset(live))


def finish(record: Recorder) -> None:
    """Finish a kernel: every loop was recorded to its end; record the return."""
    if record.open:
        raise left(record.open[-1].place)
    record.drop_unread_views()
    page = page_called("return", executes=False)
    assert page is not None
    record.emit(page, {})


__all__ = ["CallPlace", "ProgramRange", "branch", "decided", "finish", "grid", "loop"]
