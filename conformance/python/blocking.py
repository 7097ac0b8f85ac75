"""Lets a test that is written once run against a blocking client and against its asyncio twin.

azure.cosmos and pymongo come twice, with the same names: azure.cosmos.aio and
AsyncMongoClient return coroutines and asynchronous iterators. Blocking stands
before an object of the asyncio kind and waits for each of its results, on an
event loop that has a thread of its own, so that the client's background tasks
run as they do in an application.
"""

import asyncio
import threading

PATIENCE = 60  # seconds that a call may take


class Loop:
    """An event loop in a thread."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()


# What these modules define is asynchronous; what others define is plain data.
ASYNCHRONOUS = ("azure.cosmos.aio", "azure.core.async_paging", "azure.cosmos._query_iterable_async", "pymongo.asynchronous", "gridfs.asynchronous")


class Blocking:
    """An object of an asyncio client, as its blocking twin would be."""

    def __init__(self, target, loop):
        self.__dict__.update(_target=target, _loop=loop)

    def _wait(self, awaitable):
        async def result():
            return await awaitable

        return self._show(self._loop.wait(result()))

    def _show(self, value):
        if hasattr(value, "__await__"):
            return self._wait(value)
        if hasattr(value, "__aiter__") or type(value).__module__.startswith(ASYNCHRONOUS):
            return Blocking(value, self._loop)
        if callable(value) and not isinstance(value, type):
            return lambda *args, **named: self._show(self._call(value, args, named))
        return value

    def _call(self, function, args, named):
        async def call():  # on the loop: some clients ask for it at once
            result = function(*map(bare, args), **{name: bare(value) for name, value in named.items()})
            return await result if hasattr(result, "__await__") else result

        return self._loop.wait(call())

    def __getattr__(self, name):
        return self._show(getattr(self._target, name))

    def __setattr__(self, name, value):
        setattr(self._target, name, value)

    def __getitem__(self, key):
        return self._show(self._target[key])

    def __iter__(self):
        return Blocking(self._target.__aiter__(), self._loop)

    def __next__(self):
        try:
            return self._wait(self._target.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self):
        return self._wait(self._target.__aenter__())

    def __exit__(self, *error):
        return self._wait(self._target.__aexit__(*error))


def bare(value):
    """value without the Blocking around it."""
    return value._target if isinstance(value, Blocking) else value
