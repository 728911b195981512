"""Gemini, with a key or on Google Cloud."""

import os
from typing import ClassVar

from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.parameters import ParameterError
from dragoman.chat_models.providers import Provider

__all__ = ["ChatGoogleGenerativeAI", "ChatVertexAI"]


class ChatGoogleGenerativeAI(ProviderChatModel):
    """Gemini with an API key."""

    provider_name: ClassVar[str] = "google_genai"

    def _places(self, model: str) -> dict[str, str]:
        return {"model": model.removeprefix("models/")}


class ChatVertexAI(ProviderChatModel):
    """Gemini on Google Cloud.

    Args:
        project: By default `GOOGLE_CLOUD_PROJECT`.
        location: By default `GOOGLE_CLOUD_LOCATION`, else `us-central1`.
        api_key: An access token, or a function that gives one (such as one that refreshes the
            credentials of `google.auth` and returns their token).
    """

    provider_name: ClassVar[str] = "google_vertexai"
    project: str | None = None
    location: str | None = None

    def _check(self, row: Provider) -> None:
        super()._check(row)
        self.project = self.project or os.environ.get("GOOGLE_CLOUD_PROJECT")
        self.location = self.location or os.environ.get("GOOGLE_CLOUD_LOCATION") or "us-central1"
        if self.project is None:
            message = "`ChatVertexAI` needs `project`, or GOOGLE_CLOUD_PROJECT in the environment"
            raise ParameterError(message)

    def _places(self, model: str) -> dict[str, str]:
        location = self.location or "global"
        host = "aiplatform.googleapis.com"
        return {
            "model": model,
            "project": self.project or "",
            "location": location,
            "location_host": host if location == "global" else f"{location}-{host}",
        }
