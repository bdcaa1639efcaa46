"""The decoder layer of `make demo` computes what NumPy computes."""

from __future__ import annotations

import runpy

from account.files import ROOT


def test_the_layer() -> None:
    difference = runpy.run_path(str(ROOT / "examples" / "decoder.py"))["difference"]
    assert difference("a5") < 2e-3
