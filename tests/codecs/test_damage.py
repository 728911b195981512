"""Requests of the case folders, damaged anywhere: a result, or an error of ours with a path."""

import json

import pytest
from codec_kit import cases, codec_of, damaged, read_json
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import DragomanError, MessageError

REQUESTS = list(cases("request.json"))
FORMATS = sorted({api for api, _ in REQUESTS})


@pytest.mark.parametrize("api", FORMATS)
@given(data=st.data())
def test_a_damaged_request_of_a_case_gives_a_result_or_an_error_of_ours(api, data):
    folder = data.draw(st.sampled_from([f for a, f in REQUESTS if a == api]))
    codec = codec_of(api, folder)
    body = data.draw(damaged(read_json(folder / "request.json")))
    try:
        out = codec.encode_request(codec.decode_request(body))
    except DragomanError as error:
        assert not isinstance(error, MessageError) or error.path  # noqa: PT017 - success is fine too
    else:
        json.dumps(out)
