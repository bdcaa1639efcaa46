"""The command line: a file for each command, or for a few that are alike.

Exit status 0: all is well; 1: the program is wrong; 2: the call is wrong; 3: ptokit is wrong.
"""

from typing import Any

import click

from ptokit.tools.cli.check_command import check
from ptokit.tools.cli.cxx_commands import cxx
from ptokit.tools.cli.diff_command import diff
from ptokit.tools.cli.failures import output_errors, program_errors
from ptokit.tools.cli.lsp_command import lsp
from ptokit.tools.cli.mcp_command import mcp
from ptokit.tools.cli.new_command import new
from ptokit.tools.cli.options import with_colour
from ptokit.tools.cli.page_commands import explain, layout
from ptokit.tools.cli.profile_command import profile
from ptokit.tools.cli.replay_command import replay
from ptokit.tools.cli.repro_command import repro
from ptokit.tools.cli.run_command import run
from ptokit.tools.cli.text_commands import convert, fmt, opt
from ptokit.tools.terminal import escaped_terminals


class Commands(click.Group):
    """The commands; a file in the place of one gets advice."""

    def main(self, *args: Any, **how: object) -> Any:  # Any: as click has it
        with escaped_terminals(), output_errors():
            return super().main(*args, **how)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0].endswith(".pto"):
            ctx.fail(f"{args[0]!r} is not a command; to check this file: `ptokit check {args[0]}`")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ptokit")
def main() -> None:
    """Write, check and run PTO tile kernels on a laptop."""


@main.command(short_help="Print a script that completes words of the command line.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@program_errors
def completion(shell: str) -> None:
    """Print a script for SHELL that completes commands, options and their values.

    For bash: `eval "$(ptokit completion bash)"` in ~/.bashrc; for zsh the same in ~/.zshrc; for
    fish: `ptokit completion fish > ~/.config/fish/completions/ptokit.fish`.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "ptokit", "_PTOKIT_COMPLETE").source())


OF_PROGRAMS = (run, check, profile, diff, repro, fmt, convert, opt, replay)
for command in (*OF_PROGRAMS, explain, layout, new, cxx, mcp, lsp):
    main.add_command(command)
    with_colour(command)
