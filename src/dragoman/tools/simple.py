"""`Tool`: a function of one text as a tool."""

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from typing_extensions import override

from dragoman.tools.base import ArgsSchema, BaseTool
from dragoman.tools.errors import ToolException

__all__ = ["Tool"]


class Tool(BaseTool):
    """A tool that calls a function with one argument.

    Attributes:
        func: The function for sync calls; async ones run it in a thread.
        coroutine: The function for async calls.

    >>> Tool("upper", str.upper, "Upper case.").invoke("a")
    'A'
    """

    description: str = ""
    func: Callable[..., Any] | None
    coroutine: Callable[..., Awaitable[Any]] | None = None

    _takes_one_text: ClassVar[bool] = True

    def __init__(
        self, name: str, func: Callable[..., Any] | None, description: str, **kwargs: Any
    ) -> None:
        """Build a tool from its name, function and description."""
        super().__init__(name=name, func=func, description=description, **kwargs)

    @property
    @override
    def args(self) -> dict[str, Any]:
        """The JSON Schemas of the arguments; one text, unless there is an `args_schema`."""
        return super().args if self.args_schema is not None else {"tool_input": {"type": "string"}}

    @override
    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._to_args_and_kwargs(tool_input, tool_call_id)
        values = [*args, *kwargs.values()]
        if len(values) != 1:
            message = (
                f"Too many arguments to single-input tool {self.name}. Consider using "
                f"StructuredTool instead. Args: {values}"
            )
            raise ToolException(message)
        return tuple(values), {}

    @override
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        if self.func is None:
            raise NotImplementedError("Tool does not support sync invocation.")
        return self.func(*args, **kwargs)

    @override
    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        if self.coroutine is not None:
            return await self.coroutine(*args, **kwargs)
        return await super()._arun(*args, **kwargs)

    @override
    def _sync_function(self) -> Callable[..., Any] | None:
        return self.func if type(self)._run is Tool._run else self._run

    @override
    def _async_function(self) -> Callable[..., Any] | None:
        return self._arun if type(self)._arun is not Tool._arun else self.coroutine

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None,
        name: str,
        description: str,
        return_direct: bool = False,
        args_schema: ArgsSchema | None = None,
        coroutine: Callable[..., Awaitable[Any]] | None = None,
        **kwargs: Any,
    ) -> "Tool":
        """Return a tool for a function.

        Raises:
            ValueError: If there is neither a function nor a coroutine function.
        """
        if func is None and coroutine is None:
            raise ValueError("Function and/or coroutine must be provided")
        return cls(
            name=name,
            func=func,
            coroutine=coroutine,
            description=description,
            return_direct=return_direct,
            args_schema=args_schema,
            **kwargs,
        )
