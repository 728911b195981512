"""Both colours of every call: a test with the `colour` fixture runs once for each."""

import pytest

from dragoman.callbacks import AsyncCallbackHandler, BaseCallbackHandler


class Sync:
    is_async = False

    async def invoke(self, step, *args, **kwargs):
        return step.invoke(*args, **kwargs)

    async def batch(self, step, *args, **kwargs):
        return step.batch(*args, **kwargs)

    async def stream(self, step, *args, **kwargs):
        return list(step.stream(*args, **kwargs))

    async def transform(self, step, pieces, *args, **kwargs):
        return list(step.transform(iter(pieces), *args, **kwargs))

    async def as_completed(self, step, *args, **kwargs):
        return list(step.batch_as_completed(*args, **kwargs))


class Async:
    is_async = True

    async def invoke(self, step, *args, **kwargs):
        return await step.ainvoke(*args, **kwargs)

    async def batch(self, step, *args, **kwargs):
        return await step.abatch(*args, **kwargs)

    async def stream(self, step, *args, **kwargs):
        return [piece async for piece in step.astream(*args, **kwargs)]

    async def transform(self, step, pieces, *args, **kwargs):
        async def each():
            for piece in pieces:
                yield piece

        return [piece async for piece in step.atransform(each(), *args, **kwargs)]

    async def as_completed(self, step, *args, **kwargs):
        return [pair async for pair in step.abatch_as_completed(*args, **kwargs)]


@pytest.fixture(params=[Sync(), Async()], ids=["sync", "async"])
def colour(request):
    return request.param


class Log(BaseCallbackHandler):
    """Writes down what it is told: (what, name or value, tags)."""

    def __init__(self):
        self.told = []
        self.ids = {}

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        self.ids[run_id] = (kwargs["name"], parent_run_id)
        self.told.append(("start", kwargs["name"], inputs, kwargs["tags"]))

    def on_chain_end(self, outputs, *, run_id, **kwargs):
        self.told.append(("end", self.ids[run_id][0], outputs, kwargs["tags"]))

    def on_chain_error(self, error, *, run_id, **kwargs):
        self.told.append(("error", self.ids[run_id][0], error, kwargs["tags"]))

    def parent_of(self, name):
        (parent,) = {parent for known, parent in self.ids.values() if known == name}
        return None if parent is None else self.ids[parent][0]


class AsyncLog(Log, AsyncCallbackHandler):
    async def on_chain_start(self, serialized, inputs, **kwargs):
        Log.on_chain_start(self, serialized, inputs, **kwargs)

    async def on_chain_end(self, outputs, **kwargs):
        Log.on_chain_end(self, outputs, **kwargs)

    async def on_chain_error(self, error, **kwargs):
        Log.on_chain_error(self, error, **kwargs)


@pytest.fixture(params=[Log, AsyncLog], ids=["sync-handler", "async-handler"])
def log(request):
    return request.param()
