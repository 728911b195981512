"""What a model can do, as data: the keys of `BaseChatModel.profile`."""

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

__all__ = ["ModelProfile", "ModelProfileRegistry"]


# A key that is new in the data set stays, with a warning.
@with_config(ConfigDict(extra="allow"))
class ModelProfile(TypedDict, total=False):
    """Capabilities of a model; a key that is missing is not known.

    Sizes are in tokens. Names follow the public data set of models.dev, read 2026-11.
    """

    name: str
    status: str
    release_date: str
    last_updated: str
    open_weights: bool
    max_input_tokens: int
    max_output_tokens: int
    text_inputs: bool
    image_inputs: bool
    image_url_inputs: bool
    pdf_inputs: bool
    audio_inputs: bool
    video_inputs: bool
    image_tool_message: bool
    pdf_tool_message: bool
    text_outputs: bool
    image_outputs: bool
    audio_outputs: bool
    video_outputs: bool
    reasoning_output: bool
    reasoning_effort_levels: list[str]
    reasoning_effort_default: str
    tool_calling: bool
    tool_choice: bool
    tool_call_streaming: bool
    mid_conversation_system_messages: bool
    mid_conversation_tools: bool
    structured_output: bool
    attachment: bool
    temperature: bool


ModelProfileRegistry = dict[str, ModelProfile]
