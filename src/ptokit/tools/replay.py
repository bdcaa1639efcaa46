"""Replays of recorded vectors: runs each case through its page's body and compares all bytes.

A directory holds OP.json (cases) and OP.npz (bytes before and after). Disputed cases, and cases of
operations that no page replays, count as skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ptokit.diagnostics.diagnostic import CallError, JsonObject, call_error
from ptokit.ir.editing import instance
from ptokit.ir.module import Op, Value
from ptokit.isa.disputes import DISPUTES
from ptokit.isa.index import replayed
from ptokit.isa.lang.instr import Instr, Role
from ptokit.isa.model.globaltypes import GlobalType
from ptokit.isa.model.targets import RECORDED_TARGET
from ptokit.isa.model.tiles import ConvTileType, TileType
from ptokit.isa.model.types import ScalarType
from ptokit.isa.model.words import GlobalLayout
from ptokit.launch.settings import Engine, engine_named
from ptokit.machine.arguments import Env
from ptokit.machine.execute import Core, ReadyOp
from ptokit.machine.memory import Memory
from ptokit.machine.tile import ConvTile, GlobalView, Tile
from ptokit.values.dtypes import SPELLINGS, DType
from ptokit.values.enumerations import ConvLayout, Loc, PadValue, Word
from ptokit.values.fixpipe import CPU_READING
from ptokit.values.formats import decode
from ptokit.values.host import AnyArray
from ptokit.values.layouts import Layout, Shape
from ptokit.values.pads import CustomPad

Case = JsonObject
Bytes = NDArray[np.uint8]
Handle = Tile | GlobalView | ConvTile
Portion: TypeAlias = tuple[Sequence[Case], Mapping[str, Bytes]]
PORTION = 64  # cases
KEYS = ("id", "op", "form", "operands", "attrs")  # the required keys of a case
RECORDED = "each NAME.json lists cases, and NAME.npz beside it has their arrays"
_printing = Lock()  # prints are captured from standard output, which threads share


@dataclass(frozen=True)
class Disputed:
    """The reason why cases of a page are skipped, from the recording."""

    page: type[Instr]
    form: str
    reason: str

    def lines(self, count: int) -> Iterator[str]:
        """Yield the recorded reason, and ptokit's answers to the disputes of the page."""
        yield f"{self.page.name} {self.form}, {count} cases: {self.reason}"
        for row in self.page.disputes:
            found = DISPUTES[row]
            yield f"  {row}: {found.question} -> {found.choice}: {found.why}"


@dataclass
class Tally:
    """The result of a replay: cases and passes by page, and skipped cases."""

    cases: Counter[str] = field(default_factory=Counter[str])
    passes: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])
    disputed: Counter[Disputed] = field(default_factory=Counter[Disputed])
    unknown: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Tally) -> None:
        """Add the result of another replay."""
        for mine, its in zip(vars(self).values(), vars(other).values(), strict=True):
            mine += its

    @property
    def passed(self) -> int:
        return self.passes.total()

    @property
    def skipped(self) -> int:
        return self.disputed.total() + self.unknown.total()

    def __str__(self) -> str:
        return f"{self.passed} passed, {len(self.failures)} failed, {self.skipped} skipped"


def replay(directory: Path, engine: str | None = None, cluster: object = None) -> Tally:
    """Replay every case of a directory of recorded vectors on an engine.

    `cluster`: a `dask.distributed.Client`, whose workers share the cases.
    """
    engine_named(engine)
    if cluster is None:
        tallies = (_replayed(engine, portion) for portion in _portions(directory))
    else:
        from ptokit.api.workers import spread

        tallies = spread(cluster, _replayed, engine, [*_portions(directory)])
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total


def _portions(directory: Path) -> Iterator[Portion]:
    """Yield the cases in portions."""
    for listing in sorted(directory.glob("*.json")):
        cases = _cases(listing)
        with _arrays(listing.with_suffix(".npz")) as arrays:
            for first in range(0, len(cases), PORTION):
                some = cases[first : first + PORTION]
                ids = {case["id"] for case in some}
                names = [name for name in arrays.files if name.rpartition("/")[0] in ids]
                yield some, {name: arrays[name] for name in names}


def _cases(listing: Path) -> list[Case]:
    """Return the cases of a listing; CallError if the file is not a list of cases."""
    try:
        found = json.loads(listing.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise _unreadable(listing, problem) from None
    if not isinstance(found, list) or not all(_is_case(one) for one in cast(list[object], found)):
        raise _unreadable(listing, f"it is no list of cases with {', '.join(KEYS)}")
    return cast(list[Case], found)


def _is_case(found: object) -> bool:
    return isinstance(found, dict) and all(key in found for key in KEYS)


def _arrays(path: Path) -> Any:  # Any: NpzFile, which has a parameter in newer versions of NumPy
    """Return the bytes before and after each case; CallError if the file has no named arrays."""
    try:
        found: object = np.load(path)
    except (OSError, ValueError, BadZipFile) as problem:
        raise _unreadable(path, problem) from None
    if not hasattr(found, "files"):
        raise _unreadable(path, "it is no archive of arrays, as numpy.savez writes it")
    return found


def _unreadable(path: Path, reason: object) -> CallError:
    why = getattr(reason, "strerror", None) or reason
    return call_error("unreadable-file", f"{path}: {why}", help=RECORDED)


def _replayed(engine: str | None, portion: Portion) -> Tally:
    cases, arrays = portion
    tally = Tally()
    with _printing:
        for case in cases:
            _replay_case(case, arrays, tally, engine_named(engine))
    return tally


def _replay_case(case: Case, arrays: Mapping[str, Bytes], tally: Tally, engine: Engine) -> None:
    page = replayed(case["op"], case["form"])
    if page is None:
        tally.unknown[case["op"]] += 1
        return
    tally.cases[page.__name__] += 1
    if case.get("disputed") or case["attrs"].get("profile") == "cpu":
        reason = case.get("disputed") or "the CPU simulator alone does what was recorded"
        tally.disputed[Disputed(page, case["form"], reason)] += 1
        return
    problems = list(run_case(page, case, arrays, engine))
    tally.passes[page.__name__] += not problems
    tally.failures += [f"{case['id']}: {problem}" for problem in problems[:1]]


def run_case(
    page: type[Instr], case: Case, arrays: Mapping[str, Bytes], engine: Engine
) -> Iterator[str]:
    """Execute one case and yield its differences from the recording."""
    prefix = case["id"]
    kinds = {n: o for n, o in case["operands"].items() if o.get("loc") != "text"}
    memories = {name: Memory(name, _before(arrays, prefix, name), written=True) for name in kinds}
    for name, other in case["attrs"].get("alias", {}).items():
        memories[name] = memories[other]
    handles = {name: _handle(o, memories[name], case["attrs"]) for name, o in kinds.items()}
    op, env = one_op(page, case, handles)
    with redirect_stdout(StringIO()) as printed:
        _execute(op, env, engine, [handles[n] for n in case["outs"] if n in handles])
    if not case["outs"] and f"{prefix}/dst.logical" in arrays:
        yield from _logical_differences(handles["dst"], arrays[f"{prefix}/dst.logical"])
    for name in case["outs"]:
        if name not in handles:  # an output that the case prints
            expected = arrays[f"{prefix}/{name}.after"].tobytes().decode()
            if printed.getvalue() != expected:
                yield f"{name} is {printed.getvalue()!r} instead of {expected!r}"
            continue
        handle = handles[name]
        yield from _differences(name, handle, arrays[f"{prefix}/{name}.after"], case)


def _before(arrays: Mapping[str, Bytes], prefix: str, name: str) -> Bytes:
    """Return the bytes of an operand before the instruction; zeros if none were recorded."""
    known = arrays.get(f"{prefix}/{name}")
    return np.zeros_like(arrays[f"{prefix}/{name}.after"]) if known is None else known.copy()


def _execute(op: Op, env: Env, engine: Engine, outs: list[Handle]) -> None:
    """Run the instruction; a number from its body goes into the only output."""
    core = Core(RECORDED_TARGET, CPU_READING)
    if not op.page.results():
        engine.run_op(op, env, core)
        return
    [out] = outs
    assert isinstance(out, Tile)
    op.results = [Value("result", ScalarType(out.dtype.name))]
    ready = ReadyOp(op)
    out[0, 0] = ready.run(ready.values(env), core.offer())


def _handle(described: Case, memory: Memory, attrs: Case) -> Handle:
    dtype = SPELLINGS[described["dtype"]]
    if described.get("global"):
        layout = GlobalLayout.named(described["layout"])
        shape, stride = tuple(described["shape"]), tuple(described["stride"])
        return GlobalView(GlobalType(dtype, shape, stride, layout), memory, 0)
    if "shape" in described:
        return ConvTile(_conv_type(described, dtype, attrs), memory, 0)
    return Tile(tile_type_of(described, dtype), memory, 0)


def _conv_type(described: Case, dtype: DType, attrs: Case) -> ConvTileType:
    layout = ConvLayout.named(described["layout"])
    assert layout is not None
    return ConvTileType(
        dtype,
        tuple(described["shape"]),
        layout,
        padding=tuple(attrs["pad_list_lrtb"]),
        filter=tuple(attrs["filter"]),
        stride=tuple(attrs["stride"]),
        dilation=tuple(attrs["dilation"]),
        pad_value=attrs["pad_value"],
    )


def tile_type_of(described: Case, dtype: DType) -> TileType:
    """Return the tile type of a recorded operand."""
    layout = Layout.named(described["layout"])
    loc = Loc.named(described["loc"]) or Loc.VEC  # "reg": scalar registers
    assert layout is not None
    pad = PadValue.named(described["pad"]) or CustomPad(described.get("pad_bits", 0))
    shape = Shape(*described["valid"])
    rows, cols, fractal = described["rows"], described["cols"], described["fractal"]
    return TileType(loc, dtype, rows, cols, shape, layout, fractal, pad)


def one_op(page: type[Instr], case: Case, handles: Mapping[str, Handle]) -> tuple[Op, Env]:
    """Return the case as one instruction, and the values of its operands."""
    renamed = page.recorded[case["form"]]
    operands = (o for o in page.operands if o.role is not Role.RESULT)
    names = {o.name: renamed.get(o.name, o.name) for o in operands}
    known = {**case["scalars"], **handles}
    if "value_bits" in known:
        dtype = handles["dst"].dtype
        known["value_bits"] = decode(np.array(known["value_bits"], dtype.storage), dtype).item()
    words = {a: case["attrs"].get(renamed.get(a.name, a.name)) for a in page.attrs}
    attrs = {a.name: _attribute(a.kind, word) for a, word in words.items() if word is not None}
    return instance(page, {own: known.get(name) for own, name in names.items()}, attrs)


def _attribute(kind: type[Word | int | str | tuple[int, ...]], word: object) -> object:
    return kind.named(str(word)) if issubclass(kind, Word) else word


def _logical_differences(view: object, expected: Bytes) -> Iterator[str]:
    """Yield a difference of a view, which moves nothing: compare valid elements."""
    assert isinstance(view, Tile)
    if view.codes().tobytes() != expected.tobytes():
        yield "dst shows other elements"


def _differences(name: str, handle: Handle, expected: Bytes, case: Case) -> Iterator[str]:
    actual = handle.memory.data
    if isinstance(handle, Tile):  # a recording may have more bytes than the type
        actual, expected = (a[: handle.type.nbytes] for a in (actual, expected))
    if np.array_equal(actual, expected):
        return
    dtype = handle.dtype
    size = dtype.size
    found, wanted = (a[: a.size // size * size].view(dtype.storage) for a in (actual, expected))
    wrong = found != wanted
    if dtype.is_float and (case.get("nan") == "class" or "ulp" in case):
        wrong &= ~_close(found, wanted, dtype, int(case.get("ulp", 0)))
    at = np.flatnonzero(wrong)
    if at.size:
        first = int(at[0])
        yield (
            f"{name} differs in {at.size} elements, first at offset {first}: "
            f"0x{int(found[first]):x} instead of 0x{int(wanted[first]):x}"
        )


def _close(found: AnyArray, wanted: AnyArray, dtype: DType, ulp: int) -> NDArray[np.bool_]:
    """Return where elements are both NaN, or within `ulp` steps of the format.

    Codes are compared as sign-magnitude integers.
    """
    both_nan = np.isnan(decode(found, dtype)) & np.isnan(decode(wanted, dtype))
    sign = 1 << (dtype.bits - 1)
    ranks = [
        np.where(c & sign, -(c & (sign - 1)).astype(np.int64), c.astype(np.int64))
        for c in (found, wanted)
    ]
    return both_nan | (np.abs(ranks[0] - ranks[1]) <= ulp)
