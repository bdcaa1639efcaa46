"""The C++ examples of the pages compile as printed, and get the verdicts of the pages' tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from seed_pages import ALL

import ptokit as pto
from ptokit.api.cxx.foundcompiler import found_compiler

SOURCE = Path(__file__).with_name("examples.cpp")
# In the order of `run` in that file: the slugs of what refuses an example on the targets in order.
NONE: tuple[str, ...] = ()
EXAMPLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "textract pattern 1": (NONE, NONE, NONE),
    # hardware extracts from boxes only: the page's table of layouts
    "textract pattern 2": (NONE, ("layout",), ("layout",)),
    # 16 bytes are no whole box, and 0x3000 is beyond the memory of scales
    "textract pattern 3": (
        ("tile-shape", "address-out-of-range"),
        ("tile-shape", "address-out-of-range"),
        ("tile-shape", "address-out-of-range", "shape"),
    ),
    "textract_zh automatic": (NONE, NONE, NONE),
    "textract_zh manual": (NONE, NONE, NONE),
    # what nothing computed is no index
    "tgather automatic": (("uninitialised-read",),) * 3,
    # every second element of 16 x 16 is more than 1 x 16
    "tgather manual": (("shape",),) * 3,
    "subview": (NONE, NONE, NONE),
}


@pytest.fixture(scope="module", params=ALL)
def target(request: pytest.FixtureRequest) -> str:
    try:
        found_compiler()
    except pto.PtoError as problem:
        pytest.skip(str(problem))
    return request.param


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_the_verdict_of_its_page(name: str, target: str) -> None:
    expected = EXAMPLES[name][[*ALL].index(target)]
    kernel = pto.cxx(SOURCE, target=target)
    number = [*EXAMPLES].index(name)
    if not expected:
        kernel.launch("run", number)
        return
    with pytest.raises(pto.PtoError) as caught:
        kernel.launch("run", number)
    assert tuple(d.slug for d in caught.value.diagnostics) == expected
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert "(" in lines[span.line - 1]
