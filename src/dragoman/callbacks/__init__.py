"""Callbacks: handlers that hear of every model, chain, tool and retriever call, and their managers.

Nothing here is built while nobody listens: a call asks `requested(config)` first.
"""

from dragoman.callbacks.ambient import requested
from dragoman.callbacks.base import (
    AsyncCallbackHandler,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManagerMixin,
    Callbacks,
    ChainManagerMixin,
    LLMManagerMixin,
    RetrieverManagerMixin,
    RunManagerMixin,
    ToolManagerMixin,
)
from dragoman.callbacks.file import FileCallbackHandler
from dragoman.callbacks.groups import (
    AsyncCallbackManagerForChainGroup,
    CallbackManagerForChainGroup,
)
from dragoman.callbacks.manager import (
    AsyncCallbackManager,
    AsyncCallbackManagerForChainRun,
    AsyncCallbackManagerForLLMRun,
    AsyncCallbackManagerForRetrieverRun,
    AsyncCallbackManagerForToolRun,
    AsyncParentRunManager,
    AsyncRunManager,
    BaseRunManager,
    CallbackManager,
    CallbackManagerForChainRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
    CallbackManagerForToolRun,
    ParentRunManager,
    RunManager,
    adispatch_custom_event,
    dispatch_custom_event,
)
from dragoman.callbacks.stdout import StdOutCallbackHandler
from dragoman.callbacks.streaming_stdout import StreamingStdOutCallbackHandler
from dragoman.callbacks.usage import UsageMetadataCallbackHandler, get_usage_metadata_callback

__all__ = [
    "AsyncCallbackHandler",
    "AsyncCallbackManager",
    "AsyncCallbackManagerForChainGroup",
    "AsyncCallbackManagerForChainRun",
    "AsyncCallbackManagerForLLMRun",
    "AsyncCallbackManagerForRetrieverRun",
    "AsyncCallbackManagerForToolRun",
    "AsyncParentRunManager",
    "AsyncRunManager",
    "BaseCallbackHandler",
    "BaseCallbackManager",
    "BaseRunManager",
    "CallbackManager",
    "CallbackManagerForChainGroup",
    "CallbackManagerForChainRun",
    "CallbackManagerForLLMRun",
    "CallbackManagerForRetrieverRun",
    "CallbackManagerForToolRun",
    "CallbackManagerMixin",
    "Callbacks",
    "ChainManagerMixin",
    "FileCallbackHandler",
    "LLMManagerMixin",
    "ParentRunManager",
    "RetrieverManagerMixin",
    "RunManager",
    "RunManagerMixin",
    "StdOutCallbackHandler",
    "StreamingStdOutCallbackHandler",
    "ToolManagerMixin",
    "UsageMetadataCallbackHandler",
    "adispatch_custom_event",
    "dispatch_custom_event",
    "get_usage_metadata_callback",
    "requested",
]
