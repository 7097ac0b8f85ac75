"""The servers and clients that tests ask for by name.

Each test of a client runs twice: with the blocking client, and with its
asyncio twin behind Blocking.
"""

import itertools
from contextlib import contextmanager

import azure.cosmos
import azure.cosmos.aio
import gridfs
import gridfs.asynchronous
import pymongo
import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from blocking import Blocking, Loop
from mayfly import KEY, SOMEDAY, Mayfly


@pytest.fixture(scope="session")
def everyday():
    """The mayfly that tests share when they neither move its clock nor set its flags."""
    with Mayfly() as mayfly:
        yield mayfly


@pytest.fixture(scope="session")
def virtual():
    """The mayfly whose clock stands still until a test moves it."""
    with Mayfly(f"--clock=virtual={SOMEDAY}") as mayfly:
        yield mayfly


@pytest.fixture(scope="session")
def loop():
    """Where asyncio clients run."""
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture(scope="session", params=["sync", "async"])
def way(request):
    """Which of its two APIs a client is used through."""
    return request.param


@contextmanager
def dialled(way, loop, mayfly, credential=KEY):
    """A client of the NoSQL API over TLS. It does not retry, so that a fault shows."""
    options = dict(credential=credential, retry_total=0, connection_verify=True)
    if way == "sync":
        with azure.cosmos.CosmosClient(mayfly.https, **options) as client:
            yield client
    else:
        client = Blocking(azure.cosmos.aio.CosmosClient(mayfly.https, **options), loop)
        try:
            with client:
                yield client
        finally:
            client.close()  # with does not when it cannot begin


@pytest.fixture(scope="session")
def client(way, loop, everyday):
    with dialled(way, loop, everyday) as client:
        yield client


@pytest.fixture(scope="session")
def clocked(way, loop, virtual):
    """A client of the mayfly on the virtual clock."""
    with dialled(way, loop, virtual) as client:
        yield client


_numbers = itertools.count(1)


def new_name():
    return f"python-{next(_numbers)}"


def new_database(client):
    return client.create_database(new_name())


def new_container(client, id="things", partition_key=PartitionKey("/pk"), **definition):
    """A container in a database of its own, partitioned by /pk if nothing else is said."""
    return new_database(client).create_container(id=id, partition_key=partition_key, **definition)


def refused(status, call, *args, **named):
    """The error that a call must end with, and its status."""
    with pytest.raises((CosmosHttpResponseError, CosmosBatchOperationError)) as caught:
        result = call(*args, **named)
        if hasattr(result, "__next__") or hasattr(result, "__iter__") and not isinstance(result, (dict, list)):
            list(result)  # pages are asked for when they are read
    assert caught.value.status_code == status, caught.value
    return caught.value


@contextmanager
def dialled_mongo(way, loop, mayfly, **options):
    """A client of the MongoDB API."""
    if way == "sync":
        with pymongo.MongoClient(mayfly.mongo, **options) as client:
            yield client
    else:
        with Blocking(pymongo.AsyncMongoClient(mayfly.mongo, **options), loop) as client:
            yield client


@pytest.fixture(scope="session")
def mongo(way, loop, everyday):
    with dialled_mongo(way, loop, everyday) as client:
        yield client


@pytest.fixture(scope="session")
def clocked_mongo(way, loop, virtual):
    with dialled_mongo(way, loop, virtual) as client:
        yield client


@pytest.fixture
def db(mongo):
    """A MongoDB database of the test's own."""
    return mongo[new_name()]


@pytest.fixture
def clocked_db(clocked_mongo):
    return clocked_mongo[new_name()]


def files(way, loop, db):
    """GridFS in a database."""
    if way == "sync":
        return gridfs.GridFSBucket(db)
    return Blocking(gridfs.asynchronous.AsyncGridFSBucket(db._target), loop)


def refused_mongo(code, call, *args, **named):
    """The error of the server that a call must end with, and its code."""
    with pytest.raises(pymongo.errors.OperationFailure) as caught:
        call(*args, **named)
    assert caught.value.code == code, caught.value
    return caught.value
