"""Middleware for agents: the hooks, and some that are ready to use."""

from dragoman.agents.middleware.call_limits import (
    ModelCallLimitExceededError,
    ModelCallLimitMiddleware,
    ToolCallLimitExceededError,
    ToolCallLimitMiddleware,
)
from dragoman.agents.middleware.context_editing import ClearToolUsesEdit, ContextEditingMiddleware
from dragoman.agents.middleware.fallbacks import ModelFallbackMiddleware
from dragoman.agents.middleware.human_in_the_loop import HumanInTheLoopMiddleware, InterruptOnConfig
from dragoman.agents.middleware.pii import PIIDetectionError, PIIMatch, PIIMiddleware
from dragoman.agents.middleware.retries import ModelRetryMiddleware, ToolRetryMiddleware
from dragoman.agents.middleware.summarization import SummarizationMiddleware
from dragoman.agents.middleware.todo import TodoListMiddleware
from dragoman.agents.middleware.tool_emulator import LLMToolEmulator
from dragoman.agents.middleware.tool_errors import ToolErrorMiddleware
from dragoman.agents.middleware.tool_selection import LLMToolSelectorMiddleware
from dragoman.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    InputAgentState,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    OmitFromInput,
    OmitFromOutput,
    OmitFromSchema,
    OutputAgentState,
    PrivateStateAttr,
    Runtime,
    ToolCallRequest,
    after_agent,
    after_model,
    before_agent,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_model_call,
    wrap_tool_call,
)

__all__ = [
    "AgentMiddleware",
    "AgentState",
    "ClearToolUsesEdit",
    "ContextEditingMiddleware",
    "ExtendedModelResponse",
    "HumanInTheLoopMiddleware",
    "InputAgentState",
    "InterruptOnConfig",
    "LLMToolEmulator",
    "LLMToolSelectorMiddleware",
    "ModelCallLimitExceededError",
    "ModelCallLimitMiddleware",
    "ModelCallResult",
    "ModelFallbackMiddleware",
    "ModelRequest",
    "ModelResponse",
    "ModelRetryMiddleware",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PIIDetectionError",
    "PIIMatch",
    "PIIMiddleware",
    "PrivateStateAttr",
    "Runtime",
    "SummarizationMiddleware",
    "TodoListMiddleware",
    "ToolCallLimitExceededError",
    "ToolCallLimitMiddleware",
    "ToolCallRequest",
    "ToolErrorMiddleware",
    "ToolRetryMiddleware",
    "after_agent",
    "after_model",
    "before_agent",
    "before_model",
    "dynamic_prompt",
    "hook_config",
    "wrap_model_call",
    "wrap_tool_call",
]
