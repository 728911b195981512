"""What a model call gives: generations, and results that hold them.

`Generation` and `GenerationChunk` hold text, `ChatGeneration` and `ChatGenerationChunk` a message.
`ChatResult` is what `_generate` of a chat model returns, `LLMResult` what `generate` returns for
several inputs. They are values: compared by class and fields, unhashable, mutable.
"""

from dragoman.outputs.chat_generation import ChatGeneration, ChatGenerationChunk
from dragoman.outputs.chat_result import ChatResult
from dragoman.outputs.generation import Generation, GenerationChunk
from dragoman.outputs.llm_result import LLMResult
from dragoman.outputs.run_info import RunInfo

__all__ = [
    "ChatGeneration",
    "ChatGenerationChunk",
    "ChatResult",
    "Generation",
    "GenerationChunk",
    "LLMResult",
    "RunInfo",
]
