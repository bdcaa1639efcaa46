"""`python -m ptokit`, and the command `ptokit`."""

from __future__ import annotations

import atexit
import gc
import signal

FEW = 200_000, 20, 20  # a command makes many objects that stay: collect cycles seldom


def start() -> None:
    """Import the commands and run one; an interrupt before that ends the process, quietly."""
    gc.set_threshold(*FEW)
    atexit.register(gc.freeze)  # the interpreter collects twice at its end, for nothing
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ptokit.tools.cli import main

    main(prog_name="ptokit")


if __name__ == "__main__":
    start()
