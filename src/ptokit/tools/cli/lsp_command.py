"""`lsp`: the language server, for editors."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ptokit.tools.cli.failures import program_errors, usage


@click.command(short_help="Start the language server, for editors.")
@program_errors
def lsp() -> None:
    """Start the language server, which an editor talks to over standard input and output.

    It serves .pto files, and Python files with kernels. editors/README.md has the settings of
    VS Code, Neovim, Emacs, Helix and JetBrains.
    """
    if find_spec("pygls") is None:
        usage("the language server needs pygls: `pip install 'ptokit[lsp]'`")
    from ptokit.tools.lsp.answers import start

    start()
