"""TTL on a virtual clock: the nine cells, changes of the policy, every value,
and the expired as absent. No test waits."""

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosResourceNotFoundError

from blocking import Blocking
from conftest import new_container, new_database, refused

OFF = None
PK = PartitionKey("/pk")


def set_policy(database, ttl, id="things"):
    """replace_container without default_ttl switches TTL off."""
    database.replace_container(id, PK, **({} if ttl is OFF else {"default_ttl": ttl}))


def exists(container, id):
    try:
        return container.read_item(id, "p")["id"] == id
    except CosmosResourceNotFoundError:
        return False


def living(container, ids):
    """Which of these ids there are. Every way of reading must say the same."""
    everywhere = {} if isinstance(container, Blocking) else {"enable_cross_partition_query": True}
    alive = sorted(id for id in ids if exists(container, id))
    seen = {
        "the feed": container.read_all_items(),
        "a query": container.query_items("SELECT * FROM c", **everywhere),
        "a query of the partition": container.query_items("SELECT * FROM c WHERE c.id > ''", partition_key="p"),
        "the change feed": container.query_items_change_feed(start_time="Beginning"),
        "read many": container.read_items([(id, "p") for id in ids]),
    }
    for what, items in seen.items():
        assert sorted(i["id"] for i in items) == alive, what
    assert list(container.query_items("SELECT VALUE COUNT(1) FROM c", **everywhere)) == [len(alive)]
    return " ".join(alive)


def test_matrix(clocked, virtual):
    """The nine cells at one second before, at and after each deadline, and a day later."""
    ttls = {"none": None, "never": -1, "short": 5, "long": 20}
    rows = [(OFF, {}), (-1, {"short": 5, "long": 20}), (10, {"none": 10, "short": 5, "long": 20})]
    containers = []
    for default, deadlines in rows:
        c = new_container(clocked, default_ttl=default)
        for id, ttl in ttls.items():
            stored = c.create_item({"id": id, "pk": "p", **({} if ttl is None else {"ttl": ttl})})
            assert stored.get("ttl") == ttl and ("ttl" in stored) == (ttl is not None)
        containers.append(c)
    now = 0
    for second in (0, 4, 5, 6, 9, 10, 11, 19, 20, 21, 86400):
        virtual.advance(second - now)
        now = second
        for (default, deadlines), c in zip(rows, containers):
            want = sorted(id for id in ttls if second < deadlines.get(id, second + 1))
            assert living(c, ttls) == " ".join(want), f"default {default}, second {second}"


# Items are written at second 0: plain without ttl, own with 30, never with -1.
# Then at each second: the policy that is set, if any, and who lives.
KEEP = object()
STORIES = {
    "off to n expires the overdue at once": (OFF, [(20, 10, "never own"), (29, KEEP, "never own"), (30, KEEP, "never")]),
    "off to n brings dormant overrides into force": (OFF, [(40, 100, "never plain"), (100, KEEP, "never")]),
    "off to -1 expires only overdue overrides": (OFF, [(40, -1, "never plain"), (4000, KEEP, "never plain")]),
    "shorter expires more at once": (100, [(20, KEEP, "never own plain"), (20, 10, "never own")]),
    "longer lets the living live on": (10, [(9, 20, "never own plain"), (19, KEEP, "never own plain"), (20, KEEP, "never own")]),
    "longer brings nobody back": (10, [(10, 1000, "never own"), (30, KEEP, "never")]),
    "n to -1 stops the inheriting only": (10, [(9, -1, "never own plain"), (29, KEEP, "never own plain"), (30, KEEP, "never plain")]),
    "n to -1 brings nobody back": (10, [(10, -1, "never own")]),
    "off stops everything": (10, [(9, OFF, "never own plain"), (4000, KEEP, "never own plain")]),
    "off brings nobody back": (10, [(30, OFF, "never"), (31, KEEP, "never")]),
    "off and on again counts from _ts": (
        10, [(5, OFF, "never own plain"), (50, KEEP, "never own plain"), (50, 60, "never plain"), (59, KEEP, "never plain"), (60, KEEP, "never")]),
    "off and on without a default": (10, [(5, OFF, "never own plain"), (29, -1, "never own plain"), (30, KEEP, "never plain")]),
}


@pytest.mark.parametrize("story", STORIES)
def test_policy_changes(clocked, virtual, story):
    first, steps = STORIES[story]
    database = new_database(clocked)
    c = database.create_container("things", PK, default_ttl=first)
    c.create_item({"id": "plain", "pk": "p"})
    c.create_item({"id": "own", "pk": "p", "ttl": 30})
    c.create_item({"id": "never", "pk": "p", "ttl": -1})
    now = 0
    for second, policy, want in steps:
        virtual.advance(second - now)
        now = second
        if policy is not KEEP:
            set_policy(database, policy)
        assert living(c, ("plain", "own", "never")) == want, f"second {second}"


def test_indexing_none_and_ttl_exclude_each_other(clocked):
    database = new_database(clocked)
    none = {"indexingMode": "none", "automatic": False}
    assert "defaultTtl" in str(refused(400, database.create_container, "a", PK, indexing_policy=none, default_ttl=10))
    database.create_container("b", PK, indexing_policy=none)
    refused(400, database.replace_container, "b", PK, indexing_policy=none, default_ttl=10)
    database.create_container("c", PK, default_ttl=10)
    refused(400, database.replace_container, "c", PK, indexing_policy=none, default_ttl=10)


REMEDY = "Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire."


@pytest.mark.parametrize("ttl", [-1, 1, 2147483647, 60.0])
def test_good_defaults(clocked, ttl):
    assert new_container(clocked, default_ttl=ttl).read()["defaultTtl"] == ttl


@pytest.mark.parametrize("ttl", [0, -2, -10, 2147483648, 1.5, "60", True, {}, []], ids=str)
def test_bad_defaults(clocked, ttl):
    database = new_database(clocked)
    message = str(refused(400, database.create_container, "c", PK, default_ttl=ttl))
    assert "The input defaultTtl '" in message and REMEDY in message
    database.create_container("c", PK, default_ttl=7)
    refused(400, database.replace_container, "c", PK, default_ttl=ttl)
    assert database.get_container_client("c").read()["defaultTtl"] == 7


GOOD = [-1, 1, 2147483647, 20.0]
BAD = [None, 0, -2, -10, 2147483648, 20.5, "20", True, {}, []]


def in_a_batch(container, ttl):
    container.execute_item_batch([("upsert", ({"id": "x", "pk": "p", "ttl": ttl},))], "p")


WAYS = {
    "create": lambda c, ttl: c.create_item({"id": "new", "pk": "p", "ttl": ttl}),
    "upsert": lambda c, ttl: c.upsert_item({"id": "x", "pk": "p", "ttl": ttl}),
    "replace": lambda c, ttl: c.replace_item("x", {"id": "x", "pk": "p", "ttl": ttl}),
    "patch set": lambda c, ttl: c.patch_item("x", "p", [{"op": "set", "path": "/ttl", "value": ttl}]),
    "patch add": lambda c, ttl: c.patch_item("x", "p", [{"op": "add", "path": "/ttl", "value": ttl}]),
    "batch": in_a_batch,
}


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_item_values(clocked, write):
    for ttl in GOOD:
        c = new_container(clocked, default_ttl=10)
        c.create_item({"id": "x", "pk": "p"})
        write(c, ttl)
    c = new_container(clocked, default_ttl=10)
    kept = c.create_item({"id": "x", "pk": "p"})
    for ttl in BAD:
        error = refused(400, write, c, ttl)
        if write is not in_a_batch:
            assert "The input ttl '" in str(error) and REMEDY in str(error), ttl
        assert c.read_item("x", "p")["_etag"] == kept["_etag"], ttl


def test_patch_of_ttl(clocked, virtual):
    c = new_container(clocked, default_ttl=10)
    c.create_item({"id": "x", "pk": "p", "ttl": 5})
    refused(400, c.patch_item, "x", "p", [{"op": "incr", "path": "/ttl", "value": -5}])
    virtual.advance(4)
    c.patch_item("x", "p", [{"op": "remove", "path": "/ttl"}])
    virtual.advance(9)
    assert living(c, "x") == "x"
    virtual.advance(1)
    assert living(c, "x") == ""


def test_dormant_values(clocked, virtual):
    """While TTL is off the ttl of an item is not looked at; a bad one that is there when TTL comes on counts as absent."""
    database = new_database(clocked)
    c = database.create_container("things", PK)
    ids = []
    for i, ttl in enumerate(BAD + [2147483647, -1, 3]):
        ids.append(f"{i:02}")
        assert c.create_item({"id": ids[-1], "pk": "p", "ttl": ttl})["ttl"] == ttl
    virtual.advance(5)
    assert living(c, ids) == " ".join(ids)
    set_policy(database, 10)
    assert living(c, ids) == " ".join(ids[:-1])  # the last has 3 s, which are over
    virtual.advance(5)
    assert living(c, ids) == " ".join(ids[len(BAD):-1])


def test_other_names_are_ordinary(clocked, virtual):
    c = new_container(clocked, default_ttl=10)
    c.create_item({"id": "x", "pk": "p", "TTL": 0, "a": {"ttl": 0}, "timeToLive": 0, "_ttl": "x"})
    virtual.advance(9)
    assert living(c, "x") == "x"
    virtual.advance(1)
    assert living(c, "x") == ""


def test_writes_restart_the_countdown(clocked, virtual):
    """Any successful write does; reads and failures do not."""
    c = new_container(clocked, default_ttl=10)
    stale = dict(etag='"stale"', match_condition=MatchConditions.IfNotModified)
    moves = {
        "replace": lambda id: c.replace_item(id, {"id": id, "pk": "p"}),
        "upsert": lambda id: c.upsert_item({"id": id, "pk": "p"}),
        "patch": lambda id: c.patch_item(id, "p", [{"op": "set", "path": "/same", "value": 1}]),
        "batch": lambda id: c.execute_item_batch([("upsert", ({"id": id, "pk": "p"},))], "p"),
    }
    stays = {
        "nothing": lambda id: None,
        "read": lambda id: c.read_item(id, "p"),
        "query": lambda id: list(c.query_items(f"SELECT * FROM c WHERE c.id = '{id}'", partition_key="p")),
        "failed guard": lambda id: refused(412, c.replace_item, id, {"id": id, "pk": "p"}, **stale),
        "failed batch": lambda id: refused(
            404, c.execute_item_batch, [("upsert", ({"id": id, "pk": "p"},)), ("read", ("absent",))], "p"),
    }
    ids = [*moves, *stays]
    for id in ids:
        c.create_item({"id": id, "pk": "p", "same": 1})
    virtual.advance(9)
    for id, act in {**moves, **stays}.items():
        act(id)
    assert living(c, ids) == " ".join(sorted(ids))
    virtual.advance(1)
    assert living(c, ids) == " ".join(sorted(moves))
    virtual.advance(9)
    assert living(c, ids) == ""


GONE = {
    "read": (404, lambda c, etag: c.read_item("x", "p")),
    "read if changed": (404, lambda c, etag: c.read_item("x", "p", etag=etag, match_condition=MatchConditions.IfModified)),
    "create": (201, lambda c, etag: c.create_item({"id": "x", "pk": "p"})),
    "create another with its unique key": (201, lambda c, etag: c.create_item({"id": "y", "pk": "p", "email": "taken"})),
    "upsert": (201, lambda c, etag: c.upsert_item({"id": "x", "pk": "p"})),
    "upsert with its ETag": (
        201, lambda c, etag: c.upsert_item({"id": "x", "pk": "p"}, etag=etag, match_condition=MatchConditions.IfNotModified)),
    "replace": (404, lambda c, etag: c.replace_item("x", {"id": "x", "pk": "p"})),
    "replace with its ETag": (
        404, lambda c, etag: c.replace_item("x", {"id": "x", "pk": "p"}, etag=etag, match_condition=MatchConditions.IfNotModified)),
    "patch": (404, lambda c, etag: c.patch_item("x", "p", [{"op": "set", "path": "/ttl", "value": -1}])),
    "patch with a condition": (
        404, lambda c, etag: c.patch_item("x", "p", [{"op": "set", "path": "/ttl", "value": -1}], filter_predicate="FROM c WHERE c.email = 'taken'")),
    "delete": (404, lambda c, etag: c.delete_item("x", "p")),
    "read in a batch": (404, lambda c, etag: c.execute_item_batch([("read", ("x",)), ("create", ({"id": "z", "pk": "p"},))], "p")),
    "create in a batch": (200, lambda c, etag: c.execute_item_batch([("create", ({"id": "x", "pk": "p", "email": "taken"},))], "p")),
}


@pytest.mark.parametrize("operation", GONE)
def test_expired_is_absent(clocked, virtual, operation):
    status, act = GONE[operation]
    c = new_container(clocked, default_ttl=10, unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    old = c.create_item({"id": "x", "pk": "p", "email": "taken"})
    virtual.advance(10)
    if status >= 400:
        refused(status, act, c, old["_etag"])
        assert living(c, "xz") == ""
    else:
        act(c, old["_etag"])
        for item in c.read_all_items():
            assert item["_rid"] != old["_rid"] and item["_etag"] != old["_etag"]


def test_queries_leave_the_expired_out_first(clocked, virtual):
    c = new_container(clocked, default_ttl=10)
    for i in range(20):
        c.create_item({"id": f"{i:02}", "pk": "p", "i": i, "half": i % 2, **({"ttl": -1} if i % 2 else {})})
    virtual.advance(10)

    def rows(query):
        return list(c.query_items(query, partition_key="p"))

    odd = list(range(1, 20, 2))
    assert rows("SELECT VALUE c.i FROM c ORDER BY c.i DESC") == odd[::-1]
    assert rows("SELECT VALUE SUM(c.i) FROM c") == [sum(odd)]
    assert rows("SELECT VALUE MIN(c.i) FROM c") == [1]
    assert rows("SELECT TOP 3 VALUE c.i FROM c ORDER BY c.i") == odd[:3]
    assert rows("SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 2 LIMIT 3") == odd[2:5]
    assert rows("SELECT DISTINCT VALUE c.half FROM c") == [1]
    assert rows("SELECT c.half, COUNT(1) AS n FROM c GROUP BY c.half") == [{"half": 1, "n": 10}]


def test_hierarchical_keys(clocked, virtual):
    c = new_container(clocked, partition_key=PartitionKey(path=["/a", "/b"], kind="MultiHash"), default_ttl=10)
    c.create_item({"id": "x", "a": 1, "b": 2})
    c.create_item({"id": "y", "a": 1, "b": 3, "ttl": -1})
    virtual.advance(10)
    refused(404, c.read_item, "x", [1, 2])
    assert [i["id"] for i in c.query_items("SELECT * FROM c", partition_key=[1])] == ["y"]


def test_between_two_pages(clocked, virtual):
    """What ends between two pages is not on the second, whose token stays good."""
    c = new_container(clocked, default_ttl=-1)
    for i in range(10):
        c.create_item({"id": f"{i}", "pk": "p", "i": i, **({"ttl": 10} if i in (1, 7) else {})})
    pages = c.query_items("SELECT VALUE c.i FROM c ORDER BY c.i", partition_key="p", max_item_count=5).by_page()
    assert list(next(pages)) == [0, 1, 2, 3, 4]
    virtual.advance(10)
    assert [i for page in pages for i in page] == [5, 6, 8, 9]


def test_policies_of_the_sdk_samples(clocked):
    """analytical_storage_ttl stands beside default_ttl; ttlPropertyPath is not in this SDK."""
    c = new_container(clocked, default_ttl=10, analytical_storage_ttl=100)
    assert (c.read()["defaultTtl"], c.read()["analyticalStorageTtl"]) == (10, 100)
