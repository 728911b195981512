"""Helpers under LangChain's names: links, colours, ids, pydantic classes, exclusive keywords."""

import io
from contextlib import aclosing

import pytest
from pydantic import BaseModel, Field

from dragoman.utils import aiter
from dragoman.utils.html import extract_sub_links, find_all_links
from dragoman.utils.input import get_color_mapping, get_colored_text, print_text
from dragoman.utils.interactive_env import is_interactive_env
from dragoman.utils.pydantic import get_fields, is_basemodel_instance, is_basemodel_subclass
from dragoman.utils.utils import get_pydantic_field_names, xor_args
from dragoman.utils.uuid import uuid7


class Model(BaseModel):
    a: int = Field(alias="z")
    b: int = 1


PAGE = (
    '<a href="/a/b">1</a> <a href=\'c?q=1#top\'>2</a> <a href="mailto:x@y.z">3</a>'
    '<a href="#here">4</a> <a href="pic.PNG">5</a> <a href="http://other.x/">6</a>'
    '<a href="javascript:go()">7</a> <a href="/a/b">8</a>'
)


def test_links_of_a_page():
    assert find_all_links(PAGE) == ["/a/b", "c?q=1", "http://other.x/"]
    assert find_all_links("see <x-1> <x-2>", pattern=r"<(x-\d)>") == ["x-1", "x-2"]


def test_links_below_an_address():
    assert extract_sub_links(PAGE, "http://h.x/a/") == ["http://h.x/a/b", "http://h.x/a/c?q=1"]
    assert extract_sub_links(PAGE, "http://h.x/a/", prevent_outside=False)[-1] == "http://other.x/"
    assert extract_sub_links(PAGE, "http://h.x/a/", exclude_prefixes=["http://h.x/a/b"]) == [
        "http://h.x/a/c?q=1"
    ]
    # a host whose name only starts like ours is outside
    assert extract_sub_links('<a href="http://h.x.evil/a/">', "http://h.x/a/") == []


def test_colours():
    out = io.StringIO()
    print_text("a", color="red", end="!", file=out)

    assert out.getvalue() == get_colored_text("a", "red") + "!"
    assert get_color_mapping(list("abcdef"))["f"] == "blue"
    with pytest.raises(ValueError, match="No colors"):
        get_color_mapping(["a"], ["blue", "yellow", "pink", "green", "red"])


def test_ids_sort_by_time():
    made = [uuid7(n * 300) for n in range(50)]

    assert sorted(made) == made or [i.int >> 64 for i in made] == sorted(i.int >> 64 for i in made)
    assert {i.version for i in made} == {7}
    assert {i.variant for i in made} == {"specified in RFC 4122"}
    assert len(set(made)) == 50
    assert uuid7(1_700_000_000_123_000_000).int >> 80 == 1_700_000_000_123


def test_pydantic_classes():
    assert is_basemodel_subclass(Model)
    assert not is_basemodel_subclass(list[int])
    assert is_basemodel_instance(Model(z=1))
    assert list(get_fields(Model(z=1))) == ["a", "b"]
    assert get_pydantic_field_names(Model) == {"a", "b", "z"}
    with pytest.raises(TypeError, match="Expected a Pydantic model"):
        get_fields(dict)


@pytest.mark.parametrize("given", [{}, {"a": 1, "b": 2}, {"a": None}])
def test_exactly_one_of_a_group(given):
    @xor_args(("a", "b"))
    def f(a=None, b=None):
        return a, b

    assert f(a=1) == (1, None)
    with pytest.raises(ValueError, match=r"Exactly one argument in each .* a, b"):
        f(**given)


async def test_async_iterables_in_batches():
    async def three():
        for n in range(3):
            yield n

    assert aiter.aclosing is aclosing
    assert [batch async for batch in aiter.abatch_iterate(2, three())] == [[0, 1], [2]]
    assert not is_interactive_env()


def test_names_are_where_langchain_users_import_them_from():
    from dragoman.output_parsers import json as parsers_json
    from dragoman.utils import get_colored_text as here
    from dragoman.utils import json as utils_json

    assert here is get_colored_text
    for name in ("parse_partial_json", "parse_json_markdown", "parse_and_check_json_markdown"):
        assert getattr(parsers_json, name) is getattr(utils_json, name)
