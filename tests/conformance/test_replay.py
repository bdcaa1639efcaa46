"""Recorded vectors of an independent simulator, replayed where they are present."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptokit.replay import replay

VECTORS = Path(__file__).parents[3] / "shared" / "conformance"


FIVE_DOCUMENTS = (
    *("textract", "tinsert", "tmov", "tfillpad", "tgather", "tconcat", "ttrans", "timg2col"),
    *("subview", "treshape", "tgatherb"),
)
VECTOR = (
    *("tadd", "tsub", "tmul", "tmax", "texp", "trelu", "tadds", "tcvt"),
    *("trowsum", "trowmax", "tcolsum", "trowexpandmul"),
)


@pytest.mark.skipif(
    not VECTORS.is_dir(), reason="the recorded vectors are not beside this checkout"
)
def test_every_known_operation_replays() -> None:
    tally = replay(VECTORS)
    assert tally.failures == []
    assert tally.passed >= 1204
    assert not {*FIVE_DOCUMENTS, *VECTOR} & set(tally.unknown)
    assert tally.disputed == 18  # conversions to floats, and with the mode odd (E24)
