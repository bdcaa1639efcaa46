"""`ptokit explain`: the contents list everything, and everything they list has a page."""

from __future__ import annotations

import re

from click.testing import CliRunner

import ptokit as pto
from account.files import ROOT
from every import every
from fuzz.scale import sampled, tried
from ptokit.api.kernel.valueforms import value_form, value_names
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import chapter, lookup, pages
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.tiles import TileType
from ptokit.passes.pipeline import PASSES
from ptokit.tools.cli import main
from ptokit.tools.manual import contents, explain, instruction_page, suggestions
from ptokit.tools.manual.chinese import summaries, titles
from ptokit.tools.manual.ruletree import WIDTH, outline
from ptokit.tools.manual.topics import chapters
from ptokit.values.enumerations import Loc

LISTED = re.findall(r"^  (\S+)  ", contents(), re.MULTILINE)


def test_without_a_name_everything_is_listed_by_chapter() -> None:
    done = CliRunner().invoke(main, ["explain"])
    assert done.exit_code == 0
    for page in pages():
        _, _, rest = done.output.partition(f"\n{chapter(page)}\n")
        assert f"  {page.mnemonic()} " in rest.partition("\n\n")[0]
    assert {str(loc) for loc in Loc} | {"tile_buf", "func.func", "a5", "nz", "f16"} <= set(LISTED)
    assert {"window-out-of-bounds", "C3"} <= set(LISTED)


def test_what_is_listed_is_explained() -> None:
    for name in sampled(LISTED, 3):
        text = explain(name)
        assert text is not None, name
        assert len(text.splitlines()) > 2, name


def test_things_of_one_name_are_all_explained() -> None:
    listed = dict(chapters())
    for name, line in (*listed["Types"], *listed["Values of attributes"], *listed["Targets"]):
        assert line in (explain(name) or ""), name


@every(
    ("name", "says"),
    [
        ("left", "L0A"),
        ("!pto.tile_buf", TileType.__doc__),
        ("func.func", "ptokit run"),
        ("scf.for", "iter_args"),
        ("arith.addi", "lhs + rhs"),
        ("round_mode", "CAST_FLOOR"),
        ("TEXTRACT", "fix-pipe"),
        (" textract", "fix-pipe"),
        ("error[window-out-of-bounds]", "pto.textract"),
        ("warning[near-capacity]:", "near-capacity"),
        ("UB", "TileType::Vec"),
        ("l0a_mx", "scale_left"),
        *((name, "after to_dps") for name in PASSES),
    ],
)
def test_names_that_users_type(name: str, says: str) -> None:
    assert says in (explain(name) or "")


def test_a_page_says_which_rules_only_warn() -> None:
    """Where the same formula is an error on one target and a warning on another, both are told."""
    (cpu, chips, *_) = [
        line for line in (explain("tload") or "").split("\n") if "rows == dst" in line
    ]
    assert cpu.endswith("[shape; cpu]")
    assert chips.endswith("[shape, by headers and hardware; a2a3]")


@every("page", [*pages()][:: len(pages()) // 20])
def test_a_slip_of_the_pen_is_told_the_name(page: type[Instr]) -> None:
    name = page.mnemonic().removeprefix("pto.")
    assert name in suggestions(f"{name}x"), suggestions(f"{name}x")


def test_a_page_states_each_rule_and_no_condition_twice_in_a_row() -> None:
    for page in tried(pages(), 0, 4):
        lines = instruction_page(page).splitlines()
        whole = " ".join(" ".join(lines).split())  # long texts take several lines
        for rule in page.all_rules:
            for part in re.split(r" and | or ", f"{rule.formula}"):
                assert part.strip("()") in whole, f"{page.__name__}: {rule}"
            assert f"[{rule.slug}" in whole, f"{page.__name__}: {rule}"
            assert all(f"when {c}" in whole for c in rule.conditions), page.__name__
        outer = [line for line in lines if line.startswith("  when ")]
        assert len(outer) == len(set(outer)), page.__name__


def test_what_passes_do_stands_in_one_column() -> None:
    _, _, _, _, *lines = (explain("passes") or "").splitlines()
    assert len(lines) > len(PASSES)
    (column,) = {len(line) - len(re.sub(r"^\S*\s+", "", line)) for line in lines}
    assert column > max(map(len, PASSES))


def test_rules_fit_on_a_screen() -> None:
    """What an operator joins stands member by member where it is too long for a line."""
    for page in pages():
        for line in outline(page):
            assert len(line.partition("   [")[0]) <= WIDTH, line
    lines = [line.strip() for line in outline(lookup("pto.tmatmul")[0])]
    start = lines.index("any of   [element-type]")
    assert lines[start + 1].startswith("a.dtype == i8 and b.dtype == i8")
    assert lines[start + 4].startswith("a.dtype == hif8")


@every(
    ("name", "says"),
    [
        ("matmul", "pto.tmatmul\n"),
        ("sort32", "pto.tsort32\n"),
        ("pto.rowsum", "pto.trowsum\n"),
        ("fifo", "pto.aic_initialize_pipe"),
        ("fixpipe", "pto.tmov.fp"),
        ("FIFO", "Pages that mention it"),
    ],
)
def test_value_names_and_words_of_pages_are_found(name: str, says: str) -> None:
    assert says in (explain(name) or "")


def test_what_nothing_mentions_is_not_found() -> None:
    assert explain("zqxj") is None
    assert explain("(") is None


def test_help_shows_how_a_value_form_is_called() -> None:
    assert (pto.rowsum.__doc__ or "").startswith("rowsum(src, *, ")
    for name in sorted(value_names()):
        form = value_form(name)
        assert form is not None
        assert repr(form).startswith(f"<value form {name}(")


def test_every_dispute_that_is_named_has_a_page() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    texts = " ".join(path.read_text(encoding="utf-8") for path in files)
    named = re.findall(r"disputes? ((?:[A-Z]\d+(?:, | and )?)+)", texts)
    assert {n for one in named for n in re.findall(r"[A-Z]\d+", one)} <= set(DISPUTES)


def test_every_page_has_a_summary_in_chinese() -> None:
    """The page has each word that it quotes, so that a renamed operand is noticed."""
    assert set(summaries()) == {page.__name__ for page in pages()}, "isa/summaries_zh.json"
    for page in pages():
        quoted = re.findall(r"`(.+?)`", summaries()[page.__name__])
        assert not [word for word in quoted if word not in instruction_page(page)], page.__name__
    done = CliRunner().invoke(main, ["explain", "--lang", "zh", "textract"])
    assert "窗口" in done.output
    assert "\n操作数\n" in done.output
    listed = CliRunner().invoke(main, ["explain", "--lang", "zh"]).output
    assert "窗口" in listed
    shown = [line for line in listed.splitlines() if line and not line.startswith(" ")]
    assert len(shown) == len(set(shown)) == len(titles("chapters")) + 1


def test_a_name_below_tiles_without_a_page_is_known() -> None:
    assert explain("pto.vmi.vaddd") is None  # a misspelling has similar names
    for name in ("pto.vselrv2", "vselrv2"):
        assert "has no page: it is a name of the level below tiles" in (explain(name) or "")
    assert "C++" not in (explain("pto.vadd") or "C++")
