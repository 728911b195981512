"""`OpenAI`: a completion model (`/v1/completions`), which takes a prompt and gives a `str`.

The connection is that of `ChatOpenAI`; only the wire is another, and small enough to stand here.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, ClassVar

import msgspec
from pydantic import ConfigDict, Field

from dragoman.chat_models.exchange import Exchange
from dragoman.chat_models.exchange.body import read_json
from dragoman.chat_models.named.openai import ChatOpenAI
from dragoman.chat_models.parameters import CALL_OPTIONS, ParameterError, refuse
from dragoman.chat_models.providers import PROVIDERS, Provider
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError, ModelError
from dragoman.language_models.llms import BaseLLM
from dragoman.messages import AIMessageChunk
from dragoman.outputs import Generation, GenerationChunk, LLMResult

__all__ = ["OpenAI"]

COMPLETIONS = msgspec.structs.replace(PROVIDERS["openai"], title="OpenAI", path="/completions")
PARAMETERS = frozenset(
    [
        "best_of",
        "echo",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "n",
        "presence_penalty",
        "seed",
        "stream_options",
        "suffix",
        "user",
        "cache_prompt",
        "grammar",
        "json_schema",
        "min_p",
        "mirostat",
        "n_predict",
        "repeat_penalty",
        "top_k",
    ]
)
"""https://platform.openai.com/docs/api-reference/completions (read 2026-11), then llama.cpp's."""


class _Connection(ChatOpenAI):
    """Where completions are sent."""

    @classmethod
    def _row_for(cls, data: Mapping[str, Any]) -> Provider:
        return COMPLETIONS


class OpenAI(BaseLLM):
    """OpenAI's completions, and those of servers that copy them (llama.cpp, vLLM).

    Args:
        model: The provider's name of the model.
        data: As for `ChatOpenAI`: `temperature`, `max_tokens`, `top_p`, `stop`, `api_key`, `base_url`
            and the rest.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", hide_input_in_errors=True, protected_namespaces=()
    )

    connection: Any = Field(repr=False, exclude=True)

    def __init__(self, model: str = "gpt-3.5-turbo-instruct", **data: Any) -> None:
        """Check the parameters and find the key; nothing is sent."""
        mine = {name: data.pop(name) for name in list(data) if name in BaseLLM.model_fields}
        kwargs = {name: data.pop(name) for name in list(data) if name in PARAMETERS}
        model = data.pop("model_name", model)
        data["model_kwargs"] = {**kwargs, **(data.get("model_kwargs") or {})}
        mine["connection"] = _Connection(model=model, **data)
        super().__init__(**mine)

    @property
    def model(self) -> str:
        """The model's name."""
        return self.connection.model

    @property
    def _llm_type(self) -> str:
        return "openai"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return self.connection._identifying_params

    def _exchange(
        self, prompts: list[str], stop: list[str] | None, kw: Mapping[str, Any], *, stream: bool
    ) -> Exchange:
        owner = self.connection
        unknown = [name for name in kw if name not in PARAMETERS | CALL_OPTIONS]
        if unknown:
            raise refuse(unknown[0], PARAMETERS | CALL_OPTIONS, type(self).__name__)
        if not prompts:
            message = "a model needs at least one prompt, got none"
            raise ParameterError(message)
        said = {
            "temperature": owner.temperature,
            "max_tokens": owner.max_tokens,
            "top_p": owner.top_p,
        }
        said["stop"] = stop if stop is not None else owner.stop
        said.update(
            (name, kw[name]) for name in ("temperature", "max_tokens", "top_p") if name in kw
        )
        body = {
            "model": kw.get("model", owner.model),
            "prompt": prompts[0] if len(prompts) == 1 else prompts,
            **{name: value for name, value in said.items() if value is not None},
            **owner.model_kwargs,
            **{name: value for name, value in kw.items() if name in PARAMETERS},
        }
        if stream:
            body["stream"] = True
        body = owner._finish_body(body, COMPLETIONS, kw, stream=stream)
        return owner._exchange_of(_Codec(), body, COMPLETIONS, kw, stream=stream)

    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        reply: Any = self._exchange(prompts, stop, kwargs, stream=False).send()
        return _result(reply, len(prompts))

    async def _agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        reply: Any = await self._exchange(prompts, stop, kwargs, stream=False).asend()
        return _result(reply, len(prompts))

    def _stream(
        self, prompt: str, stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[GenerationChunk]:
        source = self._exchange([prompt], stop, kwargs, stream=True).stream()
        try:
            for chunk in source:
                yield GenerationChunk(
                    text=chunk.text, generation_info=chunk.response_metadata or None
                )
        finally:
            source.close()

    async def _astream(
        self, prompt: str, stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[GenerationChunk]:
        source = self._exchange([prompt], stop, kwargs, stream=True).astream()
        try:
            async for chunk in source:
                yield GenerationChunk(
                    text=chunk.text, generation_info=chunk.response_metadata or None
                )
        finally:
            await source.aclose()


class _Codec:
    """The wire of completions."""

    def decode_response(self, body: Any) -> dict[str, Any]:
        if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
            message = "the reply has no choices"
            raise DecodeError(message, path="$.choices")
        return body

    def decode_error(self, status: int | None, body: Any) -> ModelError:
        return wire_error(status, body, provider="openai")

    def stream_decoder(self) -> "_StreamDecoder":
        return _StreamDecoder()


class _StreamDecoder:
    def __init__(self) -> None:
        self.done = False

    def feed(self, event: str | None, data: str | bytes) -> list[AIMessageChunk]:
        text = data.encode() if isinstance(data, str) else data
        if text.strip() == b"[DONE]":
            self.done = True
            return []
        body = read_json(text)
        if not isinstance(body, dict):
            return []
        if body.get("error"):
            raise wire_error(None, body, provider="openai")
        out: list[AIMessageChunk] = []
        for choice in body.get("choices") or ():
            finish = choice.get("finish_reason")
            self.done = self.done or finish is not None
            info = (
                {} if finish is None else {"finish_reason": finish, "model_name": body.get("model")}
            )
            out.append(AIMessageChunk(choice.get("text") or "", response_metadata=info))
        return out

    def close(self) -> list[AIMessageChunk]:
        return []


def _result(body: Mapping[str, Any], n_prompts: int) -> LLMResult:
    choices = sorted(body["choices"], key=lambda choice: choice.get("index") or 0)
    each = max(1, len(choices) // n_prompts)
    made = [
        Generation(
            text=choice.get("text") or "",
            generation_info={
                "finish_reason": choice.get("finish_reason"),
                "logprobs": choice.get("logprobs"),
            },
        )
        for choice in choices
    ]
    return LLMResult(
        generations=[made[at * each : (at + 1) * each] for at in range(n_prompts)],
        llm_output={"token_usage": body.get("usage") or {}, "model_name": body.get("model")},
    )
