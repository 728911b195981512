"""Another try for model and tool calls that failed."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Literal

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.middleware.types import (
    AgentMiddleware,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from dragoman.errors import ModelError, short
from dragoman.messages import AIMessage, ToolMessage
from dragoman.tools.execute import error_text

__all__ = ["ModelRetryMiddleware", "ToolRetryMiddleware"]

RetryOn = type[BaseException] | tuple[type[BaseException], ...] | Callable[[BaseException], bool]
OnFailure = Literal["continue", "error", "return_message", "raise"] | Callable[[Exception], str]


class _Retries:
    """When to try again, and how long to wait."""

    def __init__(
        self,
        max_retries: int,
        retry_on: RetryOn,
        on_failure: OnFailure,
        backoff_factor: float,
        initial_delay: float,
        max_delay: float,
        jitter: bool,
    ) -> None:
        for name, value in (
            ("max_retries", max_retries),
            ("backoff_factor", backoff_factor),
            ("initial_delay", initial_delay),
            ("max_delay", max_delay),
        ):
            if value < 0:
                message = f"{name} must be >= 0, got {short(value)}"
                raise ValueError(message)
        self.max_retries = max_retries
        self.retry_on = retry_on
        self.on_failure = {"raise": "error", "return_message": "continue"}.get(
            str(on_failure), on_failure
        )
        self.backoff_factor = backoff_factor
        self.initial_delay = initial_delay
        self.max_delay = max_delay
        self.jitter = jitter

    def wants(self, error: Exception) -> bool:
        if isinstance(self.retry_on, type | tuple):
            return isinstance(error, self.retry_on)
        return self.retry_on(error)

    def delay_s(self, attempt: int, error: Exception) -> float:
        asked = getattr(error, "retry_after_s", None)
        if isinstance(asked, int | float):
            return min(max(0.0, float(asked)), self.max_delay)
        factor = self.backoff_factor**attempt if self.backoff_factor else 1.0
        delay = min(self.initial_delay * factor, self.max_delay)
        return delay * random.uniform(0.75, 1.25) if self.jitter else delay  # noqa: S311 - no secret

    async def run(self, door: Door, handler: Callable[[Any], Any], request: Any) -> Any:
        """Return what the handler gives, or its last error after all tries."""
        for attempt in range(self.max_retries + 1):
            try:
                return await door.tell(handler, request)
            except Exception as error:
                if not self.wants(error) or attempt == self.max_retries:
                    if self.on_failure == "error":
                        raise
                    return _Failed(error, attempt + 1)
                delay = self.delay_s(attempt, error)
            if delay > 0:
                await door.sleep(delay)
        raise AssertionError("unreachable")

    def text(self, failed: "_Failed", what: str) -> str:
        if callable(self.on_failure):
            return self.on_failure(failed.error)
        tries = f"{failed.attempts} attempt{'s' if failed.attempts > 1 else ''}"
        return f"{what} failed after {tries} with {error_text(failed.error)}"


class _Failed:
    def __init__(self, error: Exception, attempts: int) -> None:
        self.error = error
        self.attempts = attempts


def _is_retryable(error: BaseException) -> bool:
    """Return whether a failed model call may succeed later; what is no ModelError may."""
    return error.is_retryable if isinstance(error, ModelError) else isinstance(error, Exception)


class ModelRetryMiddleware(AgentMiddleware[Any, Any]):
    """Calls the model again when a call failed.

    Args:
        max_retries: Tries after the first.
        retry_on: Exception types, or a function; by default what may succeed later.
        on_failure: `continue` gives a reply that says what failed; `error` raises; a function gives
            the text of the reply.
        backoff_factor: By how much the wait grows.
        initial_delay: The first wait, in seconds.
        max_delay: The longest wait, in seconds, also where a server asks for a longer one.
        jitter: Whether waits vary by a quarter.
    """

    def __init__(
        self,
        *,
        max_retries: int = 2,
        retry_on: RetryOn = _is_retryable,
        on_failure: OnFailure = "continue",
        backoff_factor: float = 2.0,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        jitter: bool = True,
    ) -> None:
        self._retries = _Retries(
            max_retries, retry_on, on_failure, backoff_factor, initial_delay, max_delay, jitter
        )

    def _answer(self, given: Any) -> ModelCallResult:
        if isinstance(given, _Failed):
            return ModelResponse([AIMessage(self._retries.text(given, "Model call"))])
        return given

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Call the model, again if it fails."""
        return self._answer(run(self._retries.run(SYNC, handler, request)))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Async `wrap_model_call`."""
        return self._answer(await self._retries.run(ASYNC, handler, request))


class ToolRetryMiddleware(AgentMiddleware[Any, Any]):
    """Runs a tool again when it failed.

    A failure is what the tool raises; wrong arguments are told to the model at once.

    Args:
        max_retries: Tries after the first.
        tools: The tools meant, by name or as objects; None for all.
        retry_on: Exception types, or a function.
        on_failure: `continue` gives an error result; `error` raises; a function gives its text.
        backoff_factor: By how much the wait grows.
        initial_delay: The first wait, in seconds.
        max_delay: The longest wait, in seconds, also where a server asks for a longer one.
        jitter: Whether waits vary by a quarter.
    """

    def __init__(
        self,
        *,
        max_retries: int = 2,
        tools: Sequence[Any] | None = None,
        retry_on: RetryOn = (Exception,),
        on_failure: OnFailure = "continue",
        backoff_factor: float = 2.0,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        jitter: bool = True,
    ) -> None:
        self._names = (
            None if tools is None else {t if isinstance(t, str) else t.name for t in tools}
        )
        self._retries = _Retries(
            max_retries, retry_on, on_failure, backoff_factor, initial_delay, max_delay, jitter
        )

    def _meant(self, request: ToolCallRequest) -> bool:
        return self._names is None or request.tool_call["name"] in self._names

    def _answer(self, request: ToolCallRequest, given: Any) -> Any:
        if not isinstance(given, _Failed):
            return given
        call = request.tool_call
        text = self._retries.text(given, f"Tool '{call['name']}'")
        if not callable(self._retries.on_failure):
            text += ". Please try again."
        return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Run the tool, again if it fails."""
        if not self._meant(request):
            return handler(request)
        return self._answer(request, run(self._retries.run(SYNC, handler, request)))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Async `wrap_tool_call`."""
        if not self._meant(request):
            return await handler(request)
        return self._answer(request, await self._retries.run(ASYNC, handler, request))
