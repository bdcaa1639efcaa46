"""Commands as a user types them."""

from __future__ import annotations

from click.testing import CliRunner, Result

from ptokit.tools.cli import main


def ptokit(*words: object, stdin: str | bytes | None = None) -> Result:
    """Run a command, which ends without an exception of ours."""
    result = CliRunner().invoke(main, [str(word) for word in words], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result
