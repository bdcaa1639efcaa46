"""What `ptokit` offers: public names alone, and functions that take no word they do not know."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptokit as pto
from every import every
from ptokit.api.kernel.choices import rooms, sources, value_names
from ptokit.api.kernel.pagesearch import page_called
from ptokit.api.kernel.valueforms import value_form
from ptokit.isa.lang.instr import Role

PTO: Any = pto  # Any: calls that its types refuse
NAMES: list[str] = PTO.__all__
X = np.ones((8, 16), np.float32)
PROGRAM = "%y = textract %x[%r, %r] : !pto.tile<...> -> !pto.tile<...>"
DUNDERS = {"__doc__", "__file__", "__name__", "__path__", "__version__"}


def tile(value: float) -> pto.Tile:
    return pto.tile("vec", "f32", 8, 16, data=X * value)


@pto.kernel
def copied(x: pto.In, y: pto.Out, *, high: int = 8) -> None:
    pto.store(pto.block(y, 0, 0, high, 16), pto.load(pto.block(x, 0, 0, high, 16)))


def test_the_names_are_public_ones() -> None:
    assert set(dir(pto)) == {*NAMES, *DUNDERS}
    assert len(set(NAMES)) == len(NAMES)
    for name in NAMES:
        assert not inspect.ismodule(getattr(pto, name)), name
    assert pto.__version__ == version("ptokit")
    for name in ("HOMES", "import_module", "TYPE_CHECKING", "_banana"):
        assert not hasattr(pto, name)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, and the methods of public classes, by their names."""
    for name in NAMES:
        found = getattr(pto, name)
        if not inspect.isclass(found):
            if callable(found):
                yield name, found
            continue
        for method, _ in inspect.getmembers(found, inspect.isfunction):
            if not method.startswith("_"):
                yield f"{name}.{method}", getattr(found, method)


# they take the names of a function's arguments, each checked when the function is known
BY_NAME = (
    *(f"Program.{n}" for n in ("run", "races", "profile")),
    *(
        f"Kernel.{n}"
        for n in (
            *(
                "program",
                "bound",
                "text",
                "debug",
                "verify",
                "prepare",
                "profile",
                "races",
                "check",
            ),
        )
    ),
)
OF_PROTOCOLS = ("Tile.refuse", "Tensor.refuse")


def test_every_function_refuses_a_word_that_it_does_not_know() -> None:
    for name, function in functions():
        if name in BY_NAME or name in OF_PROTOCOLS:
            continue
        parameters = inspect.signature(function).parameters.values()
        needed = [
            p
            for p in parameters
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        with pytest.raises(TypeError, match=r"banana|takes|not object"):
            function(*(object() for _ in needed), banana=3)


def legal_calls() -> Iterator[tuple[Callable[..., object], dict[str, Any]]]:
    """Functions with arguments that they take, and others by name."""
    program, one, two = pto.loads(PROGRAM), *(tile(1) for _ in "ab")
    given, pair = {"x": X, "r": 0}, {"x": X, "y": X.copy()}
    yield partial(PTO.exp, one), {}
    yield partial(PTO.texp, one, two), {}
    yield partial(PTO.matmul, one, two), {}
    yield partial(PTO.load, "k.pto"), {}
    yield partial(one.to, "mat"), {}
    yield partial(one.cast, "f16"), {}
    for method in (program.run, program.races, program.profile, program.compile().run):
        yield method, given
    for method in (copied, copied.debug, copied.verify, copied.program, copied.text):
        yield method, pair
    yield copied.profile, {**pair, "target": "a5"}
    yield copied.on, {"target": "a5"}


def test_a_legal_call_with_a_further_word_is_refused() -> None:
    for call, given in legal_calls():
        with pytest.raises((TypeError, pto.PtoError), match=r"banana|its path alone"):
            call(**given, banana=3)


def test_a_word_does_not_replace_what_the_call_has() -> None:
    t, u = tile(1), tile(2)
    with pytest.raises(TypeError, match="unknown argument dst="):
        PTO.exp(t, dst=u)
    with pytest.raises(TypeError, match="src0 is given by position and by name"):
        PTO.add(t, u, src0=u)
    assert (u.numpy() == 2).all()


@every(
    ("verb", "function", "more"),
    [
        ("store", pto.store, set[str]()),
        ("matmul", pto.matmul, {"acc", "first"}),
        ("to", pto.Tile.to, {"dtype", "layout"}),
        ("cast", pto.Tile.cast, set[str]()),
    ],
)
def test_written_signatures_have_the_words_of_their_page(
    verb: str, function: Callable[..., Any], more: set[str]
) -> None:
    page = page_called(verb)
    assert page is not None
    optional = {o.name for o in page.operands if not o.required and o.role is not Role.OUT}
    keywords = inspect.signature(function).parameters.values()
    named = {p.name for p in keywords if p.kind is p.KEYWORD_ONLY}
    assert named - more == optional | {a.name for a in page.attrs}


def test_no_stub_takes_any_word() -> None:
    assert pto.__file__ is not None
    for stub in Path(pto.__file__).parent.rglob("*.pyi"):
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert functions
        assert not any(function.args.kwarg for function in functions)


def test_a_value_form_names_all_that_it_takes() -> None:
    """Scratch tiles too, in its signature and so in `help`."""
    for form in filter(None, map(value_form, value_names())):
        fields = {f.name for p in form.pages for f in (*sources(p), *rooms(p), *p.attrs)}
        assert fields <= {*inspect.signature(form).parameters}, form
