"""Texts that read back what they print, and texts that are refused."""

from __future__ import annotations

import pytest

from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Module
from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module


def reads_back(text: str) -> Module:
    """Return the module, which is the same once it was printed and read again."""
    module = read(text)
    printed = print_module(module, "dps")
    assert same(read(printed), module), printed
    assert print_module(read(printed), "dps") == printed
    return module


def refused(text: str) -> set[str]:
    """Return the slugs of what is wrong with a text."""
    with pytest.raises(PtoError) as caught:
        loads(text)
    return {d.slug for d in caught.value.diagnostics}
