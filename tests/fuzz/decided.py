"""Random kernels against the verdict of `check`: what it reports happens, what it does not, not.

A run under the reference engine that does nothing but run decides. The number of the block is a
constant, so that all control is known from the text.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from kernels import kernel

from ptokit.analysis.legality import Verdict
from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import Diagnostic, PtoError
from ptokit.isa.index import pages

FORMULAS = {str(rule.formula) for page in pages() for rule in page.all_rules}
BLOCK = "pto.get_block_idx"


OF_CORES = ("core",)  # what the machine has several of: the simulated one has all units


@dataclass(frozen=True)
class Outcome:
    """The verdict on a kernel, and what stopped its run, if anything did."""

    text: str
    verdict: Verdict
    stopped: Diagnostic | None

    def complaint(self) -> str:
        """How the two contradict each other, empty if they do not."""
        errors = [d for d in self.verdict.diagnostics if d.is_error and d.slug not in OF_CORES]
        if self.stopped is None:
            return f"check reports what no run has: {errors[0].render()}" if errors else ""
        if self.stopped.rule in FORMULAS and not self._told(errors):
            return f"check does not report:\n{self.stopped.render()}"
        return ""

    def _told(self, errors: list[Diagnostic]) -> bool:
        """Whether check reports the rule that stopped the run, or leaves it to the run."""
        assert self.stopped is not None
        said = [d for d in errors if (d.rule, d.span) == (self.stopped.rule, self.stopped.span)]
        open_rules = [left for left in self.verdict.left if left.span == self.stopped.span]
        return bool(said or open_rules)


def outcome(seed: int) -> Outcome | None:
    """What check and a run say of the kernel of a seed; None where there is none."""
    program = kernel(seed)
    if program is None or program.blocks > 1:
        return None
    text = constant_block(program.text)
    source = loads(text)
    (verdict,) = source.verdicts(program.case.target)
    try:
        source.execute(program.arrays, target=program.case.target, engine="reference")
    except PtoError as problem:
        return Outcome(text, verdict, problem.diagnostics[0])
    return Outcome(text, verdict, None)


def constant_block(text: str) -> str:
    """The kernel of the first block alone."""
    return text.replace(f"{BLOCK} : i64", "arith.constant 0 : i64").replace(
        BLOCK, "arith.constant 0 : i64"
    )


def main(first: int, count: int) -> None:
    """Print what contradicts, and how many kernels of each kind there were."""
    kinds: dict[str, int] = {}
    for seed in range(first, first + count):
        found = outcome(seed)
        if found is None:
            continue
        ended = "ran" if found.stopped is None else found.stopped.slug
        kind = f"{found.verdict.word.value}, {ended}"
        kinds[kind] = kinds.get(kind, 0) + 1
        if found.complaint():
            print(f"DIFFERENT {seed}: {found.complaint()}\n{found.text}", flush=True)
    for kind, number in sorted(kinds.items()):
        print(f"{number:>6} {kind}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
