"""A target is one declaration: like another one it obeys its rules, and it says what it lacks."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ptokit as pto
from every import every
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.isa.formula.rules import A5, KIRIN, LEFT_NZ, LEFT_ZZ, LEVEL3, LEVEL12
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import NOT_ON_TARGET
from ptokit.isa.model.targets import A5_TARGET, MACHINES, READINGS, TARGETS, TRAITS, Target
from ptokit.tools.cli import main
from ptokit.tools.manual import explain
from ptokit.tools.manual.topics import topics
from ptokit.values.dtypes import DType, NumberKind, hif8
from ptokit.values.enumerations import SCALE_LEFT

LESS = Target(
    "less", "a smaller A5", like=A5_TARGET, lacks=("tpack", SCALE_LEFT, hif8), capacity={"UB": 4096}
)
LEAST = Target("least", "like the smaller one", like=LESS, lacks=("TMovScale",))

ADD = """
%a = pto.tadd %x, %y : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>
  -> !pto.tile_buf<vec, 16x16xf32>
"""
PACK = "%d = tpack %s : !pto.tile_buf<vec, 16x32xi32> -> !pto.tile_buf<vec, 16x32xi16>"
HIF8 = "%t = pto.alloc_tile : !pto.tile_buf<mat, 32x32xhif8>"
SCALES = (
    "%t = pto.alloc_tile : !pto.tile_buf<scaleleft, 16x4xf8E8M0FNU, slayout=row_major, fractal=32>"
)
LARGE = "%t = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>"
BY_COLUMN = """
%d = tconcat %x, %y : COLUMNS, COLUMNS -> !pto.tile_buf<vec, 16x64xf32, blayout=col_major>
""".replace("COLUMNS", "!pto.tile_buf<vec, 16x16xf32, blayout=col_major>")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The targets of this file stand in the table."""
    TARGETS.update({t.name: t for t in (LESS, LEAST)})
    topics.cache_clear()
    yield
    for target in (LESS, LEAST):
        del TARGETS[target.name]
    topics.cache_clear()


def slugs(text: str, target: str) -> list[str]:
    return [d.slug for d in pto.loads(text).check(target) if d.is_error]


def test_what_a_target_does_not_give_is_that_of_the_one_it_is_like() -> None:
    facts = ("left", "wide4", "alignment", "gathers", "pinned_left", "registers", "every_pair")
    assert all(getattr(LEAST, f) == getattr(A5_TARGET, f) for f in facts)
    assert LEAST.capacity == A5_TARGET.capacity | {"UB": 4096, "L0A_MX": 0}
    assert LEAST.lacks == ("tpack", SCALE_LEFT, hif8, "TMovScale")


def test_a_target_obeys_all_rules_of_the_one_it_is_like() -> None:
    for page in pages():
        if page.exists_on(LEAST):
            assert page.rules_on(LEAST) == page.rules_on(A5_TARGET)
    assert any(r.targets == (A5,) for page in pages() for r in page.rules_on(LEAST))


@every(
    ("text", "slug", "on"),
    [
        (PACK, NOT_ON_TARGET, ["a2a3", "less", "least"]),
        (HIF8, "element-type", ["a2a3", "less", "least"]),
        (SCALES, "memory-missing", ["a2a3", "less", "least"]),
        (LARGE, "out-of-memory", ["less", "least"]),
        (BY_COLUMN, "layout", ["a5", "less", "least"]),
    ],
)
def test_check_refuses_what_a_target_lacks(text: str, slug: str, on: list[str]) -> None:
    assert [t for t in TARGETS if slug in slugs(text, t)] == on


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_both_engines_run_and_refuse_alike(engine: str) -> None:
    ones = np.ones((16, 16), np.float32)
    done = pto.loads(ADD).run(x=ones, y=ones, target="least", engine=engine)
    assert (done["a"] == 2).all()
    with pytest.raises(PtoError) as problem:
        pto.loads(PACK).run(s=np.ones((16, 32), np.int32), target="least", engine=engine)
    assert [(d.slug, d.targets) for d in problem.value.diagnostics] == [(NOT_ON_TARGET, ("least",))]


def test_eager_calls_refuse_alike() -> None:
    with pto.target("least"):
        with pytest.raises(PtoError, match="element-type"):
            pto.tile("mat", "hif8", 32, 32)
        scale = pto.tile("scale_left", "f8e8m0", 16, 4, layout="zz", fractal=32)
        source = pto.tile("mat", "f8e8m0", 16, 4, layout="zz", fractal=32)
        with pytest.raises(PtoError, match="memory-missing"):
            pto.textract(scale, source, 0, 0)
        source = pto.tile("vec", "i32", 16, 32, data=np.ones((16, 32), np.int32))
        with pytest.raises(PtoError, match=NOT_ON_TARGET):
            pto.tpack(pto.tile("vec", "i16", 16, 32), source)


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    file = tmp_path / "pack.pto"
    file.write_text(PACK)
    result = CliRunner().invoke(main, ["check", str(file), "--target", "all"])
    assert "= rule: the target is one of: cpu, a5   (a2a3, less, least)" in result.output
    assert "least: refused, 1 error" in result.output
    page = explain("least") or ""
    assert "It is like less, whose rules hold here too." in page
    assert "It lacks tpack, scale_left, hif8, TMovScale." in page
    assert "\nTargets\n  cpu, a5\n" in (explain("tpack") or "")


def test_a_target_pickles_and_its_code_is_kept_apart() -> None:
    assert pickle.loads(pickle.dumps(LEAST)) is LEAST
    other = Target("least", "another one of that name", like=LESS)
    assert pickle.loads(pickle.dumps(other)) == other != LEAST
    assert repr(other) != repr(LEAST), "the key of kept code holds the text of the target"


def test_pages_name_targets_of_the_table() -> None:
    named = {n for p in pages() for n in p.targets or ()}
    named |= {n for p in pages() for r in p.all_rules for n in r.targets or ()}
    named |= {n for p in pages() for path in p.paths for n in path.on}
    words = {word.removeprefix("not ") for name in named for word in name.split(", ")}
    known = MACHINES.keys() - {LESS.name, LEAST.name} | READINGS.keys() | TRAITS.keys()
    assert words <= known | {LEVEL12, LEVEL3, LEFT_NZ, LEFT_ZZ, KIRIN}


def test_what_the_targets_of_the_table_lack_exists() -> None:
    names = {n for p in pages() for n in (p.name, p.__name__)}
    assert {x for t in MACHINES.values() for x in t.lacks if isinstance(x, str)} <= names


def test_an_element_type_equals_its_copy_whatever_was_asked_of_it() -> None:
    one, other = (DType("own", 16, NumberKind.FLOAT, "own_t", 5, 10, 15) for _ in "ab")
    assert one.storage.itemsize == one.native.itemsize == 2  # kept in the one alone
    assert one == other
    assert one != DType("own", 16, NumberKind.FLOAT, "own_t", 4, 11, 7)
