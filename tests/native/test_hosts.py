"""Processors of different ages compute the same: every page, compiled for three of them.

For ARM code is only generated, unless that is the host.
"""

from __future__ import annotations

from itertools import cycle, product

import pytest
from engines import Case, Outcome, build, differences, drawn, instruction, outcome

from fuzz.scale import sampled, scaled
from ptokit.engines import native
from ptokit.engines.native.singleop import single
from ptokit.isa.index import pages
from ptokit.isa.lang.instr import Instr
from ptokit.machine import execute
from ptokit.machine.cache import Processor, generating_for, parsed
from ptokit.machine.record.code import NotNative

llvm = pytest.importorskip("llvmlite.binding", reason="llvmlite is not installed")

DATA = [p for p in pages() if p.outs() and p.on_tiles]
CASES = scaled(1)  # of each page
OLDER = {
    "x86-64-v3": Processor("x86-64-v3", "+avx,+avx2,+bmi,+bmi2,+f16c,+fma"),
    "x86-64": Processor("x86-64", ""),
}
ARM = Processor("neoverse-n1", "+neon,+fp-armv8", "aarch64-unknown-linux-gnu")


def missing(processor: Processor) -> str:
    """Why the host cannot run code for a processor; empty where it can."""
    if "x86_64" not in llvm.get_default_triple():
        return "the host is no x86-64"
    host = llvm.get_host_cpu_features()
    wanted = [f.removeprefix("+") for f in processor.features.split(",") if f]
    lacking = [feature for feature in wanted if not host.get(feature)]
    return f"the host has no {', '.join(lacking)}" if lacking else ""


# every page for every processor in test-all; in a sample they alternate
PAIRINGS = list(zip(DATA, cycle(OLDER), strict=False))
PAIRS = PAIRINGS[::6] if scaled(1) == 1 else list(product(DATA, OLDER))


@pytest.mark.parametrize(("page", "name"), PAIRS, ids=lambda v: getattr(v, "__name__", v))
def test_an_older_processor_computes_the_same(page: type[Instr], name: str) -> None:
    reason = missing(OLDER[name])
    if reason:
        pytest.skip(reason)
    for case in (drawn(page, number) for number in range(CASES)):
        assert list(differences(outcome(case, execute.run_op), compiled(case, name))) == [], case


def compiled(case: Case, name: str) -> Outcome:
    with generating_for(OLDER[name]):
        return outcome(case, native.run_op)


@pytest.fixture(scope="module")
def all_targets() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@pytest.mark.usefixtures("all_targets")
@pytest.mark.parametrize("page", sampled(DATA, 8), ids=lambda p: p.__name__)
def test_arm_code_is_generated(page: type[Instr]) -> None:
    for text in next(filter(None, (generated(page, number) for number in range(8)))):
        assert ".x86." not in text
        code = parsed(text, ARM).object_code()
        assert code[:4] == b"\x7fELF"
        assert int.from_bytes(code[18:20], "little") == 183  # the number of AArch64


def generated(page: type[Instr], number: int) -> list[str] | None:
    """The code of a case; None where its operands lie such that the reference has to refuse it."""
    case = drawn(page, number)
    side = build(case)
    try:
        with generating_for(ARM):
            return single(*instruction(case, side), side.core).settled()[1]
    except NotNative:
        return None
