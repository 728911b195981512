"""How a codec reports what it could not carry as it was."""

from dragoman.codecs.contract import Change

__all__ = ["note"]


def note(
    changes: list[Change] | None, path: str, code: str, message: str, *, lossy: bool = True
) -> None:
    """Add a `Change` to `changes`; with None nobody asked."""
    if changes is not None:
        changes.append(Change(path=path, code=code, lossy=lossy, message=message))
