"""`ProviderChatModel`: codec + provider row + transport, as one chat model.

The named classes (`ChatOpenAI` ...) are this class with another row. A call goes: history made valid,
request encoded, sent by the exchange, decoded. What a call needs beyond the model's fields comes as
keyword arguments, as `bind_tools` and `with_structured_output` give them.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from dragoman._door import Door
from dragoman.chat_models import address
from dragoman.chat_models.exchange import Exchange, HttpCall, Retry, Timeouts, Wire
from dragoman.chat_models.exchange.body import write_json
from dragoman.chat_models.parameters import (
    CALL_OPTIONS,
    SPELLINGS,
    ParameterError,
    accept,
    check_clients,
    field_of,
    put,
    refuse,
    wire_parameters,
)
from dragoman.chat_models.providers import PROVIDERS, Provider
from dragoman.chat_models.secret import Secret
from dragoman.codecs import Change, ChatRequest, get_codec
from dragoman.language_models.binding import ToolBinding
from dragoman.language_models.chat_models import BaseChatModel
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

if TYPE_CHECKING:
    from dragoman.language_models.model_profile import ModelProfile

__all__ = ["ProviderChatModel"]

# With one of these the beginning of the conversation is on the provider's side, and with it the calls
# that results at the beginning of ours belong to.
_SERVER_SIDE = frozenset({"previous_response_id", "conversation"})

History = Literal["repair", "repair-lossy", "strict", "send"]


class ProviderChatModel(ToolBinding, BaseChatModel):
    """A chat model of some provider.

    Args:
        model: The provider's name of the model.
        temperature: As the provider defines it; None leaves it to the provider. So do the next three.
        max_tokens: The most tokens a reply may have.
        top_p: As the provider defines it.
        stop: Strings that end a reply.
        api_key: A key, or a function that gives one anew for every request (a token). By default the
            provider's environment variable.
        base_url: Another address, for proxies and for servers that speak the same wire.
        timeout: Seconds of silence, a `(connect, read)` pair, or a mapping with `connect`, `read`,
            `idle` (between two events of a stream) and `total`.
        max_retries: Attempts after the first one.
        max_retry_wait: The longest wait a provider may ask for; a longer one fails at once.
        default_headers: Sent with every request.
        default_query: Put into every address.
        http_client: An `httpx2.Client` of one's own, never closed by us.
        async_http_client: The same for the async methods.
        proxy: A proxy's address; by default the environment's.
        max_connections: At most so many connections at a time.
        model_kwargs: More keys of the request's body, sent as they are.
        streaming: Whether `invoke` streams inside.
        stream_usage: Whether streams ask for token counts.
        history: What happens to a history no provider would take: `repair` what loses nothing (and
            report it in `response_metadata["history_changes"]`), `repair-lossy` all, `strict` raises,
            `send` looks away.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid",
        defer_build=True,  # thirty classes, of which a program uses one
        hide_input_in_errors=True,
        protected_namespaces=(),
        arbitrary_types_allowed=True,
    )

    provider_name: ClassVar[str] = "openai"

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    stop: list[str] | str | None = None
    api_key: Secret | Callable[[], Any] | None = Field(default=None, repr=False)
    base_url: str | None = None
    timeout: Any = None
    max_retries: int = Field(default=2, ge=0)
    max_retry_wait: float = Field(default=60.0, ge=0)
    default_headers: dict[str, str] | None = Field(default=None, repr=False, exclude=True)
    default_query: dict[str, Any] | None = Field(default=None, repr=False, exclude=True)
    http_client: Any = Field(default=None, repr=False, exclude=True)
    async_http_client: Any = Field(default=None, repr=False, exclude=True)
    proxy: str | None = Field(default=None, repr=False, exclude=True)
    max_connections: int | None = Field(default=None, gt=0)
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    streaming: bool = False
    stream_usage: bool = True
    history: History = "repair"

    def __init__(self, model: str | None = None, **data: Any) -> None:
        """Check the parameters, find the key, and keep both; nothing is sent."""
        if model is not None:
            data["model"] = model
        row = self._row_for(data)
        accepted = accept(data, type(self).model_fields, row, type(self).__name__)
        if not accepted.get("model"):
            message = f"`{type(self).__name__}` needs a `model`"
            raise ParameterError(message)
        super().__init__(**accepted)
        self._check(row)

    @classmethod
    def _row_for(cls, data: Mapping[str, Any]) -> Provider:
        """Return the provider's row for a class made with `data`."""
        return PROVIDERS[cls.provider_name]

    @property
    def provider(self) -> Provider:
        """The provider's row."""
        return self._row_for(self.__dict__)

    def _check(self, row: Provider) -> None:
        """Check what can be checked before the first call."""
        Timeouts().changed(self.timeout)
        check_clients(self.http_client, self.async_http_client, self.proxy)
        if self.base_url is not None:
            self.base_url = address.base_url_of(row, self.base_url)
        if self.api_key is None:
            self.api_key = address.find_key(row)
        if self.api_key is None and not row.key_optional and self.base_url is None:
            raise address.missing_key(row)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a field by another of its names, or a parameter of the wire."""
            if not name.startswith("_") and "model_kwargs" in self.__dict__:
                field = field_of(name, self.provider)
                if field != name and field in type(self).model_fields:
                    return getattr(self, field)
                if name in self.model_kwargs:
                    return self.model_kwargs[name]
            return super().__getattr__(name)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show what was set."""
        shown = self.model_fields_set - {"metadata", "profile"}
        return ((name, value) for name, value in super().__repr_args__() if name in shown)

    # ------------------------------------------------------------------ one call

    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kw: Any
    ) -> AIMessage:
        exchange, notes = self._exchange(messages, stop, kw, stream=False)
        with self._span(kw, messages) as span:
            return span.told(_noted(exchange.send(), notes))

    async def _areply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kw: Any
    ) -> AIMessage:
        exchange, notes = self._exchange(messages, stop, kw, stream=False)
        with self._span(kw, messages) as span:
            return span.told(_noted(await exchange.asend(), notes))

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kw: Any
    ) -> Iterator[AIMessageChunk]:
        exchange, notes = self._exchange(messages, stop, kw, stream=True)
        span = self._span(kw, messages)
        if not notes and not span.is_recording:
            return exchange.stream()
        return span.over(exchange.stream(), notes)

    def _achunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kw: Any
    ) -> AsyncIterator[AIMessageChunk]:
        exchange, notes = self._exchange(messages, stop, kw, stream=True)
        span = self._span(kw, messages)
        if not notes and not span.is_recording:
            return exchange.astream()
        return span.aover(exchange.astream(), notes)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(
            generations=[ChatGeneration(message=self._reply(messages, stop, **kwargs))]
        )

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = await self._areply(messages, stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, **kwargs):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in self._achunks(messages, stop, **kwargs):
            yield ChatGenerationChunk(message=chunk)

    # ------------------------------------------------------------------ the request

    def _exchange(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        kw: dict[str, Any],
        *,
        stream: bool,
    ) -> tuple[Exchange, dict[str, Any]]:
        """Return the exchange of one call, and what its reply has to report."""
        row = self.provider
        codec = get_codec(row.api, row.dialect)
        history = kw.get("history", self.history)
        if not _SERVER_SIDE.isdisjoint({*self.model_kwargs, *kw}):
            history = "send"
        messages, notes = _valid(messages, row, str(kw.get("model", self.model)), history)
        changes: list[Change] = []
        request = self._request(messages, stop, kw, row, stream=stream)
        body = self._finish_body(codec.encode_request(request, changes), row, kw, stream=stream)
        lossy = [change for change in changes if change.lossy]
        if lossy:
            notes["request_changes"] = [_as_dict(change) for change in lossy]
        return self._exchange_of(codec, body, row, kw, stream=stream), notes

    def _exchange_of(
        self,
        codec: Any,
        body: dict[str, Any],
        row: Provider,
        kw: Mapping[str, Any],
        *,
        stream: bool,
    ) -> Exchange:
        """Return the exchange that sends `body`."""
        headers = self._call_headers(body, row, kw, stream=stream)
        data = write_json(body)
        wire = Wire(
            codec=codec,
            framing=row.framing,
            provider=row.name,
            retry=Retry(max_retries=self.max_retries, cap_s=self.max_retry_wait),
            timeouts=self._timeouts(row).changed(kw.get("timeout", self.timeout)),
            client=self.http_client,
            async_client=self.async_http_client,
            proxy=self.proxy,
            max_connections=self.max_connections,
        )
        model = str(kw.get("model", self.model))
        query = {**(self.default_query or {}), **kw.get("extra_query", {})}
        named = {
            name.lower(): value
            for given in (self.default_headers, kw.get("extra_headers"))
            for name, value in (given or {}).items()
        }

        async def prepare(door: Door) -> HttpCall:
            base = await self._base(door, row)
            url = address.full_url(
                row, base, stream=stream, fields=self._places(model), query=query
            )
            key = await self._key(door)
            given = {**headers, **address.auth_headers(row, key), **named}
            signed = await self._sign(door, url, given, data, key)
            return HttpCall(url, signed, data, () if key is None else (key,))

        return Exchange(wire, prepare)

    def _timeouts(self, row: Provider) -> Timeouts:
        return Timeouts(read_s=None, idle_s=None) if row.patient else Timeouts()

    def _request(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        kw: Mapping[str, Any],
        row: Provider,
        *,
        stream: bool,
    ) -> ChatRequest:
        """Return the request: the call's arguments win over the model's fields."""
        if not messages:
            message = "a model needs at least one message, got none"
            raise ParameterError(message)
        extra = {**self.model_kwargs, **kw.get("model_kwargs", {})}
        others = [name for name in kw if name not in CALL_OPTIONS]
        if others:
            names = wire_parameters(row.api)
            kw = dict(kw)
            for name in others:
                field = SPELLINGS.get(name, name)
                if name in names or name in extra:
                    put(extra, row.api, name, kw[name])
                elif field in CALL_OPTIONS:
                    kw.setdefault(field, kw[name])
                else:
                    raise refuse(name, names | CALL_OPTIONS, type(self).__name__)
        strings = kw.get("stop", stop) if stop is None else stop
        strings = self.stop if strings is None else strings
        tools: list[Any] = list(kw.get("tools") or ())
        if kw.get("strict") is not None:
            tools = [_strict(tool, kw["strict"]) for tool in tools]
        return ChatRequest(
            model=kw.get("model", self.model),
            messages=messages,
            tools=tools,
            tool_choice=_choice(kw.get("tool_choice")),
            response_format=kw.get("response_format", extra.pop("response_format", None)),
            max_tokens=kw.get("max_tokens", self.max_tokens),
            temperature=kw.get("temperature", self.temperature),
            top_p=kw.get("top_p", self.top_p),
            stop=[strings] if isinstance(strings, str) else strings,
            stream=(True if stream else (False if row.framing == "ndjson" else None))
            if row.stream_in_body
            else None,
            extra=extra,
        )

    def _finish_body(
        self, body: dict[str, Any], row: Provider, kw: Mapping[str, Any], *, stream: bool
    ) -> dict[str, Any]:
        """Return the body with what belongs to the transport put in or taken out."""
        if not row.model_in_body:
            body.pop("model", None)
        if not row.stream_in_body:
            body.pop("stream", None)
        if stream and row.asks_for_usage and kw.get("stream_usage", self.stream_usage):
            body.setdefault("stream_options", {"include_usage": True})
        more = body.pop("extra_body", None)
        for extra in (more, kw.get("extra_body")):
            if extra:
                body.update(extra)
        return body

    def _call_headers(
        self, body: dict[str, Any], row: Provider, kw: Mapping[str, Any], *, stream: bool
    ) -> dict[str, str]:
        """Return the headers of a call, without its key; takes out of the body what is a header."""
        headers = {**address.standard_headers(row, stream=stream), **self._more_headers()}
        betas = body.pop("betas", None) if row.api == "anthropic" else None
        if betas:
            headers["anthropic-beta"] = betas if isinstance(betas, str) else ",".join(betas)
        return headers

    async def _base(self, door: Door, row: Provider) -> str:
        """Return the address before the path; asked anew before every attempt."""
        return address.base_url_of(row, self.base_url)

    async def _key(self, door: Door) -> str | None:
        """Return the key; asked anew before every attempt."""
        return await address.reveal(door, self.api_key)

    def _places(self, model: str) -> dict[str, str]:
        """Return what fills the places in the row's address."""
        return {"model": model}

    def _more_headers(self) -> dict[str, str]:
        """Return headers of this class, beside those of its row."""
        return {}

    async def _sign(
        self, door: Door, url: str, headers: dict[str, str], data: bytes, key: str | None
    ) -> dict[str, str]:
        """Return the headers, signed where the provider wants that."""
        return headers

    # ------------------------------------------------------------------ what others ask

    def _span(self, kw: Mapping[str, Any], messages: list[BaseMessage]) -> Any:
        from dragoman.chat_models.tracing import span_for

        return span_for(self, kw, messages)

    @property
    def _llm_type(self) -> str:
        return f"{self.provider.name}-chat"

    @property
    def model_name(self) -> str:
        """The model's name, as some of LangChain's classes call it."""
        return self.model

    @property
    def _identifying_params(self) -> dict[str, Any]:
        names = ("model", "temperature", "max_tokens", "top_p", "stop", "base_url")
        said = {name: getattr(self, name) for name in names}
        return {**{k: v for k, v in said.items() if v is not None}, **self.model_kwargs}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return {**super()._get_ls_params(stop=stop, **kwargs), "ls_provider": self.provider.name}

    def _resolve_model_profile(self) -> "ModelProfile | None":
        from dragoman.chat_models.profiles import profile_of

        return profile_of(self.provider.name, self.model)

    def _structured_method(self) -> str:
        return (
            "json_schema" if (self.profile or {}).get("structured_output") else "function_calling"
        )


def _valid(
    messages: list[BaseMessage], row: Provider, model: str, history: History
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """Return the messages as they are to be sent, and what to report about them."""
    if history == "send":
        return messages, {}
    from dragoman.chat_models.history import ready, target_for

    return ready(messages, target_for((row.name, row.dialect, row.api), model), history)


def _noted(reply: AIMessage, notes: Mapping[str, Any]) -> AIMessage:
    if notes:
        reply.response_metadata.update(notes)
    return reply


def _as_dict(change: Change) -> dict[str, Any]:
    return {
        "path": change.path,
        "code": change.code,
        "lossy": change.lossy,
        "message": change.message,
    }


def _choice(choice: Any) -> Any:
    """Return LangChain's spellings of a tool choice in ours."""
    if isinstance(choice, bool):
        return "any" if choice else None
    return "any" if choice == "required" else choice


def _strict(tool: Any, strict: bool) -> Any:
    """Return a function tool with the wish for strict arguments in it."""
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or "strict" in function:
        return tool
    return {**tool, "function": {**function, "strict": strict}}
