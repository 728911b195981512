"""`dragoman repair`: the histories of a file, as providers accept them."""

import click

from dragoman.cli.check import file_or_pipe
from dragoman.cli.documents import about, open_writer, sound_documents
from dragoman.cli.group import FileCommand
from dragoman.cli.histories import open_history
from dragoman.cli.report import print_changes
from dragoman.transcript.rules import target_of

__all__ = ["command"]


@click.command("repair", cls=FileCommand)
@click.argument("file", required=False)
@click.option("--for", "target", metavar="PROVIDER", help="Who is to accept it, such as anthropic.")
@click.option("--from", "source", metavar="WIRE", help="What a body is; else told by its shape.")
@click.option("--lossy", is_flag=True, help="Also mend what cannot be mended without a loss.")
@click.option("-o", "--output", metavar="FILE", help="Where to; else standard output.")
def command(
    file: str | None, target: str | None, source: str | None, lossy: bool, output: str | None
) -> int:
    """Mend a history so that providers accept it.

    FILE is as for `dragoman check`, and what comes out has the same form. Every change is told on
    stderr. A history whose repair would lose something comes out as it is, unless --lossy is given.

    Exit code: 0 if what came out is sound, 1 if something was left because of a loss, 2 if it could
    not be done.
    """
    target_of(target)
    n_left = 0
    with open_writer(output) as writer:
        for document in sound_documents(file_or_pipe(file)):
            with about(document):
                value, changes = open_history(document.value, source).repair(target)
            losses = [change for change in changes if change.lossy]
            if losses and not lossy:
                n_left += 1
                print_changes(document, losses, "not mended, because it would lose something")
                writer.write(document, document.value)
                continue
            print_changes(document, changes)
            writer.write(document, value)
    if n_left:
        option = "" if target is None else f" --for {target}"
        line = f"dragoman: to mend these too: dragoman repair{option} --lossy {file or '-'}"
        click.echo(line, err=True)
    return 1 if n_left else 0
