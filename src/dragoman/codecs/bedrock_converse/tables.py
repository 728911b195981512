"""The words of the Bedrock Converse wire.

Sources: the service model in botocore (bedrock-runtime), the Amazon Bedrock user guide and API
reference (read 2026-11), and recorded traffic.
"""

from typing import Literal

__all__ = [
    "API",
    "AUDIO_FORMATS",
    "BESIDE",
    "CALL_KEYS",
    "DOCUMENT_FORMATS",
    "ERROR_STATUS",
    "FINISH",
    "IMAGE_FORMATS",
    "MAX_CACHE_MARKS",
    "NATIVE_BLOCKS",
    "PARAMETERS",
    "REASONING",
    "STOP_REASON",
    "TEXT_DOCUMENTS",
    "VIDEO_FORMATS",
    "Kind",
]

API = "bedrock_converse"
BESIDE = "bedrock_beside"
"""In a block's extras (a result's kwargs): what stood beside the members that are read."""

Kind = Literal["image", "video", "audio", "document"]

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
"""`stopReason` -> the canonical finish reason."""

STOP_REASON = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
    "error": "malformed_model_output",
}
"""The canonical finish reason -> `stopReason`, for the server side."""

ERROR_STATUS = {
    "internalServerException": 500,
    "modelStreamErrorException": 424,
    "modelTimeoutException": 408,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}
"""The status of an exception that comes as an event inside a stream that began with 200."""

IMAGE_FORMATS = {
    "png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
}  # fmt: skip
VIDEO_FORMATS = {
    "mp4": "video/mp4", "mov": "video/quicktime", "mkv": "video/x-matroska", "webm": "video/webm",
    "flv": "video/x-flv", "mpeg": "video/mpeg", "mpg": "video/mpg", "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
}  # fmt: skip
AUDIO_FORMATS = {
    "mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "flac": "audio/flac",
    "opus": "audio/opus", "aac": "audio/aac", "mp4": "audio/mp4", "m4a": "audio/m4a",
    "webm": "audio/webm", "mkv": "audio/x-matroska", "mka": "audio/x-mka", "x-aac": "audio/x-aac",
    "mpeg": "audio/x-mpeg", "mpga": "audio/mpga", "pcm": "audio/pcm",
}  # fmt: skip
DOCUMENT_FORMATS = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}
"""Media formats -> media types, each one way and back."""

TEXT_DOCUMENTS = ("text/", "application/json", "application/xml", "application/yaml")
"""Types that go as `txt` where they have no format of their own."""

NATIVE_BLOCKS = frozenset(
    {
        "text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
        "cachePoint", "reasoningContent", "citationsContent", "searchResult", "toolAddition",
        "toolRemoval",
    }
)  # fmt: skip
"""The keys that name a content block."""

CALL_KEYS = frozenset({"toolUseId", "name", "input", "type"})

REASONING = (
    ("signed", ("*claude*", "*anthropic.*")),
    ("none", ("*deepseek.r1*",)),
    (
        "plain",
        (
            "*amazon.*", "*meta.*", "*mistral.*", "*qwen.*", "*openai.*", "*minimax.*",
            "*moonshot*", "*nvidia.*", "*zai.*", "*writer.*", "*cohere.*", "*ai21.*",
            "*deepseek.*", "*google.*",
        ),
    ),
)  # fmt: skip
"""Which reasoning of earlier turns a model takes: Claude only what it signed, DeepSeek-R1 none,
other makers only what nobody signed. A model without a row (an ARN, or none told) takes all."""

MAX_CACHE_MARKS = 4
"""How many cache points the models take."""

PARAMETERS = frozenset(
    {
        "messages", "system", "inferenceConfig", "toolConfig", "guardrailConfig",
        "additionalModelRequestFields", "additionalModelResponseFieldPaths", "outputConfig",
        "performanceConfig", "serviceTier", "requestMetadata", "promptVariables", "modelId",
        "projectIdentifier",
    }
)  # fmt: skip
"""The keys a request body may have at the top."""
