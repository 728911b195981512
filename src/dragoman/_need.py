"""Optional imports: the one place where a missing package becomes an error that names its extra."""

from importlib import import_module
from typing import Any

from dragoman.errors import MissingExtraError

__all__ = ["need"]


def need(module: str, extra: str) -> Any:
    """Return the module named `module`.

    Raises:
        MissingExtraError: If it is not installed; the text names `extra`.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and not (module + ".").startswith(error.name + "."):
            raise
        text = f'`{module}` is not installed; run: pip install "dragoman[{extra}]"'
        raise MissingExtraError(text) from error
