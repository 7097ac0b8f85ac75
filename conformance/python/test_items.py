"""Items: every write, ETags, patch, reading many, awkward ids."""

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey

from conftest import new_container, refused


def test_every_write(client):
    c = new_container(client)
    created = c.create_item({"id": "1", "pk": "p", "n": 1})
    headers = created.get_response_headers()
    assert headers["etag"] == created["_etag"]
    assert float(headers["x-ms-request-charge"]) > 0
    refused(409, c.create_item, {"id": "1", "pk": "p"})
    assert c.read_item("1", "p") == created

    assert c.upsert_item({"id": "1", "pk": "p", "n": 2})["n"] == 2
    assert c.upsert_item({"id": "2", "pk": "p"})["id"] == "2"
    assert c.replace_item("1", {"id": "1", "pk": "p", "n": 3})["n"] == 3
    refused(404, c.replace_item, "3", {"id": "3", "pk": "p"})
    c.delete_item("1", "p")
    refused(404, c.delete_item, "1", "p")
    refused(404, c.read_item, "1", "p")
    assert len(c.create_item({"pk": "p"}, enable_automatic_id_generation=True)["id"]) >= 32
    assert not c.create_item({"id": "quiet", "pk": "p"}, no_response=True)


def test_etags(client):
    c = new_container(client)
    first = c.create_item({"id": "x", "pk": "p"})["_etag"]
    second = c.replace_item("x", {"id": "x", "pk": "p", "n": 1}, etag=first, match_condition=MatchConditions.IfNotModified)["_etag"]
    assert second != first
    stale = dict(etag=first, match_condition=MatchConditions.IfNotModified)
    refused(412, c.replace_item, "x", {"id": "x", "pk": "p"}, **stale)
    refused(412, c.upsert_item, {"id": "x", "pk": "p"}, **stale)
    refused(412, c.patch_item, "x", "p", [{"op": "set", "path": "/n", "value": 2}], **stale)
    refused(412, c.delete_item, "x", "p", **stale)
    assert c.read_item("x", "p")["n"] == 1
    assert c.read_item("x", "p", etag=second, match_condition=MatchConditions.IfModified) == {}  # 304
    c.delete_item("x", "p", etag=second, match_condition=MatchConditions.IfNotModified)


def test_patch(client):
    c = new_container(client)
    c.create_item({"id": "x", "pk": "p", "n": 1, "list": [1, 2], "old": True, "name": "a"})
    patched = c.patch_item("x", "p", [
        {"op": "incr", "path": "/n", "value": 4.5},
        {"op": "add", "path": "/list/-", "value": 3},
        {"op": "set", "path": "/nested", "value": {"deep": None}},
        {"op": "replace", "path": "/name", "value": "b"},
        {"op": "remove", "path": "/old"},
        {"op": "move", "from": "/list", "path": "/moved"},
    ])
    assert {k: v for k, v in patched.items() if k[0] != "_"} == {
        "id": "x", "pk": "p", "n": 5.5, "nested": {"deep": None}, "name": "b", "moved": [1, 2, 3],
    }
    step = [{"op": "incr", "path": "/n", "value": 1}]
    assert c.patch_item("x", "p", step, filter_predicate="FROM c WHERE c.name = 'b'")["n"] == 6.5
    refused(412, c.patch_item, "x", "p", step, filter_predicate="FROM c WHERE c.name = 'a'")
    refused(400, c.patch_item, "x", "p", [{"op": "replace", "path": "/absent", "value": 1}])
    refused(404, c.patch_item, "y", "p", step)


def test_unique_keys(client):
    c = new_container(client, unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    c.create_item({"id": "1", "pk": "p", "email": "a"})
    refused(409, c.create_item, {"id": "2", "pk": "p", "email": "a"})
    c.create_item({"id": "2", "pk": "q", "email": "a"})


def test_read_many(client):
    c = new_container(client)
    for i in range(30):
        c.create_item({"id": f"{i}", "pk": f"p{i % 7}"})
    wanted = [(f"{i}", f"p{i % 7}") for i in (0, 3, 29, 11)]
    got = c.read_items(wanted + [("absent", "p0")])
    assert sorted(i["id"] for i in got) == ["0", "11", "29", "3"]


@pytest.mark.parametrize("id", ["with space", "ünï", "a+b&c=d", "per%cent", "quote'\"", "(paren)", "a:b@c", "x" * 255])
def test_awkward_ids(client, id):
    c = new_container(client)
    c.create_item({"id": id, "pk": id})
    assert c.read_item(id, id)["id"] == id
    c.replace_item(id, {"id": id, "pk": id, "n": 1})
    c.delete_item(id, id)
    refused(404, c.read_item, id, id)


def test_content(client):
    """What JSON can hold comes back as it went."""
    c = new_container(client, partition_key=PartitionKey("/id"))
    item = {
        "id": "x", "text": "Grüße \u0000 漢字 😀", "numbers": [0, -1, 1.5, 1e300, 9007199254740991, -0.1],
        "nothing": None, "deep": {"a": [{"b": {}}, []]}, "yes": True, "": "empty name", "$dollar.dot": 1,
    }
    c.create_item(item)
    read = c.read_item("x", "x")
    assert {k: v for k, v in read.items() if not k.startswith("_")} == item


def test_all_items_of_a_partition_go_at_once(client):
    c = new_container(client)
    for i in range(20):
        c.create_item({"id": f"{i}", "pk": f"p{i % 2}"})
    c.delete_all_items_by_partition_key("p0")
    assert sorted(int(i["id"]) for i in c.read_all_items()) == list(range(1, 20, 2))
