"""Prompt templates: strings and messages with variables, checked when built, safe when filled.

What most programs do not need (few-shot prompts, `StructuredPrompt`, files) is imported when first
asked for: each is a pydantic model, and costs a millisecond to make.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dragoman.prompts.base import BasePromptTemplate, aformat_document, format_document
from dragoman.prompts.chat import (
    AIMessagePromptTemplate,
    BaseChatPromptTemplate,
    ChatMessagePromptTemplate,
    ChatPromptTemplate,
    HumanMessagePromptTemplate,
    MessagesPlaceholder,
    SystemMessagePromptTemplate,
)
from dragoman.prompts.dict import DictPromptTemplate
from dragoman.prompts.image import ImagePromptTemplate
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.string import (
    StringPromptTemplate,
    check_valid_template,
    get_template_variables,
    jinja2_formatter,
    mustache_formatter,
    validate_jinja2,
)

if TYPE_CHECKING:
    from dragoman.prompts.few_shot import FewShotChatMessagePromptTemplate, FewShotPromptTemplate
    from dragoman.prompts.few_shot_with_templates import FewShotPromptWithTemplates
    from dragoman.prompts.loading import load_prompt
    from dragoman.prompts.structured import StructuredPrompt

__all__ = [
    "AIMessagePromptTemplate",
    "BaseChatPromptTemplate",
    "BaseMessagePromptTemplate",
    "BasePromptTemplate",
    "ChatMessagePromptTemplate",
    "ChatPromptTemplate",
    "DictPromptTemplate",
    "FewShotChatMessagePromptTemplate",
    "FewShotPromptTemplate",
    "FewShotPromptWithTemplates",
    "HumanMessagePromptTemplate",
    "ImagePromptTemplate",
    "MessagesPlaceholder",
    "PromptTemplate",
    "StringPromptTemplate",
    "StructuredPrompt",
    "SystemMessagePromptTemplate",
    "aformat_document",
    "check_valid_template",
    "format_document",
    "get_template_variables",
    "jinja2_formatter",
    "load_prompt",
    "mustache_formatter",
    "validate_jinja2",
]

_LATER = {
    "FewShotChatMessagePromptTemplate": "few_shot",
    "FewShotPromptTemplate": "few_shot",
    "FewShotPromptWithTemplates": "few_shot_with_templates",
    "StructuredPrompt": "structured",
    "load_prompt": "loading",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value
