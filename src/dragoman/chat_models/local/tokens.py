"""Exact token counts, asked of the local server itself.

The loopback needs no client with a pool or TLS, so the standard library's does.
"""

import json
import os
from typing import Any
from urllib.parse import urlsplit

from dragoman.chat_models.local.servers import server
from dragoman.errors import ModelConnectionError, ModelInvalidRequestError

__all__ = ["count_prompt_tokens", "count_tokens"]

TIMEOUT_S = 60


def count_tokens(text: str, path: str | os.PathLike[str] | None = None) -> int:
    """Return how many tokens `text` is for the local model, without the turns around it.

    Starts the server if need be, and raises what `server` raises.
    """
    return len(_ask("/tokenize", {"content": text}, path)["tokens"])


def count_prompt_tokens(body: dict[str, Any], path: str | os.PathLike[str] | None = None) -> int:
    """Return how many tokens the chat completions `body` is as a prompt: messages and tools.

    It is the `prompt_tokens` of the reply's usage. Starts the server if need be, and raises what
    `server` raises.

    Raises:
        ModelInvalidRequestError: If the server cannot read `body`.
    """
    return int(_ask("/v1/chat/completions/input_tokens", body, path)["input_tokens"])


def _ask(route: str, body: dict[str, Any], path: str | os.PathLike[str] | None) -> dict[str, Any]:
    from http.client import HTTPConnection, HTTPException

    local = server(path)
    address = urlsplit(local.base_url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=TIMEOUT_S)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {local.api_key}"}
    try:
        connection.request("POST", route, json.dumps(body), headers)
        response = connection.getresponse()
        answer = response.read()
    except (OSError, HTTPException) as error:
        message = f"the local model did not count the tokens: {type(error).__name__}; try again"
        raise ModelConnectionError(message, provider="local") from error
    finally:
        connection.close()
    data = json.loads(answer)
    if response.status != 200:
        said = str((data.get("error") or {}).get("message"))[:300]
        message = f"the local model cannot count the tokens of this: {said}"
        raise ModelInvalidRequestError(message, status=response.status, provider="local")
    return data
