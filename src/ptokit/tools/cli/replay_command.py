"""`replay`: runs of recorded vectors of another simulator."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ptokit.tools.cli.failures import program_errors
from ptokit.tools.cli.options import ENGINE, SCHEDULER, cluster_at


@click.command(short_help="Replay recorded vectors of another simulator.")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@ENGINE
@SCHEDULER
@click.option("--disputed", is_flag=True, help="Print the diagnostics of skipped cases.")
@program_errors
def replay(directory: Path, engine: str | None, scheduler: str | None, disputed: bool) -> None:
    """Replay the recorded vectors in DIRECTORY; status 1 if a case fails."""
    from ptokit.tools.replay import replay as replay_all

    with cluster_at(scheduler) as cluster:
        tally = replay_all(directory, engine, cluster)
    if not tally.passed + tally.skipped + len(tally.failures):
        raise click.UsageError(f"no recorded cases (NAME.json, NAME.npz) in {directory}")
    for name, count in tally.unknown.items():
        click.echo(f"skipped: {name} ({count} cases): no page replays them yet")
    for skipped, count in tally.disputed.items() if disputed else ():
        click.echo("\n".join(skipped.lines(count)))
    for failure in tally.failures:
        click.echo(f"FAILED {failure}")
    click.echo(str(tally))
    if tally.failures:
        sys.exit(1)
