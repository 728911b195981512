"""`ImagePromptTemplate`: an `image_url` whose strings are templates."""

from typing import Any, cast

from pydantic import Field

from dragoman.prompt_values import ImagePromptValue, ImageURL, PromptValue
from dragoman.prompts.base import BasePromptTemplate
from dragoman.prompts.string import PromptTemplateFormat, get_template_variables, render_template

__all__ = ["ImagePromptTemplate"]

_OWN_NAMES = {"url", "path", "detail"}
_NO_PATH = "Loading images from 'path' has been removed as of 0.3.15 for security reasons. Please specify images by 'url'."


class ImagePromptTemplate(BasePromptTemplate[ImageURL]):
    """A template for an image by URL.

    >>> t = ImagePromptTemplate(template={"url": "https://e.org/{n}.png"}, input_variables=["n"])
    >>> t.format(n=1)
    {'url': 'https://e.org/1.png'}
    """

    template: dict[str, Any] = Field(default_factory=dict)
    template_format: PromptTemplateFormat = "f-string"

    def __init__(self, **kwargs: Any) -> None:
        """Build from keywords; a template that cannot be rendered safely is refused here."""
        names = kwargs.setdefault("input_variables", [])
        overlap = sorted(set(names) & _OWN_NAMES)
        if overlap:
            message = (
                "input_variables for the image template cannot contain any of 'url', 'path', or "
                f"'detail'. Found: {overlap}"
            )
            raise ValueError(message)
        _check(kwargs.get("template", {}), kwargs.get("template_format", "f-string"))
        super().__init__(**kwargs)

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """The format is always stored: a loader must not guess it."""
        return {"template_format": self.template_format}

    @property
    def _prompt_type(self) -> str:
        return "image-prompt"

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "image"]

    def check_safe(self) -> None:
        """Raise unless every string can be rendered safely."""
        _check(self.template, self.template_format)

    def format_prompt(self, **kwargs: Any) -> PromptValue:
        """Return the filled image as a prompt value."""
        return ImagePromptValue(image_url=self.format(**kwargs))

    def format(self, **kwargs: Any) -> ImageURL:
        """Return the `image_url`: a URL, and the detail if there is one.

        Raises:
            ValueError: If there is no URL, or a path: files are not read for a template.
        """
        values = self._merge_partial_and_user_variables(**kwargs)
        filled = {
            key: render_template(text, self.template_format, values)
            if isinstance(text, str)
            else text
            for key, text in self.template.items()
        }
        if values.get("path") or filled.get("path"):
            raise ValueError(_NO_PATH)
        url = values.get("url") or filled.get("url")
        if not url:
            message = "Must provide url."
            raise ValueError(message)
        if not isinstance(url, str):
            message = "url must be a string."
            raise ValueError(message)
        result: dict[str, Any] = {"url": url}
        if detail := values.get("detail") or filled.get("detail"):
            result["detail"] = detail
        return cast("ImageURL", result)

    def pretty_repr(self, html: bool = False) -> str:
        """Raise NotImplementedError: an image has no text form."""
        raise NotImplementedError


def _check(template: Any, template_format: str) -> None:
    if isinstance(template, dict):
        for text in cast("dict[str, Any]", template).values():
            if isinstance(text, str):
                get_template_variables(text, template_format)
