"""The activity of each pipe over time, as one picture for a notebook; the report is interactive."""

from __future__ import annotations

from ptokit.order.timeline import Bar, Timeline

LEFT, WIDTH, ROW, BAR = 110, 640, 22, 14  # pixels


def lanes(timeline: Timeline) -> str:
    """Return a row for each active pipe, with its instructions as bars over cycles."""
    busy = [(q, [e for e in es if isinstance(e, Bar)]) for q, es in timeline.queues.items()]
    rows = [(queue, bars) for queue, bars in busy if bars]
    scale, drawn = WIDTH / max(timeline.cycles, 1), ""
    for row, (queue, bars) in enumerate(rows):
        y = row * ROW
        shapes = "".join(
            f"M{bar.start * scale:.1f} {y + 4}h{max(bar.cycles * scale - 0.4, 0.4):.1f}v{BAR}H"
            f"{bar.start * scale:.1f}z"
            for bar in bars
        )
        share = timeline.busy[queue] / max(timeline.cycles, 1)
        drawn += (
            f'<text x="-8" y="{y + 15}" text-anchor="end">{queue} {share:.0%}</text>'
            f'<rect class=plot y="{y + 2}" width="{WIDTH}" height="{ROW - 4}" fill="#f1f3f6"/>'
            f'<path class="pipe-{str(queue.pipe).lower()}" fill="#78aef2" d="{shapes}"/>'
        )
    width, height = LEFT + WIDTH + 8, len(rows) * ROW + 20
    return (
        f'<figure><svg xmlns="http://www.w3.org/2000/svg" viewBox="-{LEFT} 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">{drawn}'
        f'<text class=soft y="{height - 6}">0</text><text class=soft x="{WIDTH}" y="{height - 6}" '
        f'text-anchor="end">{timeline.cycles:,} cycles</text></svg></figure>'
    )
