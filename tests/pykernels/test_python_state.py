"""Python state that a kernel reads is watched.

The oracle of every change is `debug`, which runs the function itself.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statemodules import HEAD, ONES, left, module

import ptokit as pto

KERNEL = """
@pto.kernel
def kernel(x, y):
    t = pto.load(pto.block(x, 0, 0, 1, 8))
    pto.store(pto.block(y, 0, 0, 1, 8), t * float({}))
"""

# what is there, what the kernel reads, what changes it
READS: dict[str, tuple[str, str, str]] = {
    "a global": ("w = 2.0", "w", "w = 3.0"),
    "the sign of a zero": ("w = 0.0", "w", "w = -0.0"),
    "a NaN": ("w = float('nan')", "w", "w = 1.0"),
    "a number that is a bool": ("w = 1", "3 if w is True else 5", "w = True"),
    "an int that is a float": ("w = 1", "3 if type(w) is int else 5", "w = 1.0"),
    "a NumPy scalar": ("w = np.float32(0)", "w", "w = np.float32(-0.0)"),
    "a zero in a tuple": ("w = (1, (0.0,))", "w[1][0]", "w = (1, (-0.0,))"),
    "a list in an equal tuple": ("w = ([2],)", "w[0][0]", "w[0][0] = 3"),
    "another list in a tuple": ("w = ([2],)", "w[0][0]", "w = ([3],)"),
    "a string": ("w = 'a'", "len(w)", "w = 'ab'"),
    "a complex number": ("w = 0j", "w.imag", "w = -0j"),
    "an item of a list": ("w = [2]", "w[0]", "w[0] = 3"),
    "an item of a list of lists": ("w = [[2]]", "w[0][0]", "w[0][0] = 3"),
    "the length of a list": ("w = [2]", "len(w)", "w.append(2)"),
    "an item of a dict": ("w = {'a': 2}", "w['a']", "w['a'] = 3"),
    "a new key": ("w = {'a': 2}", "len(w)", "w['b'] = 2"),
    "the order of a dict": (
        "w = {2: 0, 3: 0}",
        "next(k for k in w)",
        "w[2] = w.pop(2)",
    ),
    "a set": ("w = {2}", "len(w)", "w.add(3)"),
    "a frozenset": ("w = frozenset({2})", "sum(w)", "w = frozenset({3})"),
    "a deque": ("w = collections.deque([2])", "w[0]", "w.appendleft(3)"),
    "a default dict": ("w = collections.defaultdict(int, a=2)", "w['a']", "w['a'] = 3"),
    "bytes that change": ("w = bytearray(b'ab')", "w[0]", "w[0] = 3"),
    "an array of the standard library": ("w = array.array('d', [2])", "w[0]", "w[0] = 3"),
    "a NumPy array": ("w = np.ones(4)", "w[1]", "w[1] = 3"),
    "a large NumPy array": ("w = np.ones(100_000)", "w[77_777]", "w[77_777] = 3"),
    "an array of objects": ("w = np.array([[2], 0], object)", "w[0][0]", "w[0][0] = 3"),
    "the shape of an array": ("w = np.ones((2, 3))", "w.shape[0]", "w.shape = 3, 2"),
    "a view of an array": ("b = np.ones(4); w = b[1:]", "w[0]", "b[1] = 3"),
    "an eager tile": (
        "w = pto.tile('vec', pto.f32, 1, 8, data=np.ones((1, 8)))",
        "w.numpy()[0, 0]",
        "pto.adds(w, 1.0, out=w)",
    ),
    "an eager tile that is written in parts": (
        "w = pto.tile('vec', pto.f32, 1, 8); w[0, 0] = 2.0",
        "2 if w.written().sum() == 1 else 3",
        "w[0, 1] = 0.0",
    ),
    "a class": ("class w: a = 2", "w.a", "w.a = 3"),
    "a base class": ("class b: a = 2\nclass w(b): pass", "w.a", "b.a = 3"),
    "a metaclass": (
        "class m(type):\n    a = property(lambda c: 2)\nclass w(metaclass=m): pass",
        "w.a",
        "m.a = property(lambda c: 3)",
    ),
    "an instance": ("class c: a = 2\nw = c()", "w.a", "w.a = 3"),
    "an attribute that comes": ("class c: pass\nw = c()", "getattr(w, 'a', 2)", "w.a = 3"),
    "slots": (
        "class c:\n    __slots__ = 'a',\nw = c(); w.a = 2",
        "w.a",
        "w.a = 3",
    ),
    "a dataclass": ("@dataclasses.dataclass\nclass c: a: int\nw = c(2)", "w.a", "w.a = 3"),
    "an equal frozen dataclass": (
        "@dataclasses.dataclass(frozen=True)\nclass c: a: float\nw = c(0.0)",
        "w.a",
        "w = c(-0.0)",
    ),
    "a class whose equality says nothing": (
        "class c:\n    def __init__(self, a): self.a = a\n"
        "    def __eq__(self, other): return True\n    def __hash__(self): return 1\nw = c(2)",
        "w.a",
        "w = c(3)",
    ),
    "a list of a class of one's own": (
        "class c(list): a = 2\nw = c([2])",
        "w[0] + w.a",
        "w.a = 3",
    ),
    "a named tuple": (
        "c = collections.namedtuple('c', 'a'); w = c(0.0)",
        "w.a",
        "w = c(-0.0)",
    ),
    "a namespace": ("w = types.SimpleNamespace(a=2)", "w.a", "w.a = 3"),
    "an enumeration": ("class c(enum.Enum): a = 2; b = 3\nw = c.a", "w.value", "w = c.b"),
    "a member": ("class c(enum.IntEnum): a = 2; b = 3\nw = c.a", "w", "w = c.b"),
    "a value of a member": ("class w(enum.Enum): a = 2", "w.a.value", "w.a._value_ = 3"),
    "a property": (
        "b = 2\nclass c:\n    a = property(lambda self: b)\nw = c()",
        "w.a",
        "b = 3",
    ),
    "a method": ("class c:\n    def a(self): return 2\nw = c()", "w.a()", "c.a = lambda self: 3"),
    "a class method": (
        "class w:\n    b = 2\n    @classmethod\n    def a(cls): return cls.b",
        "w.a()",
        "w.b = 3",
    ),
    "an item by a method": (
        "b = [2]\nclass c:\n    def __getitem__(self, i): return b[i]\nw = c()",
        "w[0]",
        "b[0] = 3",
    ),
    "a helper": ("def w(): return 2", "w()", "def w(): return 3"),
    "a global of a helper": ("b = 2\ndef w(): return b", "w()", "b = 3"),
    "a helper of a helper": (
        "def b(): return 2\ndef w(): return b()",
        "w()",
        "def b(): return 3",
    ),
    "the code of a helper": (
        "def w(): return 2",
        "w()",
        "def b(): return 3\nw.__code__ = b.__code__",
    ),
    "a default": ("def w(a=2): return a", "w()", "w.__defaults__ = 3,"),
    "a list as default": ("def w(a=[2]): return a[0]", "w()", "w.__defaults__[0][0] = 3"),
    "a keyword default": ("def w(*, a=2): return a", "w()", "w.__kwdefaults__['a'] = 3"),
    "an attribute of a helper": ("def w(): return w.a\nw.a = 2", "w()", "w.a = 3"),
    "a closure": (
        "def m():\n    b = 2\n    def get(): return b\n"
        "    def put(v):\n        nonlocal b\n        b = v\n    return get, put\nw, put = m()",
        "w()",
        "put(3)",
    ),
    "an inline helper": (
        "b = 2\n@pto.inline\ndef w(): return b",
        "w()",
        "b = 3",
    ),
    "a decorated helper": (
        "b = 2\ndef d(f):\n    @functools.wraps(f)\n    def g(): return f() * b\n    return g\n"
        "@d\ndef w(): return 2",
        "w()",
        "b = 3",
    ),
    "a partial function": (
        "def f(a): return a[0]\nb = [2]\nw = functools.partial(f, b)",
        "w()",
        "b[0] = 3",
    ),
    "a keyword of a partial function": (
        "def f(a): return a\nw = functools.partial(f, a=2)",
        "w()",
        "w.keywords['a'] = 3",
    ),
    "a bound method": ("b = [2]\nw = b.__getitem__", "w(0)", "b[0] = 3"),
    "a function in a table": (
        "b = 2\ndef f(): return b\nw = {'f': f}",
        "w['f']()",
        "b = 3",
    ),
    "a module": (
        "w = types.ModuleType('w'); w.a = 2",
        "w.a",
        "w.a = 3",
    ),
    "a module in a module": (
        "w = types.ModuleType('w'); w.b = types.ModuleType('b'); w.b.a = 2",
        "w.b.a",
        "w.b.a = 3",
    ),
    "an attribute of a module by its name": (
        "w = types.ModuleType('w'); w.a = 2",
        "getattr(w, 'a')",
        "w.a = 3",
    ),
    "what a module makes when it is asked": (
        "b = 2\nw = types.ModuleType('w'); w.__file__ = 'w.py'; w.__getattr__ = lambda n: b",
        "w.a",
        "b = 3",
    ),
    "an attribute of a module that comes": (
        "w = types.ModuleType('w'); w.__file__ = 'w.py'; w.__getattr__ = lambda n: 2",
        "w.a",
        "w.a = 3",
    ),
    "a module as a dict": (
        "w = types.ModuleType('w'); w.a = 2",
        "vars(w)['a']",
        "w.a = 3",
    ),
    "a global by its name": ("w = 2", "globals()['w']", "w = 3"),
    "a function of NumPy": ("", "np.pi", "np.pi = 3.0"),
    "a built-in name": ("", "len((1, 2))", "def len(_): return 3"),
    "a context": ("w = contextvars.ContextVar('w', default=2)", "w.get()", "w.set(3)"),
    "a weak reference": (
        "class c: a = 2\nb = c(); w = weakref.ref(b)",
        "w().a",
        "b.a = 3",
    ),
    "a view of a dict": ("b = {'a': 2}; w = types.MappingProxyType(b)", "w['a']", "b['a'] = 3"),
    "the environment": (
        "os.environ['PTOKIT_TEST'] = '2'",
        "int(os.environ['PTOKIT_TEST'])",
        "os.environ['PTOKIT_TEST'] = '3'",
    ),
    "a decimal": ("w = decimal.Decimal('0')", "w", "w = decimal.Decimal('-0')"),
    "a fraction": ("w = fractions.Fraction(1, 2)", "w", "w = fractions.Fraction(1, 3)"),
    "a kernel's attribute": ("@pto.kernel\ndef w(x): pass\nw.a = 2", "w.a", "w.a = 3"),
}


@pytest.mark.parametrize("way", READS)
def test_a_change_of_what_a_kernel_read_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    there, read, change = READS[way]
    monkeypatch.setattr(np, "pi", np.pi)
    monkeypatch.setenv("PTOKIT_TEST", "")
    made = module(tmp_path, there + KERNEL.format(read))
    monkeypatch.setitem(sys.modules, made.__name__, made)
    before = left(made.kernel)
    capture = [*made.kernel.kept.values()]
    assert left(made.kernel) == before == left(made.kernel.debug)
    assert [*made.kernel.kept.values()] == capture  # nothing has changed
    exec(change, vars(made))
    assert left(made.kernel) == left(made.kernel.debug) != before


ADVANCED = {
    "an iterator": "w = iter([2, 3, 5])",
    "a generator": "w = (n for n in (2, 3, 5))",
    "a generator function": "def g():\n    n = 2\n    while 1:\n        yield n\n        n += 1\n"
    "w = g()",
    "what goes over a list": "w = enumerate([2, 3, 5])\nn = next\ndef next(w): return n(w)[1]",
}


@pytest.mark.parametrize("way", ADVANCED)
def test_what_goes_on_is_seen(tmp_path: Path, way: str) -> None:
    made = module(tmp_path, ADVANCED[way] + KERNEL.format("next(w)"))
    assert [left(made.kernel), left(made.kernel)] == [(ONES * n).tobytes() for n in (2, 3)]


@pytest.mark.parametrize(
    ("there", "read"),
    [
        ("w = random.Random(1)", "w.random()"),
        ("", "random.random()"),
        ("w = np.random.default_rng(1)", "w.random()"),
        ("", "np.random.rand()"),
    ],
)
def test_random_numbers_are_drawn_by_each_call(tmp_path: Path, there: str, read: str) -> None:
    made = module(tmp_path, there + KERNEL.format(read))
    assert left(made.kernel) != left(made.kernel)


def test_a_helper_that_is_edited_and_reloaded_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "reloaded_helper.py"
    for inside in ("", "    import reloaded_helper\n"):
        file.write_text("def f(t):\n    return t * 2\n", encoding="utf-8")
        importlib.invalidate_caches()
        helper = importlib.import_module("reloaded_helper")
        importlib.reload(helper)
        text = KERNEL.format("1").replace("t * float(1)", "reloaded_helper.f(t)")
        text = text.replace("(x, y):\n", f"(x, y):\n{inside}")
        made = module(tmp_path, ("" if inside else "import reloaded_helper") + text)
        assert left(made.kernel) == (ONES * 2).tobytes()
        file.write_text("def f(t):\n    return t * 2 * 5  # edited\n", encoding="utf-8")
        importlib.invalidate_caches()
        importlib.reload(helper)
        assert left(made.kernel) == (ONES * 10).tobytes()


def test_a_file_that_is_edited_and_not_reloaded_does_not_count(tmp_path: Path) -> None:
    text = """
@pto.kernel
def kernel(x, y, n):
    t = pto.load(pto.block(x, 0, 0, 1, 8))
    if n > 2:
        pto.adds(t, 1.0, out=t)
    pto.store(pto.block(y, 0, 0, 1, 8), t)
"""
    made = module(tmp_path, text)
    file = Path(str(made.__file__))
    file.write_text(HEAD + text.replace("n > 2", "n < 2"), encoding="utf-8")
    with pytest.raises(pto.PtoError, match=r"the file has changed since Python read it"):
        left(made.kernel, 3)


KEYWORDS = [(0.0, -0.0), ((1, (0.0,)), (1, (-0.0,))), (1, True), (1, 1.0), ((1,), (True,))]


@pytest.mark.parametrize(("first", "second"), KEYWORDS)
def test_keywords_are_told_apart_to_the_bit(tmp_path: Path, first: Any, second: Any) -> None:
    read = "1 / 3 if 'True' in repr(w) else 2 if '.' in repr(w) else 3, -2)[repr(w).count('-')]"
    made = module(tmp_path, KERNEL.format(f"({read}").replace("x, y)", "x, y, *, w=0)"))
    for value in (first, second, first):
        seen = [np.zeros_like(ONES) for _ in range(2)]
        made.kernel(ONES, seen[0], w=value)
        made.kernel.debug(ONES, seen[1], w=value)
        assert seen[0].tobytes() == seen[1].tobytes()
    assert len(made.kernel.captures) == 2


def test_equal_values_share_a_capture(tmp_path: Path) -> None:
    there = "@dataclasses.dataclass(frozen=True)\nclass c: a: float"
    made = module(tmp_path, there + KERNEL.format("w.a").replace("x, y)", "x, y, *, w)"))
    y = np.zeros_like(ONES)
    for value in (0.0, 0.0, -0.0, 2.0, 2.0):
        made.kernel(ONES, y, w=made.c(value))
        assert y.tobytes() == (ONES * np.float32(value)).tobytes()
    assert len(made.kernel.captures) == 3


def test_what_cannot_be_compared_is_not_read(tmp_path: Path) -> None:
    made = module(tmp_path, "import _queue\nw = _queue.SimpleQueue()" + KERNEL.format("w.qsize()"))
    with pytest.raises(
        pto.PtoError, match=r"w is a SimpleQueue, whose changes cannot be detected"
    ) as seen:
        left(made.kernel)
    assert seen.value.diagnostics[0].slug == "unwatched"


def test_too_much_is_not_read(tmp_path: Path) -> None:
    made = module(tmp_path, "w = [[i] for i in range(30_000)]" + KERNEL.format("w[1][0]"))
    with pytest.raises(pto.PtoError, match=r"can read more than 20,000 objects"):
        left(made.kernel)


HOLDER = """
class Holder:
    def __init__(self):
        self.near, self.every = 2.0, [[i] for i in range(30_000)]

class Wrapper:
    def __init__(self, function):
        self.every, self.__wrapped__ = Holder(), function

    def __call__(self):
        return self.__wrapped__()
"""
SHALLOW = {
    "an instance": ("w = holder.Holder()", "w.near", "w.near = 3.0"),
    "a function in a wrapper": (
        "a = [[2.0]]\n@holder.Wrapper\ndef w(): return a[0][0]",
        "w()",
        "a[0][0] = 3.0",
    ),
}


@pytest.mark.parametrize("what", SHALLOW)
def test_objects_of_installed_packages_may_hold_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (tmp_path / "site-packages").mkdir()
    file = tmp_path / "site-packages" / "holder.py"
    file.write_text(HOLDER, encoding="utf-8")
    package = types.ModuleType("holder")
    package.__file__ = str(file)
    exec(compile(HOLDER, str(file), "exec"), vars(package))
    monkeypatch.setitem(sys.modules, "holder", package)
    there, read, change = SHALLOW[what]
    made = module(tmp_path, f"import holder\n{there}{KERNEL.format(read)}")
    assert left(made.kernel) == (ONES * 2).tobytes()
    exec(change, vars(made))
    assert left(made.kernel) == (ONES * 3).tobytes()


def test_asserts_that_pytest_rewrote_read_nothing() -> None:
    def checked(t: pto.Tile) -> pto.Tile:
        assert isinstance(t, pto.Tile), "a tile"
        return t + 1.0

    @pto.kernel
    def asserting(x: pto.In, y: pto.Out) -> None:
        t = pto.load(pto.block(x, 0, 0, 1, 8))
        assert t is not None
        pto.store(pto.block(y, 0, 0, 1, 8), checked(t))

    assert left(asserting) == (ONES * 2).tobytes()
