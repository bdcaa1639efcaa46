"""The stream kernel of the manual of the pipes: load, add, store, two buffers each way."""

from __future__ import annotations

T, V = "!pto.tile_buf<vec, 1x1024xf32>", "!pto.tensor_view<1x1024xf32>"
PIPES = {"2": "<PIPE_MTE2>", "v": "<PIPE_V>", "3": "<PIPE_MTE3>"}


def flag(word: str, ends: str, event: str) -> str:
    """`set` or `wait`, by two letters: "2v" is from MTE2 to V."""
    return f"pto.{word}_flag_dyn[{PIPES[ends[0]]}, {PIPES[ends[1]]}, %{event}]"


PRIME = [flag("set", ends, event) for ends in ("v2", "3v") for event in ("c0", "c1")]
DRAIN = [flag("wait", ends, event) for ends in ("v2", "3v") for event in ("c0", "c1")]
LOAD = [
    flag("wait", "v2", "b"),
    f"pto.tload ins(%x_i : {V}) outs(%in : {T})",
    flag("set", "2v", "b"),
]
ADD = [
    flag("wait", "2v", "b"),
    flag("wait", "3v", "b"),
    f"pto.tadd ins(%in, %in : {T}, {T}) outs(%out : {T})",
    flag("set", "v2", "b"),
    flag("set", "v3", "b"),
]
STORE = [
    flag("wait", "v3", "b"),
    f"pto.tstore ins(%out : {T}) outs(%y_i : {V})",
    flag("set", "3v", "b"),
]
RIGHT = (PRIME, [*LOAD, *ADD, *STORE], DRAIN)


def stream(prime: list[str], body: list[str], drain: list[str], iterations: str = "%n") -> str:
    """The kernel with this synchronisation, over `iterations` tiles of 1024 numbers."""
    lines = "\n    ".join(body)
    primed, drained = "\n  ".join(prime), "\n  ".join(drain)
    return f"""\
func.func @stream(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %size = arith.constant 1024 : index
  %bytes = arith.constant 4096 : i64
  %outs = arith.constant 8192 : i64
  {primed}
  scf.for %i = %c0 to {iterations} step %c1 {{
    %b = arith.remui %i, %c2 : index
    %b64 = arith.index_cast %b : index to i64
    %at_in = arith.muli %b64, %bytes : i64
    %at_out = arith.addi %at_in, %outs : i64
    %in = pto.alloc_tile addr = %at_in : {T}
    %out = pto.alloc_tile addr = %at_out : {T}
    %first = arith.muli %i, %size : index
    %px = pto.addptr %x, %first : !pto.ptr<f32> -> !pto.ptr<f32>
    %py = pto.addptr %y, %first : !pto.ptr<f32> -> !pto.ptr<f32>
    %x_i = pto.make_tensor_view %px, shape = [%c1, %size], strides = [%size, %c1] : {V}
    %y_i = pto.make_tensor_view %py, shape = [%c1, %size], strides = [%size, %c1] : {V}
    {lines}
  }}
  {drained}
  return
}}
"""
