"""MongoDB: aggregation."""

import pytest

from conftest import refused_mongo

SALES = [
    {"_id": i, "city": ["Lisboa", "Porto", "Sevilla"][i % 3], "price": i * 10, "items": [{"sku": f"s{i % 4}", "n": i}, {"sku": "all", "n": 1}]}
    for i in range(12)
]


@pytest.fixture
def sales(db):
    db.sales.insert_many(SALES)
    db.cities.insert_many([{"_id": "Lisboa", "country": "pt"}, {"_id": "Porto", "country": "pt"}, {"_id": "Sevilla", "country": "es"}])
    return db.sales


@pytest.fixture
def run(sales):
    return lambda *stages, **options: list(sales.aggregate(list(stages), **options))


def test_groups(run):
    got = run({"$group": {"_id": "$city", "n": {"$sum": 1}, "total": {"$sum": "$price"}, "mean": {"$avg": "$price"}, "ids": {"$push": "$_id"}}},
              {"$sort": {"_id": 1}})
    assert got == [
        {"_id": city, "n": 4, "total": sum(ids) * 10, "mean": sum(ids) * 10 / 4, "ids": ids}
        for city, ids in (("Lisboa", [0, 3, 6, 9]), ("Porto", [1, 4, 7, 10]), ("Sevilla", [2, 5, 8, 11]))
    ]


def test_unwind_and_lookup(run):
    got = run(
        {"$unwind": "$items"}, {"$match": {"items.sku": {"$ne": "all"}}},
        {"$lookup": {"from": "cities", "localField": "city", "foreignField": "_id", "as": "where"}},
        {"$group": {"_id": {"$first": "$where.country"}, "n": {"$sum": "$items.n"}}}, {"$sort": {"_id": 1}},
    )
    assert got == [{"_id": "es", "n": 26}, {"_id": "pt", "n": 40}]


def test_facets_buckets_windows(run):
    [got] = run({"$facet": {
        "buckets": [{"$bucket": {"groupBy": "$price", "boundaries": [0, 50, 200], "output": {"n": {"$sum": 1}}}}],
        "top": [{"$sortByCount": "$city"}, {"$sort": {"_id": 1}}, {"$limit": 1}],
    }})
    assert got == {"buckets": [{"_id": 0, "n": 5}, {"_id": 50, "n": 7}], "top": [{"_id": "Lisboa", "count": 4}]}
    got = run({"$setWindowFields": {"partitionBy": "$city", "sortBy": {"_id": 1}, "output": {
        "running": {"$sum": "$price", "window": {"documents": ["unbounded", "current"]}}}}}, {"$match": {"city": "Porto"}}, {"$sort": {"_id": 1}})
    assert [d["running"] for d in got] == [10, 50, 120, 220]


def test_out_and_merge(db, run):
    run({"$match": {"city": "Porto"}}, {"$out": "porto"})
    assert db.porto.count_documents({}) == 4
    run({"$project": {"city": 1}}, {"$merge": {"into": "porto", "whenMatched": "merge", "whenNotMatched": "insert"}})
    assert db.porto.count_documents({}) == 12
    assert db.porto.find_one({"_id": 1})["price"] == 10


def test_options(sales, run):
    assert len(run({"$match": {"price": {"$gte": 0}}}, batchSize=5)) == 12
    assert run({"$match": {"$expr": {"$eq": ["$price", "$$p"]}}}, {"$project": {"_id": 1}}, let={"p": 30}) == [{"_id": 3}]
    refused_mongo(40324, run, {"$noSuch": {}})


def test_graph(db):
    db.people.insert_many([{"_id": 1}, {"_id": 2, "boss": 1}, {"_id": 3, "boss": 2}, {"_id": 4, "boss": 3}])
    [got] = db.people.aggregate([{"$match": {"_id": 4}}, {"$graphLookup": {
        "from": "people", "startWith": "$boss", "connectFromField": "boss", "connectToField": "_id", "as": "up", "depthField": "d"}}])
    assert sorted((p["_id"], p["d"]) for p in got["up"]) == [(1, 2), (2, 1), (3, 0)]
