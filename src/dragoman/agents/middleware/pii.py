"""Keeps personal data away: out of what the model reads, or out of what it says."""

import hashlib
import ipaddress
import re
from collections.abc import Callable
from typing import Any, Literal

from typing_extensions import TypedDict

from dragoman.agents.calls import last_reply
from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.runtime import Runtime
from dragoman.errors import DragomanError
from dragoman.messages import BaseMessage, HumanMessage, ToolMessage

__all__ = [
    "PIIDetectionError",
    "PIIMatch",
    "PIIMiddleware",
    "detect_credit_card",
    "detect_email",
    "detect_ip",
    "detect_mac_address",
    "detect_url",
]


class PIIMatch(TypedDict):
    """One find: its kind, its text and where it stands."""

    type: str
    value: str
    start: int
    end: int


class PIIDetectionError(DragomanError):
    """There is personal data where none may be; the text does not show it.

    Attributes:
        pii_type: The kind.
        matches: What was found.
    """

    def __init__(self, pii_type: str, matches: list[PIIMatch]) -> None:
        self.pii_type = pii_type
        self.matches = matches
        super().__init__(f"Detected {len(matches)} instance(s) of {pii_type} in text content")


def _luhn(text: str) -> bool:
    """Return whether the digits are a card's number, by its check digit."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [d * 2 - 9 * (d > 4) for d in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


Strategy = Literal["block", "redact", "mask", "hash"]
Detector = Callable[[str], list[PIIMatch]]


def _detector(kind: str, pattern: str, check: Callable[[str], bool] = lambda _: True) -> Detector:
    """Return a function from a text to what it holds of a kind."""
    compiled = re.compile(pattern)

    def found(content: str) -> list[PIIMatch]:
        return [
            {"type": kind, "value": m[0], "start": m.start(), "end": m.end()}
            for m in compiled.finditer(content)
            if check(m[0])
        ]

    return found


# Every pattern is linear, as texts come from anywhere.
detect_email: Detector = _detector(
    "email", r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,253}\.[A-Za-z]{2,24}\b"
)
detect_credit_card: Detector = _detector("credit_card", r"\b\d(?:[ -]?\d){12,18}\b", _luhn)
detect_ip: Detector = _detector("ip", r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])", _is_address)
detect_mac_address: Detector = _detector(
    "mac_address", r"\b(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}\b"
)
detect_url: Detector = _detector("url", r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)]")
_DETECTORS: dict[str, Detector] = {
    "email": detect_email,
    "credit_card": detect_credit_card,
    "ip": detect_ip,
    "mac_address": detect_mac_address,
    "url": detect_url,
}


class PIIMiddleware(AgentMiddleware[Any, Any]):
    """Finds one kind of personal data and blocks, redacts, masks or hashes it.

    What is changed is changed in the state, so that no later call sees it.

    Args:
        pii_type: `email`, `credit_card`, `ip`, `mac_address`, `url`, or a name of your own.
        strategy: `block` raises; `redact` writes the kind; `mask` leaves the end; `hash` writes a
            number that is the same for the same value.
        detector: A regular expression, or a function from a text to finds, for a kind of your own.
        apply_to_input: Whether what people write is looked at.
        apply_to_output: Whether what the model writes is looked at.
        apply_to_tool_results: Whether results of tools are looked at.
    """

    def __init__(
        self,
        pii_type: str,
        *,
        strategy: Strategy = "redact",
        detector: Detector | str | None = None,
        apply_to_input: bool = True,
        apply_to_output: bool = False,
        apply_to_tool_results: bool = False,
    ) -> None:
        if detector is None and pii_type not in _DETECTORS:
            message = (
                f"Unknown PII type: {pii_type}. Must be one of {list(_DETECTORS)} or provide a custom "
                "detector."
            )
            raise ValueError(message)
        if strategy not in ("block", "redact", "mask", "hash"):
            message = f"Unknown strategy: {strategy}. Must be one of block, redact, mask, hash."
            raise ValueError(message)
        self.pii_type = pii_type
        self.strategy = strategy
        self.apply_to_input = apply_to_input
        self.apply_to_output = apply_to_output
        self.apply_to_tool_results = apply_to_tool_results
        if isinstance(detector, str):
            detector = _detector(pii_type, detector)
        self._found = detector or _DETECTORS[pii_type]

    @property
    def name(self) -> str:
        """The name, with the kind, so that several kinds can be looked for."""
        return f"{type(self).__name__}[{self.pii_type}]"

    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Change what people and tools wrote."""
        wanted: list[type[BaseMessage]] = []
        wanted += [HumanMessage] if self.apply_to_input else []
        wanted += [ToolMessage] if self.apply_to_tool_results else []
        return self._changes([m for m in state["messages"] if isinstance(m, tuple(wanted))])

    def after_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Change what the model wrote."""
        last = last_reply(state["messages"]) if self.apply_to_output else None
        return self._changes([last] if last is not None else [])

    def _changes(self, messages: list[BaseMessage]) -> dict[str, Any] | None:
        changed: list[BaseMessage] = []
        for message in messages:
            content = self._content(message.content)
            if content != message.content:
                changed.append(message.model_copy(update={"content": content}))
        return {"messages": changed} if changed else None

    def _content(self, content: Any) -> Any:
        if isinstance(content, str):
            return self._text(content)
        return [
            self._text(block)
            if isinstance(block, str)
            else {**block, "text": self._text(block["text"])}
            if isinstance(block.get("text"), str)
            else block
            for block in content
        ]

    def _text(self, text: str) -> str:
        found = self._found(text)
        if found and self.strategy == "block":
            raise PIIDetectionError(self.pii_type, found)
        for match in sorted(found, key=lambda m: m["start"], reverse=True):
            text = text[: match["start"]] + self._stand_in(match["value"]) + text[match["end"] :]
        return text

    def _stand_in(self, value: str) -> str:
        if self.strategy == "redact":
            return f"[REDACTED_{self.pii_type.upper()}]"
        if self.strategy == "hash":
            return f"<{self.pii_type}_hash:{hashlib.sha256(value.encode()).hexdigest()[:8]}>"
        return _masked(self.pii_type, value)


def _masked(kind: str, value: str) -> str:
    if kind == "email":
        user, _, host = value.rpartition("@")
        return f"{user}@****.{host.rpartition('.')[2]}"
    if kind == "url":
        return "[MASKED_URL]"
    if kind == "ip":
        return f"*.*.*.{value.rpartition('.')[2]}"
    if kind in ("credit_card", "mac_address"):
        shown = [i for i, c in enumerate(value) if c.isalnum()][
            -(4 if kind == "credit_card" else 2) :
        ]
        return "".join("*" if c.isalnum() and i not in shown else c for i, c in enumerate(value))
    return "****" + (value[-4:] if len(value) > 4 else "")
