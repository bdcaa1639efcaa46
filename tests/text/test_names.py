"""Names and strings in quotes: they mean the same in every form, and C++ has a name for each."""

from __future__ import annotations

import re
from itertools import chain, product

from every import every
from ptokit.api.kernel.loading import loads
from ptokit.ir.strings import quoted, symbol, symbol_name, unquoted

FORMS = ("as", "ssa", "dps")
# what the lexer of MLIR takes for a name behind `@` without quotes
BARE = re.compile(r"@[A-Za-z_][A-Za-z0-9_$.]*")
TOKEN = re.compile(r'@?"(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\]|\\[0-9A-F]{2})*"')
ODD = ["f b", "1x", "a-b", 'q"t', "\\", "\\0A", "\r\n", "\x00", "\u00e9", "@f", "", "f() {}", "a.b"]

NAMES = """\
module @"my module" attributes {"odd key" = "x\\0Ay", "1st" = ["a  b", @"c d"]} {
  func.func @"f b"(%a: !pto.ptr<f32>) {
    func.call @"q\\22t"() : () -> ()
    func.call @"1x"() : () -> ()
    func.call @f_b() : () -> ()
    return
  }
  func.func @"q\\22t"() {
    return
  }
  func.func private @"1x"()
  func.func @f_b() {
    return
  }
}
"""
CALLED = ["q_t", "v1x", "f_b_2"]


@every("name", ODD)
def test_a_name_means_itself_again(name: str) -> None:
    token = symbol(name)
    assert symbol_name(token) == name
    assert BARE.fullmatch(token) or TOKEN.fullmatch(token)
    text = f"func.func {token}() {{\n  func.call {token}() : () -> ()\n  return\n}}\n"
    for form in FORMS:
        printed = loads(text).text(form)
        (func,) = loads(printed).module.funcs
        assert func.name == name
        assert func.body.ops[0].attrs == {"callee": name}  # type: ignore[union-attr] - an op


@every("pair", [*product(ODD, ODD[:4])], ids=repr)
def test_a_string_means_itself_again(pair: tuple[str, str]) -> None:
    text = " ".join(pair)
    assert unquoted(quoted(text)) == text
    assert TOKEN.fullmatch(quoted(text))
    (func,) = loads(
        f"func.func @f() attributes {{{quoted(text)} = {quoted(text)}}} {{\n}}"
    ).module.funcs
    assert func.attrs == {text: text}


def test_bytes_of_no_character_stay() -> None:
    assert quoted(unquoted(r'"\FF\C3\A9"')) == '"\\FF\u00e9"'


def test_quotes_stay_in_every_form() -> None:
    for form in FORMS:
        printed = loads(NAMES).text(form)
        again = loads(printed)
        assert [f.name for f in again.module.funcs] == ["f b", 'q"t', "1x", "f_b"]
        assert again.module.name == "my module"
        assert '["a  b", @"c d"]' in printed
        assert again.text(form) == printed
        assert {*map(str, again.verdicts("all"))} == {*map(str, loads(NAMES).verdicts("all"))}


def test_a_name_does_not_become_a_program() -> None:
    text = 'func.func @"f() { return } func.func @g"(%a: !pto.ptr<f32>) {\n  return\n}\n'
    assert [loads(loads(text).text(form)).text(form) for form in FORMS] == [text] * 3


def test_remarks_do_not_become_attributes() -> None:
    text = 'func.func @f() attributes {x = ["a  b", // one\n  2]} {\n  return\n}\n'
    assert loads(text).text("dps").splitlines()[:2] == [
        "// one",
        'func.func @f() attributes {x = ["a  b", 2]} {',
    ]


def test_cpp_has_a_name_for_each_function() -> None:
    text = loads(NAMES).text("cpp")
    calls = re.findall(r"^  (\w+)\(\);", text, re.MULTILINE)
    assert calls == CALLED
    defined = re.findall(r"^(?:extern .*)?AICORE void (\w+)\([^;\n]*\)$", text, re.MULTILINE)
    declared = re.findall(r"^(?:extern .*)?AICORE void (\w+)\(.*\);$", text, re.MULTILINE)
    assert len({*defined}) == 3
    assert {*calls} <= {*declared}


def test_no_value_hides_what_cpp_calls() -> None:
    text = loads("""\
func.func @g(%TADD: index) {
  return
}
func.func @f(%g: index, %get_block_idx: index, %TADDS: index, %a-b: index, %a_b: index) {
  %b = pto.get_block_idx
  func.call @g(%g) : (index) -> ()
  return
}
""").text("cpp")
    heads = re.findall(r"^(?:extern .*)?AICORE void \w+\((.*)\)$", text, re.MULTILINE)
    names = [part.split()[-1] for part in chain.from_iterable(h.split(",") for h in heads)]
    assert {*names} & {"g", "f", "TADD", "TADDS", "get_block_idx"} == set()
    assert len({*names[1:]}) == 5
