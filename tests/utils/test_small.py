"""Small things users import: environment, batches, strings."""

import asyncio

import pytest

from dragoman import utils
from dragoman.utils.env import (
    convert_to_secret_str,
    env_var_is_set,
    from_env,
    get_from_dict_or_env,
    get_from_env,
    secret_from_env,
)
from dragoman.utils.iter import abatch_iterate, batch_iterate
from dragoman.utils.strings import (
    comma_list,
    sanitize_for_postgres,
    stringify_dict,
    stringify_value,
)


def test_settings(monkeypatch):
    monkeypatch.setenv("DRAGOMAN_TEST", "v")

    assert env_var_is_set("DRAGOMAN_TEST")
    assert get_from_env("key", "DRAGOMAN_TEST") == "v"
    assert get_from_env("key", "DRAGOMAN_NONE", "d") == "d"
    assert get_from_dict_or_env({"key": "own"}, "key", "DRAGOMAN_TEST") == "own"
    assert get_from_dict_or_env({"b": "own"}, ["a", "b"], "DRAGOMAN_TEST") == "own"
    assert get_from_dict_or_env({}, "key", "DRAGOMAN_TEST") == "v"
    with pytest.raises(ValueError, match="Did not find key, please add an environment variable"):
        get_from_env("key", "DRAGOMAN_NONE")
    monkeypatch.setenv("DRAGOMAN_TEST", "false")
    assert not env_var_is_set("DRAGOMAN_TEST")


def test_readers_of_the_environment(monkeypatch):
    monkeypatch.setenv("DRAGOMAN_TEST", "v")

    assert from_env(["DRAGOMAN_NONE", "DRAGOMAN_TEST"])() == "v"
    assert from_env("DRAGOMAN_NONE", default=None)() is None
    assert secret_from_env("DRAGOMAN_TEST")().get_secret_value() == "v"
    assert secret_from_env("DRAGOMAN_NONE", default=None)() is None
    assert "v" not in repr(convert_to_secret_str(convert_to_secret_str("v")))
    with pytest.raises(ValueError, match="`DRAGOMAN_NONE`"):
        secret_from_env("DRAGOMAN_NONE")()
    with pytest.raises(ValueError, match="own words"):
        from_env("DRAGOMAN_NONE", error_message="own words")()


def test_batches():
    async def each():
        for item in range(5):
            yield item

    async def collect():
        return [batch async for batch in abatch_iterate(2, each())]

    assert list(batch_iterate(2, range(5))) == [[0, 1], [2, 3], [4]]
    assert list(batch_iterate(None, range(3))) == [[0, 1, 2]]
    assert list(batch_iterate(2, [])) == []
    assert asyncio.run(collect()) == [[0, 1], [2, 3], [4]]


def test_strings():
    assert stringify_value({"a": [1, {"b": 2}]}) == "\na: 1\n\nb: 2\n\n"
    assert stringify_dict({"a": "x"}) == "a: x\n"
    assert stringify_value(None) == "None"
    assert comma_list([1, "b"]) == "1, b"
    assert sanitize_for_postgres("a\x00b", "?") == "a?b"


def test_all_names_are_importable_from_the_package():
    for name in utils.__all__:
        assert getattr(utils, name) is not None
