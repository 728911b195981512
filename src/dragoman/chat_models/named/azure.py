"""OpenAI's models on Azure."""

import os
from typing import Any, ClassVar

from pydantic import Field

from dragoman._door import Door
from dragoman.chat_models import address
from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.parameters import ParameterError
from dragoman.chat_models.providers import Provider
from dragoman.chat_models.secret import Secret

__all__ = ["AzureChatOpenAI"]


class AzureChatOpenAI(ProviderChatModel):
    """OpenAI's models on Azure.

    Args:
        azure_endpoint: The resource's address; by default `AZURE_OPENAI_ENDPOINT`.
        azure_deployment: The deployment; by default the model's name.
        api_version: By default `OPENAI_API_VERSION`.
        azure_ad_token: A token of Microsoft Entra in place of a key.
        token_provider: A function that gives one anew for every request (`azure_ad_token_provider`).
    """

    provider_name: ClassVar[str] = "azure_openai"
    model: str = ""
    azure_endpoint: str | None = None
    azure_deployment: str | None = None
    api_version: str | None = None
    azure_ad_token: Secret | None = Field(default=None, repr=False)
    token_provider: Any = Field(default=None, repr=False, exclude=True)

    def __init__(self, model: str | None = None, **data: Any) -> None:
        """Take the deployment's name for the model's, when that is not given."""
        deployment = data.get("azure_deployment", data.get("deployment_name"))
        if model is None and "model" not in data and "model_name" not in data and deployment:
            model = deployment
        super().__init__(model, **data)

    def _check(self, row: Provider) -> None:
        self.azure_endpoint = self.azure_endpoint or os.environ.get("AZURE_OPENAI_ENDPOINT")
        self.api_version = self.api_version or os.environ.get("OPENAI_API_VERSION")
        if self.azure_endpoint is None and self.base_url is None:
            message = "`AzureChatOpenAI` needs `azure_endpoint`, or AZURE_OPENAI_ENDPOINT in the environment"
            raise ParameterError(message)
        if self.azure_endpoint is not None and self.base_url is not None:
            message = "`AzureChatOpenAI`: give `azure_endpoint` or `base_url`, not both"
            raise ParameterError(message)
        if self.api_version is None:
            message = (
                "`AzureChatOpenAI` needs `api_version`, or OPENAI_API_VERSION in the environment"
            )
            raise ParameterError(message)
        if self.azure_endpoint is not None:
            self.azure_endpoint = address.check_base_url(self.azure_endpoint)
        token = self.azure_ad_token or os.environ.get("AZURE_OPENAI_AD_TOKEN")
        if self.api_key is None and (self.token_provider or token):
            self.azure_ad_token = None if token is None else Secret(token)
        else:
            super()._check(row)

    def _places(self, model: str) -> dict[str, str]:
        return {
            "deployment": self.azure_deployment or model,
            "api_version": self.api_version or "",
        }

    async def _base(self, door: Door, row: Provider) -> str:
        return self.azure_endpoint or await super()._base(door, row)

    def _more_headers(self) -> dict[str, str]:
        return {}

    async def _sign(
        self, door: Door, url: str, headers: dict[str, str], data: bytes, key: str | None
    ) -> dict[str, str]:
        if key is None:
            token = await address.reveal(door, self.token_provider or self.azure_ad_token)
            return {**headers, "authorization": f"Bearer {token}"}
        return headers
