"""How Python's clients are taught to trust mayfly's certificate authority.

azure-cosmos checks no certificate of localhost and 127.0.0.1 unless it is
given an ssl_config; hence a mayfly on 127.0.0.2, which Linux has at once.
"""

import subprocess
import sys

import azure.cosmos
import pymongo
import pytest

from conftest import KEY
from mayfly import Mayfly

READ_ACCOUNT = """
import asyncio, sys
from azure.cosmos import CosmosClient
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
way, endpoint, key, verify = sys.argv[1:]
options = dict(credential=key, retry_total=0, enable_endpoint_discovery=False)
if verify != "default":
    options["connection_verify"] = verify != "no" and verify
if way == "sync":
    with CosmosClient(endpoint, **options) as client:
        list(client.list_databases())
else:
    async def main():
        async with AsyncCosmosClient(endpoint, **options) as client:
            [database async for database in client.list_databases()]
    asyncio.run(main())
"""


@pytest.fixture(scope="module")
def elsewhere():
    if sys.platform != "linux":
        pytest.skip("only Linux answers on all of 127.0.0.0/8")
    with Mayfly("--advertise=https://127.0.0.2", host="127.0.0.2") as mayfly:
        yield mayfly


def connects(way, endpoint, verify="default", **environment):
    """Whether a program that reads the account gets through; environment is all that it has."""
    program = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ_ACCOUNT, way, endpoint, KEY, verify], env=environment, capture_output=True, text=True)
    if program.returncode != 0:
        assert "certificate" in program.stderr.lower(), program.stderr
    return program.returncode == 0


def test_unknown_authority(way, elsewhere):
    assert not connects(way, elsewhere.https)


def test_environment(way, elsewhere):
    """requests and aiohttp each look at another variable."""
    variable = {"sync": "REQUESTS_CA_BUNDLE", "async": "SSL_CERT_FILE"}[way]
    assert connects(way, elsewhere.https, **{variable: str(elsewhere.authority)})


def test_no_check(way, elsewhere):
    assert connects(way, elsewhere.https, verify="no")


def test_connection_verify_takes_no_file(way, elsewhere):
    """The SDK asks only whether it is true."""
    assert not connects(way, elsewhere.https, verify=str(elsewhere.authority))


def test_ssl_config(everyday, virtual):
    """The blocking client with an ssl_config checks even 127.0.0.1."""
    def client(authority):
        config = azure.cosmos.SSLConfiguration()
        config.SSLCaCerts = str(authority)
        return azure.cosmos.CosmosClient(everyday.https, KEY, ssl_config=config, retry_total=0)

    with client(everyday.authority) as trusting:
        list(trusting.list_databases())
    with pytest.raises(azure.core.exceptions.ServiceRequestError, match="certificate verify failed"):
        client(virtual.authority)


def test_pymongo(everyday, virtual):
    options = dict(tls=True, serverSelectionTimeoutMS=2000, directConnection=True)
    address = everyday.mongo.partition("/?")[0]
    with pymongo.MongoClient(address, tlsCAFile=str(everyday.authority), **options) as client:
        assert client.admin.command("ping")["ok"] == 1
    with pymongo.MongoClient(address, tlsCAFile=str(virtual.authority), **options) as client:
        with pytest.raises(pymongo.errors.ServerSelectionTimeoutError, match="certificate verify failed"):
            client.admin.command("ping")
