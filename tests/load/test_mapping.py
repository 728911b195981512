"""The table leads to classes that exist and can be stored."""

from importlib import import_module

import pytest

from dragoman.load.mapping import (
    CORE,
    MESSAGES,
    NAMESPACES,
    PARTNERS,
    PLAIN_MESSAGES,
    TABLE,
    target,
)


@pytest.mark.parametrize("place", sorted(set(TABLE.values()) | set(PARTNERS.values())))
def test_every_target_is_a_class_that_can_be_stored(place):
    module, name = place

    cls = getattr(import_module(module), name)

    assert isinstance(cls, type)
    assert callable(cls.is_lc_serializable)


def test_a_class_is_found_under_the_id_it_is_stored_under():
    for module, name in set(TABLE.values()):
        cls = getattr(import_module(module), name)
        if cls.is_lc_serializable():
            assert target(tuple(cls.lc_id())) == (module, name)


def test_the_sets_are_nested():
    assert PLAIN_MESSAGES < MESSAGES < CORE
    assert not CORE & set(PARTNERS)
    assert {identifier[0] for identifier in CORE} <= set(NAMESPACES)
    assert target(("os", "system")) is None
