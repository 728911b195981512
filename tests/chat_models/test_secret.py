"""API keys do not show."""

import copy
import json
import pickle
import traceback

import pytest
from pydantic import BaseModel, SecretStr

from dragoman.chat_models.secret import Secret

KEY = "sk-very-secret-0123456789"


def test_no_way_of_showing_shows_it() -> None:
    secret = Secret(KEY)
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r}",
        f"{secret:>30}",
        repr([secret]),
    ]
    assert not any(KEY in text for text in shown)
    assert not hasattr(secret, "__dict__")
    assert secret.get_secret_value() == KEY


def test_it_is_not_pickled_and_copies_are_itself() -> None:
    secret = Secret(KEY)
    with pytest.raises(TypeError, match="environment variable"):
        pickle.dumps(secret)
    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret


def test_as_a_pydantic_field() -> None:
    class Holder(BaseModel):
        key: Secret

    holder = Holder(key=KEY)
    assert holder.key == Secret(KEY)
    assert KEY not in repr(holder) + holder.model_dump_json() + str(holder.model_dump())
    assert json.loads(holder.model_dump_json()) == {"key": "**********"}
    assert Holder.model_json_schema()["properties"]["key"]["format"] == "password"
    assert Holder(key=SecretStr(KEY)).key == Secret(KEY)
    try:
        Holder(key=7)
    except (TypeError, ValueError):
        assert KEY not in traceback.format_exc()


def test_equality_length_emptiness() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert not Secret("")
    assert str(Secret("")) == ""
