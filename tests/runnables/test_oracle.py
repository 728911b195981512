"""The same expressions, evaluated with langchain-core: same values, same errors."""

import importlib

import pytest

EXPRESSIONS = [
    "(RunnableLambda(lambda x: x + 1) | (lambda x: x * 2)).invoke(1)",
    "(RunnableLambda(lambda x: x + 1) | (lambda x: x * 2)).batch([1, 2])",
    "list((RunnableLambda(str) | letters | letters | str.upper).stream('ab'))",
    "list((RunnableLambda(str) | letters | {'a': letters}).stream('ab'))",
    "RunnableParallel(a={'b': len, 'c': len}).invoke('xx')",
    "RunnableParallel({}).invoke(1)",
    "RunnableParallel(a='x')",
    "({'a': len} | RunnablePick('a')).invoke('abc')",
    "RunnableLambda(lambda x: {'a': 1, 'b': 2}).pick(['a', 'b']).invoke(1)",
    "RunnableLambda(lambda x: {'a': 1}).assign(b=lambda x: x['a'] + 1).invoke(1)",
    "list(RunnableLambda(lambda x: {'a': 1}).assign(b=lambda x: x['a'] + 1).stream(1))",
    "list(RunnablePick(['a']).transform(iter([{'a': 1}, {'b': 2}])))",
    "RunnablePassthrough.assign(a=lambda x: 1).invoke(3)",
    "RunnablePassthrough.assign().invoke({'a': 1})",
    "RunnablePick('a').invoke(3)",
    "list(RunnableLambda(lambda x: x).transform(iter([{'a': 1}, {'b': 2}])))",
    "list(RunnableLambda(lambda x: x).transform(iter(['a', 1, 2])))",
    "list(RunnablePassthrough().transform(iter(['a', 1])))",
    "RunnableLambda(lambda x, y=0: x + y).bind(y=1).map().invoke([1, 2])",
    "RunnableLambda(lambda x: 1 / x).batch([1, 0], return_exceptions=True)[0]",
    "RunnableLambda(lambda x: 1 / x).batch([1, 0])",
    "RunnableLambda(lambda x: x).batch([1, 2], [{'tags': ['a']}])",
    "RunnableLambda(lambda x, config: config['configurable']).invoke(1, {'a': 1})",
    "sorted(RunnableLambda(lambda x, config: config).with_config(tags=['b']).invoke(1, {'tags': ['a']})['tags'])",
    "RunnableLambda(lambda x: x).invoke(1, foo=1)",
    "RunnablePassthrough().invoke(1, foo=1)",
    "RunnableLambda(coroutine).invoke(1)",
    "RunnableLambda(3)",
    "RunnableLambda(len) | 3",
    "RunnableGenerator(len)",
    "RunnableBranch((lambda x: x > 0, lambda x: 'up'), lambda x: 'down').batch([1, -1])",
    "RunnableBranch((lambda x: True, lambda x: 1))",
    "RunnableBranch((lambda x: True, lambda x: 1), 5)",
    "RunnableBranch(lambda x: True, lambda x: 1)",
    "RouterRunnable({'a': len}).invoke({'key': 'b', 'input': 1})",
    "RouterRunnable({'a': len}).batch([{'key': 'a', 'input': 'xx'}])",
    "RunnableLambda(fail).with_fallbacks([RunnableLambda(len)]).invoke('abc')",
    "RunnableLambda(fail).with_fallbacks([RunnableLambda(fail)]).invoke('abc')",
    "RunnableLambda(fail).with_fallbacks([RunnableLambda(len)], exception_key='e').invoke('abc')",
    "RunnableLambda(fail).with_fallbacks([RunnableLambda(len)], exceptions_to_handle=(KeyError,)).invoke('a')",
    "RunnableLambda(fail).with_retry(wait_exponential_jitter=False).invoke('abc')",
    "recursion(7)",
    "AddableDict(a=1) + {'a': None, 'b': None}",
    "AddableDict(a=[1]) + AddableDict(a='b')",
    "add(['a', 'b'])",
    "ensure_config({'model': 'm', 'tags': ['a']})",
    "ensure_config({'metadata': {'checkpoint_ns': 'own'}, 'configurable': {'checkpoint_ns': 'n'}})",
    "get_config_list({'tags': ['a']}, 2)",
    "get_config_list([{}], 2)",
    "patch_config({'run_name': 'a', 'run_id': 1}, recursion_limit=3, configurable={'a': 1})",
    "named.get_name('input')",
    "RunnableParallel(a=named, b=named).get_name()",
    "named.map().get_name()",
    "named.bind(a=1).get_name()",
    "named.get_input_jsonschema()",
    "RunnableParallel(a=named, b=named).get_output_jsonschema()",
    "named.config_schema(include=['tags', 'metadata']).model_json_schema()",
    "named.with_types(input_type=int).get_input_jsonschema()",
    "repr(RunnablePassthrough() | {'a': named, 'b': RunnablePick('a')} | named)",
    "repr(named.bind(a=1).with_config(tags=['t']))",
    "repr(RunnableBranch((named, named), named))",
    "repr(named.with_fallbacks([named]))",
    "repr(RunnablePassthrough.assign(a=named))",
    "(named | {'a': named, 'b': RunnablePassthrough()}).get_graph().draw_mermaid()",
    "RunnablePassthrough.assign(a=named).get_graph().to_json()",
    "named.get_graph().to_json(with_schemas=True)",
]


def evaluated(root, expression):
    """Return the value of an expression, or its error, with the names of `root.runnables`."""
    runnables = importlib.import_module(f"{root}.runnables")

    def letters(pieces):
        for piece in pieces:
            yield from piece

    async def coroutine(x):
        return x

    def fail(x):
        raise ValueError(f"no {x}")

    def named(x):
        return x

    def recursion(limit):
        calls = []

        def again(x):
            calls.append(x)
            return step

        step = runnables.RunnableLambda(again)
        with pytest.raises(RecursionError):
            step.invoke(1, {"recursion_limit": limit})
        return len(calls)

    names = {
        **{name: getattr(runnables, name) for name in runnables.__all__},
        "letters": letters,
        "coroutine": coroutine,
        "fail": fail,
        "named": runnables.RunnableLambda(named),
        "recursion": recursion,
    }
    try:
        return eval(expression, names)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_same_as_langchain(expression):
    expected = evaluated("langchain_core", expression)

    assert evaluated("dragoman", expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "seq",
        "seq | {'a': RunnablePick('z')}",
        "RunnableBranch((seq, seq), seq)",
        "RouterRunnable({'a': seq})",
        "seq.map()",
        "seq.bind(a=1).with_config(tags=['t'])",
        "seq.with_fallbacks([seq])",
        "RunnablePassthrough.assign(a=seq)",
        "RunnableLambda(len)",
    ],
)
def test_dumps_are_langchains(expression):
    dumped = []
    for root in ("langchain_core", "dragoman"):
        runnables = importlib.import_module(f"{root}.runnables")
        names = {name: getattr(runnables, name) for name in runnables.__all__}
        names["seq"] = names["RunnablePassthrough"]() | names["RunnablePick"]("a")
        dumpd = importlib.import_module(f"{root}.load").dumpd
        dumped.append(dumpd(eval(expression, names)))

    assert dumped[1] == dumped[0]


def test_what_langchain_dumped_loads_here():
    from langchain_core.load import dumps
    from langchain_core.runnables import RunnablePassthrough, RunnablePick

    import dragoman.runnables as ours
    from dragoman.load import loads

    theirs = (
        RunnablePassthrough()
        | {"b": RunnablePick("a")}
        | RunnablePassthrough.assign(c=RunnablePick(["b"]))
    )
    loaded = loads(dumps(theirs), allowed_objects="core")

    assert isinstance(loaded, ours.RunnableSequence)
    assert loaded.invoke({"a": 1}) == theirs.invoke({"a": 1}) == {"b": 1, "c": {"b": 1}}
