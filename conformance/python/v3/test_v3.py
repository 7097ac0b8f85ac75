"""azure-cosmos 3.2.0, the last of its line: another API, and every path begins with two slashes (POST //dbs)."""

import itertools

import azure.cosmos.cosmos_client as cosmos_client
import azure.cosmos.documents as documents
import azure.cosmos.errors as errors
import pytest

from mayfly import KEY, SOMEDAY, Mayfly


@pytest.fixture(scope="module")
def mayfly():
    with Mayfly(f"--clock=virtual={SOMEDAY}") as mayfly:
        yield mayfly


@pytest.fixture(scope="module")
def client(mayfly):
    policy = documents.ConnectionPolicy()
    policy.SSLConfiguration = documents.SSLConfiguration()
    policy.SSLConfiguration.SSLCaCerts = str(mayfly.authority)
    return cosmos_client.CosmosClient(mayfly.https, {"masterKey": KEY}, policy)


numbers = itertools.count(1)


@pytest.fixture(params=["name", "_self"])
def container(request, client):
    """The link of a container, by names or by RIDs."""
    database = client.CreateDatabase({"id": f"v3-{next(numbers)}"})
    link = f"dbs/{database['id']}"
    made = client.CreateContainer(link, {"id": "things", "partitionKey": {"paths": ["/pk"], "kind": "Hash"}, "defaultTtl": -1})
    return made["_self"] if request.param == "_self" else f"{link}/colls/things"


def refused(status, call, *args):
    with pytest.raises(errors.HTTPFailure) as caught:
        call(*args)
    assert caught.value.status_code == status


def in_p(**more):
    return {"partitionKey": "p", **more}


def everywhere(**more):
    return {"enableCrossPartitionQuery": True, "maxItemCount": 7, **more}


def test_databases_and_containers(client):
    id = f"v3-{next(numbers)}"
    made = client.CreateDatabase({"id": id})
    refused(409, client.CreateDatabase, {"id": id})
    assert client.ReadDatabase(made["_self"])["id"] == client.ReadDatabase(f"dbs/{id}")["id"] == id
    assert id in [d["id"] for d in client.ReadDatabases()]
    assert [d["id"] for d in client.QueryDatabases(f"SELECT * FROM r WHERE r.id = '{id}'")] == [id]
    for name in "abc":
        client.CreateContainer(f"dbs/{id}", {"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash"}}, {"offerThroughput": 600})
    assert [c["id"] for c in client.ReadContainers(made["_self"], {"maxItemCount": 2})] == ["a", "b", "c"]
    client.DeleteContainer(f"dbs/{id}/colls/b")
    refused(404, client.ReadContainer, f"dbs/{id}/colls/b")
    container = client.ReadContainer(f"dbs/{id}/colls/a")
    [offer] = client.QueryOffers(f"SELECT * FROM r WHERE r.resource = '{container['_self']}'")
    offer["content"]["offerThroughput"] = 900
    assert client.ReplaceOffer(offer["_self"], offer)["content"]["offerThroughput"] == 900
    client.DeleteDatabase(made["_self"])
    refused(404, client.ReadDatabase, f"dbs/{id}")


def test_items(client, container):
    made = client.CreateItem(container, {"id": "x", "pk": "p", "n": 1})
    refused(409, client.CreateItem, container, {"id": "x", "pk": "p"}, {"disableAutomaticIdGeneration": True})
    assert client.ReadItem(made["_self"], in_p())["n"] == 1
    made["n"] = 2
    replaced = client.ReplaceItem(made["_self"], made, in_p())
    stale = in_p(accessCondition={"type": "IfMatch", "condition": made["_etag"]})
    refused(412, client.ReplaceItem, made["_self"], made, stale)
    assert client.UpsertItem(container, {"id": "x", "pk": "p", "n": 3})["_rid"] == replaced["_rid"]
    client.DeleteItem(made["_self"], in_p())
    refused(404, client.ReadItem, made["_self"], in_p())


def test_queries(client, container):
    for i in range(30):
        client.CreateItem(container, {"id": f"{i}", "pk": f"p{i % 4}", "i": i})
    query = {"query": "SELECT VALUE c.i FROM c WHERE c.i < @n ORDER BY c.i", "parameters": [{"name": "@n", "value": 20}]}
    assert list(client.QueryItems(container, query, everywhere())) == list(range(20))
    assert list(client.QueryItems(container, "SELECT VALUE COUNT(1) FROM c", everywhere())) == [30]
    assert len(list(client.QueryItems(container, "SELECT TOP 9 * FROM c", everywhere()))) == 9
    assert len(list(client.ReadItems(container, {"maxItemCount": 7}))) == 30
    assert len(list(client.QueryItems(container, "SELECT * FROM c", {"partitionKey": "p1", "maxItemCount": 3}))) == 8


def test_change_feed(client, container):
    for i in range(5):
        client.CreateItem(container, {"id": f"{i}", "pk": "p"})
    [range0] = client._ReadPartitionKeyRanges(container)
    feed = {"isStartFromBeginning": True, "partitionKeyRangeId": range0["id"]}
    assert [i["id"] for i in client.QueryItemsChangeFeed(container, feed)] == ["0", "1", "2", "3", "4"]


def test_scripts(client, container):
    made = client.CreateStoredProcedure(container, {"id": "s", "body": "function (n) { getContext().getResponse().setBody(2 * n); }"})
    assert client.ExecuteStoredProcedure(made["_self"], [21], in_p()) == 42
    udf = client.CreateUserDefinedFunction(container, {"id": "twice", "body": "function (x) { return 2 * x; }"})
    client.CreateItem(container, {"id": "x", "pk": "p", "n": 4})
    assert list(client.QueryItems(container, "SELECT VALUE udf.twice(c.n) FROM c", in_p())) == [8]
    client.DeleteUserDefinedFunction(udf["_self"])


def test_permissions(client, container, mayfly):
    client.CreateItem(container, {"id": "x", "pk": "p"})
    database = "/".join(container.split("/")[:2])
    user = client.CreateUser(database, {"id": "ada"})
    assert [u["id"] for u in client.ReadUsers(database)] == ["ada"]
    permission = client.CreatePermission(user["_self"], {"id": "read", "permissionMode": "Read", "resource": container})
    assert permission["_token"].startswith("type=resource")
    assert client.ReadPermission(permission["_self"])["resource"].strip("/") == container.strip("/")


def test_lifetime(client, container, mayfly):
    client.CreateItem(container, {"id": "short", "pk": "p", "ttl": 10})
    client.CreateItem(container, {"id": "never", "pk": "p"})
    refused(400, client.CreateItem, container, {"id": "bad", "pk": "p", "ttl": 0})
    mayfly.advance(9)
    assert [i["id"] for i in client.ReadItems(container)] == ["short", "never"]
    mayfly.advance(1)
    assert [i["id"] for i in client.ReadItems(container)] == ["never"]
    definition = client.ReadContainer(container)
    definition["defaultTtl"] = 20
    assert client.ReplaceContainer(container, definition)["defaultTtl"] == 20
    assert list(client.QueryItems(container, "SELECT * FROM c", everywhere()))[0]["id"] == "never"
    mayfly.advance(20)
    assert list(client.ReadItems(container)) == []
