"""The first step whose condition holds."""

import pytest

from dragoman.runnables import RunnableBranch, RunnableGenerator, RunnableLambda


@pytest.fixture
def branch():
    return RunnableBranch(
        (lambda x: x < 0, lambda x: "negative"),
        (lambda x: x < 10, lambda x: "small"),
        lambda x: "large",
    )


@pytest.mark.parametrize(("value", "expected"), [(-1, "negative"), (5, "small"), (50, "large")])
async def test_the_first_true_condition_chooses(colour, branch, value, expected):
    assert await colour.invoke(branch, value) == expected
    assert await colour.stream(branch, value) == [expected]
    assert await colour.batch(branch, [value]) == [expected]


async def test_later_conditions_are_not_asked(colour):
    asked = []

    def ask(name, answer):
        def condition(x):
            asked.append(name)
            return answer

        return condition

    branch = RunnableBranch(
        (ask("a", False), lambda x: 1),
        (ask("b", True), lambda x: 2),
        (ask("c", True), lambda x: 3),
        lambda x: 4,
    )
    assert await colour.invoke(branch, 0) == 2
    assert asked == ["a", "b"]


async def test_the_chosen_step_streams(colour):
    def letters(pieces):
        for piece in pieces:
            yield from piece

    branch = RunnableBranch((lambda x: True, RunnableGenerator(letters)), lambda x: x)
    assert await colour.stream(branch, "ab") == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (((lambda x: True, lambda x: 1),), ValueError, "requires at least two branches"),
        (
            (lambda x: True, lambda x: 1),
            TypeError,
            "must be tuples or lists, not <class 'function'>",
        ),
        (((lambda x: True,), lambda x: 1), ValueError, "of length 2, not 1"),
        (
            ((lambda x: True, lambda x: 1), 5),
            TypeError,
            "default must be Runnable, callable or mapping",
        ),
        (((1, lambda x: 1), lambda x: 1), TypeError, "Expected a Runnable, callable or dict"),
    ],
)
def test_malformed_branches_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        RunnableBranch(*arguments)


async def test_handlers_hear_of_conditions_and_of_the_chosen(colour, log):
    yes, no = RunnableLambda(lambda x: True, name="yes"), RunnableLambda(lambda x: False, name="no")
    branch = RunnableBranch((no, no), (yes, RunnableLambda(lambda x: x, name="taken")), no)
    await colour.invoke(branch, 1, {"callbacks": [log]})

    assert [(name, tags) for what, name, _, tags in log.told if what == "start"] == [
        ("RunnableBranch", []),
        ("no", ["condition:1"]),
        ("yes", ["condition:2"]),
        ("taken", ["branch:2"]),
    ]


async def test_an_error_in_a_condition_is_raised(colour):
    branch = RunnableBranch((lambda x: 1 / 0, lambda x: 1), lambda x: 2)
    with pytest.raises(ZeroDivisionError):
        await colour.invoke(branch, 1)
