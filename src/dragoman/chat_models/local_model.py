"""`ChatLocal` and `ChatLlamaCpp`: the bundled model, and any .gguf, behind the same exchange.

The server is started at the first call, not when the model is made, and asked for anew before every
attempt: one that died is replaced, at another port.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dragoman._door import Door
from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.parameters import ParameterError
from dragoman.chat_models.providers import Provider
from dragoman.errors import short
from dragoman.messages import BaseMessage

__all__ = ["ChatLlamaCpp", "ChatLocal"]


class ChatLocal(ProviderChatModel):
    """The bundled model: offline, no key, small; forces a tool call when asked (`tool_choice`)."""

    provider_name: ClassVar[str] = "local"
    model: str = "local"

    def __init__(self, model: str | None = None, **data: Any) -> None:
        """Take the bundled model when none is named."""
        if model is None and not data.keys() & {"model", "model_name"}:
            model = "local"
        super().__init__(model, **data)

    @property
    def _path(self) -> str | None:
        """The .gguf, or None for the bundled model."""
        return None

    def _check(self, row: Provider) -> None:
        if self.base_url is not None:
            message = f"`{type(self).__name__}` starts its own server; use `openai:` with `base_url` for yours"
            raise ParameterError(message)
        if self._path is None and self.model != "local":
            from dragoman.chat_models.local.servers import BUNDLED_MODEL

            if self.model != BUNDLED_MODEL:
                message = (
                    f"`local` is one model, {BUNDLED_MODEL}, not {short(self.model)}; "
                    "another file is `llamacpp:/path/to/model.gguf`"
                )
                raise ParameterError(message)
        super()._check(row)

    async def _server(self, door: Door) -> Any:
        from dragoman.chat_models import local

        running = local.running(self._path)
        return running if running is not None else await door.call(local.server, self._path)

    async def _base(self, door: Door, row: Provider) -> str:
        server = await self._server(door)
        return server.base_url

    async def _key(self, door: Door) -> str | None:
        server = await self._server(door)
        return server.api_key

    def _finish_body(
        self, body: dict[str, Any], row: Provider, kw: Mapping[str, Any], *, stream: bool
    ) -> dict[str, Any]:
        from dragoman.chat_models import local

        return local.prepare(super()._finish_body(body, row, kw, stream=stream), self._path)

    def get_num_tokens(self, text: str) -> int:
        """Return how many tokens `text` is, by the model's own tokenizer."""
        from dragoman.chat_models import local

        return local.count_tokens(text, self._path)

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Return how many tokens the prompt of these messages is, by the model's own template."""
        from dragoman.chat_models import local
        from dragoman.codecs import ChatRequest, get_codec
        from dragoman.utils.function_calling import convert_to_openai_tool

        row = self.provider
        spelled = [convert_to_openai_tool(tool) for tool in tools or ()]
        request = ChatRequest(model=self.model, messages=list(messages), tools=spelled)
        body = get_codec(row.api, row.dialect).encode_request(request)
        return local.count_prompt_tokens(body, self._path)


class ChatLlamaCpp(ChatLocal):
    """Any model in a .gguf file: `model` is its path."""

    provider_name: ClassVar[str] = "llamacpp"

    @property
    def _path(self) -> str | None:
        return self.model
