"""What providers refuse in a history, as data.

A `Rule` says what is wrong, what mends it, where the rule comes from, and what the provider says when it
is broken. A `Target` is one wire format as one provider speaks it. What every encoder does anyway without
losing anything (merging turns, moving the system prompt, ordering results, mapping ids) is no rule here;
`body` looks at those that matter for a request body that is sent as it stands.
"""

import re
from fnmatch import fnmatchcase

import msgspec

from dragoman.errors import MessageError, short

__all__ = ["RULES", "TARGETS", "Rule", "Target", "rules_of_error", "target_of"]


class Rule(msgspec.Struct, frozen=True):
    """One way in which a history can be broken.

    Attributes:
        code: A short stable word.
        message: What is wrong.
        fix: What mends it.
        lossy: Whether mending loses something.
        source: Where the rule is written, with the date it was read.
        says: Pieces of the providers' own error texts, as regular expressions.
    """

    code: str
    message: str
    fix: str
    lossy: bool
    source: str
    says: tuple[str, ...] = ()


_OPENAI = "OpenAI API reference, chat messages; read 2026-11-30"
_ANTHROPIC = "Anthropic docs, tool use; read 2026-11-30"

RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule(
            "unanswered_call",
            "a tool call has no result",
            "answer it with an error result that says so",
            False,
            f"{_OPENAI}; {_ANTHROPIC}",
            (
                r"tool_call_ids? did not have response messages",
                r"must be followed by tool messages responding to each",
                r"`?tool_use`? ids were found without `?tool_result`? blocks",
                r"No tool output found for (function|tool) call",
                r"number of function response parts (is|should be) equal",
                r"Not the same number of function calls and responses",
                r"Expected toolResult blocks at .* for the following Ids",
            ),
        ),
        Rule(
            "orphan_result",
            "a tool result answers no call",
            "drop it",
            True,
            f"{_OPENAI}; {_ANTHROPIC}",
            (
                r"messages with role 'tool' must be a response to a prece?eding message",
                r"unexpected `?tool_use_id`? found in `?tool_result`? blocks",
                r"No tool call found for (function|tool) call output",
                r"Unexpected tool call id",
                r"exceeds the number of toolUse blocks",
                r"function response turn comes immediately after a function call turn",
            ),
        ),
        Rule(
            "mismatched_result",
            "a tool result has an id that no call has, and one unanswered call fits",
            "give it that call's id",
            False,
            f"{_OPENAI}; {_ANTHROPIC}",
        ),
        Rule(
            "late_result",
            "a tool result does not directly follow the turn that called",
            "move it there",
            False,
            f"{_OPENAI}; {_ANTHROPIC}",
        ),
        Rule(
            "duplicate_result",
            "a tool call is answered twice",
            "keep the first result",
            True,
            _ANTHROPIC,
            (r"each tool_use must have a single result", r"Duplicate value for 'tool_call_id'"),
        ),
        Rule(
            "missing_call_id",
            "a tool call has no id, so no result can name it",
            "give it one",
            False,
            _OPENAI,
        ),
        Rule(
            "remove_message",
            "an instruction to remove a message is no message",
            "drop it, after `add_messages` has carried it out",
            False,
            "dragoman: RemoveMessage is for `add_messages`",
        ),
        Rule(
            "unsupported_media",
            "the provider takes no such media",
            "put a mark in its place",
            True,
            "the providers' input references; read 2026-11-30",
            (
                r"doesn't support the (video|audio|image|document) content block",
                r"Content blocks are expected to be either text or image_url",
                r"unknown variant `?image_url`?",
            ),
        ),
        Rule(
            "empty_content",
            "a message has no text that the provider would take",
            "leave the empty block out",
            False,
            "Anthropic docs, messages; recorded errors; read 2026-11-30",
            (
                r"text content blocks must be non-empty",
                r"must have non-empty content",
                r"The text field in the ContentBlock object .* is blank",
                r"must contain non-whitespace text",
                r"Unable to submit request because it must have a text parameter",
            ),
        ),
        Rule(
            "bad_call_id",
            "the id of a call has characters or a length the provider refuses",
            "map it to one that fits",
            False,
            "Anthropic and Mistral references; read 2026-11-30",
            (
                r"String should match pattern '\^\[a-zA-Z0-9_-\]\+\$'",
                r"Tool call id .* must be a-z, A-Z, 0-9, with a length of 9",
                r"Invalid 'messages\[\d+\]\.tool_call.*string too long",
            ),
        ),
        Rule(
            "duplicate_call_id",
            "two tool calls have the same id",
            "give the later one, and its result, an id of its own",
            False,
            "Anthropic's error texts, as reported 2025-07 to 2026-03; read 2026-12-01",
            (r"`?tool_use`? ids must be unique", r"duplicate tool_call_?id"),
        ),
        Rule(
            "too_many_cache_marks",
            "more than four blocks are marked for the cache",
            "keep the last four marks",
            False,
            "Anthropic docs, prompt caching; read 2026-11-30",
            (r"[Aa] maximum of 4 blocks with cache_control",),
        ),
        Rule(
            "misplaced_system",
            "a system message stands where the provider takes none",
            "move it to where it is taken",
            False,
            "Anthropic and Bedrock references; read 2026-11-30",
            (r"Unexpected role \"?system\"?", r"multiple non-consecutive system messages"),
        ),
        Rule(
            "role_order",
            "turns do not alternate as the provider wants, or do not start with the user",
            "merge neighbours of one role, or begin with a user turn that says it is empty",
            False,
            "Bedrock Converse reference, read 2026-11-30; Gemini's error texts, read 2026-12-01",
            (
                r"roles must alternate",
                r"A conversation must (alternate|start with a user message)",
                r"Please ensure that multiturn requests? alternate",
                r"function call turn comes immediately after a user turn",
                r"History must start with a user turn",
            ),
        ),
        Rule(
            "no_turn",
            "there is no turn besides the system prompt",
            "add a user turn that says it is empty",
            False,
            "Anthropic's and Gemini's error texts, as reported 2025-04 to 2026-08; read 2026-12-01",
            (
                r"at least one message is required",
                r"messages must have at least one element",
                r"contents (is|are) (not specified|required)",
            ),
        ),
        Rule(
            "last_role",
            "the history ends with an assistant turn where the provider wants the user or a result",
            "mark it as a prefix, or end with a user message",
            False,
            "Mistral API reference; read 2026-11-30",
            (r"Expected last role User or Tool", r"does not support assistant message prefill"),
        ),
        Rule(
            "reasoning_apart",
            "a reasoning item and the item that belongs to it were parted",
            "drop the server ids of what is left; its text stays",
            False,
            "OpenAI Responses; recorded errors; read 2026-11-30",
            (
                r"of type 'reasoning' was provided without its required following item",
                r"was provided without its required 'reasoning' item",
            ),
        ),
        Rule(
            "missing_reasoning",
            "a turn of the running tool loop lacks the reasoning that has to come back",
            "send the reasoning the model gave",
            False,
            "DeepSeek API docs, thinking mode; read 2026-11-30",
            (r"reasoning_content.* must be passed back", r"Missing `?reasoning_content`?"),
        ),
        Rule(
            "foreign_signature",
            "reasoning is signed by another provider or model, or was changed",
            "leave it out, or send it as plain text",
            False,
            "Anthropic docs, extended thinking; read 2026-11-30",
            (r"[Ii]nvalid `?signature`?", r"thinking.* blocks .* cannot be modified"),
        ),
    )
}


class Target(msgspec.Struct, frozen=True):
    """One wire format in one provider's dialect, as far as histories go.

    Attributes:
        name: What people call it.
        api: The codec's name.
        media: The kinds of media a user turn may hold.
    """

    name: str
    api: str
    media: frozenset[str]


_ALL = frozenset({"image", "audio", "video", "file"})
_APIS: dict[str, frozenset[str]] = {
    "openai_chat": frozenset({"image", "audio", "file"}),
    "openai_responses": frozenset({"image", "file", "audio"}),
    "anthropic": frozenset({"image", "file"}),
    "gemini": _ALL,
    "bedrock_converse": _ALL,
    "ollama": frozenset({"image"}),
    "mistral": frozenset({"image", "audio", "file"}),
    "cohere": frozenset({"image"}),
}
_PROVIDERS: dict[str, tuple[str, frozenset[str] | None]] = {
    "openai": ("openai_chat", None),
    "azure_openai": ("openai_chat", None),
    "azure": ("openai_chat", None),
    "openrouter": ("openai_chat", _ALL),
    "deepseek": ("openai_chat", frozenset()),
    "groq": ("openai_chat", frozenset({"image"})),
    "cerebras": ("openai_chat", frozenset()),
    "xai": ("openai_chat", frozenset({"image", "file"})),
    "together": ("openai_chat", _ALL),
    "fireworks": ("openai_chat", _ALL),
    "vllm": ("openai_chat", _ALL),
    "local": ("openai_chat", frozenset()),
    "llamacpp": ("openai_chat", _ALL),
    "google_genai": ("gemini", None),
    "google_vertexai": ("gemini", None),
    "google": ("gemini", None),
    "bedrock": ("bedrock_converse", None),
    "mistralai": ("mistral", None),
}
TARGETS: dict[str, Target] = {
    **{api: Target(api, api, media) for api, media in _APIS.items()},
    **{
        name: Target(name, api, _APIS[api] if media is None else media)
        for name, (api, media) in _PROVIDERS.items()
    },
}
"""Every codec and provider name that `validate_messages` and `repair_messages` take."""


# What single models refuse although their wire takes it: (codec, model pattern, kinds taken).
_MODELS: tuple[tuple[str, str, frozenset[str]], ...] = (
    # "This model doesn't support the video content block", recorded with Claude on Bedrock.
    ("bedrock_converse", "*anthropic.claude-*", frozenset({"image", "file"})),
    # "Content blocks are expected to be either text or image_url type", recorded with gpt-5-mini;
    # only the audio models take sound (OpenAI model pages, read 2026-11-30).
    ("openai_chat", "gpt-*audio*", frozenset({"image", "audio", "file"})),
    ("openai_chat", "gpt-[45]*", frozenset({"image", "file"})),
    ("openai_chat", "o[134]*", frozenset({"image", "file"})),
)


def target_of(name: str | None) -> Target | None:
    """Return the target of a codec or provider name, or of `name:model`.

    Raises:
        MessageError: If there is none.

    >>> sorted(target_of("bedrock:us.anthropic.claude-sonnet-4-5").media)
    ['file', 'image']
    """
    if name is None:
        return None
    if not isinstance(name, str):
        message = f"a target is named by a text, not {type(name).__name__}"
        raise MessageError(message, hint=f"one of {', '.join(TARGETS)}")
    known, _, model = name.partition(":")
    target = TARGETS.get(known)
    if target is None:
        message = f"no target named {short(name)}"
        raise MessageError(message, hint=f"one of {', '.join(TARGETS)}")
    for api, pattern, media in _MODELS:
        if model and api == target.api and fnmatchcase(model.lower(), pattern):
            return Target(name, api, target.media & media)
    return target


def rules_of_error(text: str) -> list[Rule]:
    """Return the rules that a provider's error text speaks of.

    >>> [
    ...     rule.code
    ...     for rule in rules_of_error(
    ...         "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
    ...     )
    ... ]
    ['orphan_result']
    """
    return [rule for rule in RULES.values() if any(re.search(says, text) for says in rule.says)]
