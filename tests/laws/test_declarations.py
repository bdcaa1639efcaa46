"""A page that contradicts itself is refused when it is defined, in words that say what to write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import pytest

from ptokit.isa.formula.rules import A2A3, A5, CPU, HARDWARE, LEVEL3, at, on
from ptokit.isa.index import pages
from ptokit.isa.lang.asm import Asm
from ptokit.isa.lang.instr import PAGES, Attr, Derived, In, Instr, Out, path
from ptokit.isa.lang.traits import FIXPIPE, FLAGS, FifoRole, Resource, Trait
from ptokit.isa.model.types import Tile
from ptokit.isa.model.words import V
from ptokit.text.read.formatted import FORMATS, read_formatted
from ptokit.text.read.shapes import reader_of
from ptokit.text.write.statements import WRITERS
from ptokit.values.enumerations import VEC


def takes_fixpipe(dst: Any, src: Any, fixpipe: Any) -> None: ...
def takes_more(dst: Any, source: Any) -> None: ...
def takes_operands(dst: Any, src: Any) -> None: ...


class TCopy(Instr, abstract=True):
    """Two operands; members of this family are defined by the tests below."""

    dst = Out(Tile)
    src = In(Tile)


def refused(run: Callable[..., None] | None, **facts: Any) -> str:
    """What Python says where a member of the family is defined so."""
    body = {"__doc__": "a", **({} if run is None else {"run": staticmethod(run)})}
    fields = {n: v for n, v in facts.items() if isinstance(v, Attr)}
    rest = {n: v for n, v in facts.items() if n not in fields}
    with pytest.raises(TypeError) as problem:
        type("TWrong", (TCopy,), body | fields, **rest)
    assert not any(page.__name__ == "TWrong" for page in PAGES)
    return str(problem.value)


def test_a_resource_must_be_declared() -> None:
    said = "TWrong.takes_fixpipe takes `fixpipe`, which the page does not declare: "
    assert refused(takes_fixpipe) == said + "write `uses = (FIXPIPE,)` on it"


def test_an_operand_must_be_declared() -> None:
    said = refused(takes_more)
    assert "takes `source`" in said
    assert said.endswith("write `source = In(...)` or `source = Attr(...)` on it")


def test_a_declared_resource_must_be_taken() -> None:
    said = refused(takes_operands, uses=(FLAGS,))
    assert said.startswith("TWrong uses FLAGS, but `run` takes no `flags`: add the parameter")


def test_a_page_has_a_body() -> None:
    assert "write `def run(dst, src, ...)`" in refused(None)


def test_a_page_has_no_body_that_nobody_executes() -> None:
    assert "has a body, yet `unexecuted`" in refused(takes_operands, unexecuted="nobody knows")


def test_no_field_has_the_name_of_a_resource() -> None:
    assert "choose another name" in refused(
        takes_fixpipe, uses=(FIXPIPE,), fixpipe=Attr(bool, False)
    )


def test_a_hook_takes_fields_only() -> None:
    said = refused(takes_fixpipe, uses=(FIXPIPE,), type_of=takes_fixpipe)
    assert "takes `fixpipe`" in said


def test_a_rule_holds_on_some_target() -> None:
    """A rule that no target has would be lost without a word; `at` and paths are targets, too."""

    class TNowhere(TCopy, abstract=True):
        """A page with a rule for A2/A3 among those of A5."""

        rules = on(A5, on(A2A3, TCopy.dst.rows == TCopy.src.rows))

    with pytest.raises(TypeError, match=r"the rule `dst.rows == src.rows` holds on no target"):
        assert TNowhere.all_rules
    with pytest.raises(TypeError, match="holds on no target"):
        tuple(path(VEC, VEC, V, on(CPU, TCopy.dst.rows == 1), on=A5).rules)
    with pytest.raises(TypeError, match="holds on no target"):
        tuple(on(A2A3, at(LEVEL3, (A5,), TCopy.dst.rows == 1)))
    (rule,) = on(HARDWARE, at(LEVEL3, (A5,), TCopy.dst.rows == 1))
    assert rule.targets == (f"{A5}, {LEVEL3}",)
    assert not [rule for page in pages() for rule in page.all_rules if rule.targets == ()]


def test_a_body_takes_operands_attributes_and_what_it_uses() -> None:
    for page in pages():
        fields = {f.name for f in (*page.operands, *page.attrs)} | {*page.types}
        uses = {resource.value for resource in page.uses}
        assert {*page.body_names} - fields == uses, page.__name__


def test_its_shape_is_read_and_written() -> None:
    for page in pages():
        shape, where = page.asm.shape, "src/ptokit/text"
        what = f"{page.__name__}: shape {shape!r} has no"
        assert reader_of(page) is not read_formatted or shape in FORMATS, (
            f"{what} reader: add a format to FORMATS of {where}/read/formatted.py"
        )
        assert shape in WRITERS, f"{what} writer: add one to WRITERS of {where}/write/statements.py"


def test_a_member_says_what_differs_from_its_family() -> None:
    family = Asm(dialect="scf", shape="same", cpp_text="")
    member = Asm(shape="for").over(family)
    assert vars(member) == vars(Asm(dialect="scf", shape="for", cpp_text=""))


# words of one page, and why no other word says it
SELDOM = {
    "needs": "registers that hardware reads and the body does not",
    "behind": "operands of the assembler's loads after `outs(...)`, with attributes among them",
    "inside_with": "an attribute whose place in text depends on an operand",
    "newer": "an attribute that the newest dialect alone spells otherwise",
    "in_values": "a value form cannot take the mode that statements take",
    "RESERVES": "one end of a pair of pages",
    "IMPORTS": "the other end",
}
USUAL = {"name", "default", "role", "kind", "path"}  # of operands, not words


def words_of(page: type[Instr]) -> Iterator[str]:
    """The words of the page language that a page says, itself or by its family."""
    family = page.__mro__[: page.__mro__.index(Instr)]
    yield from (fact for fact in Instr.__annotations__ if any(fact in vars(c) for c in family))
    yield from (word.name for word in (*page.traits, *page.uses))
    yield from () if page.fifo_role is None else (page.fifo_role.name,)
    yield from (f.name for f in fields(Asm) if getattr(page.asm, f.name) != f.default)
    for field in (*page.operands, *page.attrs):
        given = {k: v for k, v in vars(field).items() if k not in USUAL and k[0] != "_"}
        yield from (k for k, v in given.items() if v is not None and v is not False and v != "")


def test_two_pages_at_least_say_each_word_of_the_language() -> None:
    own = vars(Instr)
    facts = [n for n in Instr.__annotations__ if n in own and not isinstance(own[n], Derived)]
    words = [*facts, *(f.name for f in fields(Asm))]
    words += [word.name for kind in (Trait, Resource, FifoRole) for word in kind]
    said = Counter(word for page in pages() for word in {*words_of(page)})
    seldom = {word for word in {*words, *said} if said[word] < 2}
    assert seldom == SELDOM.keys(), "say it by another word, or on the page itself"
