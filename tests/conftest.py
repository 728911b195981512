"""Settings every test shares: the hypothesis profiles, the scale of long tests, no network."""

import os

import pytest
from hypothesis import HealthCheck, settings

# With every core computing, the bundled model collapses on a small machine.
os.environ.setdefault("DRAGOMAN_LOCAL_THREADS", "1")

SOAK = os.environ.get("DRAGOMAN_SOAK") == "1"

settings.register_profile(
    "ci", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "soak", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("soak" if SOAK else "ci")


def profile_scale() -> int:
    """Return by how much a long test multiplies its work: 1 in `make test`, 20 in `make soak`."""
    return 20 if SOAK else 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what is marked `soak` to `make soak`: further replies of the bundled model.

    `make test` lets it begin 46 short replies, six of which are broken off: one for each claim.
    """
    if not SOAK:
        left = [item for item in items if item.get_closest_marker("soak")]
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left)


@pytest.fixture
def scale() -> int:
    return profile_scale()
