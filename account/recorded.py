"""How many recorded cases each page repeats, for docs/isa.md.

`python -m account.recorded DIR` replays them in both engines and writes `recorded.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from account.isa import RECORDED
from ptokit.tools.replay import replay


def main() -> None:
    """Cases that both engines repeat, and all there are, by page."""
    tallies = [replay(Path(sys.argv[1]), engine) for engine in ("reference", "native")]
    assert not any(tally.failures for tally in tallies), "a case fails"
    every = tallies[0].cases
    counts = {p: [min(t.passes[p] for t in tallies), every[p]] for p in sorted(every)}
    RECORDED.write_text(json.dumps(counts, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
