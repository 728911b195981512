"""`astream_events`: one stream of what happens in a chain and in everything it calls.

A handler that hears of every run puts events into a queue, from whatever thread it is told in; the
chain runs in a task of its own, which is cancelled when the consumer leaves.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple, cast
from uuid import UUID, uuid4

from typing_extensions import override

from dragoman.callbacks.base import StreamingHandler
from dragoman.runnables._stream import aclose_all
from dragoman.runnables.config import RunnableConfig, ensure_config, merge_configs

__all__ = ["EventFilter", "EventTap", "stream_events"]

_END: Any = object()


class EventFilter(NamedTuple):
    """Which runs' events are wanted: all, or those included and not excluded."""

    include_names: Sequence[str] | None = None
    include_types: Sequence[str] | None = None
    include_tags: Sequence[str] | None = None
    exclude_names: Sequence[str] | None = None
    exclude_types: Sequence[str] | None = None
    exclude_tags: Sequence[str] | None = None

    def wants(self, name: str, kind: str, tags: Sequence[str]) -> bool:
        """Return whether events of a run are wanted."""
        included = (
            (self.include_names is not None and name in self.include_names)
            or (self.include_types is not None and kind in self.include_types)
            or (self.include_tags is not None and any(tag in self.include_tags for tag in tags))
        )
        names_some = self.include_names, self.include_types, self.include_tags
        if not included and any(some is not None for some in names_some):
            return False
        return not (
            (self.exclude_names is not None and name in self.exclude_names)
            or (self.exclude_types is not None and kind in self.exclude_types)
            or (self.exclude_tags is not None and any(tag in self.exclude_tags for tag in tags))
        )


class _Known(NamedTuple):
    """What is remembered of a run while it runs."""

    name: str
    kind: str
    tags: list[str]
    metadata: dict[str, Any]
    parent: UUID | None
    input: dict[str, Any]


class EventTap(StreamingHandler):
    """Turns what handlers are told into events, in a queue of the loop it was made in."""

    def __init__(self, wanted: EventFilter) -> None:
        self.wanted = wanted
        self.loop: asyncio.AbstractEventLoop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Any] = asyncio.Queue()
        self.known: dict[UUID, _Known] = {}
        self.parents: dict[UUID, UUID | None] = {}

    def put(self, event: Any) -> None:
        """Put an event into the queue, from any thread."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self.loop:
            self.queue.put_nowait(event)
        else:
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)

    def _parent_ids(self, run_id: UUID) -> list[str]:
        found: list[str] = []
        parent = self.parents.get(run_id)
        while parent is not None:
            found.append(str(parent))
            parent = self.parents.get(parent)
        return found[::-1]

    def _emit(self, run_id: UUID, known: _Known, step: str, data: dict[str, Any]) -> None:
        if self.wanted.wants(known.name, known.kind, known.tags):
            self.put(
                {
                    "event": f"on_{known.kind}_{step}",
                    "data": data,
                    "name": known.name,
                    "tags": known.tags,
                    "run_id": str(run_id),
                    "metadata": known.metadata,
                    "parent_ids": self._parent_ids(run_id),
                }
            )

    def _start(
        self, kind: str, serialized: Any, given: dict[str, Any], told: dict[str, Any]
    ) -> None:
        run_id: UUID = told["run_id"]
        known = _Known(
            told.get("name") or (serialized or {}).get("name") or "Unnamed",
            kind,
            list(told.get("tags") or ()),
            dict(told.get("metadata") or {}),
            told.get("parent_run_id"),
            given,
        )
        self.known[run_id] = known
        self.parents[run_id] = known.parent
        self._emit(run_id, known, "start", dict(given))

    def _end(self, run_id: UUID, output: Any, given: dict[str, Any]) -> None:
        known = self.known.pop(run_id, None)
        if known is not None:
            self._emit(run_id, known, "end", {"output": output, **(given or known.input)})

    def _chunk(self, run_id: UUID, chunk: Any) -> None:
        known = self.known.get(run_id)
        if known is not None:
            self._emit(run_id, known, "stream", {"chunk": chunk})

    @override
    def tap_chunk(self, run_id: UUID, chunk: Any) -> None:
        self._chunk(run_id, chunk)

    # ------------------------------------------------------------ chains, prompts, parsers

    @override
    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, **kwargs: Any) -> None:
        # A streamed input is not known yet: it is told with the end.
        given = {} if inputs == {"input": ""} else {"input": inputs}
        self._start(kwargs.get("run_type") or "chain", serialized, given, kwargs)

    @override
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        given = {"input": kwargs["inputs"]} if "inputs" in kwargs else {}
        self._end(run_id, outputs, given)

    @override
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.known.pop(run_id, None)

    # ------------------------------------------------------------ models

    @override
    def on_llm_start(self, serialized: dict[str, Any], prompts: list[str], **kwargs: Any) -> None:
        self._start("llm", serialized, {"input": {"prompts": prompts}}, kwargs)

    @override
    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[Any]], **kwargs: Any
    ) -> None:
        self._start("chat_model", serialized, {"input": {"messages": messages}}, kwargs)

    @override
    def on_llm_new_token(
        self, token: Any, *, chunk: Any = None, run_id: UUID, **kwargs: Any
    ) -> None:
        self._chunk(run_id, getattr(chunk, "message", chunk) if chunk is not None else token)

    @override
    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        known = self.known.get(run_id)
        if known is None:
            return
        generations: list[list[Any]] = response.generations
        if known.kind == "chat_model":
            output: Any = next((one.message for some in generations for one in some), None)
        else:
            texts = [
                [
                    {"text": one.text, "generation_info": one.generation_info, "type": one.type}
                    for one in some
                ]
                for some in generations
            ]
            output = {"generations": texts, "llm_output": response.llm_output}
        self._end(run_id, output, {})

    @override
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.known.pop(run_id, None)

    # ------------------------------------------------------------ tools, retrievers, custom events

    @override
    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self._start("tool", serialized, {"input": kwargs.get("inputs") or {}}, kwargs)

    @override
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, output, {})

    @override
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        known = self.known.pop(run_id, None)
        if known is not None:
            self._emit(run_id, known, "error", {"error": error, **known.input})

    @override
    def on_retriever_start(self, serialized: dict[str, Any], query: str, **kwargs: Any) -> None:
        self._start("retriever", serialized, {"input": {"query": query}}, kwargs)

    @override
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, documents, {})

    @override
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.known.pop(run_id, None)

    @override
    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        known = self.known.get(run_id)
        tags = list(kwargs.get("tags") or ())
        if self.wanted.wants(name, "on_custom_event", tags):
            self.put(
                {
                    "event": "on_custom_event",
                    "data": data,
                    "name": name,
                    "tags": tags,
                    "run_id": str(run_id),
                    "metadata": dict(kwargs.get("metadata") or {}),
                    "parent_ids": [] if known is None else self._parent_ids(run_id),
                }
            )


async def stream_events(
    runnable: Any,
    value: Any,
    config: RunnableConfig | None,
    wanted: EventFilter,
    version: str,
    kwargs: dict[str, Any],
) -> AsyncIterator[Any]:
    """Yield the events of `runnable.astream(value)`; its error, if any, is raised after them."""
    if version != "v2":
        text = 'Only version "v2" of the schema is supported: pass version="v2".'
        raise NotImplementedError(text)
    tap = EventTap(wanted)
    full = ensure_config(merge_configs(ensure_config(config), {"callbacks": [tap]}))
    root = full.get("run_id") or uuid4()
    full["run_id"] = root

    async def consume() -> None:
        output = runnable.astream(value, full, **kwargs)
        try:
            async for _ in output:
                pass
        finally:
            try:
                await aclose_all([output])
            finally:
                tap.put(_END)

    task = asyncio.create_task(consume())
    is_first = True
    try:
        while (event := await tap.queue.get()) is not _END:
            data = cast("dict[str, Any]", event["data"])
            is_root = event["run_id"] == str(root)
            if (
                is_first
                and event["event"] != "on_custom_event"
                and (is_root or "input" not in data)
            ):
                data["input"] = value
            elif is_root and event["event"].endswith("_end"):
                # It stands in the first event already.
                data.pop("input", None)
            is_first = False
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
