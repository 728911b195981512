"""`dragoman check`: what a provider would refuse in the histories of a file."""

import sys
from collections.abc import Callable, Iterator

import click

from dragoman.cli.documents import Document, about, read_documents
from dragoman.cli.group import FileCommand
from dragoman.cli.histories import Body, open_history
from dragoman.cli.report import Finding, as_github, as_json, as_text, line_of, says
from dragoman.errors import MessageError
from dragoman.transcript.repair import Issue
from dragoman.transcript.rules import RULES, Rule, rules_of_error, target_of

__all__ = ["command", "file_or_pipe", "findings"]

FOUND = 1
LINES: dict[str, Callable[[Finding], str]] = {"text": as_text, "github": as_github}


@click.command("check", cls=FileCommand)
@click.argument("file", required=False)
@click.option("--for", "target", metavar="PROVIDER", help="Who is to accept it, such as anthropic.")
@click.option("--from", "source", metavar="WIRE", help="What a body is; else told by its shape.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How issues are printed.",
)
@click.option("--from-error", "said", metavar="TEXT", help="What the provider answered.")
def command(
    file: str | None, target: str | None, source: str | None, style: str, said: str | None
) -> int:
    """Show what a provider would refuse in a history.

    FILE holds a request body of any wire, or messages, as JSON or JSON lines; "-", or nothing at
    the end of a pipe, reads standard input. Given an error alone (--from-error), it names the rule
    behind that error.

    Exit code: 0 if nothing was found, 1 if something was, 2 if it could not be checked.
    """
    target_of(target)
    if said is not None and file is None:
        return _explain(said, target)
    wanted = {rule.code for rule in _rules(said)} if said is not None else None
    n_read = n_issues = n_broken = n_lossy = 0
    opening, closing = ("[\n", "\n]\n") if style == "json" else ("", "")
    for document in read_documents(file_or_pipe(file)):
        sys.stdout.write("" if n_read else opening)
        n_read += 1
        for finding in findings(document, target, source):
            if wanted is not None and finding.issue.code not in wanted:
                continue
            n_broken += finding.issue.code == UNREADABLE
            n_lossy += finding.issue.lossy
            if style == "json":
                sys.stdout.write((",\n" if n_issues else "") + as_json(finding))
            else:
                sys.stdout.write(LINES[style](finding) + "\n")
            sys.stdout.flush()  # whoever feeds the pipe line by line is answered line by line
            n_issues += 1
    sys.stdout.write(closing)
    if style == "text":
        click.echo(_summary(n_read, n_issues, n_lossy, file, target))
    return 2 if n_broken else FOUND if n_issues else 0


UNREADABLE = "unreadable"


def findings(document: Document, target: str | None, source: str | None) -> Iterator[Finding]:
    """Yield the issues of a document with their places; one that is no history is an issue too."""
    if document.error is not None:
        yield _unreadable(document, document.error)
        return
    try:
        history = open_history(document.value, source)
        issues = history.check(target)
    except MessageError as error:
        if not document.is_line:
            with about(document):
                raise
        yield _unreadable(document, str(error))
        return
    named = target_of(target)
    own = history.source if isinstance(history, Body) else None
    api = named.api if named is not None else own
    for issue in issues:
        index = min(issue.index, len(history.items) - 1)
        yield Finding(
            file=document.name,
            line=line_of(document, history.path, index),
            path=f"{history.path}[{index}]",
            issue=issue,
            says=says(RULES[issue.code], api) if issue.code in RULES else None,
            item=history.items[index],
        )


def _unreadable(document: Document, text: str) -> Finding:
    issue = Issue(0, UNREADABLE, text, "correct the line")
    return Finding(
        file=document.name, line=document.line, path="$", issue=issue, says=None, item=None
    )


def file_or_pipe(file: str | None) -> str:
    """Return the name of what is to be read.

    Raises:
        click.UsageError: If there is neither a file nor a pipe.
    """
    if file is None and sys.stdin.isatty():
        raise click.UsageError("give a file, or - for standard input")
    return file or "-"


def _rules(said: str) -> list[Rule]:
    # An error is often pasted as JSON, with its quotes escaped.
    return rules_of_error(said) or rules_of_error(said.replace("\\", ""))


def _explain(said: str, target: str | None) -> int:
    """Print the rules behind a provider's error; return the exit code."""
    rules = _rules(said)
    if not rules:
        raise click.UsageError("no rule about histories is known for this error")
    api = None if target is None else f" --for {target}"
    for rule in rules:
        loss = " --lossy" if rule.lossy else ""
        click.echo(f"{rule.code}: {rule.message}")
        click.echo(f"  fix: {rule.fix} ({'loses it' if rule.lossy else 'loses nothing'})")
        click.echo(f"  rule: {rule.source}")
        click.echo(f"  run: dragoman repair{api or ''}{loss} FILE")
    return 0


def _summary(n_read: int, n_issues: int, n_lossy: int, file: str | None, target: str | None) -> str:
    histories = "1 history" if n_read == 1 else f"{n_read:,} histories"
    if not n_issues:
        return f"{histories}: nothing a provider would refuse"
    issues = "1 issue" if n_issues == 1 else f"{n_issues:,} issues"
    option = ("" if target is None else f" --for {target}") + (" --lossy" if n_lossy else "")
    return f"{histories}: {issues}; to mend: dragoman repair{option} {file or '-'}"
