"""Every codec conforms."""

import pytest

from dragoman.codecs import SUPPORTED, get_codec
from dragoman.testing import CodecSuite


class TestCodecs(CodecSuite):
    @pytest.fixture(autouse=True, params=SUPPORTED)
    def _choose(self, request):
        self.api = request.param

    def codec(self):
        return get_codec(self.api)
