#!/usr/bin/env python3
"""Draws the plots of docs/performance.md from a run on this machine.

    python bench/plots.py [--out docs/plots] [--quick]

Three growth curves, dragoman beside langchain-core, in one process and in turn, each point the least of
three runs in CPU time: cost per chunk over the length of a text stream, cost per fragment of a tool call
whose arguments are read after each, and the time to trim a history to its last thousand tokens over its
length. What they show is the shape of growth; for ratios run bench.py.
"""

import argparse
import json
import math
import time
from functools import reduce
from operator import add
from pathlib import Path

COLOURS = {"dragoman": "#00897b", "langchain-core": "#b0562c"}


def least(run, times=3):
    best = math.inf
    for _ in range(times):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def text_stream(side, n):
    chunks = [side.AIMessageChunk(content="word ") for _ in range(n)]

    def run():
        total = reduce(add, chunks)
        assert len(total.content) == 5 * n

    return least(run) / n * 1e6


def call_stream(side, n):
    parts = ['{"text": "'] + ["word "] * (n - 2) + ['"}']
    chunks = [
        side.AIMessageChunk(
            content="",
            tool_call_chunks=[
                {
                    "name": "f" if i == 0 else None,
                    "args": part,
                    "id": "1" if i == 0 else None,
                    "index": 0,
                    "type": "tool_call_chunk",
                }
            ],
        )
        for i, part in enumerate(parts)
    ]

    def run():
        total = chunks[0]
        for chunk in chunks[1:]:
            total = total + chunk
            assert total.tool_calls[0]["name"] == "f"
        assert len(total.tool_calls[0]["args"]["text"]) == 5 * (n - 2)

    return least(run) / n * 1e6


def trim(side, n):
    history = []
    for i in range(n // 2):
        history += [
            side.HumanMessage(content=f"question {i}: what is the weather like?"),
            side.AIMessage(content=f"answer {i}: it is sunny."),
        ]

    def run():
        kept = side.trim_messages(history, max_tokens=1000, token_counter="approximate")
        assert kept[-1] is history[-1] or kept[-1] == history[-1]
        assert len(kept) < 200

    return least(run) * 1e3


PLOTS = {
    "chunks": (
        "Text stream: cost per chunk",
        "chunks in the stream",
        "µs per chunk",
        text_stream,
        (250, 1000, 4000, 16000),
    ),
    "fragments": (
        "Tool call, arguments read after each fragment",
        "fragments in the stream",
        "µs per fragment",
        call_stream,
        (125, 250, 500, 1000, 2000),
    ),
    "trim": (
        "Trim to the last 1,000 tokens",
        "messages in the history",
        "ms per trim",
        trim,
        (1000, 3000, 10000, 30000, 100000),
    ),
}


def ticks(low, high):
    return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def label(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def svg(title, x_name, y_name, series):
    """Return a plot with two logarithmic axes."""
    width, height, left, right, top, bottom = 640, 360, 78, 130, 44, 52
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = ticks(
        min(y for p in series.values() for _, y in p), max(y for p in series.values() for _, y in p)
    )

    def at(x, y):
        fx = math.log(x / xs[0]) / math.log(xs[-1] / xs[0])
        fy = math.log(y / ys[0]) / math.log(ys[-1] / ys[0])
        return left + fx * (width - left - right), height - bottom - fy * (height - top - bottom)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{left}" y="24" font-size="15" fill="#222">{title}</text>',
    ]
    for y in ys:
        _, py = at(xs[0], y)
        out.append(
            f'<line x1="{left}" x2="{width - right}" y1="{py:.1f}" y2="{py:.1f}" stroke="#e0e0e0"/>'
        )
        out.append(
            f'<text x="{left - 8}" y="{py + 4:.1f}" text-anchor="end" fill="#555">{label(y)}</text>'
        )
    for x in xs:
        px, _ = at(x, ys[0])
        out.append(
            f'<text x="{px:.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#555">{label(x)}</text>'
        )
    out.append(
        f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle" fill="#222">{x_name}</text>'
    )
    out.append(
        f'<text transform="translate(16 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle" fill="#222">{y_name}</text>'
    )
    for name, points in series.items():
        colour = COLOURS[name]
        placed = [at(x, y) for x, y in points]
        out.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in placed)}"/>'
        )
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in placed]
        out.append(
            f'<text x="{placed[-1][0] + 8:.1f}" y="{placed[-1][1] + 4:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*out, "</svg>\n"])


def main():
    import langchain_core.messages as theirs

    import dragoman.messages as ours

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "plots")
    parser.add_argument("--quick", action="store_true", help="the two smallest lengths only")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, (title, x_name, y_name, measure, lengths) in PLOTS.items():
        series = {side: [] for side in COLOURS}
        for n in lengths[:2] if options.quick else lengths:
            for side, module in (("dragoman", ours), ("langchain-core", theirs)):
                series[side].append((n, measure(module, n)))
        found[name] = series
        (options.out / f"{name}.svg").write_text(svg(title, x_name, y_name, series))
        for side, points in series.items():
            print(
                f"{name:10} {side:15}",
                "  ".join(f"{n:,}: {value:.3g} {y_name.split()[0]}" for n, value in points),
                flush=True,
            )
    (options.out / "points.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
