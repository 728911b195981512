"""`with_structured_output`: a model that answers with objects.

The model gets the schema as a tool or as a response format; the step behind it reads the answer
(`answers.py`), whole or streamed.
"""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from dragoman.errors import DragomanError
from dragoman.language_models.answers import AnswerReader, Target, read_answer, target_of
from dragoman.runnables import Runnable, RunnableConfig
from dragoman.utils.function_calling import convert_to_json_schema, convert_to_openai_tool

if TYPE_CHECKING:
    from dragoman.language_models.chat_models import BaseChatModel

__all__ = ["ReadAnswer", "structured_model"]

METHODS = ("function_calling", "json_schema", "json_mode")


def structured_model(
    model: "BaseChatModel",
    schema: Any,
    *,
    method: str,
    include_raw: bool,
    strict: bool | None,
) -> Runnable[Any, Any]:
    """Return `model` with the schema bound, and a step that reads its answers.

    Raises:
        ValueError: If the method or the schema is unknown.
        NotImplementedError: If the model takes no tools and the method needs them.
    """
    from dragoman.language_models.chat_models import BaseChatModel

    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}; use one of {', '.join(METHODS)}")
    by_tool = method == "function_calling"
    if by_tool and type(model).bind_tools is BaseChatModel.bind_tools:
        raise NotImplementedError("with_structured_output is not implemented for this model.")
    tool = convert_to_openai_tool(schema, strict=strict)
    name = tool["function"]["name"]
    target = target_of(schema, name, by_tool=by_tool)
    told = {"kwargs": {"method": method}, "schema": tool}
    if by_tool:
        options: dict[str, Any] = {} if strict is None else {"strict": strict}
        bound: Any = model.bind_tools(
            [schema], tool_choice="any", ls_structured_output_format=told, **options
        )
    elif method == "json_mode":
        bound = model.bind(
            response_format={"type": "json_object"}, ls_structured_output_format=told
        )
    else:
        form = convert_to_json_schema(schema, strict=strict)
        form.pop("strict", None)
        described: dict[str, Any] = {"name": name, "schema": form}
        if strict is not None:
            described["strict"] = strict
        bound = model.bind(
            response_format={"type": "json_schema", "json_schema": described},
            ls_structured_output_format=told,
        )
    return bound | ReadAnswer(target, include_raw=include_raw)


class ReadAnswer(Runnable[Any, Any]):
    """The step behind the model.

    Args:
        target: What answers become.
        include_raw: Whether the output is `{"raw", "parsed", "parsing_error"}`.
    """

    _waits: ClassVar[bool] = False

    def __init__(self, target: Target, *, include_raw: bool) -> None:
        self.target = target
        self.include_raw = include_raw

    def _read(self, reply: Any) -> Any:
        if not self.include_raw:
            return read_answer(reply, self.target)
        try:
            parsed, error = read_answer(reply, self.target), None
        except DragomanError as failure:
            parsed, error = None, failure
        return {"raw": reply, "parsed": parsed, "parsing_error": error}

    async def _aread(self, reply: Any) -> Any:
        return self._read(reply)

    @override
    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer in the reply `input`.

        Raises:
            ModelRefusalError: If the model declined.
            OutputParserException: If the reply was cut off, holds no answer, or a wrong one.
        """
        return self._call_with_config(self._read, input, config, run_type="parser")

    @override
    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer in the reply `input`, as `invoke` does."""
        return await self._acall_with_config(self._aread, input, config, run_type="parser")

    @override
    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Yield the answer as it grows, from the chunks of a reply."""
        yield from self._transform_stream_with_config(
            input, self._stream_answer, config, run_type="parser"
        )

    @override
    async def atransform(
        self, input: AsyncIterator[Any], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Yield the answer as it grows, from the chunks of a reply."""
        async for piece in self._atransform_stream_with_config(
            input, self._astream_answer, config, run_type="parser"
        ):
            yield piece

    def _stream_answer(self, chunks: Iterator[Any]) -> Iterator[Any]:
        reader = AnswerReader(self.target)
        for chunk in chunks:
            yield from self._fed(reader, chunk)
        yield from self._closed(reader)

    async def _astream_answer(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        reader = AnswerReader(self.target)
        async for chunk in chunks:
            for piece in self._fed(reader, chunk):
                yield piece
        for piece in self._closed(reader):
            yield piece

    def _fed(self, reader: AnswerReader, chunk: Any) -> list[Any]:
        pieces = reader.feed(chunk)
        # Pieces of a stream are added up by whoever collects it: a dict that grows is no sum,
        # so beside the raw chunks only the whole answer is given.
        return [{"raw": chunk}] if self.include_raw else pieces

    def _closed(self, reader: AnswerReader) -> list[Any]:
        if not self.include_raw:
            return reader.close()
        try:
            parsed, error = read_answer(reader.reply(), self.target), None
        except DragomanError as failure:
            parsed, error = None, failure
        return [{"parsed": parsed, "parsing_error": error}]
