"""Breakpoints in a program: Python's debugger stops before an instruction."""

from __future__ import annotations

import ast
import keyword
import pdb
import re
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import NoReturn

from ptokit.ir.module import AnyOp, Func, Op, Value
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.observer import Observer
from ptokit.tools.shown import place_shown, value_shown
from ptokit.tools.tracing import defined_or_written


class Debugger(pdb.Pdb, Observer):
    """pdb as an observer: `continue` to the next breakpoint, `next` to the next op, `quit`.

    Tiles, views and pointers are NumPy arrays (copies) under the names of the program; characters
    that Python names do not allow become `_`. `break LINE` and `clear` are those of pdb.
    """

    stepwise = True

    def __init__(self, kernel: Path, stops: Stops, quits: Callable[[], NoReturn]) -> None:
        super().__init__(nosigint=True)
        self.kernel, self.stops, self.quits = str(kernel), stops, quits
        self.stepping = self.ended = False
        self.clear_all_breaks()  # pdb keeps breakpoints of other programs in the process
        for line in stops.lines:
            self.set_break(self.kernel, line)

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        """Stop at a breakpoint, or while stepping."""
        line = op.span.line if op.span else 0
        named = any(v.name in self.stops.names for v in _changed(op))
        if not (self.stepping or named or line in self.get_file_breaks(self.kernel)):
            return
        self.stepping = False
        place = place_shown(core)
        self.prompt = f"(ptokit block {place}) " if place else "(ptokit) "
        self.run(self._place(line), {}, {_identifier(v.name): value_shown(v, env[v]) for v in env})
        if self.ended:
            self.quits()

    def _place(self, line: int) -> CodeType:
        """Return code that does nothing at this line, so that pdb lists the kernel around it."""
        return compile(ast.increment_lineno(ast.parse("None"), line - 1), self.kernel, "exec")

    def get_stack(
        self, f: FrameType | None, t: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        """Return only the frame of the kernel, without frames of the debugger."""
        stack, at = super().get_stack(f, t)
        return stack[at:], 0

    def do_next(self, arg: str) -> bool | None:
        """n(ext), s(tep): run this op and stop before the next one."""
        self.stepping = True
        return self.do_continue(arg)

    def do_quit(self, arg: str) -> bool | None:
        """q(uit): end the run; nothing is written."""
        self.ended = True
        return super().do_quit(arg)

    def do_EOF(self, arg: str) -> bool | None:
        """As `quit`."""
        self.ended = True
        return super().do_EOF(arg)

    do_n = do_s = do_step = do_next
    do_q = do_exit = do_quit


class Stops:
    """The places to stop: lines of the kernel, and names before their definition or writing."""

    def __init__(self, words: tuple[str, ...], func: Func) -> None:
        """Parse lines and names; ValueError if the function does not have them."""
        self.lines, self.names = list[int](), list[str]()
        end = func.body.terminator  # which is not executed
        ops = [op for op in func.body.walk() if op is not end]
        lines = sorted({op.span.line for op in ops if op.span})
        names = {v.name for op in ops for v in _changed(op)}
        for word in words:
            name = word.removeprefix("%")
            if word.isdecimal() and word.isascii():
                self.lines.append(_line_of(int(word), lines))
            elif name in names:
                self.names.append(name)
            else:
                raise ValueError(f"{word}: no instruction defines or writes %{name}")


def _line_of(line: int, lines: list[int]) -> int:
    if line in lines:
        return line
    near = [str(n) for n in sorted(lines, key=lambda n: abs(n - line))[:3]]
    raise ValueError(f"{line}: no instruction starts on this line; near: {', '.join(near)}")


def _changed(op: AnyOp) -> list[Value]:
    return list(defined_or_written(op)) if isinstance(op, Op) else op.results


def _identifier(name: str) -> str:
    """Return a valid Python name."""
    found = re.sub(r"\W", "_", name)
    return f"_{found}" if found[0].isdigit() or keyword.iskeyword(found) else found
