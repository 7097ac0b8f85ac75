"""A container with four ranges of partition keys: what the SDK sends to each of them."""

import pytest

from blocking import Blocking
from conftest import dialled, new_container
from mayfly import Mayfly

COUNT = 40
ITEMS = [{"id": f"{i}", "pk": f"key {i}", "n": i, "third": i % 3} for i in range(COUNT)]
NUMBERS = list(range(COUNT))


@pytest.fixture(scope="module")
def divided():
    """A mayfly whose new containers have four ranges: the SDK cannot ask for them with a header."""
    with Mayfly("--partitions=4") as mayfly:
        yield mayfly


@pytest.fixture(scope="module")
def container(way, loop, divided):
    with dialled(way, loop, divided) as client:
        container = new_container(client)
        for item in ITEMS:
            container.create_item(item)
        yield container


def changes(container, **options):
    """What the feed shows, and the token to go on with."""
    numbers = [item["n"] for item in container.query_items_change_feed(max_item_count=3, **options)]
    return numbers, container.client_connection.last_response_headers["etag"]


def rows(container, query, **options):
    if not isinstance(container, Blocking):  # the asyncio client always asks all ranges
        options["enable_cross_partition_query"] = True
    return list(container.query_items(query, max_item_count=7, **options))


def test_the_ranges(container):
    assert len(list(container.read_feed_ranges())) == 4


def test_change_feed_of_each_range(container):
    found = []
    for r in container.read_feed_ranges():
        numbers, token = changes(container, start_time="Beginning", feed_range=r)
        assert numbers
        found += numbers
        assert changes(container, continuation=token)[0] == []
    assert sorted(found) == NUMBERS


def test_change_feed_of_the_container(container):
    numbers, token = changes(container, start_time="Beginning")
    assert sorted(numbers) == NUMBERS
    container.upsert_item({**ITEMS[7], "again": True})
    assert changes(container, continuation=token)[0] == [7]


def test_change_feed_of_a_partition_key(container):
    assert changes(container, start_time="Beginning", partition_key="key 9")[0] == [9]


def test_read_feed(container):
    assert sorted(item["n"] for item in container.read_all_items(max_item_count=7)) == NUMBERS


def test_queries_that_the_client_merges(container):
    assert rows(container, "SELECT VALUE c.n FROM c ORDER BY c.n") == NUMBERS
    assert rows(container, "SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 5 LIMIT 4") == [34, 33, 32, 31]
    assert rows(container, "SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n") == [0, 1, 2]
    assert rows(container, "SELECT VALUE COUNT(1) FROM c") == [40]
    assert rows(container, "SELECT VALUE SUM(c.n) FROM c") == [780]
    assert rows(container, "SELECT VALUE AVG(c.n) FROM c") == [19.5]
    assert rows(container, "SELECT VALUE MIN(c.n) FROM c") == [0]
    assert rows(container, "SELECT VALUE MAX(c.n) FROM c") == [39]
    assert rows(container, "SELECT DISTINCT VALUE c.third FROM c ORDER BY c.third") == [0, 1, 2]


def test_a_query_of_each_range(container):
    found = []
    for r in container.read_feed_ranges():
        found += list(container.query_items("SELECT VALUE c.n FROM c ORDER BY c.n", feed_range=r, max_item_count=3))
    assert sorted(found) == NUMBERS


def test_a_query_for_some_partition_keys(container):
    query = "SELECT VALUE c.n FROM c WHERE c.pk IN ('key 1', 'key 20', 'key 33') ORDER BY c.n"
    assert rows(container, query) == [1, 20, 33]


def test_reading_many(container):
    wanted = [(item["id"], item["pk"]) for item in ITEMS]
    assert sorted(item["n"] for item in container.read_items(wanted)) == NUMBERS


def test_sessions(container):
    seen = set()
    for item in ITEMS:
        container.execute_item_batch([("upsert", (item,))], partition_key=item["pk"])
        token = container.client_connection.last_response_headers["x-ms-session-token"]
        seen.add(token.split(":")[0])
        assert container.read_item(item["id"], item["pk"], session_token=token)["n"] == item["n"]
    assert seen == {"0", "1", "2", "3"}
