"""One run of a tool, written once for sync and async."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pydantic import ValidationError

from dragoman._door import Door
from dragoman.callbacks import AsyncCallbackManagerForToolRun as AsyncToolRun
from dragoman.callbacks import CallbackManagerForToolRun as ToolRun
from dragoman.callbacks import requested
from dragoman.callbacks.ambient import var_child_runnable_config
from dragoman.runnables.config import ensure_config, patch_config, resolve_config
from dragoman.tools.arguments import injected_names
from dragoman.tools.errors import ToolException
from dragoman.tools.output import alisted, format_output, listed
from dragoman.tools.schema import FILTERED_ARGS, wants_of
from dragoman.tools.threads import call_in_thread

if TYPE_CHECKING:
    from dragoman.tools.base import BaseTool

__all__ = ["Call", "execute"]


@dataclass
class Call:
    """What a tool is called with.

    Attributes:
        given: The arguments: a text or a dict.
        call_id: The id of the model's call; None gives a bare result.
        config: The config of the run.
        said: What handlers are told beside.
        verbose: Whether the run is printed; None leaves it to the tool.
    """

    given: Any
    call_id: str | None
    config: Mapping[str, Any] | None
    said: dict[str, Any] = field(default_factory=dict[str, Any])
    verbose: bool | None = None

    @classmethod
    def of(cls, given: Any, config: Mapping[str, Any] | None, kwargs: dict[str, Any]) -> "Call":
        """Return the call that `invoke` means: a dict of type `tool_call` is one of a model."""
        call_id: str | None = kwargs.pop("tool_call_id", None)
        if isinstance(given, dict) and given.get("type") == "tool_call":
            call_id, given = given.get("id"), dict(given.get("args") or {})
        return cls(given, call_id, config, {"color": "green", **kwargs})


async def execute(tool: "BaseTool", door: Door, call: Call) -> Any:
    """Return the result of one run, with the handlers told of start, end and error."""
    config = resolve_config(call.config)
    verbose = bool(call.verbose) or tool.verbose
    manager = None
    if verbose or tool.callbacks or requested(config):
        manager = await _start(tool, door, call, config, verbose=verbose)
    try:
        content, artifact, status = await _outcome(tool, door, call, config, manager)
    except BaseException as error:
        if manager is not None:
            await door.tell(manager.on_tool_error, error, tool_call_id=call.call_id)
        raise
    output = format_output(
        content, artifact, tool_call_id=call.call_id, name=tool.name, status=status
    )
    if manager is not None:
        await door.tell(manager.on_tool_end, output, name=tool.name, **call.said)
    return output


async def _start(
    tool: "BaseTool", door: Door, call: Call, config: Mapping[str, Any] | None, *, verbose: bool
) -> Any:
    from dragoman.callbacks import AsyncCallbackManager, CallbackManager

    config = config or {}
    kind: Any = AsyncCallbackManager if door.is_async else CallbackManager
    manager = kind.configure(
        config.get("callbacks"),
        tool.callbacks,
        verbose,
        config.get("tags"),
        tool.tags,
        config.get("metadata"),
        tool.metadata,
    )
    shown = call.given
    if isinstance(shown, Mapping):
        hidden = {*FILTERED_ARGS, *injected_names(tool)}
        shown = {key: value for key, value in call.given.items() if key not in hidden}
    return await door.tell(
        manager.on_tool_start,
        {"name": tool.name, "description": tool.description},
        shown if isinstance(shown, str) else str(shown),
        run_id=config.get("run_id"),
        name=config.get("run_name"),
        inputs=shown if isinstance(shown, dict) else None,
        tool_call_id=call.call_id,
        **call.said,
    )


async def _outcome(
    tool: "BaseTool", door: Door, call: Call, config: Mapping[str, Any] | None, manager: Any
) -> tuple[Any, Any, str]:
    """Return content, artifact and status; errors that the tool handles become content."""
    try:
        args, kwargs = tool._to_args_and_kwargs(call.given, call.call_id)
        content, artifact = await _called(tool, door, call, args, kwargs, config, manager)
        return content, artifact, "success"
    except ValidationError as error:
        text = _handled(tool.handle_validation_error, error, "Tool input validation error")
        if text is None:
            raise
        return text, None, "error"
    except ToolException as error:
        told = str(error.args[0]) if error.args else "Tool execution error"
        text = _handled(tool.handle_tool_error, error, told)
        if text is None:
            raise
        return text, None, "error"


def _read(tool: "BaseTool", call: Call, response: Any) -> tuple[Any, Any]:
    """Return content and artifact of a response; for a message an iterator is read, in this thread."""
    content, artifact = _parted(tool, response)
    if call.call_id is not None and isinstance(content, Iterator):
        content = listed(cast("Iterator[Any]", content))
    return content, artifact


async def _aread(tool: "BaseTool", call: Call, response: Any) -> tuple[Any, Any]:
    """Return content and artifact as `_read` does; what can block is read in a thread."""
    while call.call_id is not None and isinstance(response, Awaitable):
        response = await cast("Awaitable[Any]", response)
    content, artifact = _parted(tool, response)
    if call.call_id is not None:
        if isinstance(content, Iterator):
            content = await call_in_thread(partial(listed, cast("Iterator[Any]", content)))
        elif isinstance(content, AsyncIterator):
            content = await alisted(cast("AsyncIterator[Any]", content))
    return content, artifact


def _needs_loop(call: Call, response: Any) -> bool:
    """Return whether a message is to be made of what only an event loop can read."""
    if call.call_id is None:
        return False
    if isinstance(response, tuple):
        return any(isinstance(item, AsyncIterator) for item in cast("tuple[Any, ...]", response))
    return isinstance(response, (Awaitable, AsyncIterator))


def _refuse(tool: "BaseTool", response: Any) -> NoReturn:
    if isinstance(response, Coroutine):
        response.close()
    what = "a coroutine" if isinstance(response, Awaitable) else "an async iterator"
    message = f"the function of tool {tool.name!r} returned {what}; call the tool with `ainvoke`"
    raise TypeError(message)


def _parted(tool: "BaseTool", response: Any) -> tuple[Any, Any]:
    """Return content and artifact of a response as they are."""
    if tool.response_format != "content_and_artifact":
        return response, None
    if isinstance(response, tuple) and len(response) == 2:
        return response[0], response[1]
    raise ValueError(
        "Since response_format='content_and_artifact' a two-tuple of the message content and "
        f"raw tool output is expected. Instead, generated response is of type: {type(response)}."
    )


def _handled(rule: Any, error: Exception, text: str) -> Any:
    """Return what an error becomes under `rule`, or None if it is to be raised."""
    if not rule:
        return None
    if rule is True:
        return text
    return rule if isinstance(rule, str) else rule(error)


async def _called(
    tool: "BaseTool",
    door: Door,
    call: Call,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    config: Mapping[str, Any] | None,
    manager: Any,
) -> tuple[Any, Any]:
    """Return content and artifact that the tool's function gives, run where it belongs."""
    function = tool._async_function() if door.is_async else tool._sync_function()
    in_thread = door.is_async and function is None
    if in_thread:
        function = tool._sync_function()
    if function is None:
        message = f"{type(tool).__name__} does not support sync invocation."
        raise NotImplementedError(message)
    child: Any = config
    if manager is not None:
        child = patch_config(config, callbacks=manager.get_child())
    named = _completed(
        function, kwargs, child, manager, is_async=door.is_async, in_thread=in_thread
    )
    args = (*_by_place(function, named, before_others=bool(args)), *args)
    token = None if child is None else var_child_runnable_config.set(child)
    try:
        if not in_thread:
            response = function(*args, **named)
            if door.is_async:
                return await _aread(tool, call, await response)
            if _needs_loop(call, response):
                _refuse(tool, response)
            return _read(tool, call, response)

        def work() -> tuple[Any, tuple[Any, Any] | None]:
            response = function(*args, **named)
            return response, None if _needs_loop(call, response) else _read(tool, call, response)

        response, read = await call_in_thread(work)
        if read is not None:
            return read
        return await _aread(tool, call, response)
    finally:
        if token is not None:
            var_child_runnable_config.reset(token)


def _completed(
    function: Callable[..., Any],
    kwargs: dict[str, Any],
    config: Mapping[str, Any] | None,
    manager: Any,
    *,
    is_async: bool,
    in_thread: bool,
) -> dict[str, Any]:
    """Return the arguments with config and managers added."""
    wants = wants_of(function)
    named = dict(kwargs)
    if (wants.run_manager or wants.callbacks) and manager is None:
        manager = (AsyncToolRun if is_async else ToolRun).get_noop_manager()
    if in_thread and hasattr(manager, "get_sync"):
        manager = manager.get_sync()
    if wants.run_manager:
        named["run_manager"] = manager
    if wants.callbacks:
        named["callbacks"] = manager.get_child()
    for name in wants.config:
        named[name] = ensure_config(config)
    return named


def _by_place(
    function: Callable[..., Any], named: dict[str, Any], *, before_others: bool
) -> list[Any]:
    """Take out of `named` and return the arguments that have to be given by place, in order.

    Those are the ones that cannot be given by name, and all that stand before others by place.
    """
    wants = wants_of(function)
    taken: list[Any] = []
    for name in wants.ordered:
        if name not in named or not (before_others or name in wants.only_by_place):
            break
        taken.append(named.pop(name))
    return taken
