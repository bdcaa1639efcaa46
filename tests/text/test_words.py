"""Ops that are all words: order between pipes, in every spelling of the words."""

from __future__ import annotations

import pytest
from readback import refused

from ptokit.ir.same import same
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

FLAG = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
EVENT = "pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TMOV_M2L>, <EVENT_ID1>]"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (FLAG, FLAG),
        ("pto.set_flag [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_V>, #pto.event<EVENT_ID0>]", FLAG),
        ("set_flag[PIPE_MTE2, PIPE_V, EVENT_ID0] loc(#loc1)", FLAG),
        (
            "pto.record_event [#pto.pipe_event_type<TLOAD>, #pto.sync_op_type<TMOV_M2L>, "
            "<EVENT_ID1>]",
            EVENT,
        ),
        (
            "pto.wait_flag_dyn [#pto.pipe<PIPE_MTE2>, #pto.pipe<PIPE_MTE3>, %eid]",
            "pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_MTE3>, %eid]",
        ),
        ("pto.barrier <PIPE_ALL> // all", "pto.barrier <PIPE_ALL> // all"),
        ("pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier <PIPE_ALL>"),
        ("pto.barrier_sync [<TVEC>]", "pto.barrier_sync[<TVEC>]"),
        ("tsync.op <TADD>", "pto.tsync.op #pto.op<TADD>"),
    ],
)
def test_words(text: str, printed: str) -> None:
    module = read(text)
    assert print_module(module) == printed + "\n"
    for form in ("as", "ssa", "dps"):
        assert same(read(print_module(module, form)), module)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("pto.set_flag[<PIPE_MTE2>, <PIPE_V>]", "syntax-error"),
        ("pto.set_flag[<PIPE_MTE9>, <PIPE_V>, <EVENT_ID0>]", "unknown-word"),
        ("pto.barrier", "syntax-error"),
        ("%x = pto.barrier <PIPE_ALL>", "operand-count"),
        ("pto.wait_flag_dyn[<PIPE_V>, <PIPE_M>, 3", "syntax-error"),
    ],
)
def test_wrong_words(text: str, slug: str) -> None:
    assert refused(text) == {slug}
