"""MongoDB: both kinds of TTL on a virtual clock: the stamp's, as the service's
articles show it, and MongoDB's own on dates."""

import datetime

import pytest
from bson import Decimal128, Int64

from conftest import new_name, refused_mongo

FOR_EVER = 2**40


def stamp_index(c, seconds):
    return c.create_index("_ts", expireAfterSeconds=seconds)


def alive(c):
    """How many documents there are. Every way of asking must say the same."""
    n = len(list(c.find()))
    assert c.estimated_document_count() == n
    assert c.count_documents({}) == n
    assert c.count_documents({"_id": {"$exists": True}}) == n
    assert len(c.distinct("_id")) == n
    assert [d["n"] for d in c.aggregate([{"$count": "n"}])] == ([n] if n else [])
    return n


def test_sample_of_the_index(clocked_db):
    """db.coll.createIndex({"_ts":1}, {expireAfterSeconds: 10}), and the metadata of its answer."""
    index = {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 10}
    reply = clocked_db.command("createIndexes", "coll", indexes=[index])
    assert (reply["_t"], reply["ok"], reply["createdCollectionAutomatically"]) == ("CreateIndexesResponse", 1, True)
    assert (reply["numIndexesBefore"], reply["numIndexesAfter"]) == (1, 2)
    assert clocked_db.coll.index_information()["_ts_1"]["expireAfterSeconds"] == 10


@pytest.mark.parametrize("ttl, lifetime", [
    # The valid and the invalid documents of the article:
    (20.0, 20), (20, 20), (Int64(20), 20), (20.5, 10), (Int64(2147483649), 10),
    # and what it leaves open:
    (-1, FOR_EVER), (Int64(-1), FOR_EVER), (-1.0, FOR_EVER), (2147483647, 2147483647),
    (0, 10), (-2, 10), ("20", 10), (True, 10), (None, 10), (float("nan"), 10), (float("inf"), 10), (-1.5, 10),
    (Decimal128("20"), 10), (datetime.datetime(2040, 1, 1), 10), ({"a": 20}, 10), ([20], 10),
], ids=str)
def test_sample_documents(clocked_db, virtual, ttl, lifetime):
    c = clocked_db.coll
    stamp_index(c, 10)
    for _ in range(2):  # id is not _id
        c.insert_one({"id": 1, "location": "Paris", "ttl": ttl})
    assert "_ts" not in c.find_one()
    second = 0
    for at in (9, 10, 19, 20):
        virtual.advance(at - second)
        second = at
        assert alive(c) == (2 if at < lifetime else 0), f"second {at}"


def test_inherited(clocked_db, virtual):
    c = clocked_db.c
    stamp_index(c, 10)
    c.insert_one({"nested": {"ttl": 100}, "TTL": 100})
    virtual.advance(9)
    assert alive(c) == 1
    virtual.advance(1)
    assert alive(c) == 0


def test_documents_that_were_there(clocked_db, virtual):
    c = clocked_db.c
    c.insert_many([{"_id": "old"}, {"_id": "touched"}])
    virtual.advance(3600)
    c.update_one({"_id": "touched"}, {"$set": {"a": 1}})
    stamp_index(c, 10)
    assert alive(c) == 1
    virtual.advance(9)
    c.update_one({"_id": "touched"}, {"$set": {"a": 1}})  # changes nothing, and starts anew
    virtual.advance(9)
    assert alive(c) == 1

    changed = clocked_db.command("collMod", "c", index={"keyPattern": {"_ts": 1}, "expireAfterSeconds": 100})
    assert (changed["expireAfterSeconds_old"], changed["expireAfterSeconds_new"]) == (10, 100)
    virtual.advance(90)
    assert alive(c) == 1
    c.drop_index("_ts_1")
    virtual.advance(24 * 3600)
    assert alive(c) == 1


def test_without_a_default(clocked_db, virtual):
    c = clocked_db.c
    stamp_index(c, -1)
    c.insert_many([{"_id": 1}, {"_id": 2, "ttl": 5}])
    virtual.advance(5)
    assert alive(c) == 1
    virtual.advance(365 * 24 * 3600)
    assert alive(c) == 1


def test_index_options(clocked_db):
    c = clocked_db.c
    for bad in (0, -2, 1.5, Int64(2147483648), "10"):
        refused_mongo(2, clocked_db.command, "createIndexes", "c", indexes=[{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": bad}])
    stamp_index(c, 10)
    stamp_index(c, 10)
    refused_mongo(85, stamp_index, c, 20)
    refused_mongo(67, c.create_index, [("$**", 1)], expireAfterSeconds=10)
    refused_mongo(67, c.create_index, [("a", 1), ("b", 1)], expireAfterSeconds=10)


def test_the_expired_are_absent_for_writes(clocked_db, virtual):
    c = clocked_db.c
    stamp_index(c, 10)
    c.create_index("email", unique=True)
    one = {"_id": 1, "email": "a@example.com"}
    c.insert_one(one)
    refused_mongo(11000, c.insert_one, one)
    virtual.advance(10)
    assert c.update_one({"_id": 1}, {"$set": {"a": 1}}).matched_count == 0
    assert c.delete_one({"_id": 1}).deleted_count == 0
    assert c.find_one_and_delete({}) is None
    c.insert_one({"_id": 2, "email": "a@example.com"})
    assert c.update_one({"_id": 1}, {"$set": {"email": "b@example.com"}}, upsert=True).upserted_id == 1


def test_lookups_do_not_see_the_expired(clocked_db, virtual):
    stamp_index(clocked_db.parts, 10)
    clocked_db.parts.insert_many([{"_id": 1}, {"_id": 2, "ttl": -1}])
    clocked_db.whole.insert_one({"parts": [1, 2]})
    virtual.advance(10)
    [got] = clocked_db.whole.aggregate([{"$lookup": {"from": "parts", "localField": "parts", "foreignField": "_id", "as": "found"}}])
    assert [p["_id"] for p in got["found"]] == [2]


def now(db):
    """The server's time, which a virtual clock tells."""
    return db.command("hello")["localTime"]


def test_dates(clocked_db, virtual):
    c = clocked_db.sessions
    c.create_index("at", expireAfterSeconds=60)
    start = now(clocked_db)

    def after(seconds):
        return start + datetime.timedelta(seconds=seconds)

    c.insert_many([
        {"_id": "now", "at": start},
        {"_id": "later", "at": after(40)},
        {"_id": "earliest", "at": [after(3600), after(20), "x"]},
        {"_id": "no date", "at": "yesterday"},
        {"_id": "none"},
    ])
    second = 0
    for at, want in ((0, 5), (59, 5), (60, 4), (79, 4), (80, 3), (99, 3), (100, 2), (10000, 2)):
        virtual.advance(at - second)
        second = at
        assert alive(c) == want, f"second {at}"


def test_one_policy_for_both_apis(clocked, clocked_mongo, virtual):
    """defaultTtl is the index on _ts, whichever API set it."""
    name = new_name()
    db = clocked_mongo[name]
    stamp_index(db.made, 10)
    db.made.insert_one({"_id": "x"})
    container = clocked.get_database_client(name).get_container_client("made")
    assert container.read()["defaultTtl"] == 10
    virtual.advance(9)
    assert len(list(container.read_all_items())) == 1
    virtual.advance(1)
    assert list(container.read_all_items()) == []
