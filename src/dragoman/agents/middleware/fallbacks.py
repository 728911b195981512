"""Other models for when one fails."""

from typing import Any

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest
from dragoman.tools.execute import error_text

__all__ = ["ModelFallbackMiddleware"]


class ModelFallbackMiddleware(AgentMiddleware[Any, Any]):
    """Calls other models, in order, when the agent's own fails.

    When all fail the last error is raised, with a note for each one before it.

    Args:
        first_model: The first to try after the agent's own; a model or a string.
        *additional_models: Those to try after it.
    """

    def __init__(self, first_model: Any, *additional_models: Any) -> None:
        self.models: list[Any] = [_made(model) for model in (first_model, *additional_models)]

    async def _run(self, door: Door, request: ModelRequest, handler: Any) -> ModelCallResult:
        tries = [request, *(request.override(model=model) for model in self.models)]
        notes: list[str] = []
        for attempt in tries[:-1]:
            try:
                return await door.tell(handler, attempt)
            except Exception as error:  # noqa: BLE001 - the next model answers for it
                notes.append(f"before it, model {len(notes) + 1} failed: {error_text(error)}")
        try:
            return await door.tell(handler, tries[-1])
        except Exception as error:
            for note in notes:
                error.add_note(note)
            raise

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Call the models until one answers."""
        return run(self._run(SYNC, request, handler))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Async `wrap_model_call`."""
        return await self._run(ASYNC, request, handler)


def _made(model: Any) -> Any:
    if isinstance(model, str):
        from dragoman.chat_models import init_chat_model

        return init_chat_model(model)
    return model
