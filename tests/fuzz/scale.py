"""How many programs a fuzz test tries: a sample in `make test`, more where PTOKIT_FUZZ says so.

PTOKIT_FUZZ is a factor: `make fuzz` sets 10, `make fuzz FACTOR=100` runs a hundred samples.
"""

from __future__ import annotations

import os


def scaled(sample: int) -> int:
    """`sample` in `make test`, that many times PTOKIT_FUZZ in `make fuzz`."""
    return sample * int(os.environ.get("PTOKIT_FUZZ", "1"))
