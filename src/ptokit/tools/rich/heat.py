"""Values of an array as colours: a small PNG, whose bytes depend on the values only."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

from ptokit.values.host import AnyArray

MOST = 64  # rows and columns shown; of larger arrays every second, third, ... one
LARGE, SMALL = 16, 288  # pixels of an element at most, of the picture about
RAMP = np.array([(0x2B, 0x2F, 0x77), (0x1F, 0x8F, 0x8B), (0xF3, 0xDF, 0x6B)])  # low to high
NOTHING, NAN, LOW = 0, 1, 2  # colours of the palette: unwritten, no number, the lowest value
STEPS = 254


def heat(values: AnyArray, written: NDArray[np.bool_]) -> str:
    """Return a picture of two-dimensional values, and the range of its colours."""
    step = max(1, -(-max(values.shape) // MOST))
    real = np.asarray(values[::step, ::step], np.float64)
    known = np.isfinite(real) & written[::step, ::step]
    low, high = (float(f(real[known])) if known.any() else 0.0 for f in (np.min, np.max))
    with np.errstate(all="ignore"):  # infinities are drawn as the ends of the range
        share = np.clip((real - low) / ((high - low) or 1.0), 0, 1)
    codes = np.where(np.isnan(real), NAN, LOW + np.nan_to_num(share) * (STEPS - 1))
    pixels = np.where(written[::step, ::step], codes, NOTHING).astype(np.uint8)
    rows, cols = pixels.shape
    size = max(1, min(LARGE, SMALL // max(rows, cols)))
    every = f", one of {step} rows and columns" if step > 1 else ""
    ends = f"{low:.4g}<span class=ramp></span>{high:.4g}" if known.any() else "no value"
    return (
        f'<figure><figcaption>{ends}{every}</figcaption><img class=heat alt="values as colours" '
        f'width="{cols * size}" height="{rows * size}" src="{_png(pixels)}"></figure>'
    )


def _png(pixels: NDArray[np.uint8]) -> str:
    """Return an uncompressed PNG as a data URI, so that every machine writes the same bytes."""
    rows, cols = pixels.shape
    at = np.linspace(0, len(RAMP) - 1, STEPS)
    ramp = np.stack([np.interp(at, range(len(RAMP)), RAMP[:, c]) for c in range(3)], axis=1)
    palette = bytes(3) + bytes((0xD0, 0x30, 0x30)) + ramp.round().astype(np.uint8).tobytes()
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels], axis=1)  # no filter
    head = struct.pack(">IIBBBBB", cols, rows, 8, 3, 0, 0, 0)
    parts = {b"IHDR": head, b"PLTE": palette, b"tRNS": b"\0"}
    parts |= {b"IDAT": zlib.compress(lines.tobytes(), 0), b"IEND": b""}
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts.items()
    )
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()
