"""MongoDB: sessions, transactions, change streams."""

import pytest
from pymongo import InsertOne, ReadPreference, WriteConcern
from pymongo.errors import InvalidOperation, OperationFailure
from pymongo.read_concern import ReadConcern

from conftest import new_name, refused_mongo


def test_commit_and_abort(mongo, db):
    db.c.insert_one({"_id": 0})
    with mongo.start_session() as session:
        with session.start_transaction(read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority")):
            db.c.insert_one({"_id": 1}, session=session)
            assert db.c.find_one({"_id": 1}) is None
            assert db.c.find_one({"_id": 1}, session=session) == {"_id": 1}
            db.other.insert_one({"_id": 1}, session=session)
        assert (db.c.count_documents({}), db.other.count_documents({})) == (2, 1)
        with pytest.raises(KeyError), session.start_transaction():
            db.c.delete_many({}, session=session)
            raise KeyError("an exception aborts")
        assert db.c.count_documents({}) == 2


def test_two_transactions_write_one_document(mongo, db):
    db.c.insert_one({"_id": 0})
    with mongo.start_session() as one, mongo.start_session() as other:
        with one.start_transaction():
            db.c.update_one({"_id": 0}, {"$set": {"x": 1}}, session=one)
            with pytest.raises(OperationFailure) as caught, other.start_transaction():
                db.c.update_one({"_id": 0}, {"$set": {"x": 2}}, session=other)
            assert caught.value.code == 112 and caught.value.has_error_label("TransientTransactionError")
    assert db.c.find_one()["x"] == 1


def test_a_transaction_reads_one_moment(mongo, db):
    db.c.insert_many([{"_id": i} for i in range(3)])
    with mongo.start_session() as session, session.start_transaction(read_concern=ReadConcern("snapshot")):
        assert len(list(db.c.find(session=session))) == 3
        db.c.delete_many({})
        assert len(list(db.c.find(session=session))) == 3
    assert db.c.count_documents({}) == 0


def test_causal_and_snapshot_sessions(mongo, db):
    db.c.insert_one({"_id": 1})
    with mongo.start_session(causal_consistency=True) as session:
        db.c.update_one({"_id": 1}, {"$set": {"n": 1}}, session=session)
        assert session.operation_time is not None
        assert db.c.with_options(read_preference=ReadPreference.SECONDARY_PREFERRED).find_one({}, session=session)["n"] == 1
    with mongo.start_session(snapshot=True) as session:  # a difference: docs/mongo.md
        refused_mongo(72, db.c.find_one, {}, session=session)


def test_a_change_stream_tells_all(db):
    c = db.c
    c.insert_one({"_id": 0})
    with c.watch(full_document="updateLookup") as stream:
        c.insert_one({"_id": 1, "a": 1})
        c.update_one({"_id": 1}, {"$inc": {"a": 1}})
        c.replace_one({"_id": 1}, {"z": 1})
        c.delete_one({"_id": 1})
        events = []
        for want in ("insert", "update", "replace", "delete"):
            event = stream.next()
            assert (event["operationType"], event["documentKey"], event["ns"]) == (want, {"_id": 1}, {"db": db.name, "coll": "c"})
            events.append(event)
        assert events[0]["fullDocument"] == {"_id": 1, "a": 1}
        assert events[1]["updateDescription"]["updatedFields"] == {"a": 2}
        assert events[2]["fullDocument"] == {"_id": 1, "z": 1}
        assert stream.try_next() is None
    with c.watch([{"$match": {"operationType": "delete"}}], resume_after=events[1]["_id"]) as resumed:
        assert resumed.next()["operationType"] == "delete"
    with c.watch(start_at_operation_time=events[2]["clusterTime"]) as later:
        assert later.next()["operationType"] == "replace"
        c.drop()
        assert [later.next()["operationType"] for _ in range(3)] == ["delete", "drop", "invalidate"]


def test_change_streams_of_a_database_and_of_all(mongo, db):
    with db.watch() as stream, mongo.watch() as all:
        db.a.insert_one({"_id": "a"})
        db.b.insert_one({"_id": "b"})
        assert [stream.next()["documentKey"]["_id"] for _ in range(2)] == ["a", "b"]
        assert all.next()["ns"]["db"] == db.name


def test_expiry_is_a_delete_in_the_stream(clocked_db, virtual):
    c = clocked_db.c
    c.create_index("_ts", expireAfterSeconds=10)
    with clocked_db.watch() as stream:
        c.insert_one({"_id": 1})
        virtual.advance(11)
        assert [(e["operationType"], e["documentKey"]) for e in (stream.next(), stream.next())] == [("insert", {"_id": 1}), ("delete", {"_id": 1})]


def test_commands(mongo, db):
    hello = db.command("hello")
    assert hello["setName"] == "globaldb" and hello["isWritablePrimary"]
    assert mongo.server_info()["versionArray"][0] == 7
    assert db.command("ping")["ok"] == 1
    assert db.name not in mongo.list_database_names()
    db.c.insert_one({})
    assert db.name in mongo.list_database_names()
    mongo.drop_database(db.name)
    assert db.name not in mongo.list_database_names()
    refused_mongo(59, db.command, "noSuchCommand")


def test_bulk_writes_of_a_client_need_mongodb_8(mongo, db):
    with pytest.raises(InvalidOperation, match="8.0"):
        mongo.bulk_write([InsertOne({"_id": 1}, namespace=f"{db.name}.{new_name()}")])
