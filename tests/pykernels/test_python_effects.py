"""What a kernel's loops and branches change of Python state is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from statemodules import left, module

import ptokit as pto

EFFECTS: dict[str, tuple[str, str, str]] = {  # what is there, in the kernel before, the effect
    "a global": ("G = 0", "", "global G; G = 1"),
    "a new global": ("", "", "global G; G = 1"),
    "a global by a helper": ("G = 0\ndef f():\n    global G\n    G += 1", "", "f()"),
    "a global of another module": ("m = types.ModuleType('m'); m.a = 0", "", "m.a += 1"),
    "a nonlocal by a helper": (
        "",
        "c = 0\n    def f():\n        nonlocal c\n        c += 1",
        "f()",
    ),
    "an item of a dict": ("", "d = {'a': 0}", "d['a'] += 1"),
    "a new item of a dict": ("", "d = {}", "d['a'] = 1"),
    "an item of a list": ("w = [0]", "", "w[0] += 1"),
    "an item inside": ("w = {'a': [0]}", "", "w['a'][0] += 1"),
    "append": ("", "w = []", "w.append(1)"),
    "append by another name": ("w = []", "v = w", "v.append(1)"),
    "pop": ("w = [1] * 20", "", "w.pop()"),
    "a set": ("", "w = set()", "w.add(len(w))"),
    "a deque": ("", "w = collections.deque()", "w.append(1)"),
    "an attribute of a class": ("class w: a = 0", "", "w.a += 1"),
    "an attribute of an instance": ("class c: a = 0", "w = c()", "w.a += 1"),
    "slots": ("class c:\n    __slots__ = 'a',", "w = c(); w.a = 0", "w.a += 1"),
    "setattr": ("class w: a = 0", "", "setattr(w, 'a', w.a + 1)"),
    "a method": (
        "class c:\n    def __init__(self): self.a = 0\n    def f(self): self.a += 1",
        "w = c()",
        "w.f()",
    ),
    "a NumPy array": ("", "w = np.zeros(3)", "w[1] += 1"),
    "a large NumPy array": ("w = np.zeros(50_000)", "", "w[40_000] += 1"),
    "a bytearray": ("", "w = bytearray(3)", "w[1] += 1"),
    "an iterator": ("w = iter(range(9))", "", "next(w)"),
    "a generator": ("", "w = (i for i in range(9))", "next(w)"),
    "an attribute of a function": ("def f(): f.a += 1\nf.a = 0", "", "f()"),
    "a default": ("def f(a=[]): a.append(1)", "", "f()"),
    "a partial function": ("", "w = []; f = functools.partial(w.append, 1)", "f()"),
    "a random number": ("w = random.Random(1)", "", "w.random()"),
    "a context": ("w = contextvars.ContextVar('w', default=0)", "", "w.set(w.get() + 1)"),
}
REGIONS = {
    "if": "if n > 2:\n        {}",
    "else": "if n > 2:\n        pass\n    else:\n        {}",
    "elif": "if n > 2:\n        pass\n    elif n > 1:\n        {}",
    "loop": "for i in pto.range(n):\n        {}",
    "loop of a block": "for i in pto.grid(n):\n        {}",
    "loop with buffers": "for i in pto.range(0, n, 1, buffers=2):\n        {}",
    "if in a loop": "for i in pto.range(n):\n        if i > 1:\n            {}",
    "loop of a generator": "for i in rows(n):\n        {}",
}
BODY = """
def rows(n):
    for i in pto.range(n):
        yield i
{}
@pto.kernel
def kernel(x, y, n):
    t = pto.load(pto.block(x, 0, 0, 1, 8))
    {}
    {}
    pto.store(pto.block(y, 0, 0, 1, 8), t)
"""


def cases() -> Iterator[tuple[str, str]]:
    """Every effect in two regions, every region with two effects, so that both tables are used."""
    for at, effect in enumerate(EFFECTS):
        for region in {"if", [*REGIONS][at % len(REGIONS)], "loop"}:
            yield effect, region
    for region in REGIONS:
        yield from ((effect, region) for effect in ("append", "a global"))


@pytest.mark.parametrize(("effect", "region"), sorted({*cases()}))
def test_what_a_branch_or_loop_changes_is_refused(tmp_path: Path, effect: str, region: str) -> None:
    there, before, change = EFFECTS[effect]
    name, _, after = change.rpartition("; ")
    head = "; ".join(filter(None, (name, before))) if "global" in name else before
    made = module(tmp_path, BODY.format(there, head or "pass", REGIONS[region].format(after)))
    with pytest.raises(pto.PtoError) as found:
        left(made.kernel, 3)
    (problem,) = found.value.diagnostics
    assert problem.slug == "rebound"
    assert " is changed in a " in problem.message
    assert problem.span is not None
    left(made.kernel.debug, 3)


def test_an_effect_in_a_helper_is_refused(tmp_path: Path) -> None:
    helper = """
@pto.inline
def f(t, n, w):
    if n > 2:
        w.append(1)
    return t
def g(t, n, w):
    for _ in pto.range(n):
        w.append(1)
    return t
"""
    for call in "fg":
        text = BODY.format(helper, "w = []", f"t = {call}(t, n, w)")
        with pytest.raises(pto.PtoError, match=r"w is changed in a"):
            left(module(tmp_path, text).kernel, 3)


def test_a_loop_of_pythons_own_on_a_run_time_number_is_refused(tmp_path: Path) -> None:
    made = module(tmp_path, BODY.format("", "w = []", "while n > 2:\n        w.append(1)"))
    with pytest.raises(pto.PtoError, match=r"not known while recording"):
        left(made.kernel, 3)


ALLOWED = {
    "what is made inside": "for i in pto.range(n):\n        w = []\n        w.append(i)",
    "a comprehension": "if n > 2:\n        w = [k for k in range(3)]\n        w[0] = 2",
    "a loop of Python's": "w = []\n    for i in range(3):\n        w.append(i)",
    "a property that is kept": (
        "class c:\n        @functools.cached_property\n        def a(self): return 2\n"
        "    w = c()\n    if n > 2:\n        pto.adds(t, w.a, out=t)"
    ),
    "a number of a closure": (
        "c = 0\n    def f(): return c\n    if n > 2:\n        c = 5\n    pto.adds(t, f(), out=t)"
    ),
    "a number of a closure in a loop": (
        "c = 0\n    f = lambda: c\n    for i in pto.range(n):\n        c = c + i\n"
        "        pto.adds(t, f(), out=t)"
    ),
    "counters of two loops": (
        "for i in pto.range(n):\n        f = lambda: i\n        pto.adds(t, f(), out=t)\n"
        "    for i in pto.range(n):\n        f = lambda: i\n        pto.adds(t, f(), out=t)"
    ),
    "a text": "if n > 2:\n        print('recorded')",
    "a generator between": "for i in rows(n):\n        pto.adds(t, i, out=t)",
}


@pytest.mark.parametrize("what", ALLOWED)
@pytest.mark.parametrize("n", [1, 3])
def test_what_stays_inside_is_allowed(tmp_path: Path, what: str, n: int) -> None:
    made = module(tmp_path, BODY.format("", ALLOWED[what], ""))
    assert left(made.kernel, n) == left(made.kernel.debug, n)


@pytest.mark.parametrize(
    "counted",
    [
        "len([0 for _ in pto.range(n)])",
        "sum(1 for _ in pto.range(n))",
        "len({k: 0 for k in pto.range(n)})",
        "len([*pto.range(n)])",
    ],
)
def test_comprehensions_go_over_no_loop_of_the_program(tmp_path: Path, counted: str) -> None:
    made = module(tmp_path, BODY.format("", f"k = {counted}", "pto.adds(t, k, out=t)"))
    with pytest.raises(pto.PtoError, match=r"the iterations of pto.range are not known"):
        left(made.kernel, 3)
