"""Random kernels in every form of text: the same bytes, or the same refusal, whatever the form.

As a program: `PYTHONPATH=src:tests/laws:tests/fuzz python tests/fuzz/forms.py FIRST COUNT [ENGINE]`
prints what differs, and how many programs of each form ran.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from kernels import Program, kernel
from loops import Told, run

from ptokit.api.kernel.loading import loads
from ptokit.diagnostics.diagnostic import PtoError
from ptokit.ir.module import Block, Op
from ptokit.isa.lang.instr import Instr
from ptokit.isa.model.words import MTE2, MTE3, Pipe, V
from ptokit.isa.pages.synchronisation import Barrier, EventId, SetFlag, WaitFlag
from ptokit.text.read.reader import read
from ptokit.text.write.printer import print_module

FORMS = ("as", "ssa", "dps")
PAIRS = ((MTE2, V), (V, MTE3), (MTE3, MTE2))


def ordered(program: Program, seed: int) -> str:
    """The text of the program with flags and barriers between its statements."""
    random = Random(seed)
    module = read(program.text)
    for func in module.funcs:
        blocks = [func.body, *(r for op in func.body.walk() for r in op.regions)]
        for block in random.sample(blocks, min(2, len(blocks))):
            _synchronise(block, random)
    return print_module(module, "dps")


def _synchronise(block: Block, random: Random) -> None:
    """A flag that goes up and down, or a barrier, somewhere in the block."""
    at = random.randint(0, max(0, len(block.ops) - 1))
    source, target = random.choice(PAIRS)
    event = random.choice(list(EventId))
    flag: list[type[Instr]] = [SetFlag, WaitFlag]
    words = {"source": source, "target": target, "event": event}
    pair = [Op(page, attrs=dict(words)) for page in flag]
    barrier = [Op(Barrier, attrs={"of": Pipe.ALL})]
    block.ops[at:at] = random.choice((pair, pair, barrier))


def told(program: Program, text: str, engine: str) -> Told:
    return run(text, program.arrays, program.case, engine, program.blocks)


def results(seen: Told) -> object:
    """What a run gives; of a refusal its slug, as other words are bound to its form."""
    if seen.error:
        return seen.error.split("]")[0]
    return seen.outputs


def differences(seed: int, engine: str, count: Counter[str]) -> list[str]:
    """What the forms of the kernels of a seed disagree about."""
    found: list[str] = []
    for program in (kernel(seed), kernel(seed, values=True)):
        if program is None:
            count["refused"] += 1
        else:
            found += _differences(program, seed, engine, count)
    return found


def _differences(program: Program, seed: int, engine: str, count: Counter[str]) -> list[str]:
    text = ordered(program, seed)
    seen = told(program, text, engine)
    expected = results(seen)
    count["error" if seen.error else "ran"] += 1
    found: list[str] = []
    for form in FORMS:
        try:
            first = loads(text).text(form)
        except PtoError as problem:
            if problem.diagnostics[0].slug != "conversion":
                raise
            count[f"no {form}"] += 1
            continue
        count[form] += 1
        count[f"{form} ran"] += not seen.error
        again = loads(first).text(form)
        if again != first:
            found.append(f"seed {seed}: printing {form} twice differs\n{first}\n{again}")
        got = results(told(program, first, engine))
        if got != expected:
            found.append(f"seed {seed}: {form} differs: {expected}, {got}\n{text}\n{first}")
    return found


def main(first: int, number: int, engine: str = "reference") -> None:
    count: Counter[str] = Counter()
    for seed in range(first, first + number):
        try:
            for line in differences(seed, engine, count):
                print(line, flush=True)
        except Exception as problem:  # whatever goes wrong is a fault of that kernel
            print(f"seed {seed}: {type(problem).__name__}: {problem}", flush=True)
    print(dict(count))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
