"""Amazon Bedrock."""

import os
from typing import Any, ClassVar

from pydantic import Field

from dragoman._door import Door
from dragoman._need import need
from dragoman.chat_models import address
from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.parameters import ParameterError
from dragoman.chat_models.providers import Provider
from dragoman.chat_models.secret import Secret
from dragoman.errors import ModelAuthenticationError

__all__ = ["ChatBedrockConverse"]


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
