"""Random kernels in Python: loops, branches, numbers that are rebound, helpers, tails.

Every number ends up in the output: it is added to a tile of integers. Sizes are small, so that the
function itself runs as quickly as its program.
"""

from __future__ import annotations

import linecache
from random import Random
from typing import Any

import ptokit as pto

NUMBERS = ("a", "b", "c")
HEAD = """\
import ptokit as pto
LIMIT = {limit}


@pto.inline
def helper(acc, p, q):
{helper}
    return p


@pto.kernel(shapes="x[rows, 8] y[rows, 8]")
def kernel(x: pto.In, y: pto.InOut, n, *, wide: int = {wide}, on: bool = {on}) -> None:
    rows = x.shape[0]
    acc = pto.load(pto.block(y, 0, 0, 8, 8))
    a, b, c = n, {b}, rows
{body}
    for v in (a, b, c):
        pto.adds(acc, v, out=acc)
    pto.store(pto.block(y, 0, 0, 8, 8), acc)
"""


class KernelText:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.count = 0

    def text(self) -> str:
        choose = self.random
        return HEAD.format(
            limit=choose.randrange(1, 6),
            wide=choose.randrange(1, 5),
            on=choose.random() < 0.5,
            b=choose.randrange(-3, 9),
            helper="\n".join(self.block(("p", "q"), 1, 2, 1)),
            body="\n".join(self.block(NUMBERS, 1, choose.randrange(2, 4), 3)),
        )

    def number(self, names: tuple[str, ...], depth: int = 2) -> str:
        """An expression; its value stays small."""
        choose = self.random
        if depth == 0 or choose.random() < 0.3:
            return choose.choice((*names, *names, str(choose.randrange(-4, 9)), "LIMIT"))
        left, right = (self.number(names, depth - 1) for _ in range(2))
        form = choose.choice(
            (
                "({0} + {1})",
                "({0} - {1})",
                "({0} * {2})",
                "({0} // {2})",
                "({0} % {2})",
                "pto.min({0}, {1})",
                "pto.max({0}, {1})",
                "pto.where({0} < {1}, {0}, {2})",
            )
        )
        return form.format(left, right, choose.randrange(1, 7))

    def condition(self, names: tuple[str, ...]) -> str:
        choose = self.random
        left, right = self.number(names, 1), self.number(names, 1)
        test = f"({left} {choose.choice(('<', '<=', '>', '>=', '==', '!='))} {right})"
        if choose.random() < 0.2:
            return f"{test} {choose.choice('&|')} ({names[0]} > {choose.randrange(5)})"
        return test

    def block(self, names: tuple[str, ...], indent: int, count: int, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(names, depth)
        return ["    " * indent + line for line in lines]

    def statement(self, names: tuple[str, ...], depth: int) -> list[str]:
        kinds = ["bind", "bind", "swap", "add", "temp", "more"]
        kinds += ["loop", "loop", "if", "if", "static", "unroll"] if depth else []
        kinds += ["call", "tail", "tail"] if names[:3] == NUMBERS else []
        return getattr(self, self.random.choice(kinds))(names, depth)

    def bind(self, names: tuple[str, ...], depth: int) -> list[str]:
        return [f"{self.random.choice(names)} = {self.number(names)} % 1009"]

    def more(self, names: tuple[str, ...], depth: int) -> list[str]:
        return [f"{self.random.choice(names)} += {self.number(names, 1)} % 7"]

    def swap(self, names: tuple[str, ...], depth: int) -> list[str]:
        one, other = self.random.sample(names, 2)
        return [f"{one}, {other} = {other}, {one}"]

    def add(self, names: tuple[str, ...], depth: int) -> list[str]:
        return [f"pto.adds(acc, {self.number(names)} % 1009, out=acc)"]

    def temp(self, names: tuple[str, ...], depth: int) -> list[str]:
        made = self.fresh("t")
        return [
            f"{made} = pto.muls(acc, {self.random.randrange(1, 4)})",
            f"pto.copy({made}, out=acc)",
        ]

    def tail(self, names: tuple[str, ...], depth: int) -> list[str]:
        made, rows = self.fresh("s"), self.random.choice((2, 4, 8))
        place = f"{self.number(names, 1)} % rows"
        return [
            f"{made} = pto.load(pto.block(x, {place}, 0, {rows}, 8))",
            f"pto.store(pto.block(y, {place}, 0, {rows}, 8), {made})",
        ]

    def call(self, names: tuple[str, ...], depth: int) -> list[str]:
        one, other = self.random.sample(names, 2)
        return [f"{one} = helper(acc, {one}, {other}) % 1009"]

    def fresh(self, name: str) -> str:
        self.count += 1
        return f"{name}{self.count}"

    def loop(self, names: tuple[str, ...], depth: int) -> list[str]:
        choose, counter = self.random, self.fresh("i")
        bound = choose.choice((str(choose.randrange(5)), f"{choose.choice(names)} % 4", "LIMIT"))
        step = choose.choice(("", "", ", 2", ", 3"))
        buffers = choose.choice(("", "", "", ", buffers=2", ", buffers=3"))
        first = choose.choice(("0", "-1", "1"))
        head = f"for {counter} in pto.range({first}, {bound}{step}{buffers}):"
        inside = self.block((*names, counter), 1, choose.randrange(1, 3), depth - 1)
        inside = [self.unbound(line, counter) for line in inside]
        return [head, *inside]

    def unbound(self, line: str, counter: str) -> str:
        """Loop counters are not rebound: Python's next iteration has its own."""
        first = line.strip()
        binds = first.startswith((f"{counter} =", f"{counter} +=", f"{counter},")) or (
            f", {counter} = " in first
        )
        return line[: len(line) - len(line.lstrip())] + "pass" if binds else line

    def if_(self, names: tuple[str, ...], depth: int) -> list[str]:
        choose = self.random
        lines = [f"if {self.condition(names)}:"]
        lines += self.block(names, 1, choose.randrange(1, 3), depth - 1)
        if choose.random() < 0.3:
            lines += [f"elif {self.condition(names)}:", *self.block(names, 1, 1, depth - 1)]
        if choose.random() < 0.6:
            lines += ["else:", *self.block(names, 1, choose.randrange(1, 3), depth - 1)]
        return lines

    def static(self, names: tuple[str, ...], depth: int) -> list[str]:
        test = "on" if names[:3] == NUMBERS else "LIMIT > 3"
        return [f"if {test}:", *self.block(names, 1, 1, depth - 1)]

    def unroll(self, names: tuple[str, ...], depth: int) -> list[str]:
        counter = self.fresh("k")
        inside = self.block((*names, counter), 1, self.random.randrange(1, 3), depth - 1)
        stop = [f"    if {counter} == {self.random.randrange(3)}:", "        break"]
        body = [self.unbound(line, counter) for line in inside]
        return [f"for {counter} in range(3):", *body, *(stop if self.random.random() < 0.4 else [])]


setattr(KernelText, "if", KernelText.if_)


def made(seed: int) -> tuple[Any, str]:
    """A random kernel, and its text."""
    text = KernelText(seed).text()
    name = f"<random kernel {seed}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: dict[str, Any] = {"__name__": "random_kernels"}
    exec(compile(text, name, "exec"), space)
    return space["kernel"], text


__all__ = ["made", "pto"]
