"""Races of recorded launches: hazards, flags and deadlocks, each with its line of C++."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ptokit.api.cxx.callrecord import LaunchRecord
from ptokit.api.cxx.hostprogram import HostRun
from ptokit.api.cxx.recordedprogram import program_of
from ptokit.api.cxx.sourcelines import lines_of
from ptokit.api.program import Program
from ptokit.diagnostics.diagnostic import Diagnostic, Judge
from ptokit.explore.exploration import races_of
from ptokit.isa.model.targets import AS, Target

AS_HARDWARE = f"{AS}{Judge.HARDWARE}"


def races_of_launches(
    program: Program, launches: Sequence[LaunchRecord], target: Target
) -> Iterator[Diagnostic]:
    """Yield what the order of the pipes leaves open, launch by launch.

    Each call was judged when it ran, as boards judge it: legality is not asked for again. A
    launch that an error cut short is left out: its flags are as that error left them.
    """
    chip = replace(target, like=target, readings=(*target.readings, AS_HARDWARE))
    for func, launch in zip(program.module.funcs, launches, strict=True):
        if launch.ended:
            yield from races_of(program, chip, func, None, launch.blocks, judged=True)


def races_of_host_program(ran: HostRun, library: Path, target: Target) -> Iterator[Diagnostic]:
    """Yield the same of what a recorded host program launched."""
    every = {address for launch in ran.launches for address in launch.addresses()}
    program = Program(program_of(ran, lines_of(every, ran.base, library), {}))
    yield from races_of_launches(program, ran.launches, target)
