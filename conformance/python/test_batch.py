"""Transactional batch: all of it or nothing."""

from copy import deepcopy

import pytest
from azure.cosmos.exceptions import CosmosBatchOperationError

from conftest import new_container, refused


def codes(results):
    return [r["statusCode"] for r in results]


def test_every_operation(client):
    c = new_container(client)
    for id in ("old", "gone", "patched"):
        c.create_item({"id": id, "pk": "p", "n": 1})
    results = c.execute_item_batch([
        ("create", ({"id": "new", "pk": "p"},)),
        ("upsert", ({"id": "other", "pk": "p"},)),
        ("replace", ("old", {"id": "old", "pk": "p", "n": 2})),
        ("read", ("old",)),
        ("patch", ("patched", [{"op": "incr", "path": "/n", "value": 5}]), {"filter_predicate": "FROM c WHERE c.n = 1"}),
        ("delete", ("gone",)),
    ], "p")
    assert codes(results) == [201, 201, 200, 200, 200, 204]
    assert results[3]["resourceBody"]["n"] == 2
    assert c.read_item("patched", "p")["n"] == 6
    refused(404, c.read_item, "gone", "p")


@pytest.mark.parametrize("failing, status", [
    (("create", ({"id": "there", "pk": "p"},)), 409),
    (("replace", ("absent", {"id": "absent", "pk": "p"})), 404),
    (("delete", ("absent",)), 404),
    (("read", ("absent",)), 404),
    (("replace", ("there", {"id": "there", "pk": "p"}), {"if_match_etag": '"stale"'}), 412),
    (("create", ({"id": "bad", "pk": "p", "ttl": 0},)), 400),
])
def test_a_failure_takes_all_back(client, failing, status):
    c = new_container(client, default_ttl=-1)
    c.create_item({"id": "there", "pk": "p"})
    with pytest.raises(CosmosBatchOperationError) as caught:
        # A copy: the SDK takes the options out of what it is given.
        c.execute_item_batch([("create", ({"id": "first", "pk": "p"},)), deepcopy(failing), ("create", ({"id": "last", "pk": "p"},))], "p")
    assert caught.value.error_index == 1
    assert codes(caught.value.operation_responses) == [424, status, 424]
    assert [i["id"] for i in c.read_all_items()] == ["there"]


def test_a_hundred_operations(client):
    c = new_container(client)
    results = c.execute_item_batch([("create", ({"id": f"{i}", "pk": "p"},)) for i in range(100)], "p")
    assert codes(results) == [201] * 100
    refused(400, c.execute_item_batch, [("upsert", ({"id": f"{i}", "pk": "p"},)) for i in range(101)], "p")
