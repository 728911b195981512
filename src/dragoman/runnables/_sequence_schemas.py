"""The schemas of a sequence, seen through steps that assign to and pick from a dict."""

from collections.abc import Sequence
from typing import Any

from pydantic import RootModel
from pydantic.fields import FieldInfo

from dragoman.runnables._schemas import fields_model, model_of
from dragoman.runnables.passthrough import RunnableAssign, RunnablePick

__all__ = ["input_schema", "output_schema"]


def _field(info: FieldInfo) -> tuple[Any, Any]:
    return info.annotation, ... if info.is_required() else info.default


def _has_fields(model: Any) -> bool:
    return not issubclass(model, RootModel)


def input_schema(steps: Sequence[Any], config: Any) -> Any:
    """Return the model of the first step's input; an assignment adds what later steps need."""
    first, *rest = steps
    if rest and isinstance(first, RunnableAssign):
        needed = input_schema(rest, config)
        if _has_fields(needed):
            made = first.mapper.steps__
            own = first.mapper.get_input_schema(config)
            fields = {k: _field(v) for k, v in needed.model_fields.items() if k not in made}
            if _has_fields(own):
                fields |= {k: _field(v) for k, v in own.model_fields.items()}
            return fields_model("RunnableSequenceInput", fields)
    elif rest and isinstance(first, RunnablePick):
        return input_schema(rest, config)
    return first.get_input_schema(config)


def output_schema(steps: Sequence[Any], config: Any) -> Any:
    """Return the model of the last step's output; an assignment keeps what was there, a pick picks."""
    *rest, last = steps
    if rest and isinstance(last, RunnableAssign):
        given = output_schema(rest, config)
        if _has_fields(given):
            fields = {k: _field(v) for k, v in given.model_fields.items()}
            added = last.mapper.get_output_schema(config)
            fields |= {k: _field(v) for k, v in added.model_fields.items()}
            return fields_model("RunnableSequenceOutput", fields)
    elif rest and isinstance(last, RunnablePick):
        given = output_schema(rest, config)
        if _has_fields(given):
            known = given.model_fields
            if isinstance(last.keys, str):
                kind = known[last.keys].annotation if last.keys in known else Any
                return model_of("RunnableSequenceOutput", kind)
            fields = {k: _field(known[k]) for k in last.keys if k in known}
            return fields_model("RunnableSequenceOutput", fields)
    return last.get_output_schema(config)
