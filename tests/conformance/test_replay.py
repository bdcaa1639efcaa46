"""Recorded vectors of an independent simulator, replayed where they are present."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fuzz.scale import sampled
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import replayed
from ptokit.tools.cli import main
from ptokit.tools.replay import replay

VECTORS = Path(__file__).parents[3] / "shared" / "conformance"


FIVE_DOCUMENTS = (
    *("textract", "tinsert", "tmov", "tfillpad", "tgather", "tconcat", "ttrans", "timg2col"),
    *("subview", "treshape", "tgatherb"),
)
VECTOR = (
    *("tadd", "tsub", "tmul", "tmax", "texp", "trelu", "tadds", "tcvt"),
    *("trowsum", "trowmax", "tcolsum", "trowexpandmul"),
)


needs_vectors = pytest.mark.skipif(
    not VECTORS.is_dir(), reason="the recorded vectors are not beside this checkout"
)


@needs_vectors
def test_every_known_operation_replays() -> None:
    tally = replay(VECTORS, "reference")
    assert tally.failures == []
    assert tally.passed >= 1204
    assert not {*FIVE_DOCUMENTS, *VECTOR} & set(tally.unknown)


@needs_vectors
def test_a_disputed_case_has_its_row_on_the_page() -> None:
    for listing in VECTORS.glob("*.json"):
        for case in json.loads(listing.read_text(encoding="utf-8")):
            page = replayed(case["op"], case["form"])
            if page is not None and case.get("disputed"):
                assert page.disputes, f"{case['op']}: {case['disputed']}"


@needs_vectors
def test_compiled_code_replays_a_sample_of_every_operation(tmp_path: Path) -> None:
    """All of them in `make test-all`."""
    kept = 0
    for listing in VECTORS.glob("*.json"):
        cases = sampled(json.loads(listing.read_text(encoding="utf-8")), 60)
        (tmp_path / listing.name).write_text(json.dumps(cases), encoding="utf-8")
        (tmp_path / f"{listing.stem}.npz").symlink_to(listing.with_suffix(".npz"))
        kept += len(cases)
    tally = replay(tmp_path, "native")
    assert tally.failures == []
    assert tally.passed + tally.skipped == kept


@needs_vectors
def test_skipped_cases_are_listed_with_what_ptokit_answers(tmp_path: Path) -> None:
    for name in ("tabs.json", "tabs.npz"):
        (tmp_path / name).symlink_to(VECTORS / name)
    result = CliRunner().invoke(main, ["replay", str(tmp_path), "--disputed"])
    assert result.exit_code == 0
    said, row = result.output.splitlines()[:2]
    assert said.startswith("tabs plain, 4 cases: -0 and negative NaN keep their sign")
    assert row.startswith(f"  E15: {DISPUTES['E15'].question} -> {DISPUTES['E15'].choice}: ")
    assert result.output.endswith("8 passed, 0 failed, 4 skipped\n")
