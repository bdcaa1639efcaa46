"""Functions of several blocks: random graphs against a walk over them, and graphs of each shape."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

import ptokit as pto
from ptokit.forms.structure import structured
from ptokit.ir.same import same
from ptokit.ir.verify import verify
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module
from tests.fuzz.scale import scaled

# numbers of memory: iterations that are left, how many follow, what the blocks computed
LENGTH = 400
ITERATIONS = 25


@dataclass
class Node:
    """A block of a random graph: v = args and values before, summed; where it goes by the bits."""

    args: list[str] = field(default_factory=list[str])
    uses: list[str] = field(default_factory=list[str])
    mask: int = 1
    ways: list[tuple[int, list[str]]] = field(default_factory=list["tuple[int, list[str]]"])
    back: bool = False  # the first way is one back, while iterations are left


def random_graph(rng: random.Random) -> list[Node]:
    """A graph that can be structured: forward ways, and ways back to dominators."""
    count = rng.randint(2, 12)
    nodes = [Node() for _ in range(count)]
    ways = [[rng.randint(n + 1, min(count - 1, n + 4))] for n in range(count - 1)]
    for number, found in enumerate(ways):
        if rng.random() < 0.6:
            found.append(rng.randint(number + 1, min(count - 1, number + 5)))
    ways.append([])
    above = dominators(ways)
    for number, node in enumerate(nodes):
        if number not in above:
            continue
        node.args = [f"a{number}_{k}" for k in range(rng.randint(0, 2))] if number else []
        if ways[number] and rng.random() < 0.4 and (heads := sorted(above[number] - {0})):
            ways[number][:] = [rng.choice(heads), ways[number][0]]
            node.back = True
    above = dominators([[t for t in found if t > n] for n, found in enumerate(ways)])
    for number, node in enumerate(nodes):
        seen = sorted(above.get(number, {number}))
        known = ["n", *(a for n in seen for a in nodes[n].args)]
        known += [f"v{n}" for n in seen if n != number]
        node.uses = [rng.choice(known) for _ in range(rng.randint(1, 3))]
        node.mask = rng.choice([1, 2, 4, 8])
        here = [*known, f"v{number}"]
        node.ways = [(t, [rng.choice(here) for _ in nodes[t].args]) for t in ways[number]]
    return nodes


def dominators(ways: list[list[int]]) -> dict[int, set[int]]:
    """All dominators of each block that is reached; ways go forward."""
    found = {0: {0}}
    for number, targets in enumerate(ways):
        for target in targets if number in found else ():
            found[target] = found.get(target, found[number]) & found[number]
        if number + 1 in found:
            found[number + 1] = found[number + 1] | {number + 1}
    return found


def text_of(nodes: list[Node], rng: random.Random) -> str:
    lines = {n: block_text(nodes, n) for n in range(1, len(nodes))}
    order = sorted(lines, key=lambda _: rng.random()) if rng.random() < 0.5 else sorted(lines)
    constants = [f"  %k{n} = arith.constant {n} : i32" for n in (0, 1, 2, 4, 8, *range(100, 113))]
    places = [f"  %i{n} = arith.constant {n} : index" for n in (0, 1, 2)]
    head = "func.func @f(%out: !pto.ptr<i32>, %n: i32) {"
    body = [*constants, *places, *block_text(nodes, 0)[1:]]
    return "\n".join([head, *body, *(line for n in order for line in lines[n]), "}"])


def block_text(nodes: list[Node], n: int) -> list[str]:
    """Each block notes its number, computes, and notes that."""
    node = nodes[n]
    args = ", ".join(f"%{a}: i32" for a in node.args)
    found = [f"^b{n}({args}):" if args else f"^b{n}:"]
    value = f"%k{100 + n}"
    for k, use in enumerate(node.uses):
        name = f"%v{n}" if k == len(node.uses) - 1 else f"%s{n}_{k}"
        found.append(f"  {name} = arith.addi {value}, %{use} : i32")
        value = name
    found += [
        f"  %p{n} = pto.load_scalar %out[%i1] : !pto.ptr<i32> -> i32",
        f"  %q{n} = arith.addi %p{n}, %k1 : i32",
        f"  pto.store_scalar %q{n}, %out[%i1] : !pto.ptr<i32>, i32",
        f"  %w{n} = arith.index_cast %p{n} : i32 to index",
        f"  %x{n} = arith.addi %w{n}, %i2 : index",
        f"  pto.store_scalar %v{n}, %out[%x{n}] : !pto.ptr<i32>, i32",
    ]
    ways = [f"^b{t}{passed(values)}" for t, values in node.ways]
    if len(ways) < 2:
        return [*found, f"  cf.br {ways[0]}" if ways else "  return"]
    found += [
        f"  %m{n} = arith.andi %v{n}, %k{node.mask} : i32",
        f"  %c{n} = arith.cmpi ne, %m{n}, %k0 : i32",
    ]
    if node.back:
        found += [
            f"  %t{n} = pto.load_scalar %out[%i0] : !pto.ptr<i32> -> i32",
            f"  %l{n} = arith.subi %t{n}, %k1 : i32",
            f"  pto.store_scalar %l{n}, %out[%i0] : !pto.ptr<i32>, i32",
            f"  %g{n} = arith.cmpi sgt, %l{n}, %k0 : i32",
            f"  %d{n} = arith.andi %c{n}, %g{n} : i1",
        ]
    return [*found, f"  cf.cond_br %{'d' if node.back else 'c'}{n}, {ways[0]}, {ways[1]}"]


def passed(values: list[str]) -> str:
    if not values:
        return ""
    return f"({', '.join('%' + v for v in values)} : {', '.join('i32' for _ in values)})"


def walked(nodes: list[Node], n: int) -> list[int]:
    """What memory holds after a walk over the graph, block by block."""
    memory = [ITERATIONS, 0] + [0] * (LENGTH - 2)
    known = {"n": n}
    at = 0
    while True:
        node = nodes[at]
        value = (100 + at + sum(known[u] for u in node.uses) + 2**31) % 2**32 - 2**31
        known[f"v{at}"] = value
        memory[2 + memory[1]] = value
        memory[1] += 1
        if not node.ways:
            return memory
        taken = bool(value & node.mask)
        if node.back:
            memory[0] -= 1
            taken = taken and memory[0] > 0
        at, given = node.ways[0 if taken or len(node.ways) == 1 else 1]
        known |= dict(zip(nodes[at].args, [known[v] for v in given], strict=True))


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_a_graph_computes_what_a_walk_over_it_does(seed: int) -> None:
    rng = random.Random(seed)
    nodes = random_graph(rng)
    text = text_of(nodes, rng)
    module = read(text)
    assert same(read(print_module(module)), module)
    verify(structured(module.funcs[0]))
    start = np.zeros(LENGTH, np.int32)
    start[0] = ITERATIONS
    for n in (0, 5):
        wanted = walked(nodes, n)
        for engine in ("reference", "native"):
            done = pto.loads(text).run(out=start, n=n, engine=engine)
            assert done["out"].tolist() == wanted, engine


T = "!pto.tile_buf<vec, 1x8xf32>"
V = "!pto.tensor_view<1x8xf32>"
ROWS = f"""
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: i32) -> i32 {{
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %vx = pto.make_tensor_view %x, shape = [%c1, %c8], strides = [%c8, %c1] : {V}
  %vy = pto.make_tensor_view %y, shape = [%c1, %c8], strides = [%c8, %c1] : {V}
  %vo = pto.make_tensor_view %out, shape = [%c1, %c8], strides = [%c8, %c1] : {V}
  %a = pto.alloc_tile : {T}
  %b = pto.alloc_tile : {T}
  %s = arith.cmpi sgt, %n, 0 : i32
  cf.cond_br %s, ^load(%vx, %a : {V}, {T}), ^load(%vy, %b : {V}, {T})
^load(%v: {V}, %t: {T}):
  pto.tload ins(%v : {V}) outs(%t : {T})
  cf.br ^head(0 : i32)
^head(%i: i32):
  %r = pto.alloc_tile : {T}
  pto.tadd ins(%t, %t : {T}, {T}) outs(%r : {T})
  %j = arith.addi %i, 1 : i32
  %k = arith.muli %j, %j : i32
  %more = arith.cmpi slt, %k, %n : i32
  cf.cond_br %more, ^head(%j : i32), ^store
^store:
  pto.tstore ins(%r : {T}) outs(%vo : {V})
  return %k : i32
}}
"""


def test_tiles_and_views_pass_to_blocks_and_out_of_loops(engine: str) -> None:
    x, y = np.arange(8, dtype=np.float32), np.full(8, 3, np.float32)
    program = pto.loads(ROWS)
    for n, given in ((17, x), (-1, y)):
        out = np.zeros(8, np.float32)
        for target in ("cpu", "a5"):
            done = program.run(x=x, y=y, out=out, n=n, engine=engine, target=target)
            assert (done["out"] == 2 * given).all()


def test_a_function_of_blocks_is_called() -> None:
    program = pto.loads("""
func.func private @least(%a: i32, %b: i32) -> i32 {
  %c = arith.cmpi slt, %a, %b : i32
  cf.cond_br %c, ^one, ^other
^one:
  return %a : i32
^other:
  return %b : i32
}
func.func @f(%out: !pto.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %p = arith.cmpi slt, %n, %three : i32
  cf.cond_br %p, ^call(%three : i32), ^call(%five : i32)
^call(%m: i32):
  %least = func.call @least(%n, %m) : (i32, i32) -> i32
  pto.store_scalar %least, %out[%c0] : !pto.ptr<i32>, i32
  return
}
""")
    for n in (-4, 4, 9):
        for engine in ("reference", "native"):
            done = program.run(out=np.zeros(1, np.int32), n=n, engine=engine)
            assert done["out"][0] == min(n, 3 if n < 3 else 5)


def test_a_loop_without_an_end_runs_up_to_the_limit() -> None:
    program = pto.loads("func.func @f() {\n  cf.br ^on\n^on:\n  cf.br ^on\n}")
    for engine in ("reference", "native"):
        with pytest.raises(pto.PtoError, match="instruction"):
            program.run(engine=engine, max_instructions=1000)


def test_blocks_stand_in_any_order_and_keep_their_text() -> None:
    text = """\
func.func @f(%c: i1, %n: i32) -> i32 {
^start: // entry
  cf.cond_br %c, ^one, ^end(%n : i32)

// after
^two(%b: i32, %d: i32): // comment
  %e = arith.addi %b, %a : i32
  cf.br ^end(%e : i32)
^one:
  %a = arith.addi %n, %n : i32
  cf.br ^two(%a, %n : i32, i32)
// nothing leads here
^none:
  cf.br ^two(%n, %n : i32, i32)
^end(%m: i32):
  return %m : i32
}
"""
    assert print_module(read(text)) == text


def test_many_blocks_one_after_another() -> None:
    """Neither reading nor the pass recurs once for each."""
    count = 2000
    text = ["func.func @f(%n: i32) -> i32 {", "  %c = arith.cmpi sgt, %n, %n : i32"]
    text.append("  cf.br ^b0(%n : i32)")
    for k in range(count):
        text += [f"^b{k}(%x{k}: i32):", f"  %y{k} = arith.addi %x{k}, %n : i32"]
        text += [f"  cf.cond_br %c, ^l{k}, ^b{k + 1}(%y{k} : i32)"]
        text += [f"^l{k}:", f"  cf.br ^b{k + 1}(%x{k} : i32)"]
    text += [f"^b{count}(%z: i32):", "  return %z : i32", "}"]
    func = structured(read("\n".join(text)).funcs[0])
    verify(func)
    assert not func.blocks
