"""The command line: a file for each command, or for a few that are alike."""

from importlib import import_module
from typing import Any

import click

from ptokit.tools.cli.failures import output_errors, program_errors
from ptokit.tools.cli.options import AdvisedGroup, with_colour
from ptokit.tools.terminal import escaped_terminals

FILES = {
    "run": "run_command",
    "check": "check_command",
    "profile": "profile_command",
    "diff": "diff_command",
    "repro": "repro_command",
    "fmt": "text_commands",
    "convert": "text_commands",
    "opt": "text_commands",
    "replay": "replay_command",
    "explain": "page_commands",
    "layout": "page_commands",
    "new": "new_command",
    "cxx": "cxx_commands",
    "mcp": "mcp_command",
    "lsp": "lsp_command",
}
"""The file of each command, which is read when the command is asked for."""

STATUSES = {
    "0": "success: `check` refuses nothing, what is compared agrees",
    "1": "the program is refused or fails, or what is compared differs",
    "2": "the call is wrong: an option, an argument, a file",
    "3": "a fault of ptokit, which names a file to report",
    "128 + N": "signal N ended the command; Ctrl-C is 130",
}


class Commands(AdvisedGroup):
    """The commands; a file in the place of one gets advice."""

    def main(self, *args: Any, **how: object) -> Any:  # Any: as click has it
        with escaped_terminals(), output_errors():
            return super().main(*args, **how)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *FILES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands and cmd_name in FILES:
            file = f"ptokit.tools.cli.{FILES[cmd_name]}"
            command: click.Command = getattr(import_module(file), cmd_name)
            with_colour(command)
            self.add_command(command)
        return self.commands.get(cmd_name)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit status"):
            formatter.write_dl([*STATUSES.items()])

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
