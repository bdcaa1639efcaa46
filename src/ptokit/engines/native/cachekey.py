"""What the machine code of a program depends on, as a text: the key under which it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from os import urandom
from pathlib import Path
from typing import Any
from zlib import crc32

from ptokit.ir.module import Block, OpaqueOp, Value
from ptokit.isa.lang.instr import Instr
from ptokit.machine.execute import Core
from ptokit.machine.tile import Matrix, Pointer
from ptokit.order.group import GroupedCore


def described(body: Block, core: Core, env: Mapping[Value, Any]) -> str:
    """A text that differs where the code would: instructions, types, arguments, target."""
    grouped = core if isinstance(core, GroupedCore) else None
    names: dict[Value, int] = {}
    texts: dict[Any, str] = {}  # of types, which are frozen

    def name(value: Value) -> str:
        return f"{names.setdefault(value, len(names))}%{value.name}"  # errors quote names

    def kind(value: Value) -> str:
        if value.type not in texts:
            texts[value.type] = repr(value.type)
        return texts[value.type]

    def lines(block: Block) -> Iterator[str]:
        yield " ".join(f"{name(v)}:{kind(v)}" for v in block.args)
        for op in block.ops:
            results = " ".join(f"{name(v)}:{kind(v)}" for v in op.results)
            if isinstance(op, OpaqueOp):
                yield f"{op.name} {results}"
                continue
            operands = " ".join(f"{n}={name(v)}" for n, v in op.values())
            attributes = " ".join(f"{n}={a!r}" for n, a in sorted(op.attrs.items()))
            end = grouped.ends.get(op, "") if grouped else ""
            yield f"{identity(op.page)} {operands} {attributes} {results} {end}"
            for region in op.regions:
                yield from ("{", *lines(region), "}")

    memories: list[int] = []

    def argument(handle: Any) -> str:  # Any: a handle or a number
        memory = id(getattr(handle, "memory", None))
        memories.append(memory)
        return f"{memories.index(memory)} {_argument(handle)}"

    arguments = [f"{name(v)} {argument(handle)}" for v, handle in env.items()]
    grid = (grouped.grid.cells, grouped.grid.together, grouped.grid.separate) if grouped else ()
    place = core.kind, core.subblock_idx, core.lanes, grid
    head = (fingerprint(), repr(core.target), repr(core.fixpipe), repr(place))
    return "\n".join((*head, *arguments, *lines(body)))


def _argument(handle: Any) -> str:  # Any: a handle or a number
    if isinstance(handle, Pointer):
        memory = handle.memory
        return f"{handle.dtype} {handle.offset} {memory.given} {memory.growable}"
    if not isinstance(handle, Matrix):
        return repr(handle)
    elements, memory = handle.elements, handle.memory
    place = (memory.name, elements.address, elements.origin, elements.map, memory.given)
    shadow = 0 if memory.given else crc32(memory.shadow.tobytes())
    return f"{handle.type!r} {place!r} {shadow}"


@cache
def identity(page: type[Instr]) -> str:
    """The name of one of ptokit's pages, whose source is in the fingerprint.

    Nobody knows what the body of another page depends on: its code serves this process only.
    """
    name = f"{page.__module__}.{page.__name__}"
    return name if page.__module__.startswith("ptokit.") else f"{name} {urandom(8).hex()}"


@cache
def fingerprint() -> str:
    """The source of ptokit: name, size and time of every file."""
    base = Path(__file__).parents[2]
    stats = ((path, path.stat()) for path in sorted(base.rglob("*.py")))
    return "\n".join(f"{p.relative_to(base)} {s.st_size} {s.st_mtime_ns}" for p, s in stats)
