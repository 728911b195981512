"""`RunnableRetry`: a runnable that is tried again when it fails.

Waits grow exponentially with a random part, and go through the door: under async nothing blocks. A
batch tries again only what failed. Streams are not tried again: a piece that was given is given.
"""

import random
from collections.abc import Callable
from typing import Any, cast

from typing_extensions import TypedDict, override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._runs_of_batch import close_runs, fail_runs, open_runs
from dragoman.runnables._scope import Scope, traced
from dragoman.runnables.binding import RunnableBindingBase
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.utils import Input, Output

__all__ = ["ExponentialJitterParams", "RunnableRetry"]


class ExponentialJitterParams(TypedDict, total=False):
    """How long to wait, in seconds: `min(max, initial * exp_base ** (attempt - 1) + random * jitter)`."""

    initial: float
    """1 by default."""
    max: float
    """No limit by default."""
    exp_base: float
    """2 by default."""
    jitter: float
    """1 by default."""


class RunnableRetry(RunnableBindingBase[Input, Output]):
    """A runnable tried up to `max_attempt_number` times; the last error is raised.

    `retry_exception_types` are the errors after which it is tried again, or a function that says so.
    """

    retry_exception_types: tuple[type[BaseException], ...] | Callable[[BaseException], bool] = (
        Exception,
    )
    wait_exponential_jitter: bool = True
    exponential_jitter_params: ExponentialJitterParams | None = None
    max_attempt_number: int = 3

    def _is_retried(self, error: BaseException) -> bool:
        kinds = self.retry_exception_types
        if isinstance(kinds, tuple):
            return isinstance(error, kinds)
        # A cancellation or an interrupt is no failure, whatever a predicate makes of it.
        return isinstance(error, Exception) and bool(kinds(error))

    def _wait_s(self, attempt: int) -> float:
        """Return how long to wait after `attempt`, counted from 1."""
        if not self.wait_exponential_jitter:
            return 0.0
        given = self.exponential_jitter_params or {}
        longest = given.get("max", float("inf"))
        try:
            wait = given.get("initial", 1.0) * given.get("exp_base", 2.0) ** (attempt - 1)
        except OverflowError:
            return longest
        wait += random.random() * given.get("jitter", 1.0)  # noqa: S311 - no secret depends on it
        return max(0.0, min(longest, wait))

    def _child(self, scope: Scope, attempt: int) -> Any:
        if attempt == 1:
            return scope.to(self.bound)
        return scope.to(self.bound, "retry:attempt:", attempt)

    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        attempt = 1
        while True:
            try:
                child = self._child(scope, attempt)
                return await door.invoke(self.bound, value, child, **kwargs)
            except BaseException as error:
                if attempt >= self.max_attempt_number or not self._is_retried(error):
                    raise
            await door.sleep(self._wait_s(attempt))
            attempt += 1

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        kwargs = {**self.kwargs, **kwargs}
        body = traced(SYNC, self, input, self._config(config), self._run, kwargs, run_type=None)
        return run(body)

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        kwargs = {**self.kwargs, **kwargs}
        given = self._config(config)
        return await traced(ASYNC, self, input, given, self._run, kwargs, run_type=None)

    @override
    def batch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        configs = self._configs(config, len(inputs))
        kwargs = {**self.kwargs, **kwargs}
        return run(self._batch(SYNC, inputs, configs, kwargs, keep=return_exceptions))

    @override
    async def abatch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        configs = self._configs(config, len(inputs))
        kwargs = {**self.kwargs, **kwargs}
        return await self._batch(ASYNC, inputs, configs, kwargs, keep=return_exceptions)

    async def _batch(
        self, door: Door, inputs: list[Any], config: Any, kwargs: dict[str, Any], *, keep: bool
    ) -> list[Any]:
        """Return the outputs in order; each attempt is a batch of what failed in the one before."""
        if not inputs:
            return []
        scopes = await open_runs(door, self, inputs, config)
        outputs: list[Any] = [None] * len(inputs)
        left = list(range(len(inputs)))
        attempt = 1
        try:
            while True:
                done = await door.tell(
                    self.bound.abatch if door.is_async else self.bound.batch,
                    [inputs[at] for at in left],
                    [cast("RunnableConfig", self._child(scopes[at], attempt) or {}) for at in left],
                    return_exceptions=True,
                    **kwargs,
                )
                for at, output in zip(left, done, strict=True):
                    outputs[at] = output
                failed = [at for at in left if isinstance(outputs[at], BaseException)]
                left = [at for at in failed if self._is_retried(outputs[at])]
                if failed and not keep and (attempt >= self.max_attempt_number or left != failed):
                    final = [at for at in failed if at not in left] or failed
                    raise outputs[final[0]]
                if not left or attempt >= self.max_attempt_number:
                    break
                await door.sleep(self._wait_s(attempt))
                attempt += 1
        except BaseException as error:
            await fail_runs(door, scopes, error)
            raise
        await close_runs(door, scopes, outputs)
        return outputs
