"""`run`: a program on real arrays."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from ptokit.tools.cli.failures import call_errors, program_errors, usage
from ptokit.tools.cli.options import (
    ENGINE,
    KERNEL,
    READING,
    read_program,
    target_option,
    with_readings,
)


@click.command()
@KERNEL
@click.argument("arguments", nargs=-1, metavar="[NAME=FILE.npy | NAME=NUMBER]...")
@target_option()
@click.option("-o", "--output", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save.")
@click.option(
    "--type", "types", multiple=True, metavar="NAME=TYPE", help="Complete an elided type."
)
@click.option("--func", help="The function to run, where there are several.")
@click.option(
    "--fixpipe", default="cpu", show_default=True, help="Reading of 3.1: cpu or hardware."
)
@click.option("--order", metavar="NAME", help="Order of sums: cpu, recorded, left, a2a3 or a5.")
@READING
@click.option("--blocks", type=int, default=1, metavar="N", help="Run blocks 0 to N-1.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Of NAME=random.")
@ENGINE
@click.option(
    "--max-instructions", type=int, metavar="N", help="End the run where it executes more."
)
@click.option("--timeout", type=float, metavar="SECONDS", help="End the run after this time.")
@click.option("--report", is_flag=True, help="Say what ran and how long it took.")
@click.option(
    "--show-code", metavar="NAME", help="Print the LLVM code of an instruction; run nothing."
)
@program_errors
def run(
    kernel: Path,
    arguments: tuple[str, ...],
    target: str,
    outputs: tuple[str, ...],
    types: tuple[str, ...],
    func: str | None,
    fixpipe: str,
    order: str | None,
    readings: tuple[str, ...],
    blocks: int,
    seed: int,
    engine: str | None,
    max_instructions: int | None,
    timeout: float | None,
    report: bool,
    show_code: str | None,
) -> None:
    """Run KERNEL (a file, or - for standard input) on arrays.

    An argument is a .npy file, a number, or `random` or `zeros`, with extents where its type has
    none (x=random:16x32).
    """
    from ptokit.api.executable import require_blocks
    from ptokit.api.files import is_standard_output, write_arrays
    from ptokit.api.settings import engine_named, reading, target_named
    from ptokit.sim.limits import require_limits

    target = with_readings(target, *readings, *([] if order is None else [order]))
    with call_errors():
        target_named(target)
        reading(fixpipe)
        engine_named(engine)
        require_blocks(blocks)
        require_limits(max_instructions, timeout)
    given = {name: _argument(text, seed) for name, text in _pairs(arguments, "").items()}
    wanted = _pairs(outputs, "-o ")
    completed = {name: _type(text) for name, text in _pairs(types, "--type ").items()}
    program = read_program(kernel)
    values = {v.name for f in program.module.funcs for v in f.named()}
    for name in completed:
        if name not in values:
            usage(f"--type {name}: the program has no %{name}")
    how: dict[str, Any] = {"target": target, "func": func, "fixpipe": fixpipe, "blocks": blocks}
    how["types"] = completed
    if show_code is not None:
        if engine not in (None, "native"):
            usage(f"--show-code shows what the engine native generates; {engine} generates nothing")
        if outputs or report:
            usage("--show-code runs nothing: leave out -o and --report")
        click.echo(program.code(show_code, given, **how), nl=False)
        return
    start = time.perf_counter()
    how |= {"max_instructions": max_instructions, "timeout": timeout}
    result = program.execute(given, engine=engine, **how)
    seconds = time.perf_counter() - start
    for name in wanted:
        if name not in result.outputs:
            made = ", ".join(result.outputs) or "none"
            usage(f"the program has no output {name!r}; it has {made}")
    files = {name: Path(text) for name, text in wanted.items()}
    write_arrays([(path, result.outputs[name]) for name, path in files.items()])
    aside = any(map(is_standard_output, files.values()))  # no text among the bytes of an array
    for name, array in result.outputs.items():
        if name not in wanted and not report:
            shape = "x".join(map(str, array.shape))
            click.echo(f"{name}: {array.dtype} {shape}\n{array}", err=aside)
    if report:
        click.echo(_report(result.instructions, target, seconds), err=aside)


def _type(text: str) -> Any:  # Any: a Type
    """A type from its spelling."""
    from ptokit.text.types.parts import BadType
    from ptokit.text.types.typereader import type_named

    try:
        return type_named(text)
    except BadType as problem:
        usage(f"--type: {problem}")


def _pairs(texts: tuple[str, ...], what: str) -> dict[str, str]:
    """Values by name from words NAME=VALUE, each name once; `what` stands before them."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.removeprefix("%")
        if not equals or not name or not value:
            usage(f"{text!r} is not of the form NAME=VALUE")
        if name in found:
            usage(f"{what}{name}= is given twice: {found[name]} and {value}")
        found[name] = value
    return found


def _argument(text: str, seed: int) -> Any:  # Any: an array, a number or a Fill
    from ptokit.api.files import read_array
    from ptokit.api.fills import fill_named

    try:
        fill = fill_named(text, seed)
    except ValueError as problem:
        usage(f"{text}: {problem}")
    if fill is not None:
        return fill

    for number in (lambda: int(text, 0), lambda: float(text)):
        try:
            return number()
        except ValueError:
            continue
    return read_array(text)


def _report(instructions: dict[str, int], target: str, seconds: float) -> str:
    """How many instructions ran, and how many of each."""
    total = sum(instructions.values())
    lines = [f"{total} instructions on {target} in {seconds * 1000:.0f} ms"]
    counts = sorted(instructions.items(), key=lambda item: -item[1])
    return "\n".join([*lines, *(f"  {count:>8}  {name}" for name, count in counts)])
