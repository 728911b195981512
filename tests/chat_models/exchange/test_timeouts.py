"""What a user may write for `timeout=`."""

import httpx2
import pytest

from dragoman.chat_models.exchange import Timeouts

DEFAULT = Timeouts()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, DEFAULT),
        (5, Timeouts(connect_s=5, read_s=5, idle_s=5)),
        (30.0, Timeouts(connect_s=10.0, read_s=30.0, idle_s=30.0)),
        ((1, 2), Timeouts(connect_s=1, read_s=2, idle_s=2)),
        ({"idle": 3, "total": 9}, Timeouts(idle_s=3, total_s=9)),
        (httpx2.Timeout(7.0, connect=2.0), Timeouts(connect_s=2.0, read_s=7.0, idle_s=7.0)),
        (Timeouts(total_s=1), Timeouts(total_s=1)),
    ],
)
def test_spellings(spec: object, expected: Timeouts) -> None:
    assert DEFAULT.changed(spec) == expected


@pytest.mark.parametrize("spec", [0, -1, True, "5", (1,), {"red": 1}, {"idle": 0}, {"idle": True}])
def test_what_is_no_timeout_is_an_error(spec: object) -> None:
    with pytest.raises(ValueError, match="timeout"):
        DEFAULT.changed(spec)


def test_a_stream_is_never_waited_for_without_end_by_default() -> None:
    assert DEFAULT.idle_s is not None
    assert DEFAULT.read_s is not None
