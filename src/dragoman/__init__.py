"""One conversation, valid on every LLM provider."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.codecs.contract import Converted
    from dragoman.codecs.convert import convert

__all__ = ["Converted", "__version__", "convert"]

__version__ = "0.1.0"

_ELSEWHERE = {
    "Converted": "dragoman.codecs.contract",
    "convert": "dragoman.codecs.convert",
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
