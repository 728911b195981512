"""Writes the tables of these pages that are made from data: providers, rules of histories, the last benchmark.

`python docs/tables.py` puts them between their marks; tests/test_docs.py checks that they are current.
"""

import ast
import json
from pathlib import Path

from dragoman.chat_models.providers import ALIASES, PROVIDERS
from dragoman.transcript.rules import RULES

HERE = Path(__file__).parent


def providers() -> str:
    other = {}
    for alias, name in ALIASES.items():
        other.setdefault(name, []).append(f"`{alias}`")
    lines = ["| `provider:` | class | wire | key | tier |", "|---|---|---|---|---|"]
    for row in sorted(PROVIDERS.values(), key=lambda row: (row.tier != "verified", row.name)):
        name = ", ".join([f"`{row.name}`", *other.get(row.name, ())])
        key = f"`{row.key_variables[0]}`" if row.key_variables else "none"
        if row.key_optional and row.key_variables:
            key += " (may be absent)"
        lines.append(f"| {name} | `{row.title}` | `{row.api}` | {key} | {row.tier} |")
    return "\n".join(lines)


def rules() -> str:
    lines = ["| code | what is wrong | what mends it | loses something |", "|---|---|---|---|"]
    for rule in RULES.values():
        loses = "yes" if rule.lossy else "no"
        lines.append(f"| `{rule.code}` | {rule.message} | {rule.fix} | {loses} |")
    return "\n".join(lines)


def goals() -> dict[str, tuple[float, float]]:
    """Return the goals as bench.py states them, without running it."""
    text = (HERE.parent / "bench" / "bench.py").read_text()
    found: dict[str, tuple[float, float]] = {}
    begin = text.index("GOALS = ")
    exec(
        compile(ast.parse(text[begin : text.index("class Missing")]), "goals", "exec"), scope := {}
    )
    found.update(scope["GOALS"])
    return found


def bench() -> str:
    run = json.loads((HERE.parent / "bench" / "baseline.json").read_text())
    aims = goals()
    lines = ["| case | what | speedup | over the floor | goal |", "|---|---|---|---|---|"]
    met = 0
    for name, case in run["cases"].items():
        speedup, floor = case["speedup"].get("dragoman"), case["x_floor"].get("dragoman")
        if speedup is None or floor is None:
            continue
        faster, over = aims.get(name, (0, float("inf")))
        is_met = speedup >= faster and floor <= over
        met += is_met
        goal = f"{'met' if is_met else '**not met**'} (≥ {faster:g}, ≤ {over:g})"
        lines.append(
            f"| {name} | {case['title'].replace('|', '→')} | {speedup:,.3g} | {floor:.2g} | {goal} |"
        )
    count = f"{met} of {len(lines) - 2} goals met; Python {run['python']}, {run['when']}."
    return f"{count}\n\n" + "\n".join(lines)


TABLES = {
    "providers.md": ("providers", providers),
    "histories.md": ("rules", rules),
    "performance.md": ("bench", bench),
}


def page_with_table(page: str) -> str:
    """Return a page's text with its table made anew."""
    name, make = TABLES[page]
    begin, end = f"<!-- {name}: made by docs/tables.py -->\n", f"\n<!-- end of {name} -->"
    text = (HERE / page).read_text()
    head, _, rest = text.partition(begin)
    return head + begin + "\n" + make() + "\n" + end + rest.partition(end)[2]


if __name__ == "__main__":
    for page in TABLES:
        (HERE / page).write_text(page_with_table(page))
