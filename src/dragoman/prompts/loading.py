"""Prompts in files: JSON or YAML, with texts and examples in files beside them.

A file is data from somewhere: paths in it stay below the working directory and name text, JSON or
YAML files, and jinja2 is refused. LangChain calls this deprecated; `dragoman.load` stores more.
"""

import json
import logging
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any, cast
from warnings import warn

from dragoman._need import need
from dragoman.errors import short
from dragoman.prompts.base import BasePromptTemplate
from dragoman.prompts.chat import ChatPromptTemplate
from dragoman.prompts.few_shot import FewShotPromptTemplate
from dragoman.prompts.prompt import PromptTemplate

__all__ = ["load_prompt", "load_prompt_from_config", "save_prompt"]

_log = logging.getLogger(__name__)

_JINJA = (
    "Loading templates with 'jinja2' format is no longer supported since it can lead to arbitrary "
    "code execution. Please migrate to using the 'f-string' template format, which does not suffer "
    "from this issue."
)
_DEPRECATED = "`{}` is deprecated; store prompts with `dumps` and `loads` of `dragoman.load`"
_DATA_FILES = (".json", ".yaml", ".yml")


def load_prompt(
    path: str | Path, encoding: str | None = None, *, allow_dangerous_paths: bool = False
) -> BasePromptTemplate[Any]:
    """Return the prompt of a JSON or YAML file, with a DeprecationWarning, as in LangChain.

    Args:
        path: The file; the suffix says the format.
        encoding: Of the file; UTF-8 by default.
        allow_dangerous_paths: Whether paths inside may be absolute or go upwards.

    Raises:
        RuntimeError: For `lc://` paths, which lead to a hub that is gone.
        ValueError: If the file is no prompt, or a path inside it is not allowed.
    """
    warn(_DEPRECATED.format("load_prompt"), DeprecationWarning, stacklevel=2)
    return _prompt_in(path, encoding, allow_dangerous_paths)


def _prompt_in(
    path: str | Path, encoding: str | None, allow_dangerous_paths: bool
) -> BasePromptTemplate[Any]:
    if isinstance(path, str) and path.startswith("lc://"):
        message = (
            "Loading from the deprecated github-based Hub is no longer supported. "
            "Keep the prompt in a file."
        )
        raise RuntimeError(message)
    file = Path(path)
    if file.suffix not in _DATA_FILES:
        message = f"Got unsupported file type {file.suffix}"
        raise ValueError(message)
    config = _read_data(file, encoding)
    if not isinstance(config, dict):
        message = f"{file.name} holds no object, but a {type(config).__name__}"
        raise ValueError(message)
    return _prompt_of(cast("dict[str, Any]", config), allow_dangerous_paths)


def load_prompt_from_config(
    config: dict[str, Any], *, allow_dangerous_paths: bool = False
) -> BasePromptTemplate[Any]:
    """Return the prompt that `config`, as a file holds it, describes; `config` is not changed.

    Like `load_prompt`, it gives a DeprecationWarning.

    Raises:
        ValueError: If its `_type` is unknown, or a path in it is not allowed.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> load_prompt_from_config({"_type": "prompt", "template": "{a}"}).input_variables
    ['a']
    """
    warn(_DEPRECATED.format("load_prompt_from_config"), DeprecationWarning, stacklevel=2)
    return _prompt_of(config, allow_dangerous_paths)


def _prompt_of(config: dict[str, Any], allow_dangerous_paths: bool) -> BasePromptTemplate[Any]:
    config = dict(config)
    if "_type" not in config:
        _log.warning("No `_type` key found, defaulting to `prompt`.")
    kind = config.pop("_type", "prompt")
    if kind not in _LOADERS:
        message = f"Loading {kind} prompt not supported"
        raise ValueError(message)
    return _LOADERS[kind](config, allow_dangerous_paths)


def save_prompt(fields: dict[str, Any], path: Path) -> None:
    """Write the fields of a prompt to a JSON or YAML file; the folder is made if need be.

    Raises:
        ValueError: If the suffix the path resolves to is neither.
    """
    suffix = path.resolve().suffix
    if suffix not in _DATA_FILES:
        message = f"{path} must be json or yaml"
        raise ValueError(message)
    path.parent.mkdir(parents=True, exist_ok=True)
    if suffix == ".json":
        text = json.dumps(fields, indent=4)
    else:
        text = need("yaml", "prompts").safe_dump(fields, default_flow_style=False)
    path.write_text(text, encoding="utf-8")


def _read_data(path: Path, encoding: str | None = None) -> Any:
    text = path.read_text(encoding=encoding or "utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    return need("yaml", "prompts").safe_load(text)


def _checked(path: Any, *, dangerous: bool) -> Path:
    """Return a path from a config.

    Raises:
        ValueError: If it is absolute or goes upwards, unless `dangerous` paths are allowed.
    """
    if not isinstance(path, (str, PurePath)):
        message = f"a path must be a string, got {short(path)}"
        raise ValueError(message)
    file = Path(path)
    if dangerous:
        return file
    allow = "Use relative paths, or pass `allow_dangerous_paths=True` if you trust the input."
    if file.is_absolute():
        message = (
            f"Path '{path}' is absolute. Absolute paths are not allowed when loading prompt "
            f"configurations to prevent path traversal attacks. {allow}"
        )
        raise ValueError(message)
    if ".." in file.parts:
        message = (
            f"Path '{path}' contains '..' components. Directory traversal sequences are not "
            f"allowed when loading prompt configurations. {allow}"
        )
        raise ValueError(message)
    return file


def _take_text(name: str, config: dict[str, Any], *, dangerous: bool) -> None:
    """Replace `<name>_path` in `config` by the text of that file, under `name`."""
    key = f"{name}_path"
    if key not in config:
        return
    if name in config:
        message = f"Both `{key}` and `{name}` cannot be provided."
        raise ValueError(message)
    path = _checked(config.pop(key), dangerous=dangerous)
    resolved = path.resolve()
    if resolved.suffix != ".txt":
        message = (
            f"Unsupported template file format: '{resolved.suffix}'. "
            "Only '.txt' files are supported."
        )
        raise ValueError(message)
    config[name] = resolved.read_text(encoding="utf-8")


def _load_string(config: dict[str, Any], dangerous: bool) -> PromptTemplate:
    _take_text("template", config, dangerous=dangerous)
    _no_jinja(config)
    _load_output_parser(config)
    return PromptTemplate(**config)


def _no_jinja(config: dict[str, Any]) -> None:
    if config.get("template_format", "f-string") == "jinja2":
        raise ValueError(_JINJA)


def _load_output_parser(config: dict[str, Any]) -> None:
    """Replace a stored output parser by the only one that can be stored."""
    stored = config.get("output_parser")
    if not stored:
        return
    kind = cast("dict[str, Any]", stored).get("_type") if isinstance(stored, dict) else None
    if kind != "default":
        message = f"Unsupported output parser {short(kind)}"
        raise ValueError(message)
    from dragoman.output_parsers.string import StrOutputParser

    config["output_parser"] = StrOutputParser()


def _load_few_shot(config: dict[str, Any], dangerous: bool) -> FewShotPromptTemplate:
    _no_jinja(config)
    _take_text("suffix", config, dangerous=dangerous)
    _take_text("prefix", config, dangerous=dangerous)
    if "example_prompt_path" in config:
        if "example_prompt" in config:
            message = "Only one of example_prompt and example_prompt_path should be specified."
            raise ValueError(message)
        path = _checked(config.pop("example_prompt_path"), dangerous=dangerous)
        config["example_prompt"] = _prompt_in(path, None, dangerous)
    elif isinstance(config.get("example_prompt"), dict):
        config["example_prompt"] = _prompt_of(config["example_prompt"], dangerous)
    examples = config.get("examples")
    if isinstance(examples, str):
        path = _checked(examples, dangerous=dangerous)
        if path.resolve().suffix not in _DATA_FILES:
            message = "Invalid file format. Only json or yaml formats are supported."
            raise ValueError(message)
        config["examples"] = _read_data(path)
    elif examples is not None and not isinstance(examples, list):
        message = "Invalid examples format. Only list or string are supported."
        raise ValueError(message)
    _load_output_parser(config)
    return FewShotPromptTemplate(**config)


def _load_chat(config: dict[str, Any], dangerous: bool) -> ChatPromptTemplate:
    """Return a chat prompt of the first stored message's template."""
    _no_jinja(config)
    messages = config.pop("messages", None)
    first = cast("list[Any]", messages)[0] if messages else None
    prompt = first.get("prompt") if isinstance(first, dict) else None
    template = prompt.get("template") if isinstance(prompt, dict) else None
    if not isinstance(template, str):
        message = "Can't load chat prompt without template"
        raise ValueError(message)
    config.pop("input_variables", None)
    return ChatPromptTemplate.from_template(template)


_LOADERS: dict[str, Callable[[dict[str, Any], bool], BasePromptTemplate[Any]]] = {
    "prompt": _load_string,
    "few_shot": _load_few_shot,
    "chat": _load_chat,
}
