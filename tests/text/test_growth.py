"""Texts that stand for far more than they are long: one diagnostic, soon and in little memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from every import every
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError

MANY = 60  # doublings: more than any machine holds
SLOWEST = 5  # seconds of processor time
DEEP = 2000
FUNC = "func.func @f({}) {{\n  return\n}}\n"


def doubled(first: str, line: str, argument: str = "") -> str:
    """Names of which each stands for two of the one before."""
    lines = (line.format(new=n + 1, old=n) for n in range(MANY))
    return "\n".join((first, *lines, FUNC.format(argument)))


def calling(body: str, depth: int) -> str:
    """Functions that call the one before, the first an empty one."""
    call = "  func.call @f{}() : () -> ()\n"
    funcs = ["func.func @f0() {\n  return\n}"]
    for n in range(depth):
        inside = body.replace("CALL", call.format(n))
        funcs.append(f"func.func @f{n + 1}() {{\n{inside}  return\n}}")
    return "\n".join(funcs)


def nested(opening: str, inside: str, closing: str) -> str:
    return opening * DEEP + inside + closing * DEEP


GROWING = {
    "attributes": doubled("#m0 = [1, 2]", "#m{new} = [#m{old}, #m{old}]"),
    "types": doubled("!t0 = tuple<f32, f32>", "!t{new} = tuple<!t{old}, !t{old}>", f"%a: !t{MANY}"),
    "structs": doubled(
        "!t0 = !pto.struct<f32>", "!t{new} = !pto.struct<!t{old}, !t{old}>", f"%a: !t{MANY}"
    ),
    "types inside types": "!t0 = !pto.struct<f32>\n"
    + "".join(f"!t{n + 1} = !pto.struct<!t{n}>\n" for n in range(DEEP))
    + FUNC.format(f"%a: !t{DEEP}"),
    "calls": calling("CALLCALL", MANY),
    "calls in loops": calling(
        "  %a = arith.constant 0 : index\n  scf.for %i = %a to %a step %a {\n  CALL  CALL  }\n",
        MANY,
    ),
    "chains of calls": calling("CALL", 400),
    "modules": nested("module {", "", "}"),
    "modules in generic form": nested('"builtin.module"() ({ ', "", "}) : () -> ()"),
    "modules with functions": nested("module {\n" + FUNC.format(""), "", "}"),
    "branches": "func.func @f(%c: i1) {\n" + nested("scf.if %c {", "", "}") + "\n  return\n}\n",
    "regions of unknown ops": "func.func @f() {\n"
    + nested("a.b {^bb0:", "", "}")
    + "\n  return\n}",
}
# one diagnostic for each function that calls too much is one too many, but an honest one
SEVERAL = ("chains of calls",)
SMALL = {
    "attributes": "#m1 = [#m0]\n#m0 = [1]\n" + FUNC.format(""),
    "a chain of names": "!t0 = !pto.ptr<f32>\n"
    + "".join(f"!t{n + 1} = !t{n}\n" for n in range(DEEP))
    + FUNC.format(f"%a: !t{DEEP}"),
    "attributes inside one another": f"func.func @f() attributes {{a = {'[' * DEEP}{']' * DEEP}}} "
    "{\n  return\n}\n",
    "dictionaries": "func.func @f() attributes {"
    + "a = {" * DEEP
    + "}" * DEEP
    + "} {\n  return\n}\n",
    "brackets of locations": f"{FUNC.format('')} loc({'(' * DEEP}{')' * DEEP})\n",
    "a long line": f"func.func @f() {{{' ' * 200_000}return }} // {'x' * 200_000}\n",
    "remarks": "// a\n" * 20_000 + FUNC.format(""),
}


def work(text: str) -> None:
    """All that `check`, `fmt` and `convert` do."""
    program = loads(text)
    for verdict in program.verdicts("a2a3"):
        refused = [d for d in verdict.diagnostics if d.is_error]
        if refused:
            raise PtoError(refused)
    program.text("dps")
    program.text("ssa")


def within(action: Callable[[], None]) -> None:
    """An action that takes no longer than a mutant may."""
    from time import process_time

    start = process_time()
    action()
    assert process_time() - start < SLOWEST


@pytest.mark.parametrize("name", GROWING)
def test_text_that_grows_is_refused_soon(name: str) -> None:
    with pytest.raises(PtoError) as caught:
        within(lambda: work(GROWING[name]))
    slugs = [d.slug for d in caught.value.diagnostics]
    assert slugs[0] in ("syntax-error", "nesting-too-deep", "too-many-calls")
    assert len(slugs) == 1 or name in SEVERAL
    assert len(str(caught.value)) < 20_000


@every("name", SMALL)
def test_text_that_does_not_grow_is_taken(name: str) -> None:
    within(lambda: work(SMALL[name]))
