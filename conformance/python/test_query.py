"""Queries over several partitions and pages, in both gateway modes: mayfly
answers them itself, or leaves the merging to the SDK as the cloud's gateway does."""

import pytest

from blocking import Blocking
from conftest import dialled, new_container, refused
from mayfly import Mayfly

CITIES = ["Lisboa", "Porto", "Sevilla", "Vigo"]


def item(i):
    """Item i: numbers repeat, every seventh has no n, every tenth a string there."""
    made = {"id": f"{i}", "pk": f"k{i % 6}", "city": CITIES[i % 4], "i": i, "price": (i * 37) % 50, "tags": [f"t{i % 3}", f"t{i % 5}"]}
    if i % 10 == 0:
        made["n"] = f"text {i % 20}"
    elif i % 7 != 0:
        made["n"] = (i * 13) % 17
    return made


ITEMS = [item(i) for i in range(60)]


@pytest.fixture(scope="module", params=["serve", "strict", "serve, 4 ranges", "strict, 4 ranges"])
def mode(request):
    """Who merges, and over how many ranges."""
    merging, _, ranges = request.param.partition(", ")
    with Mayfly(f"--cross-partition={merging}", f"--partitions={ranges[:1] or 1}") as mayfly:
        yield mayfly


@pytest.fixture(scope="module")
def container(way, loop, mode):
    with dialled(way, loop, mode) as client:
        policy = {
            "includedPaths": [{"path": "/*"}],
            "excludedPaths": [{"path": "/secret/?"}],
            "compositeIndexes": [[{"path": "/city", "order": "ascending"}, {"path": "/price", "order": "descending"}]],
        }
        container = new_container(client, indexing_policy=policy, default_ttl=-1)
        for made in ITEMS:
            container.create_item(made)
        yield container


def rows(container, query, parameters=None, **options):
    """All rows over all partitions, in pages of seven."""
    if "partition_key" not in options and not isinstance(container, Blocking):  # the asyncio client always asks them all
        options["enable_cross_partition_query"] = True
    return list(container.query_items(query, parameters=parameters, max_item_count=7, **options))


def key(row):
    return sorted(row.items()) if isinstance(row, dict) else row


def wanted(rows):
    return sorted(rows, key=key)


def test_filter_with_parameters(container):
    got = rows(container, "SELECT VALUE c.i FROM c WHERE c.price >= @low AND c.price < 30", [{"name": "@low", "value": 10}])
    assert sorted(got) == [x["i"] for x in ITEMS if 10 <= x["price"] < 30]


def test_order_by(container):
    assert rows(container, "SELECT VALUE c.i FROM c ORDER BY c.i DESC") == list(range(59, -1, -1))
    got = rows(container, "SELECT c.city, c.price FROM c ORDER BY c.city ASC, c.price DESC")
    assert got == [{"city": x["city"], "price": x["price"]} for x in sorted(ITEMS, key=lambda x: (x["city"], -x["price"]))]
    got = rows(container, "SELECT c.id, c.absent FROM c WHERE c.i < 20 ORDER BY c.i")
    assert got == [{"id": f"{i}"} for i in range(20)]


def test_order_by_keeps_every_type(container, request):
    if "strict, 4 ranges" in request.node.name:  # the SDK merges values of one type only
        with pytest.raises(ValueError):
            rows(container, "SELECT * FROM c ORDER BY c.n")
        return

    def rank(x):
        return (0,) if "n" not in x else (1 if isinstance(x["n"], int) else 2, x["n"])

    got = rows(container, "SELECT * FROM c ORDER BY c.n")
    assert [rank(x) for x in got] == sorted(map(rank, ITEMS))
    assert len({x["id"] for x in got}) == len(ITEMS)


def test_order_by_two_keys_needs_a_composite_index(container):
    refused(400, rows, container, "SELECT * FROM c ORDER BY c.price, c.city")


def test_top_offset_limit(container):
    assert len(rows(container, "SELECT TOP 9 c.id FROM c")) == 9
    assert rows(container, "SELECT TOP @n VALUE c.i FROM c ORDER BY c.i", [{"name": "@n", "value": 8}]) == list(range(8))
    assert rows(container, "SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 11 LIMIT 20") == list(range(11, 31))
    assert len(rows(container, "SELECT c.id FROM c OFFSET 55 LIMIT 20")) == 5


def test_distinct(container):
    assert wanted(rows(container, "SELECT DISTINCT VALUE c.city FROM c")) == CITIES
    pairs = rows(container, "SELECT DISTINCT c.city, c.pk FROM c")
    assert len(pairs) == len({(x["city"], x["pk"]) for x in ITEMS})
    assert rows(container, "SELECT DISTINCT VALUE c.price FROM c ORDER BY c.price") == sorted({x["price"] for x in ITEMS})


@pytest.mark.parametrize("aggregate, want", [
    ("COUNT(1)", 60),
    ("COUNT(c.n)", sum("n" in x for x in ITEMS)),
    ("SUM(c.price)", sum(x["price"] for x in ITEMS)),
    ("AVG(c.price)", sum(x["price"] for x in ITEMS) / 60),
    ("MIN(c.price)", 0),
    ("MAX(c.i)", 59),
])
def test_aggregates(container, aggregate, want):
    assert rows(container, f"SELECT VALUE {aggregate} FROM c") == [want]


def test_aggregate_of_nothing(container):
    assert rows(container, "SELECT VALUE COUNT(1) FROM c WHERE c.i > 1000") == [0]


def test_group_by(mode, container):
    query = "SELECT c.city, COUNT(1) AS n, SUM(c.price) AS total, AVG(c.price) AS mean, MIN(c.i) AS low, MAX(c.i) AS high FROM c GROUP BY c.city"
    if "--cross-partition=strict" in mode.flags:  # the SDK does not merge groups of several partitions
        assert "Cross partition query only supports" in str(refused(400, rows, container, query))
        got = [row for k in range(6) for row in rows(container, query, partition_key=f"k{k}")]
        assert sum(row["n"] for row in got) == 60
        return
    want = []
    for city in CITIES:
        own = [x for x in ITEMS if x["city"] == city]
        total = sum(x["price"] for x in own)
        want.append({"city": city, "n": len(own), "total": total, "mean": total / len(own), "low": own[0]["i"], "high": own[-1]["i"]})
    assert wanted(rows(container, query)) == want
    assert sum(row["n"] for row in rows(container, "SELECT c.city, c.pk, COUNT(1) AS n FROM c GROUP BY c.city, c.pk")) == 60
    assert wanted(rows(container, "SELECT VALUE c.city FROM c GROUP BY c.city")) == CITIES


def test_join_and_subqueries(container):
    assert len(rows(container, "SELECT c.id, t FROM c JOIN t IN c.tags")) == 120
    tagged = [x["i"] for x in ITEMS if "t4" in x["tags"]]
    for where in ('ARRAY_CONTAINS(c.tags, "t4")', 'EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "t4")', '"t4" IN (c.tags[0], c.tags[1])'):
        assert sorted(rows(container, f"SELECT VALUE c.i FROM c WHERE {where}")) == tagged, where
    assert wanted(rows(container, "SELECT DISTINCT VALUE c.city FROM c WHERE c.city LIKE '%o%'")) == ["Lisboa", "Porto", "Vigo"]


def test_one_partition(container):
    own = [x["i"] for x in ITEMS if x["pk"] == "k1"]
    assert rows(container, "SELECT VALUE c.i FROM c ORDER BY c.i DESC", partition_key="k1") == own[::-1]
    assert rows(container, "SELECT VALUE COUNT(1) FROM c", partition_key="k1") == [10]


@pytest.mark.parametrize("query, want", [
    ("SELECT VALUE c.i FROM c ORDER BY c.i", list(range(2, 60, 6))),
    ("SELECT VALUE c.i FROM c", list(range(2, 60, 6))),
])
def test_each_page_by_the_token_of_the_one_before(container, query, want):
    got, pages, token = [], 0, None
    while True:
        page = container.query_items(query, partition_key="k2", max_item_count=4).by_page(token)
        got += list(next(page))
        pages, token = pages + 1, page.continuation_token
        if not token:
            break
    assert (sorted(got), pages) == (want, 3)


def test_feed_ranges_together_are_the_whole(container):
    got = []
    for r in container.read_feed_ranges():
        got += container.query_items("SELECT VALUE c.i FROM c", feed_range=r)
    assert sorted(got) == list(range(60))


def test_all_items(container):
    assert len(list(container.read_all_items(max_item_count=7))) == 60


def test_metrics(container):
    def told(headers, _):
        seen.update(headers)

    seen = {}
    query = "SELECT * FROM c WHERE c.city = 'Vigo' AND c.i > 5"
    list(container.query_items(query, partition_key="k1", populate_query_metrics=True, populate_index_metrics=True, response_hook=told))
    lower = {name.lower(): value for name, value in seen.items()}
    assert float(lower["x-ms-request-charge"]) > 0
    assert "totalExecutionTimeInMs" in lower["x-ms-documentdb-query-metrics"]
    assert "/city/?" in str(lower["x-ms-cosmos-index-utilization"])


def test_mistake_is_told_with_its_place(container):
    assert "SC2001" in str(refused(400, rows, container, "SELECT FORM c"))


def test_user_defined_function(container):
    container.scripts.create_user_defined_function({"id": "twice", "body": "function (x) { return 2 * x; }"})
    assert rows(container, "SELECT VALUE udf.twice(c.i) FROM c WHERE c.i = 21") == [42]
