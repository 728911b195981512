"""Everything `dragoman.testing` promises can be imported."""

import dragoman.testing


def test_every_name_is_there() -> None:
    for name in dragoman.testing.__all__:
        assert getattr(dragoman.testing, name).__name__ == name
    assert set(dragoman.testing.__all__) <= set(dir(dragoman.testing))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(dragoman.testing, "Bogus")
