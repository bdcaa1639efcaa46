"""A launch on a cluster of two processes: beyond one in this process, and the bytes it sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from clock import took
from whole import Start

import ptokit as pto

ROWS = 4096  # of 1,024 numbers: 16 MiB
LOOPBACK = Path("/sys/class/net/lo/statistics/tx_bytes")  # of all processes
TEXT = """\
!all = !pto.tensor_view<?x1024xf32>
!part = !pto.partition_tensor_view<8x1024xf32>
!tile = !pto.tile_buf<vec, 8x1024xf32>
!sums = !pto.tile_buf<vec, 8x1xf32, blayout=col_major>
!column = !pto.tensor_view<?x1xf32>
!ends = !pto.partition_tensor_view<8x1xf32>
func.func @sums_of_rows(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %share: index, %rows: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %number = pto.get_block_idx
  %block = arith.index_cast %number : i64 to index
  %first = arith.muli %block, %share : index
  %last = arith.addi %first, %share : index
  %from = pto.make_tensor_view %x, shape = [%rows, 1024], strides = [1024, 1] : !all
  %to = pto.make_tensor_view %y, shape = [%rows, 1], strides = [1, 1] : !column
  %t = pto.alloc_tile : !tile
  %u = pto.alloc_tile : !tile
  %s = pto.alloc_tile : !sums
  scf.for %i = %first to %last step %c8 {
    %p = pto.partition_view %from, offsets = [%i, 0], sizes = [8, 1024] : !all -> !part
    %q = pto.partition_view %to, offsets = [%i, 0], sizes = [8, 1] : !column -> !ends
    pto.tload ins(%p : !part) outs(%t : !tile)
    pto.trowsum ins(%t, %u : !tile, !tile) outs(%s : !sums)
    pto.tstore ins(%s : !sums) outs(%q : !ends)
  }
  return
}
"""


def cluster_rows(repeats: int) -> Iterator[Start]:
    """Rows as they are done; none where dask.distributed is not installed."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return
    program = pto.loads(TEXT)

    # Any: arrays and numbers
    def launch(rows: int, client: Client | None) -> Callable[[], object]:
        given: dict[str, Any] = {
            "x": np.ones((rows, 1024), np.float32),
            "y": np.zeros((rows, 1), np.float32),
        }
        given |= {"share": rows // 2, "rows": rows}
        return lambda: program.run(**given, blocks=2, cluster=client)

    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**how) as cluster, Client(cluster, set_as_default=False) as client:
        yield beyond("a launch on 2 workers, beyond one here", 20, launch, 16, client, repeats)
        name = "a launch on 2 workers that read 16 MiB, beyond one here"
        yield beyond(name, 300, launch, ROWS, client, repeats)
        if LOOPBACK.exists():
            sent = Start("bytes sent by that launch, both workers", unit="MB")
            work = launch(ROWS, client)
            for _ in range(repeats):
                before = int(LOOPBACK.read_text())
                work()
                sent.times.append((int(LOOPBACK.read_text()) - before) / 1e6)
            yield sent


Launch = Callable[[int, object], Callable[[], object]]


def beyond(name: str, most: float, launch: Launch, rows: int, client: object, n: int) -> Start:
    """The time on the cluster without that in this process."""
    row, there, here = Start(name, most=most), launch(rows, client), launch(rows, None)
    for work in (here, there):
        work()
    for _ in range(n):
        row.times.append((took(there).wall - took(here).wall) / 1e6)
    return row
