"""Breakpoints in a program: Python's debugger stops before an instruction, with arrays at hand."""

from __future__ import annotations

import ast
import keyword
import pdb
import re
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import NoReturn

from ptokit.ir.module import AnyOp, Block, Func, Op, Value
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core
from ptokit.machine.observer import Observer
from ptokit.tools.shown import place_shown, value_shown
from ptokit.tools.tracing import defined_or_written


class Debugger(pdb.Pdb, Observer):
    """pdb as an observer: `continue` to the next breakpoint, `next` to the next op, `quit`.

    Tiles, views and pointers are NumPy arrays by the names of the program, copies; in names that
    Python does not take `_` stands for what it does not. `break LINE` and `clear` are pdb's own.
    """

    stepwise = True

    def __init__(self, kernel: Path, stops: Stops, quits: Callable[[], NoReturn]) -> None:
        super().__init__(nosigint=True)
        self.kernel, self.stops, self.quits = str(kernel), stops, quits
        self.stepping = self.ended = False
        self.clear_all_breaks()  # those of other programs: Python keeps them for the process
        for line in stops.lines:
            self.set_break(self.kernel, line)

    def before(self, op: AnyOp, env: Env, core: Core) -> None:
        """Stop here if it is asked for."""
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
        """Code that does nothing, in this line of the kernel: pdb lists what stands around it."""
        return compile(ast.increment_lineno(ast.parse("None"), line - 1), self.kernel, "exec")

    def get_stack(
        self, f: FrameType | None, t: TracebackType | None
    ) -> tuple[list[tuple[FrameType, int]], int]:
        """The place in the kernel alone: what is around it is this debugger."""
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
    """Where to stop: lines of the kernel, and names before whose definition or writing."""

    def __init__(self, words: tuple[str, ...], func: Func) -> None:
        """Lines and names of a call; ValueError where the function has no such thing."""
        self.lines, self.names = list[int](), list[str]()
        ops = [op for op in func.body.walk() if not _ends(op, func.body)]
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


def _ends(op: AnyOp, body: Block) -> bool:
    """Whether it is the function's last one, which nothing executes."""
    return op is body.terminator


def _changed(op: AnyOp) -> list[Value]:
    return list(defined_or_written(op)) if isinstance(op, Op) else op.results


def _identifier(name: str) -> str:
    """A name that Python takes."""
    found = re.sub(r"\W", "_", name)
    return f"_{found}" if found[0].isdigit() or keyword.iskeyword(found) else found
