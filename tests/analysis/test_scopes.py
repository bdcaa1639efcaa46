"""What must not leave its region, and sections of threads inside of one another."""

from __future__ import annotations

import pytest

import ptokit as pto
from every import every

S = "!pto.struct<f32, i32>"
MADE = f"%s = pto.declare_struct -> {S}\n"
YIELDED = f"{MADE}scf.yield %s : {S}\n"
SET = f"pto.struct_set %s[0], %x : {S}, f32\n"


def func(body: str, attributes: str = "", results: str = "") -> str:
    return f"func.func @k(%c: i1, %x: f32) {results}{attributes}{{\n{body}}}\n"


def threads(body: str = "") -> str:
    return f"pto.section.simt<<<32, 1, 1>>> {{\n{body}}}\n"


def counted_threads(body: str = "", count: str = "%n") -> str:
    """Older text: the extents are values, and their types stand behind the region."""
    head = "%n = arith.constant 8 : i32\n"
    return f"{head}pto.section.simt <<<{count}, %n, %n>>> {{\n{body}}} : i32, i32, i32\n"


def branch(body: str) -> str:
    return f"scf.if %c {{\n{body}}}\n"


def started(head: str = "attributes {pto.simt_entry}", given: str = "%c", kind: str = "i1") -> str:
    """A function, and one that lets threads run it."""
    begin = f"pto.simt_launch @threads<<<%n, %n, %n>>>({given}) : ({kind}) -> ()"
    body = f"%n = arith.constant 8 : i32\n{begin}\nreturn\n"
    return f"module {{\nfunc.func @threads(%c: i1) {head} {{\nreturn\n}}\n{func(body)}}}\n"


WRONG = [
    func(f"{MADE}return %s : {S}\n", results=f"-> {S} "),
    func(
        f"%r = scf.if %c -> ({S}) {{\n{YIELDED}}} else {{\n"
        f"{YIELDED.replace('%s', '%t')}}}\nreturn\n"
    ),
    func(f"{threads(threads())}return\n"),
    func(f"{threads(branch(threads()))}return\n"),
    func(f"{threads()}return\n", "attributes {pto.simt_entry} "),
    func(f"{counted_threads(threads())}return\n"),
    started(""),
    started().replace("f32) {", "f32) attributes {pto.simt_entry} {"),
    func(f"{MADE}%o = arith.select %c, %s, %s : {S}\nreturn\n"),
]
RIGHT = [
    func(f"{MADE}{branch(SET)}return\n"),
    func(f"{threads()}{threads()}return\n"),
    func(f"{counted_threads()}{threads()}return\n"),
    func("return\n", "attributes {pto.simt_entry} "),
    started(),
]


@every("text", WRONG)
def test_what_does_not_belong_into_a_region(text: str) -> None:
    assert {d.slug for d in pto.loads(text).check("a5")} == {"scope"}


@every("text", RIGHT)
def test_what_does(text: str) -> None:
    assert pto.loads(text).check("a5") == []


def test_extents_that_are_values_are_numbers() -> None:
    text = pto.loads(func(f"{counted_threads()}return\n")).text()
    assert "pto.section.simt<<<8, 8, 8>>> {" in text
    with pytest.raises(pto.PtoError, match="dim_x is not known statically"):
        pto.loads(func(f"{counted_threads(count='%x')}return\n"))


@pytest.mark.parametrize(
    "text",
    [
        func(f"{threads('  %t = pto.get_tid_x : i32' + chr(10))}return\n"),
        func("%t = pto.get_tid_x : i32\nreturn\n", "attributes {pto.simt_entry} "),
    ],
    ids=["section", "function"],
)
def test_operations_of_threads_are_for_threads(text: str) -> None:
    assert pto.loads(text).check("a5") == []
    outside = func("%t = pto.get_tid_x : i32\nreturn\n", "attributes {pto.kernel} ")
    assert [d.slug for d in pto.loads(outside).check("a5")] == ["scope"]


@every(
    ("text", "slug"),
    [
        (started().replace("@threads<", "@others<"), "no-such-function"),
        (started(given="%c, %x", kind="i1, f32"), "operand-count"),
        (started(given="%x", kind="f32"), "type-mismatch"),
    ],
)
def test_threads_run_a_function_of_the_module_on_what_it_takes(text: str, slug: str) -> None:
    assert [d.slug for d in pto.loads(text).check("a5")] == [slug]


def test_functions_for_threads_are_kept() -> None:
    program = pto.loads(started())
    assert "pto.simt_launch @threads<<<%n, %n, %n>>>(%c) : (i1) -> ()" in program.text()
    assert pto.loads(program.text()).text() == program.text()
    assert program.run(c=1, x=1.0, target="a5", func="k") == {}
    with pytest.raises(pto.PtoError, match="3 extents, got 2"):
        pto.loads(started().replace("<<<%n, %n, %n>>>", "<<<%n, %n>>>"))
