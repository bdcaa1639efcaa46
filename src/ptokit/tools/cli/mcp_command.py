"""`mcp`: the server of tools for coding assistants."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ptokit.tools.cli.failures import program_errors, usage


@click.command(short_help="Start the server of tools for coding assistants.")
@program_errors
def mcp() -> None:
    """Start a server of the Model Context Protocol on standard input and output.

    An assistant starts it in the folder of the kernels and calls check, run, explain, profile and
    diff. docs/agents.md has the settings of assistants.
    """
    if find_spec("mcp") is None:
        usage("the server for assistants needs the package mcp: `pip install 'ptokit[mcp]'`")
    from ptokit.tools.agentserver import server

    server().run()
