"""Programs whose bytes differ on the CPU simulator of the public headers, and who is right."""

from __future__ import annotations

# programs that the simulator of the headers does not compile
NOT_COMPILED = {
    "quantised_product": "its FIFOs take no entries of scale factors: they lay each out in rows",
}
BF16 = "dispute C65: bfloat16_t is half there, unless a compiler has std::bfloat16_t"
EXP = "dispute E82: e ** x there is the C library's, within one unit in the last place"
CHAIN = "dispute D8: there an accumulating product sums from 0 and adds the accumulator last"
# programs that do not end there within the time that each has
ENDLESS = {
    "gemm_grid": "its products take minutes there",
    "feed_forward": "there both directions of a FIFO take turns with its slots, and wait for them",
}
# programs whose bytes differ: a dispute of the pages, or what the simulator does otherwise
EXPLAINED = {
    **dict.fromkeys(("block_scales", "parts", "pv", "residual_add", "silu_gate"), BF16),
    **dict.fromkeys(("flash_attention", "gqa_decode", "gqa_decode_even"), EXP),
    **dict.fromkeys(("online_softmax", "paged_attention", "softmax_tail", "spread"), EXP),
    **dict.fromkeys(("buffers", "precision"), EXP),
    "attention_output": CHAIN,
    "block_scaled": "dispute D11: there scales are the bytes of their operand",
    "conversions": "dispute E22: there a conversion saturates only if it says so",
    "fix_pipe": "dispute D4: there a store takes the parameter of a row",
    "gating": "dispute X63: there the second vector core pops zeros",
    "locations": "dispute E15: there the absolute value of -0 is -0",
}
# pages whose examples the simulator of the headers does not compile
PAGES_NOT_COMPILED: dict[str, str] = {}
