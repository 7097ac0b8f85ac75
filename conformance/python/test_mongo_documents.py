"""MongoDB: documents, bulk writes, cursors, types, indexes."""

import datetime
import re
import uuid

import pytest
from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp, encode
from bson.binary import UuidRepresentation
from bson.raw_bson import RawBSONDocument
from pymongo import ASCENDING, DESCENDING, DeleteMany, IndexModel, InsertOne, ReplaceOne, ReturnDocument, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from conftest import refused_mongo


def test_every_write(db):
    c = db.c
    id = c.insert_one({"name": "ann", "age": 31, "tags": ["a", "b"], "address": {"city": "Oslo"}}).inserted_id
    assert isinstance(id, ObjectId)
    assert c.find_one({"address.city": "Oslo"}, {"_id": 0, "name": 1, "tags": {"$slice": 1}}) == {"name": "ann", "tags": ["a"]}
    updated = c.update_one({"_id": id}, {"$inc": {"age": 1}, "$addToSet": {"tags": "c"}, "$currentDate": {"seen": True}})
    assert (updated.matched_count, updated.modified_count) == (1, 1)
    after = c.find_one_and_update({"name": "ann"}, [{"$set": {"old": {"$gt": ["$age", 30]}}}], return_document=ReturnDocument.AFTER)
    assert (after["age"], after["old"], after["tags"]) == (32, True, ["a", "b", "c"])
    assert c.replace_one({"_id": 7}, {"name": "bob"}, upsert=True).upserted_id == 7
    assert (c.count_documents({}), c.estimated_document_count()) == (2, 2)
    assert c.distinct("name") == ["ann", "bob"]
    assert c.find_one_and_delete({"_id": 7})["name"] == "bob"
    assert c.find_one_and_replace({"_id": id}, {"x": 1})["age"] == 32
    assert c.delete_many({}).deleted_count == 1
    c.insert_one({"_id": 1})
    with pytest.raises(DuplicateKeyError):
        c.insert_one({"_id": 1})


def test_array_filters(db):
    db.c.insert_one({"_id": 1, "grades": [80, 95, 100]})
    db.c.update_one({"_id": 1}, {"$inc": {"grades.$[high]": 1}}, array_filters=[{"high": {"$gte": 95}}])
    assert db.c.find_one() == {"_id": 1, "grades": [80, 96, 101]}


def test_bulk_write(db):
    c = db.c
    c.insert_many([{"_id": i, "n": i} for i in range(10)])
    result = c.bulk_write([
        InsertOne({"_id": 10}),
        UpdateMany({"n": {"$gte": 5}}, {"$set": {"big": True}}),
        UpdateOne({"_id": "u"}, {"$set": {"n": 1}}, upsert=True),
        ReplaceOne({"_id": 0}, {"z": 1}),
        DeleteMany({"n": {"$in": [1, 2]}}),
    ])
    assert (result.inserted_count, result.modified_count, result.deleted_count, result.upserted_ids) == (1, 6, 3, {2: "u"})
    for ordered, failures in ((True, 1), (False, 2)):
        c.delete_many({"_id": {"$regex": "^new"}})
        with pytest.raises(BulkWriteError) as caught:
            c.bulk_write([InsertOne({"_id": f"new{i}" if i < 3 else 5}) for i in range(5)], ordered=ordered)
        assert caught.value.details["nInserted"] == 3
        assert [(e["index"], e["code"], e["keyValue"]) for e in caught.value.details["writeErrors"]] == [
            (i, 11000, {"_id": 5}) for i in range(3, 3 + failures)]


def test_every_type(db):
    document = {
        "_id": ObjectId(), "double": 1.5, "whole": 3.0, "text": "Grüße \u0000 漢字 😀", "object": {"a": {"b": {}}}, "array": [1, [2, [3]], []],
        "binary": Binary(bytes(range(256)), 5), "uuid": Binary.from_uuid(uuid.UUID(int=7), UuidRepresentation.STANDARD), "yes": True,
        "date": datetime.datetime(1969, 12, 31, 23, 59, 59, 999000), "none": None, "pattern": Regex("^a.*b$", re.I | re.M), "int": -5,
        "long": Int64(2**53 + 1), "stamp": Timestamp(5, 6), "decimal": Decimal128("-1.2340E+10"), "infinite": float("-inf"),
        "low": MinKey(), "high": MaxKey(),
    }
    db.c.insert_one(document)
    assert db.c.find_one() == document
    raw = db.c.with_options(codec_options=db.codec_options.with_options(document_class=RawBSONDocument))
    assert raw.find_one().raw == encode(document)


def test_cursors(db):
    db.c.insert_many([{"_id": i, "n": i % 10} for i in range(1000)])
    assert [d["_id"] for d in db.c.find().sort("_id", -1).batch_size(37)] == list(range(999, -1, -1))
    assert [d["_id"] for d in db.c.find({"n": 3}).sort("_id", 1).skip(2).limit(3)] == [23, 33, 43]
    assert len(db.c.find(batch_size=2).to_list()) == 1000
    id = db.command("find", "c", batchSize=2)["cursor"]["id"]
    assert db.command("killCursors", "c", cursors=[Int64(id)])["cursorsKilled"] == [id]
    refused_mongo(43, db.command, {"getMore": Int64(id), "collection": "c"})


def test_indexes(db):
    c = db.c
    assert c.create_index([("a", ASCENDING), ("b", DESCENDING)]) == "a_1_b_-1"
    c.create_indexes([IndexModel("email", unique=True, sparse=True), IndexModel([("part", 1)], partialFilterExpression={"n": {"$gt": 5}}, name="half")])
    info = c.index_information()
    assert sorted(info) == ["_id_", "a_1_b_-1", "email_1", "half"]
    assert info["email_1"]["unique"] and info["email_1"]["sparse"]
    assert [i["name"] for i in c.list_indexes()][0] == "_id_"
    c.insert_many([{"email": "a"}, {"n": 1}, {"n": 2}])
    error = refused_mongo(11000, c.insert_one, {"email": "a"})
    assert error.details["keyValue"] == {"email": "a"}
    plan = c.find({"a": 5, "b": {"$gt": 1}}).explain()
    assert "a_1_b_-1" in str(plan["queryPlanner"]["winningPlan"])
    c.drop_index("half")
    refused_mongo(27, c.drop_index, "half")
    c.drop_indexes()
    assert list(c.index_information()) == ["_id_"]


def test_collections(db):
    db.create_collection("plain")
    refused_mongo(48, db.command, "create", "plain", capped=False, validator={"x": 1})
    db.create_collection("valid", validator={"$jsonSchema": {"required": ["n"], "properties": {"n": {"bsonType": "int"}}}})
    refused_mongo(121, db.valid.insert_one, {"n": "text"})
    db.valid.insert_one({"n": 1})
    db.create_collection("seen", viewOn="valid", pipeline=[{"$project": {"_id": 0, "m": "$n"}}])
    assert list(db.seen.find()) == [{"m": 1}]
    assert sorted(n for n in db.list_collection_names() if not n.startswith("system.")) == ["plain", "seen", "valid"]
    db.plain.rename("moved")
    db.drop_collection("moved")
    assert [c["type"] for c in db.list_collections(filter={"name": "seen"})] == ["view"]


def test_large_documents(db):
    big = {"_id": 1, "text": "x" * (15 * 1024 * 1024)}
    db.c.insert_one(big)
    assert len(db.c.find_one()["text"]) == len(big["text"])
    db.c.insert_many([{"text": "y" * 1024 * 1024} for _ in range(40)])
    assert sum(len(d["text"]) for d in db.c.find({"_id": {"$ne": 1}})) == 40 * 1024 * 1024
