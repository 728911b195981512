"""`ImagePromptTemplate`."""

import pytest

from dragoman.prompts import ImagePromptTemplate


def image(**template):
    return ImagePromptTemplate(template=template, input_variables=["u"])


def test_filling():
    assert image(url="https://e.org/{u}").format(u="x") == {"url": "https://e.org/x"}
    assert image(url="{u}", detail="low").format(u="x") == {"url": "x", "detail": "low"}
    assert image(url="{u}").format(u="x", detail="high") == {"url": "x", "detail": "high"}
    value = image(url="{u}").invoke({"u": "x"})
    assert value.to_string() == "x"
    assert value.to_messages()[0].content == [{"url": "x"}]


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ({"url": "{u}"}, {"u": ""}, "Must provide url."),
        ({}, {"url": 3}, "url must be a string."),
        ({"url": "x", "path": "/etc/passwd"}, {}, "Loading images from 'path' has been removed"),
        ({"url": "x"}, {"path": "/etc/passwd"}, "Loading images from 'path' has been removed"),
    ],
)
def test_what_is_no_image(template, values, text):
    with pytest.raises(ValueError, match=text):
        image(**template).format(**values)


def test_names_and_templates_are_checked():
    for name in ("url", "path", "detail"):
        with pytest.raises(ValueError, match="cannot contain any of 'url', 'path', or 'detail'"):
            ImagePromptTemplate(template={}, input_variables=[name])
    with pytest.raises(ValueError, match="attribute access"):
        image(url="{u.__class__}")
    with pytest.raises(NotImplementedError):
        image(url="x").pretty_repr()
    assert image(url="x").asdict()["_type"] == "image-prompt"
