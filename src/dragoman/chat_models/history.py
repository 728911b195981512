"""A history as a provider takes it, or an error before the network."""

from typing import TYPE_CHECKING, Any, Literal

from dragoman.errors import TranscriptError

if TYPE_CHECKING:
    from dragoman.messages import BaseMessage

__all__ = ["ready", "target_for"]


def target_for(names: "tuple[str | None, ...]", model: str) -> str:
    """Return how the transcript rules call a provider: the first of `names` they know, and the model."""
    from dragoman.transcript.rules import TARGETS

    known = next(name for name in names if name in TARGETS)
    return f"{known}:{model}"


def ready(
    messages: "list[BaseMessage]", target: str, mode: Literal["repair", "repair-lossy", "strict"]
) -> "tuple[list[BaseMessage], dict[str, Any]]":
    """Return the messages to send, and `{"history_changes": [...]}` if they are not the given ones.

    Raises:
        TranscriptError: If mode is `strict` and anything is wrong, or if mode is `repair` and the
            repair would lose something.
    """
    from dragoman.transcript import repair_messages, validate_messages

    if mode == "strict":
        issues = validate_messages(messages, target)
        if issues:
            first = issues[0]
            more = f" (and {len(issues) - 1} more)" if len(issues) > 1 else ""
            raise TranscriptError(
                f"the history is not valid for {target}: {first.message}{more}",
                path=f"$[{first.index}]",
                hint='repair it with `repair_messages`, or make the model with history="repair"',
                issues=issues,
            )
        return messages, {}
    repair = repair_messages(messages, target)
    if not repair.changes:
        return messages, {}
    lossy = [change for change in repair.changes if change.lossy]
    if lossy and mode == "repair":
        raise TranscriptError(
            f"the history cannot be repaired without losing something: {lossy[0].message}",
            path=lossy[0].path,
            hint='make the model with history="repair-lossy" to allow it, or correct the history',
            issues=validate_messages(messages, target),
        )
    changes = [
        {"path": c.path, "code": c.code, "lossy": c.lossy, "message": c.message}
        for c in repair.changes
    ]
    return repair.messages, {"history_changes": changes}
