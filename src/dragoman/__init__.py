"""One conversation, valid on every LLM provider."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.codecs.contract import Converted
    from dragoman.codecs.convert import convert
    from dragoman.transcript.body import check_body, repair_body

__all__ = ["Converted", "__version__", "check_body", "convert", "repair_body"]

__version__ = "0.1.0"

_ELSEWHERE = {
    "Converted": "dragoman.codecs.contract",
    "check_body": "dragoman.transcript.body",
    "convert": "dragoman.codecs.convert",
    "repair_body": "dragoman.transcript.body",
}


def __getattr__(name: str) -> Any:
    """Return a name that is loaded when first asked for, to keep `import dragoman` light."""
    import sys
    from importlib import import_module

    if name in _ELSEWHERE:
        value = getattr(import_module(_ELSEWHERE[name]), name)
        # Not `globals()`: once `dragoman.globals` is imported, that name here is the module.
        setattr(sys.modules[__name__], name, value)
        return value
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
