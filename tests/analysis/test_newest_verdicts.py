"""Verdicts of the newest assembler on what functions and FIFOs may not do."""

from __future__ import annotations

from test_assembler import FINE, wrong

import ptokit as pto
from every import every
from ptokit.analysis.legality import Outcome
from ptokit.isa.index import pages
from ptokit.isa.lang.traits import FifoRole

TILE = "!pto.tile_buf<vec, 1x16xf32>"
HELPER = (
    "func.func private @h({args}){gives} attributes {{pto.tileop.helper}} {{\n{body}\nreturn\n}}\n"
)
BODIES = {
    "registers": ("", '%m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>', FINE),
    "a tile": ("", f"%t = pto.alloc_tile : {TILE}", {"scope"}),
    "an instruction": (
        f"%a: {TILE}",
        f"pto.tadd ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})",
        {"scope"},
    ),
    "a flag": ("", "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]", {"scope"}),
    "a move": ("%n: i64", "pto.mte_gm_ub %n : i64", {"scope"}),
    "a thread": ("%n: i32", "pto.store_vfsimt_info %n : i32", {"scope"}),
}


@every("case", BODIES)
def test_helpers_compute_with_registers_alone(case: str) -> None:
    args, body, slugs = BODIES[case]
    assert wrong(HELPER.format(args=args, gives="", body=body), "a5") == slugs


def test_a_helper_returns_nothing() -> None:
    text = HELPER.format(args="%n: i32", gives=" -> i32", body="").replace(
        "return", "return %n : i32"
    )
    assert wrong(text, "a5") == {"scope"}


def test_no_function_returns_a_struct() -> None:
    assert wrong("func.func private @f() -> !pto.struct<f32, i8>\n", "a2a3") == {"scope"}


@every("name", ["clipReluMode", "clip_relu_mode", "isChannelSplit", "subBlockId"])
def test_fifos_have_no_hidden_attributes(name: str) -> None:
    line = f"pto.set_quant_scalar(%s : f32) {{id = 0}} {{{name} = 1 : i64}}"
    text = f"func.func @f(%s: f32) {{\n{line}\nreturn\n}}\n"
    program = pto.loads(text)
    assert wrong(text, "a5") == {"unknown-attribute"}
    assert program.verdicts("a5", judge="headers")[0].word is Outcome.LEGAL
    assert any(page.fifo_role is FifoRole.SETS for page in pages())


END = """\
func.func @{name}(%p: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
  %n = arith.constant 16 : index
  %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, 1] : !pto.tensor_view<16x16xf32>
  pto.{core}_initialize_pipe {{id = 0, dir_mask = 1, slot_size = 1024}}
    (gm_slot_tensor = %v : !pto.tensor_view<16x16xf32>)
{use}
  return
}}
"""
PUSH = """\
  %e = pto.talloc_to_aiv {{id = 0, split = {split}}} -> !pto.tensor_view<16x16xf32>
  pto.tpush_to_aiv(%e : !pto.tensor_view<16x16xf32>) {{id = 0, split = {split}}}"""
POP = """\
  %e = pto.tpop_from_aic {{id = 0, split = {split}}} -> !pto.tensor_view<16x16xf32>
  pto.tfree_from_aic(%e : !pto.tensor_view<16x16xf32>) {{id = 0, split = {split}}}"""


@every(("push", "pop", "slugs"), [(0, 0, FINE), (1, 1, FINE), (0, 1, {"fifo-mismatch"})])
def test_fifos_in_global_memory_split_at_all_ends_or_at_none(
    push: int, pop: int, slugs: set[str]
) -> None:
    cube = END.format(name="c", kind="cube", core="aic", use=PUSH.format(split=push))
    vector = END.format(name="v", kind="vector", core="aiv", use=POP.format(split=pop))
    assert wrong(cube + vector, "a2a3") == slugs


PARTS = """\
module {{
  module attributes {{pto.backend = "emitc"}} {{
    func.func @consumer() attributes {{pto.entry}} {{
      %b = pto.import_reserved_buffer {{name = "fifo", peer_func = @producer}} -> i32
      return
    }}
    func.func public @one(){named} {{
      return
    }}
    func.func public @other(){named} {{
      return
    }}
  }}
  module attributes {{pto.backend = "vpto"}} {{
    func.func private @inner() {{
      return
    }}
    func.func public @producer() {{
      {call}
      %b = pto.reserve_buffer {{name = "fifo", size = 4096, location = #pto.address_space<vec>,
        auto = true}} -> i32
      return
    }}
  }}
}}
"""
SAME = ' attributes {pto.ptodsl.logical_name = "helper"}'


@every(
    ("named", "call", "slugs"),
    [
        ("", "", FINE),
        (SAME, "", {"redefined-name"}),
        ("", "func.call @inner() : () -> ()", {"fifo-mismatch"}),
    ],
)
def test_parts_for_several_back_ends(named: str, call: str, slugs: set[str]) -> None:
    """Callers find one function by a name, and a peer in another part calls none."""
    assert wrong(PARTS.format(named=named, call=call), "a5") == slugs
