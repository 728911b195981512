"""The named doors: LangChain's class for each provider, each a row of the providers table.

What a class adds is only what its provider alone needs: the parts of an address, a token function, a
signature.
"""

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from dragoman._door import Door
from dragoman._need import need
from dragoman.chat_models import address
from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.parameters import ParameterError
from dragoman.chat_models.providers import PROVIDERS, Provider
from dragoman.chat_models.secret import Secret
from dragoman.errors import ModelAuthenticationError

__all__ = [
    "AzureChatOpenAI", "ChatAnthropic", "ChatBaseten", "ChatBedrockConverse", "ChatCerebras", "ChatCohere",
    "ChatDeepInfra", "ChatDeepSeek", "ChatFireworks", "ChatGitHub", "ChatGoogleGenerativeAI", "ChatGroq",
    "ChatHuggingFace", "ChatLMStudio", "ChatLiteLLM", "ChatMistralAI", "ChatMoonshot", "ChatNVIDIA",
    "ChatOllama", "ChatOpenAI", "ChatOpenAIResponses", "ChatOpenRouter", "ChatPerplexity", "ChatQwen",
    "ChatSambaNova", "ChatTogether", "ChatUpstage", "ChatVLLM", "ChatVertexAI", "ChatXAI", "ChatZAI",
]  # fmt: skip


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


class ChatAnthropic(ProviderChatModel):
    """Anthropic's Messages API. `betas=[...]` goes into the `anthropic-beta` header."""

    provider_name: ClassVar[str] = "anthropic"


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


class ChatBedrockConverse(ProviderChatModel):
    """Amazon Bedrock's Converse API; needs the extra `bedrock`.

    Args:
        region: By default `AWS_REGION`, `AWS_DEFAULT_REGION`, or that of the profile.
        credentials_profile_name: A profile of `~/.aws`.
        aws_access_key_id: With the next two: credentials that are not looked up.
        aws_secret_access_key: See above.
        aws_session_token: See above.
    """

    provider_name: ClassVar[str] = "bedrock_converse"
    region: str | None = None
    credentials_profile_name: str | None = None
    aws_access_key_id: Secret | None = Field(default=None, repr=False)
    aws_secret_access_key: Secret | None = Field(default=None, repr=False)
    aws_session_token: Secret | None = Field(default=None, repr=False)

    def __init__(self, model: str | None = None, **data: Any) -> None:
        """Hide the keys before anything else can fail."""
        for name in ("aws_access_key_id", "aws_secret_access_key", "aws_session_token"):
            if data.get(name) is not None:
                data[name] = Secret(data[name])
        super().__init__(model, **data)

    def _check(self, row: Provider) -> None:
        super()._check(row)
        if self.api_key is None:
            need("botocore.auth", "bedrock")
        if (self.aws_access_key_id is None) != (self.aws_secret_access_key is None):
            message = "give both `aws_access_key_id` and `aws_secret_access_key`, or neither"
            raise ParameterError(message)

    def _places(self, model: str) -> dict[str, str]:
        return {"model": model, "region": self._region()}

    def _region(self) -> str:
        names = ("AWS_REGION", "AWS_DEFAULT_REGION")
        region = self.region or next((os.environ[n] for n in names if os.environ.get(n)), None)
        if region is None and self.api_key is None:
            region = self._session().get_config_variable("region")
        if region is None:
            message = "Bedrock needs a `region`, or AWS_REGION in the environment"
            raise ParameterError(message)
        return region

    def _session(self) -> Any:
        return need("botocore.session", "bedrock").Session(profile=self.credentials_profile_name)

    def _credentials(self) -> Any:
        if self.aws_access_key_id is not None and self.aws_secret_access_key is not None:
            token = self.aws_session_token
            return need("botocore.credentials", "bedrock").Credentials(
                self.aws_access_key_id.get_secret_value(),
                self.aws_secret_access_key.get_secret_value(),
                None if token is None else token.get_secret_value(),
            )
        found = self._session().get_credentials()
        if found is None:
            message = (
                "no AWS credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or pass them"
            )
            raise ModelAuthenticationError(message, provider="bedrock_converse")
        return found.get_frozen_credentials()

    async def _sign(
        self, door: Door, url: str, headers: dict[str, str], data: bytes, key: str | None
    ) -> dict[str, str]:
        if key is not None:
            return headers
        credentials = await door.call(self._credentials)
        return address.sign_aws(url, headers, data, region=self._region(), credentials=credentials)


class ChatOllama(ProviderChatModel):
    """Ollama's own API, by default on this machine."""

    provider_name: ClassVar[str] = "ollama"


class ChatDeepSeek(ProviderChatModel):
    """DeepSeek."""

    provider_name: ClassVar[str] = "deepseek"


class ChatGroq(ProviderChatModel):
    """Groq."""

    provider_name: ClassVar[str] = "groq"


class ChatMistralAI(ProviderChatModel):
    """Mistral."""

    provider_name: ClassVar[str] = "mistralai"


class ChatXAI(ProviderChatModel):
    """xAI (Grok)."""

    provider_name: ClassVar[str] = "xai"


class ChatOpenRouter(ProviderChatModel):
    """OpenRouter."""

    provider_name: ClassVar[str] = "openrouter"


class ChatCohere(ProviderChatModel):
    """Cohere."""

    provider_name: ClassVar[str] = "cohere"


class ChatFireworks(ProviderChatModel):
    """Fireworks AI; listed, not verified."""

    provider_name: ClassVar[str] = "fireworks"


class ChatTogether(ProviderChatModel):
    """Together AI; listed, not verified."""

    provider_name: ClassVar[str] = "together"


class ChatPerplexity(ProviderChatModel):
    """Perplexity; listed, not verified."""

    provider_name: ClassVar[str] = "perplexity"


class ChatUpstage(ProviderChatModel):
    """Upstage; listed, not verified."""

    provider_name: ClassVar[str] = "upstage"


class ChatNVIDIA(ProviderChatModel):
    """NVIDIA NIM; listed, not verified."""

    provider_name: ClassVar[str] = "nvidia"


class ChatHuggingFace(ProviderChatModel):
    """The Hugging Face router; listed, not verified."""

    provider_name: ClassVar[str] = "huggingface"


class ChatCerebras(ProviderChatModel):
    """Cerebras; listed, not verified."""

    provider_name: ClassVar[str] = "cerebras"


class ChatSambaNova(ProviderChatModel):
    """SambaNova; listed, not verified."""

    provider_name: ClassVar[str] = "sambanova"


class ChatDeepInfra(ProviderChatModel):
    """DeepInfra; listed, not verified."""

    provider_name: ClassVar[str] = "deepinfra"


class ChatBaseten(ProviderChatModel):
    """Baseten; listed, not verified."""

    provider_name: ClassVar[str] = "baseten"


class ChatMoonshot(ProviderChatModel):
    """Moonshot (Kimi); listed, not verified."""

    provider_name: ClassVar[str] = "moonshot"


class ChatZAI(ProviderChatModel):
    """Z.ai (GLM); listed, not verified."""

    provider_name: ClassVar[str] = "zai"


class ChatQwen(ProviderChatModel):
    """Qwen through DashScope's OpenAI wire; listed, not verified."""

    provider_name: ClassVar[str] = "qwen"


class ChatGitHub(ProviderChatModel):
    """GitHub Models; listed, not verified."""

    provider_name: ClassVar[str] = "github"


class ChatLiteLLM(ProviderChatModel):
    """A LiteLLM proxy, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "litellm"


class ChatVLLM(ProviderChatModel):
    """A vLLM server, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "vllm"


class ChatLMStudio(ProviderChatModel):
    """LM Studio, by default on this machine; listed, not verified."""

    provider_name: ClassVar[str] = "lmstudio"
