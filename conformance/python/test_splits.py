"""Ranges of partition keys that are split while the SDK reads and writes, with what it has cached about them."""

import pytest

from blocking import Blocking
from conftest import dialled, new_container
from mayfly import Mayfly

ITEMS = [{"id": f"{i}", "pk": f"key {i}", "n": i * 7 % 60} for i in range(60)]
NUMBERS = list(range(60))


class Filled:
    """A container with the items, and ranges to split in turn."""

    def __init__(self, client, mayfly, splits):
        self.container = new_container(client)
        for item in ITEMS:
            self.container.create_item(item)
        self._mayfly = mayfly
        self.splits = list(splits)

    def split(self):
        self._mayfly.split(self.container.container_link, self.splits.pop(0))


@pytest.fixture(scope="module", params=["serve, 1 range", "strict, 1 range", "serve, 4 ranges", "strict, 4 ranges"])
def mode(request):
    """Who merges, and over how many ranges."""
    merging, _, ranges = request.param.partition(", ")
    with Mayfly(f"--cross-partition={merging}", f"--partitions={ranges[:1]}") as mayfly:
        yield mayfly


@pytest.fixture
def filled(way, loop, mode):
    with dialled(way, loop, mode) as client:
        yield Filled(client, mode, "02" if "--partitions=4" in mode.flags else "01")


def pages(container, query):
    options = {} if isinstance(container, Blocking) else {"enable_cross_partition_query": True}
    return container.query_items(query, max_item_count=4, **options).by_page()


def read_over(filled, query):
    """Reads a query to its end and splits a range after each of the first pages; returns the numbers of the items."""
    found = []
    for page in pages(filled.container, query):
        found += [item["n"] for item in page]
        if filled.splits:
            assert len(found) < len(ITEMS), "the query has ended before the split"
            filled.split()
    assert not filled.splits
    return found


def follow(container, found, most=1000, **options):
    """Adds what is new in the feed to found, at most so many pages, and returns the token to go on with."""
    feed = container.query_items_change_feed(max_item_count=4, **options).by_page()
    for _, page in zip(range(most), feed):
        found += [item["n"] for item in page]
    return container.client_connection.last_response_headers["etag"]


def test_query(filled):
    assert sorted(read_over(filled, "SELECT * FROM c")) == NUMBERS
    assert sorted(read_over(filled, "SELECT * FROM c")) == NUMBERS


def test_query_with_order_by(mode, filled):
    found = read_over(filled, "SELECT * FROM c ORDER BY c.n")
    if "--cross-partition=strict" in mode.flags:
        # The SDK begins the new ranges anew, without the position in the one that was split
        # (azure/cosmos/_execution_context/multi_execution_aggregator.py, _repair_document_producer).
        assert sorted(set(found)) == NUMBERS
    else:
        assert found == NUMBERS


def test_change_feed(filled):
    container, found = filled.container, []
    # A page of each range: the SDK refuses its own token while a range has none
    # (azure/cosmos/_change_feed/composite_continuation_token.py, from_json).
    token = follow(container, found, 4, start_time="Beginning")
    while filled.splits:
        filled.split()
        token = follow(container, found, 2, continuation=token)
    container.upsert_item({"id": "more", "pk": "key 3", "n": 60})
    container.upsert_item({"id": "more", "pk": "key 58", "n": 61})
    token = follow(container, found, continuation=token)
    assert sorted(found) == [*NUMBERS, 60, 61]
    follow(container, found, continuation=token)
    assert len(found) == 62


def test_reads_and_writes(filled):
    container = filled.container
    list(container.read_all_items())
    while filled.splits:
        filled.split()
        for item in ITEMS:
            assert container.read_item(item["id"], item["pk"])["n"] == item["n"]
            assert container.upsert_item({**item, "again": True})["again"]
            container.execute_item_batch([("read", (item["id"],))], partition_key=item["pk"])


def test_reading_many(filled):
    container = filled.container
    wanted = [(item["id"], item["pk"]) for item in ITEMS]
    container.read_items(wanted)
    while filled.splits:
        filled.split()
        assert sorted(item["n"] for item in container.read_items(wanted)) == NUMBERS
