"""The demo: two random matrices, one kernel, two targets; then a decoder layer out of kernels."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from decoder import HEADS, TOKENS, difference

from ptokit.isa.model.targets import TARGETS
from ptokit.isa.model.tiles import tile_type
from ptokit.tools.draw import layout_picture
from ptokit.values.dtypes import f16
from ptokit.values.enumerations import LEFT

KERNEL = Path(__file__).parent / "gemm.pto"
M, K, N = 512, 384, 320


def run(target: str, folder: Path) -> tuple[np.ndarray, str, float]:
    """`ptokit run` on the files of `folder`: the result, the report, seconds with start-up."""
    command = [
        *(str(Path(sys.executable).with_name("ptokit")), "run", str(KERNEL), "--target", target),
        *(f"a={folder / 'a.npy'}", f"b={folder / 'b.npy'}"),
        *("-o", f"c={folder / 'c.npy'}", "--report"),
    ]
    start = time.perf_counter()
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return np.load(folder / "c.npy"), report, time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(7)
    a = rng.standard_normal((M, K)).astype(np.float16)
    b = rng.standard_normal((K, N)).astype(np.float16)
    exact = a.astype(np.float32) @ b.astype(np.float32)
    print(f"{KERNEL.name}: C = A x B, A {M}x{K} f16, B {K}x{N} f16, C {M}x{N} f32")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "a.npy", a)
        np.save(folder / "b.npy", b)
        for target in ("a2a3", "a5"):
            c, report, seconds = run(target, folder)
            error = float(np.abs(c - exact).max())
            first, *counts = (" ".join(line.split()) for line in report.splitlines())
            print(f"\n{TARGETS[target].title}: {first}, {seconds:.2f} s with start-up")
            print(f"  {', '.join(counts)}")
            print(f"  largest difference to NumPy {error:.2e}")
            if error > 1e-3:
                sys.exit("the result is wrong")
    kind = tile_type(LEFT, f16, 64, 64, layout=TARGETS["a5"].left)
    print(f"\nThe 64x64 left block on a5: {layout_picture(kind)}")
    print(f"\nA decoder layer, {TOKENS} tokens, {HEADS} heads: four kernels of three cores each")
    for target in ("a2a3", "a5"):
        start = time.perf_counter()
        off = difference(target)
        seconds = time.perf_counter() - start
        print(f"{TARGETS[target].title}: {seconds:.2f} s, largest difference to NumPy {off:.2e}")
        if off > 1e-2:
            sys.exit("the layer is wrong")


if __name__ == "__main__":
    main()
