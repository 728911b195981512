"""`init_chat_model`: any model by a string.

Reading the string is cheap; the class of the provider, and pydantic with it, is imported when a
model is really made.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from dragoman.chat_models.providers import ALIASES, PROVIDERS, Provider, provider_for_model

if TYPE_CHECKING:
    from dragoman.chat_models.configurable import ConfigurableModel
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = ["init_chat_model", "make_model", "split_model"]

_LOCAL = {"local": "ChatLocal", "llamacpp": "ChatLlamaCpp"}


@overload
def init_chat_model(
    model: str,
    *,
    model_provider: str | None = None,
    configurable_fields: None = None,
    config_prefix: str | None = None,
    **kwargs: Any,
) -> "BaseChatModel": ...
@overload
def init_chat_model(
    model: None = None,
    *,
    model_provider: str | None = None,
    configurable_fields: None = None,
    config_prefix: str | None = None,
    **kwargs: Any,
) -> "ConfigurableModel": ...
@overload
def init_chat_model(
    model: str | None = None,
    *,
    model_provider: str | None = None,
    configurable_fields: Literal["any"] | list[str] | tuple[str, ...],
    config_prefix: str | None = None,
    **kwargs: Any,
) -> "ConfigurableModel": ...
def init_chat_model(
    model: str | None = None,
    *,
    model_provider: str | None = None,
    configurable_fields: Literal["any"] | list[str] | tuple[str, ...] | None = None,
    config_prefix: str | None = None,
    **kwargs: Any,
) -> Any:
    """Return a chat model.

    Args:
        model: `provider:model`, the name of a model whose provider the name tells (`gpt-...`,
            `claude-...`), `local` for the bundled model, or `llamacpp:/path/model.gguf`.
        model_provider: The provider, when `model` does not say.
        configurable_fields: Fields that a call's `config["configurable"]` may set; `any` is all of
            them, API keys and addresses included. None is `model` and `model_provider` if no model
            is given, else nothing.
        config_prefix: Put before the names of these in the config, with an underscore.
        kwargs: Parameters of the model's class, such as `temperature` and `base_url`.

    Raises:
        TypeError: If `model` or `model_provider` is no string.
        ValueError: If the provider is unknown, or the name does not tell it.
        ImportError: If the provider needs a package that is missing.

    >>> init_chat_model("openai:gpt-4o-mini", api_key="...", temperature=0)
    ChatOpenAI(model='gpt-4o-mini', temperature=0.0)
    """
    _check_names(model, model_provider)
    if not model and not configurable_fields:
        configurable_fields = ("model", "model_provider")
    if config_prefix and not configurable_fields:
        text = (
            f"{config_prefix=} has been set but no fields are configurable. "
            "Set `configurable_fields=(...)` to specify the model params that are configurable."
        )
        warnings.warn(text, UserWarning, stacklevel=2)
    if not configurable_fields:
        return make_model(model or "", model_provider, kwargs)
    from dragoman.chat_models.configurable import ConfigurableModel

    if model:
        kwargs["model"] = model
    if model_provider:
        kwargs["model_provider"] = model_provider
    return ConfigurableModel(
        defaults=kwargs, prefix=config_prefix or "", fields=configurable_fields
    )


def make_model(model: str, model_provider: str | None, kwargs: dict[str, Any]) -> "BaseChatModel":
    """Return a model that is not configurable."""
    _check_names(model, model_provider)
    name, provider = split_model(model, model_provider, has_address="base_url" in kwargs)
    row = PROVIDERS[provider]
    _need_package(row)
    home = (
        "dragoman.chat_models.local_model" if provider in _LOCAL else "dragoman.chat_models.named"
    )
    cls = getattr(import_module(home), _LOCAL.get(provider, row.title))
    return cls(model=name, **kwargs)


def _check_names(model: Any, model_provider: Any) -> None:
    if model is not None and not isinstance(model, str):
        message = f"`model` must be a string (e.g., 'openai:gpt-4o'), got {type(model).__name__}."
        raise TypeError(message)
    if model_provider is not None and not isinstance(model_provider, str):
        message = f"`model_provider` must be a string, got {type(model_provider).__name__}."
        raise TypeError(message)


def split_model(
    model: str, model_provider: str | None = None, *, has_address: bool = False
) -> tuple[str, str]:
    """Return the model's name and its provider.

    A colon splits only after the name of a provider: `llama3:8b` is one name.

    Raises:
        ValueError: If the provider is unknown, or cannot be told.

    >>> split_model("openai:gpt-4o"), split_model("claude-sonnet-4-5")
    (('gpt-4o', 'openai'), ('claude-sonnet-4-5', 'anthropic'))
    """
    head, colon, tail = model.partition(":")
    if not model_provider and colon and _known(head):
        model_provider, model = head, tail
    if not model_provider and model in _LOCAL:
        model_provider = model
    if not model_provider:
        model_provider = provider_for_model(model)
        if model_provider == "google_vertexai":
            text = (
                f"{model=} without a provider means Vertex AI, as in LangChain; "
                f"say `google_vertexai:{model}`, or `google_genai:{model}` for the Gemini API"
            )
            warnings.warn(text, DeprecationWarning, stacklevel=4)
    if not model_provider and has_address:
        model_provider = "openai"  # the wire that servers of one's own speak
    if not model_provider:
        message = (
            f"Unable to infer model provider for {model=}, please specify model_provider directly, "
            f"or {_advice(model)}."
        )
        raise _error(message)
    provider = _known(model_provider)
    if provider is None:
        wrong = model_provider.replace("-", "_").lower()
        names = ", ".join(sorted(PROVIDERS))
        near = _nearest(wrong)
        hint = f" Did you mean {near!r}?" if near else ""
        message = f"Unsupported provider={wrong!r}.{hint}\n\nSupported model providers are: {names}"
        raise _error(message)
    return model, provider


def _error(message: str) -> ValueError:
    from dragoman.chat_models.parameters import ParameterError

    return ParameterError(message)


def _advice(model: str) -> str:
    """Return what to write in place of a string whose provider cannot be told."""
    for sign in (":", "/"):
        head, found, tail = model.partition(sign)
        near = _nearest(head)
        if found and near:
            return f"write '{near}:{tail}'"
    near = _known(model) or _nearest(model)
    if near in _LOCAL:
        return "write 'local'" if near == "local" else f"write '{near}:' and the path of a file"
    if near:
        return f"write '{near}:' and the model's name"
    return f"write 'PROVIDER:{model}'"


def _nearest(name: str) -> str | None:
    """Return the provider whose name is most like a wrong one, or None."""
    from difflib import get_close_matches

    wrong = name.strip().lower()
    if any(letter.isdigit() for letter in wrong):
        return None  # the name of a model, such as `llama3`, not of a provider
    near = get_close_matches(wrong, [*PROVIDERS, *ALIASES], n=1, cutoff=0.8)
    return near[0] if near else None


def _known(name: str) -> str | None:
    """Return the provider's own name, or None."""
    name = name.replace("-", "_").lower()
    name = ALIASES.get(name, name)
    return name if name in PROVIDERS else None


def _need_package(row: Provider) -> None:
    if row.package is None:
        return
    from importlib.util import find_spec

    if find_spec(row.package) is None:
        from dragoman.errors import MissingExtraError

        message = (
            f"Initializing {row.title} requires the {row.package} package. Please install it with "
            f'`pip install {row.package}`, or `pip install "dragoman[{row.extra}]"`'
        )
        raise MissingExtraError(message)
