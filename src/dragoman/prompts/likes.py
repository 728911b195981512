"""What may stand in the list of a chat prompt, and what each becomes.

message, message template, chat prompt    itself
"text {a}"                                a human template
(role, template), {"role", "content"}     a template of that role
(message class, template)                 a template of that class's role
("placeholder", "{name}")                 an optional placeholder
"""

from collections.abc import Sequence
from typing import Any, cast

from dragoman.errors import ErrorCode, create_message, short
from dragoman.messages.base import BaseMessage
from dragoman.prompts.message import BaseMessagePromptTemplate
from dragoman.prompts.placeholder import MessagesPlaceholder
from dragoman.prompts.prompt import PromptTemplate
from dragoman.prompts.role_templates import (
    AIMessagePromptTemplate,
    HumanMessagePromptTemplate,
    SystemMessagePromptTemplate,
)
from dragoman.prompts.string import PromptTemplateFormat

__all__ = ["as_template"]

_ROLES: dict[str, Any] = {
    "human": HumanMessagePromptTemplate,
    "user": HumanMessagePromptTemplate,
    "ai": AIMessagePromptTemplate,
    "assistant": AIMessagePromptTemplate,
    "system": SystemMessagePromptTemplate,
}


def as_template(item: Any, template_format: PromptTemplateFormat) -> Any:
    """Return the message, message template or chat prompt that `item` stands for.

    Raises:
        ValueError: If a pair, dict or role is not one of the forms above, or a template cannot be
            rendered safely.
        NotImplementedError: If `item` is of no kind that is known.
    """
    from dragoman.prompts.chat import BaseChatPromptTemplate

    if isinstance(item, (BaseMessage, BaseMessagePromptTemplate, BaseChatPromptTemplate)):
        return item
    if isinstance(item, str):
        return HumanMessagePromptTemplate.from_template(item, template_format=template_format)
    if isinstance(item, dict):
        pair = cast("dict[Any, Any]", item)
        if set(pair) != {"role", "content"}:
            message = (
                "Expected dict to have exact keys 'role' and 'content'. "
                f"Got keys: {short(sorted(map(str, pair)))}"
            )
            raise ValueError(message)
        return _from_pair(pair["role"], pair["content"], template_format)
    if isinstance(item, (tuple, list)):
        items = cast("Sequence[Any]", item)
        if len(items) != 2:
            message = f"Expected 2-tuple of (role, template), got {short(item)}"
            raise ValueError(message)
        return _from_pair(items[0], items[1], template_format)
    message = f"Unsupported message type: {type(item)}"
    raise NotImplementedError(
        create_message(message=message, error_code=ErrorCode.MESSAGE_COERCION_FAILURE)
    )


def _from_pair(role: Any, template: Any, template_format: PromptTemplateFormat) -> Any:
    if isinstance(role, str):
        return _from_role(role, template, template_format)
    kind = getattr(role, "_default_type", None)
    if isinstance(role, type) and issubclass(role, BaseMessage) and isinstance(kind, str):
        return _from_role(kind, template, template_format)
    if isinstance(role, type) and callable(getattr(role, "from_template", None)):
        prompt = PromptTemplate.from_template(template, template_format=template_format)
        return cast("Any", role)(prompt=prompt)
    message = f"Unsupported message type: {short(role)}"
    raise NotImplementedError(
        create_message(message=message, error_code=ErrorCode.MESSAGE_COERCION_FAILURE)
    )


def _from_role(role: str, template: Any, template_format: PromptTemplateFormat) -> Any:
    if role == "placeholder":
        return _placeholder(template)
    if role not in _ROLES:
        message = (
            f"Unexpected message type: {role}. Use one of 'human', 'user', 'ai', 'assistant', "
            "or 'system'."
        )
        raise ValueError(
            create_message(message=message, error_code=ErrorCode.MESSAGE_COERCION_FAILURE)
        )
    return _ROLES[role].from_template(template, template_format=template_format)


def _placeholder(template: Any) -> MessagesPlaceholder:
    name, optional = template, True
    if not isinstance(template, str):
        if not isinstance(template, (list, tuple)) or len(cast("list[Any]", template)) != 2:
            message = (
                "Unexpected arguments for placeholder message type. Expected either a single "
                "string variable name or a list of [variable_name: str, is_optional: bool]. "
                f"Got: {short(template)}"
            )
            raise ValueError(message)
        name, optional = cast("list[Any]", template)
        if not isinstance(optional, bool):
            message = f"Expected is_optional to be a boolean. Got: {short(optional)}"
            raise ValueError(message)
        if not isinstance(name, str):
            message = f"Expected variable name to be a string. Got: {short(name)}"
            raise ValueError(message)
    if not (name.startswith("{") and name.endswith("}") and len(name) > 2):
        message = (
            f"Invalid placeholder template: {short(name)}. "
            "Expected a variable name surrounded by curly braces."
        )
        raise ValueError(message)
    return MessagesPlaceholder(name[1:-1], optional=optional)
