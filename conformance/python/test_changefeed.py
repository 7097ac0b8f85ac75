"""The change feed: every start, every scope, pages, and going on by a token."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.cosmos import PartitionKey

from conftest import new_container, refused


@pytest.fixture
def container(client):
    container = new_container(client)
    for i in range(6):
        container.create_item({"id": f"{i}", "pk": f"k{i % 2}"})
    return container


def changes(container, **options):
    """The ids that the feed shows, and the token to go on with: the ETag of the last answer,
    because the iterator's own token is lost when there is nothing new."""
    ids = [item["id"] for item in container.query_items_change_feed(max_item_count=2, **options)]
    return ids, container.client_connection.last_response_headers["etag"]


def test_from_the_beginning(container):
    ids, token = changes(container, start_time="Beginning")
    assert ids == ["0", "1", "2", "3", "4", "5"]
    container.upsert_item({"id": "2", "pk": "k0", "again": True})
    container.delete_item("3", "k1")
    assert changes(container, continuation=token)[0] == ["2"]
    assert changes(container, start_time="Beginning")[0] == ["0", "1", "4", "5", "2"]


def test_from_now(container):
    ids, token = changes(container)
    assert ids == []
    container.create_item({"id": "new", "pk": "k0"})
    assert changes(container, continuation=token)[0] == ["new"]


def test_from_a_time(container):
    past = datetime.now(timezone.utc) - timedelta(hours=1)
    assert len(changes(container, start_time=past)[0]) == 6
    future = datetime.now(timezone.utc) + timedelta(hours=1)
    assert changes(container, start_time=future)[0] == []


def test_of_a_partition_key(container):
    ids, token = changes(container, start_time="Beginning", partition_key="k1")
    assert ids == ["1", "3", "5"]
    container.create_item({"id": "other", "pk": "k0"})
    container.create_item({"id": "same", "pk": "k1"})
    assert changes(container, continuation=token)[0] == ["same"]


def test_of_feed_ranges(container):
    ids = []
    for r in container.read_feed_ranges():
        ids += changes(container, start_time="Beginning", feed_range=r)[0]
    assert sorted(ids) == ["0", "1", "2", "3", "4", "5"]
    own = container.feed_range_from_partition_key("k0")
    assert changes(container, start_time="Beginning", feed_range=own)[0] == ["0", "2", "4"]


def test_of_a_prefix_of_hierarchical_keys(client):
    container = new_container(client, partition_key=PartitionKey(path=["/a", "/b"], kind="MultiHash"))
    for id, a, b in (("0", "x", 1), ("1", "x", 2), ("2", "y", 1)):
        container.create_item({"id": id, "a": a, "b": b})
    assert changes(container, start_time="Beginning", partition_key=["x"])[0] == ["0", "1"]
    assert changes(container, start_time="Beginning", partition_key=["x", 2])[0] == ["1"]


def test_all_versions_are_refused(container):
    refused(400, changes, container, start_time="Now", mode="AllVersionsAndDeletes")
