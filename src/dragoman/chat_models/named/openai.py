"""OpenAI, and everything that speaks its wire."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.providers import PROVIDERS, Provider

__all__ = ["ChatOpenAI", "ChatOpenAIResponses"]


class ChatOpenAI(ProviderChatModel):
    """OpenAI, and everything that speaks its wire at another `base_url`.

    Args:
        organization: Sent as `OpenAI-Organization`.
        use_responses_api: Speak the Responses API instead of chat completions.
    """

    provider_name: ClassVar[str] = "openai"
    organization: str | None = None
    use_responses_api: bool | None = None

    @classmethod
    def _row_for(cls, data: Mapping[str, Any]) -> Provider:
        return PROVIDERS["openai_responses" if data.get("use_responses_api") else cls.provider_name]

    def _more_headers(self) -> dict[str, str]:
        organization = self.organization or os.environ.get("OPENAI_ORG_ID")
        is_own = self.base_url is None or self.organization is not None
        return {"openai-organization": organization} if organization and is_own else {}


class ChatOpenAIResponses(ChatOpenAI):
    """OpenAI's Responses API."""

    provider_name: ClassVar[str] = "openai_responses"
