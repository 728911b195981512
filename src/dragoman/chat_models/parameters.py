"""What a user may write when a model is made or called: LangChain's names, ours, the provider's.

`accept` sorts them: fields of the class, other spellings of those, parameters of the provider's wire
(which go into `model_kwargs`), and unknown names, which are refused with the nearest known one.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from dragoman.chat_models.providers import Provider
from dragoman.chat_models.secret import Secret
from dragoman.errors import DragomanError, short

__all__ = [
    "SPELLINGS",
    "ParameterError",
    "accept",
    "check_base_url",
    "check_clients",
    "field_of",
    "put",
    "refuse",
    "wire_parameters",
]


class ParameterError(DragomanError, ValueError, TypeError):
    """A parameter of a model that is unknown, contradicts another, or has no possible meaning."""


# Other spellings of fields, in LangChain's classes and in the providers' own clients.
SPELLINGS: dict[str, str] = {
    "model_name": "model",
    "model_id": "model",
    "request_timeout": "timeout",
    "default_request_timeout": "timeout",
    "max_tokens_to_sample": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "num_predict": "max_tokens",
    "stop_sequences": "stop",
    "http_async_client": "async_http_client",
    "async_client": "async_http_client",
    "openai_proxy": "proxy",
    "anthropic_proxy": "proxy",
    "groq_proxy": "proxy",
    "additional_headers": "default_headers",
    "headers": "default_headers",
    "openai_organization": "organization",
    "openai_api_version": "api_version",
    "azure_ad_token_provider": "token_provider",
    "deployment_name": "azure_deployment",
    "region_name": "region",
}


def _options(home: str, names: str) -> dict[str, str]:
    return {name: f"{home}.{name}" for name in names.split()}


# Parameters that stand inside an object of the body: the name LangChain's class has for them -> where.
NESTED: dict[str, dict[str, str]] = {
    "ollama": {
        **_options(
            "options",
            "num_ctx num_gpu num_thread num_keep num_batch main_gpu low_vram numa use_mmap seed top_k "
            "min_p tfs_z typical_p repeat_last_n repeat_penalty presence_penalty frequency_penalty "
            "mirostat mirostat_eta mirostat_tau penalize_newline",
        ),
        "reasoning": "think",
    },
    "gemini": {
        "top_k": "generationConfig.topK",
        "n": "generationConfig.candidateCount",
        "candidate_count": "generationConfig.candidateCount",
        "seed": "generationConfig.seed",
        "presence_penalty": "generationConfig.presencePenalty",
        "frequency_penalty": "generationConfig.frequencyPenalty",
        "response_mime_type": "generationConfig.responseMimeType",
        "response_schema": "generationConfig.responseSchema",
        "response_json_schema": "generationConfig.responseJsonSchema",
        "response_modalities": "generationConfig.responseModalities",
        "media_resolution": "generationConfig.mediaResolution",
        "speech_config": "generationConfig.speechConfig",
        "image_config": "generationConfig.imageConfig",
        "thinking_budget": "generationConfig.thinkingConfig.thinkingBudget",
        "thinking_level": "generationConfig.thinkingConfig.thinkingLevel",
        "include_thoughts": "generationConfig.thinkingConfig.includeThoughts",
    },
    "bedrock_converse": {
        "top_k": "additionalModelRequestFields.top_k",
        "thinking": "additionalModelRequestFields.thinking",
        "additional_model_request_fields": "additionalModelRequestFields",
        "additional_model_response_field_paths": "additionalModelResponseFieldPaths",
        "guardrail_config": "guardrailConfig",
        "guardrails": "guardrailConfig",
        "performance_config": "performanceConfig",
        "request_metadata": "requestMetadata",
        "service_tier": "serviceTier",
    },
}

# Arguments of a call that are no parameter of any wire.
CALL_OPTIONS = frozenset(
    {"tools", "tool_choice", "strict", "response_format", "timeout", "extra_body", "extra_headers",
     "extra_query", "model", "temperature", "max_tokens", "top_p", "stop", "stream_usage", "history",
     "model_kwargs", "run_manager", "ls_structured_output_format"}
)  # fmt: skip


def wire_parameters(api: str) -> frozenset[str]:
    """Return the names of the body keys of a wire format."""
    names: frozenset[str] = import_module(f"dragoman.codecs.{api}.tables").PARAMETERS
    return names | NESTED.get(api, {}).keys() | {"parallel_tool_calls"}


def put(body: dict[str, Any], api: str, name: str, value: Any) -> None:
    """Put a parameter of the wire into `body`, at its place; objects on the way are copied.

    >>> body = {"options": {"seed": 1}}
    >>> put(body, "ollama", "num_ctx", 9)
    >>> body
    {'options': {'seed': 1, 'num_ctx': 9}}
    """
    *way, last = NESTED.get(api, {}).get(name, name).split(".")
    for key in way:
        inside = body.get(key)
        body[key] = dict(inside) if isinstance(inside, dict) else {}
        body = body[key]
    body[last] = value


def accept(
    data: Mapping[str, Any], fields: Iterable[str], provider: Provider, owner: str
) -> dict[str, Any]:
    """Return `data` with every name one of `fields`.

    Args:
        data: What the user wrote.
        fields: The fields of the class.
        provider: Whose model it is.
        owner: The name of the class, for errors.

    Raises:
        ParameterError: For a name nobody knows, or two spellings of one field that differ.
    """
    known = frozenset(fields)
    out: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for name, value in data.items():
        target = name if name in known else field_of(name, provider)
        if target in known:
            if target in out and out[target] != value:
                others = [
                    n
                    for n in data
                    if n != name and (n == target or field_of(n, provider) == target)
                ]
                message = (
                    f"`{owner}`: `{name}` and `{others[0]}` say different things; give one of them"
                )
                raise ParameterError(message)
            out[target] = value
        else:
            extras[name] = value
    if extras:
        names = wire_parameters(provider.api)
        unknown = [name for name in extras if name not in names]
        if unknown:
            raise refuse(unknown[0], known | names | SPELLINGS.keys(), owner)
        placed: dict[str, Any] = {}
        for name, value in extras.items():
            put(placed, provider.api, name, value)
        out["model_kwargs"] = {**placed, **(out.get("model_kwargs") or {})}
    hidden = [name for name in out.get("model_kwargs") or () if field_of(name, provider) in known]
    if hidden:
        message = (
            f"`{owner}`: `{hidden[0]}` is a parameter of its own; give it outside `model_kwargs`"
        )
        raise ParameterError(message)
    key = out.get("api_key")
    if key is not None and not callable(key):
        out["api_key"] = Secret(key)
        if not out["api_key"].get_secret_value().strip():
            out["api_key"] = None  # an empty variable that was passed on
    return out


def field_of(name: str, provider: Provider) -> str:
    """Return the field that `name` is another spelling of, or `name`."""
    if name in provider.key_fields:
        return "api_key"
    if name in provider.url_fields:
        return "base_url"
    return SPELLINGS.get(name, name)


def refuse(name: str, known: Iterable[str], owner: str) -> ParameterError:
    """Return the error for an unknown parameter."""
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    mean = f"did you mean `{near[0]}`? If not, pass" if near else "pass"
    return ParameterError(
        f"`{owner}` has no parameter {short(name)}; {mean} it in `model_kwargs` to send it as it is"
    )


def check_clients(client: Any, async_client: Any, proxy: str | None) -> None:
    """Check a user's own clients and proxy.

    Raises:
        ParameterError: For a client of the wrong colour, or a proxy that is no address.
    """
    if hasattr(client, "aclose"):
        message = "`http_client` takes a sync client; give this one as `http_async_client`"
        raise ParameterError(message)
    if async_client is not None and not hasattr(async_client, "aclose"):
        message = "`http_async_client` takes an async client; give this one as `http_client`"
        raise ParameterError(message)
    if proxy is not None:
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https", "socks5", "socks5h") or not parts.hostname:
            message = "`proxy` must be an address such as http://host:8080"
            raise ParameterError(message)


def check_base_url(url: str) -> str:
    """Return an address without slashes at its end.

    Raises:
        ParameterError: If it is no http(s) address, or holds a password or a query. The text names
            the problem and never the address, which may hold a key.
    """
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        message = "`base_url` is not a URL; write it like https://host/v1"
        raise ParameterError(message) from error
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or any(c.isspace() for c in parts.netloc)
    ):
        message = "`base_url` must be an http or https address such as https://host/v1"
        raise ParameterError(message)
    if "@" in parts.netloc:
        message = (
            "`base_url` holds a user or password; pass it as `api_key` or in `default_headers`"
        )
        raise ParameterError(message)
    if parts.query or parts.fragment:
        message = "`base_url` holds a query; pass its parameters as `default_query`"
        raise ParameterError(message)
    return url.strip().rstrip("/")
