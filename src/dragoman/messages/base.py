"""What every message is.

Message classes are `msgspec.Struct`s: mutable, compared by class and fields, not hashable. Three of
their fields are shadowed by properties after the class is made, while the constructor and the
encoder go on using the slots behind them (readable as `_raw_<field>`):

- `content_blocks` as a keyword replaces `content`; as an attribute it is the standard view of it;
- `additional_kwargs` and `response_metadata` come into being when first read, so that a plain message
  costs no empty dicts. `==`, `repr` and dumps treat "never touched" and `{}` alike.

Unknown keys of data that was *read* live in the instance's `__dict__`: they are attributes, part of
`==`, and written back. The constructor does not take them: typos are TypeErrors.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import msgspec
from msgspec import UNSET

from dragoman.errors import MergeError, MessageError, short
from dragoman.messages.fields import (
    ASIDE,
    NOT_GIVEN,
    Content,
    Fields,
    as_content,
    as_dict,
    as_id,
    as_text,
    field_names,
    lazy_field,
    shadow,
)
from dragoman.messages.leaves import append, fold, seen
from dragoman.messages.merge import fold_content, fold_metadata, merge_content
from dragoman.messages.translate import standard_blocks

if TYPE_CHECKING:
    from dragoman.messages.content import ContentBlock
    from dragoman.messages.fields import Slot
    from dragoman.prompts import ChatPromptTemplate


__all__ = [
    "BaseMessage",
    "BaseMessageChunk",
    "TextAccessor",
    "get_msg_title_repr",
    "merge_content",
]

_copy_struct: Callable[[Any], Any] = msgspec.Struct.__copy__  # pyright: ignore[reportAttributeAccessIssue]


_NO_TYPE = "<no type>"  # BaseMessage itself has to be given one


class TextAccessor(str):
    """The text of a message: a `str`; calling it as a method is deprecated."""

    __slots__ = ()

    def __call__(self) -> str:
        """Return the plain text, with a DeprecationWarning."""
        message = "Calling .text() as a method is deprecated; read it as an attribute: message.text"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return str(self)


class _Content(msgspec.Struct, dict=True, forbid_unknown_fields=True):
    """The two fields that may be given by position."""

    content: Content = NOT_GIVEN
    content_blocks: Any = UNSET


class BaseMessage(_Content, kw_only=True, dict=True, omit_defaults=True, tag_field="type"):
    """A message; what all classes have in common.

    Attributes:
        content: A string, or a list of strings and blocks.
        additional_kwargs: What has no field of its own; travels with the message.
        response_metadata: What the provider said about the reply.
        type: The class's type word, such as `human`.
        name: The author's name, where the wire has one.
        id: An identifier; None until a model, `add_messages`, a thread or an agent gives one.
    """

    additional_kwargs: Fields = NOT_GIVEN
    response_metadata: Fields = NOT_GIVEN
    type: str = msgspec.field(default="", name="@type")
    name: str | None = None
    id: str | None = None

    __hash__: ClassVar[None] = None
    _default_type: ClassVar[str] = _NO_TYPE
    _role: ClassVar[str | None] = None
    _lazy: ClassVar[dict[str, Callable[[], Any]]] = {
        "additional_kwargs": dict,
        "response_metadata": dict,
    }
    _always_shown: ClassVar[frozenset[str]] = frozenset(
        {"content", "additional_kwargs", "response_metadata"}
    )
    _hidden: ClassVar[frozenset[str]] = frozenset()

    if TYPE_CHECKING:
        _raw_content = Slot()
        _raw_content_blocks = Slot()
        _raw_additional_kwargs = Slot()
        _raw_response_metadata = Slot()

    def __post_init__(self) -> None:
        if (
            (self.id is None or self.id.__class__ is str)
            and self.name is None
            and self.type is self._default_type
            and self._raw_content_blocks is UNSET
            and self._raw_additional_kwargs is UNSET
            and self._raw_response_metadata is UNSET
        ):
            content = self._raw_content
            if content.__class__ is str:
                return  # nearly every message: nothing to check
            if content.__class__ is list:
                for item in content:
                    if item.__class__ is not dict and item.__class__ is not str:
                        break
                else:
                    self._raw_content = content.copy()
                    return
        self._check()

    def _check(self) -> None:
        """Check and coerce every field; the constructor's slow path."""
        if (
            self._raw_content.__class__ is not str
            or self._raw_content_blocks is not UNSET
            or self.type != self._default_type
        ):
            self._check_content()
        if self.id is not None and self.id.__class__ is not str:
            self.id = as_id(self.id)
        if self._raw_additional_kwargs is not UNSET or self._raw_response_metadata is not UNSET:
            self._check_dicts()
        if self.name is not None and self.name.__class__ is not str:
            self.name = as_text(self.name, "name")

    def _check_content(self) -> None:
        blocks = self._raw_content_blocks
        if blocks is not UNSET:
            self._raw_content_blocks = UNSET
            if blocks is not None:
                self._raw_content = as_content(blocks, "content_blocks")
        content = self._raw_content
        if content.__class__ is not str:
            if content is UNSET:
                message = f"{type(self).__name__} needs content"
                raise MessageError(message, path="content")
            self._raw_content = as_content(content, "content")
        if self.type != self._default_type:
            if _declares_type(type(self)):
                return
            if self._default_type == _NO_TYPE and self.type and isinstance(self.type, str):
                return
            message = f"the type of {type(self).__name__} is {self._default_type!r}, not {short(self.type)}"
            if self._default_type == _NO_TYPE:
                message = f"{type(self).__name__} needs a type of its own"
            raise MessageError(message, path="type")

    def _check_dicts(self) -> None:
        given = self._raw_additional_kwargs
        if given is not UNSET:
            self._raw_additional_kwargs = as_dict(given, "additional_kwargs")
        given = self._raw_response_metadata
        if given is not UNSET:
            self._raw_response_metadata = as_dict(given, "response_metadata")

    # ------------------------------------------------------------------ reading

    @property
    def role(self) -> str:
        """The role in the field's common words: user, assistant, system, tool, function or own."""
        return self._role or self.type

    @property
    def text(self) -> TextAccessor:
        """The text of the content: strings, `text` and `text-plain` blocks, joined without separator."""
        content = self.content
        if content.__class__ is str:
            return TextAccessor(content)
        return TextAccessor("".join(_texts(content)))

    def get_type(self) -> str:
        """Return the type word; the same as `.type`."""
        return self.type

    def pretty_repr(self, html: bool = False) -> str:
        """Return a title line of 80 columns, a blank line and the content.

        Args:
            html: Whether to return an escaped HTML card instead.
        """
        from dragoman.messages.render import pretty

        return pretty(self, html=html)

    def pretty_print(self) -> None:
        """Print `pretty_repr()`; the title is bold on a terminal."""
        from dragoman.messages.render import pretty_print

        pretty_print(self)

    def _repr_html_(self) -> str:
        return self.pretty_repr(html=True)

    # ------------------------------------------------------------------ fields

    def _items(self) -> Iterator[tuple[str, Any]]:
        """Yield every field as users see it, in the order of dumps, extra attributes last."""
        for name in field_names(type(self)):
            yield name, getattr(self, name)
        for name, value in self.__dict__.items():
            if name == ASIDE and value.__class__ is dict:
                yield from value.items()  # unknown keys whose names the class uses itself
            else:
                yield name, value

    def _value(self, name: str) -> Any:
        """Return a field for comparison: untouched lazy fields are their empty value."""
        make = self._lazy.get(name)
        if make is None:
            return getattr(self, name)
        value = getattr(self, "_raw_" + name)
        if value is UNSET:
            return make()
        return getattr(self, name) if value.__class__ is tuple else value

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        for name in field_names(self.__class__):
            left, right = self._value(name), cast("BaseMessage", other)._value(name)
            if left is not right and not (left == right):
                return False
        return vars(self) == vars(other)

    def _shown(self) -> Iterator[tuple[str, Any]]:
        """Yield the fields that `repr` shows."""
        defaults = dict(
            zip(self.__struct_fields__[::-1], self.__struct_defaults__[::-1], strict=False)
        )
        for name, value in self._items():
            if name in self._hidden or (name == "type" and value == self._default_type):
                continue
            if (
                name in self._always_shown
                or name not in defaults
                or value != _default(defaults[name])
            ):
                yield name, value

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._shown())
        return f"{type(self).__name__}({fields})"

    def __str__(self) -> str:
        return " ".join(f"{name}={value!r}" for name, value in self._shown())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), dict(self._items()))

    def __copy__(self) -> Self:
        new = _copy_struct(self)
        if vars(self):
            vars(new).update(vars(self))
        new._detach()
        return new

    def _detach(self) -> None:
        """Make a struct copy independent: containers made lazily or shared are its own."""
        for name in self._lazy:
            value = getattr(self, "_raw_" + name)
            if value.__class__ is dict or value.__class__ is list:
                setattr(self, "_raw_" + name, value.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        from copy import deepcopy

        new = _copy_struct(self)
        memo[id(self)] = new
        for name in self.__struct_fields__:
            raw = "_raw_" + name if hasattr(type(self), "_raw_" + name) else name
            value = getattr(self, raw)
            if value.__class__ is tuple:
                value = getattr(self, name)
            if value is not UNSET and value.__class__ is not str and value is not None:
                setattr(new, raw, deepcopy(value, memo))
        for name, value in self.__dict__.items():
            new.__dict__[name] = deepcopy(value, memo)
        return new

    # ------------------------------------------------------------------ pydantic's names

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return every field, None and empty ones included, and extra attributes; a deep copy.

        Args:
            **options: pydantic's `include`, `exclude`, `exclude_none`, `exclude_defaults`, `mode`.
        """
        from dragoman.messages.dicts import dump

        return dump(self, **options)

    def model_dump_json(self, **options: Any) -> str:
        """Return `model_dump` as JSON text."""
        from dragoman.messages.dicts import dump_json

        return dump_json(self, **options)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update` replaced, unchecked."""
        new = self.__deepcopy__({}) if deep else self.__copy__()
        for name, value in (update or {}).items():
            setattr(new, name, value)
        return new

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """Return `obj` if it is a message of this class, else one made of a dict; keeps extra keys.

        Raises:
            MessageError: If it cannot be one.
        """
        from dragoman.messages.dicts import validate

        return validate(cls, obj)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes, **_: Any) -> Self:
        """Return a message of this class read from JSON text.

        Raises:
            MessageError: If it cannot be one.
        """
        from dragoman.messages.dicts import validate_json

        return validate_json(cls, json_data)

    @classmethod
    def model_construct(cls, _fields_set: Any = None, **values: Any) -> Self:
        """Return a message made of `values`."""
        from dragoman.messages.dicts import validate

        return validate(cls, {"content": "", **values})

    @classmethod
    def model_json_schema(cls, **_: Any) -> dict[str, Any]:
        """Return the JSON schema of this class."""
        from dragoman.messages.schema import json_schema

        return json_schema(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from dragoman.messages.schema import core_schema_of

        return core_schema_of(cls)

    # ------------------------------------------------------------------ LangChain's names

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True: messages can be dumped and loaded."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return the namespace of the class in dumps."""
        return ["langchain", "schema", "messages"]

    @classmethod
    def lc_id(cls) -> list[str]:
        """Return the id of the class in dumps."""
        return [*cls.get_lc_namespace(), cls.__name__]

    @property
    def lc_secrets(self) -> dict[str, str]:
        """No message holds secrets."""
        return {}

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """Fields that dumps always hold."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """Return the message in LangChain's dump form."""
        from dragoman.load import dumpd

        return dumpd(self)

    def __add__(self, other: Any) -> "ChatPromptTemplate":
        """Return a chat prompt that holds both messages."""
        from dragoman.prompts import ChatPromptTemplate

        return ChatPromptTemplate(messages=[self]) + other


def _content_blocks(self: BaseMessage) -> "list[ContentBlock]":
    """The content in standard blocks; made anew at each read, the content is not changed."""
    return cast("list[ContentBlock]", standard_blocks(self.content))


shadow(_Content, "_raw_content_blocks", _Content.__dict__["content_blocks"])
shadow(_Content, "_raw_content", _Content.__dict__["content"])
lazy_field(BaseMessage, "additional_kwargs", dict, "What has no field of its own.")
lazy_field(BaseMessage, "response_metadata", dict, "What the provider said about the reply.")
shadow(BaseMessage, "content_blocks", property(_content_blocks, doc=_content_blocks.__doc__))


class FieldView(Mapping[str, Any]):
    """The fields of a message class by name, for code that looks at pydantic's `model_fields`."""

    def __get__(self, instance: Any, owner: type[BaseMessage]) -> dict[str, Any]:
        fields = msgspec.structs.fields(owner)
        return {field.name: field for field in fields if field.name != "content_blocks"}

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


shadow(BaseMessage, "model_fields", FieldView())


class BaseMessageChunk(BaseMessage, kw_only=True, dict=True):
    """A piece of a streamed message.

    `chunk + chunk`, `0 + chunk`, `chunk + [chunks]` and `sum(chunks)` give the message so far; each
    costs as much as the chunk that is added. No operand is changed.
    """

    _lazy: ClassVar[dict[str, Callable[[], Any]]] = {**BaseMessage._lazy}

    if TYPE_CHECKING:
        _raw_content = Slot()

    def __add__(self, other: Any) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(other, BaseMessageChunk):
            return self._plus((other,))
        if isinstance(other, list | tuple) and all(isinstance(o, BaseMessageChunk) for o in other):
            return self._plus(tuple(other))
        message = f'unsupported operand type(s) for +: "{type(self).__name__}" and "{type(other).__name__}"'
        raise MergeError(message, hint="add chunks to chunks")

    def __radd__(self, other: Any) -> Self:
        if other.__class__ is int and other == 0:
            return self
        message = f'unsupported operand type(s) for +: "{type(other).__name__}" and "{type(self).__name__}"'
        raise MergeError(message, hint="add chunks to chunks")

    def _plus(self, others: tuple["BaseMessageChunk", ...]) -> Self:
        """Return this chunk with `others` added: class, type and id are those of this one."""
        new = _copy_struct(self)
        content = [leaf for other in others for leaf in seen(other._raw_content) if leaf]
        if content:
            new._raw_content = append(_leaf(self._raw_content), [_leaf(leaf) for leaf in content])
        for field in ("_raw_additional_kwargs", "_raw_response_metadata"):
            leaves = [
                _leaf(leaf)
                for other in others
                if (raw := getattr(other, field)) is not UNSET
                for leaf in seen(raw)
                if leaf
            ]
            mine = getattr(self, field)
            if leaves:
                setattr(new, field, append({} if mine is UNSET else _leaf(mine), leaves))
            elif mine.__class__ is dict:
                setattr(new, field, mine.copy())
        for other in others:
            if other.name:
                new.name = other.name
        extras = [vars(chunk) for chunk in (self, *others) if vars(chunk)]
        if extras:
            vars(new).update(fold_metadata(extras))
        return new


def _leaf(value: Any) -> Any:
    """Return a leaf that later changes of the operand do not reach."""
    return value.copy() if value.__class__ is list or value.__class__ is dict else value


def _chunk_content(self: Any) -> Any:
    """A string, or a list of strings and blocks: all that has been added so far."""
    raw = self._raw_content
    if raw.__class__ is tuple:
        value = fold(raw, fold_content)
        if value.__class__ is list:
            value = self._raw_content = value.copy()
        return value
    return raw


def _chunk_dict(raw_name: str) -> property:
    def get(self: Any) -> dict[str, Any]:
        value = getattr(self, raw_name)
        if value is UNSET:
            value = {}
            setattr(self, raw_name, value)
        elif value.__class__ is tuple:
            value = fold(value, fold_metadata).copy()
            setattr(self, raw_name, value)
        return value

    def put(self: Any, value: Any) -> None:
        setattr(self, raw_name, value)

    return property(get, put)


def _put_content(self: Any, value: Any) -> None:
    self._raw_content = list(value) if value.__class__ is tuple else value  # a tuple is a run


shadow(
    BaseMessageChunk, "content", property(_chunk_content, _put_content, doc=_chunk_content.__doc__)
)
shadow(BaseMessageChunk, "additional_kwargs", _chunk_dict("_raw_additional_kwargs"))
shadow(BaseMessageChunk, "response_metadata", _chunk_dict("_raw_response_metadata"))


def get_msg_title_repr(title: str, *, bold: bool = False) -> str:
    """Return a title centred in 80 columns of `=`; an odd remainder puts the extra one right.

    >>> len(get_msg_title_repr("Human Message"))
    80
    """
    padded = f" {title} "
    left = (80 - len(padded)) // 2
    sides = "=" * left, "=" * (80 - len(padded) - left)
    return f"{sides[0]}\x1b[1m{padded}\x1b[0m{sides[1]}" if bold else padded.join(sides)


def _declares_type(cls: type) -> bool:
    """Return whether a user's subclass redefines `type` without a default of its own."""
    names = vars(cls).get("__annotations__", {})
    return "type" in names and not cls.__module__.startswith("dragoman.messages")


def _default(value: Any) -> Any:
    return None if value is UNSET or value is msgspec.NODEFAULT else value


def _texts(content: Any) -> Iterator[str]:
    for item in content:
        if item.__class__ is str:
            yield item
        elif isinstance(item, dict) and item.get("type") in ("text", "text-plain"):
            text = item.get("text")
            if isinstance(text, str):
                yield text
        elif isinstance(item, str):
            yield item


def _restore(cls: type[BaseMessage], fields: dict[str, Any]) -> BaseMessage:
    from dragoman.messages.dicts import restore

    return restore(cls, fields)


def __getattr__(name: str) -> Any:
    if name in ("message_to_dict", "messages_to_dict"):  # LangChain's place for them
        from dragoman.messages import dicts

        return getattr(dicts, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
