"""Questions of an agent to the person at the terminal."""

import json
from typing import Any

import click

from dragoman.cli.output import clean

__all__ = ["decide"]

HELP = "y run it, n do not, e run it with other arguments, q leave (the thread keeps the question)"


def decide(value: Any) -> Any:
    """Return a person's answer to one question: decisions on calls, or a text.

    Raises:
        click.Abort: If the person leaves.
    """
    if not isinstance(value, dict) or "action_requests" not in value:
        return click.prompt(clean(str(value)), err=True)
    return {"decisions": [_decision(request) for request in value["action_requests"]]}


def _decision(request: dict[str, Any]) -> dict[str, Any]:
    name, args = request["name"], request["args"]
    while True:
        text = f"Run {clean(name)}({shown_args(args)})? [y/n/e/q]"
        answer = str(click.prompt(text, err=True, prompt_suffix=" ")).strip().lower()
        if answer in ("y", "yes"):
            return {"type": "approve"}
        if answer in ("n", "no"):
            reason = click.prompt("Why not?", default="", show_default=False, err=True)
            return {"type": "reject", **({"message": reason} if reason else {})}
        if answer in ("e", "edit"):
            return {"type": "edit", "edited_action": {"name": name, "args": _edited(args)}}
        if answer in ("q", "quit"):
            raise click.Abort
        click.echo(HELP, err=True)


def _edited(args: dict[str, Any]) -> dict[str, Any]:
    while True:
        shown = json.dumps(args, ensure_ascii=False)
        text = click.prompt("Arguments as JSON", default=shown, err=True)
        try:
            given = json.loads(text)
        except ValueError as error:
            click.echo(f"no JSON: {error}", err=True)
            continue
        if isinstance(given, dict):
            return given
        click.echo("the arguments have to be a JSON object", err=True)


def shown_args(args: dict[str, Any]) -> str:
    """Return arguments on one line, without what a terminal would obey; each is cut at 200 characters."""
    pairs = (
        f"{name}={json.dumps(value, ensure_ascii=False)[:200]}" for name, value in args.items()
    )
    return clean(", ".join(pairs)).replace("\n", " ")
