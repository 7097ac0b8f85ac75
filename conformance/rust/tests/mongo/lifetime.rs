//! Both kinds of TTL on a virtual clock: on _ts with ttl, as Cosmos DB's API for
//! MongoDB has it, and on dates, as MongoDB has it.

use std::time::Duration;

use mongodb::bson::{Bson, DateTime, Decimal128, Document, doc};
use mongodb::options::IndexOptions;
use mongodb::{Collection, Database, IndexModel};

use super::{all, connect, fields, refused, stand_alone};
use crate::server::Server;

const SOMEDAY: &str = "--clock=virtual=2030-01-01T00:00:00Z";
const SOMEDAY_MILLIS: i64 = 1893456000000;

async fn on_virtual_clock() -> (Server, Database) {
    let server = Server::start(&[SOMEDAY]);
    let database = connect(&server, "?replicaSet=globaldb").await.database("rust");
    (server, database)
}

fn expiring(field: &str, seconds: u64) -> IndexModel {
    IndexModel::builder().keys(doc! {field: 1}).options(IndexOptions::builder().expire_after(Duration::from_secs(seconds)).build()).build()
}

/// The number of documents, asked for in every way a client has.
async fn want_alive(c: &Collection<Document>, second: i64, want: u64) {
    let seen = [
        all(c.find(doc! {}).await).await.len() as u64,
        c.estimated_document_count().await.expect("estimate"),
        c.count_documents(doc! {}).await.expect("count"),
        c.count_documents(doc! {"_id": {"$exists": true}}).await.expect("count by _id"),
        c.distinct("_id", doc! {}).await.expect("distinct").len() as u64,
    ];
    assert_eq!(seen, [want; 5], "second {second}: find, estimate, count, count by _id, distinct");
}

/// The samples of "Dados de expiração com a API do Azure Cosmos DB para MongoDB" and
/// "Expiración de los datos", and the other values that a ttl may have.
#[tokio::test]
async fn documented_samples() {
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("coll");
    let index = doc! {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 10};
    let reply = db.run_command(doc! {"createIndexes": "coll", "indexes": [index]}).await.expect("createIndexes");
    assert_eq!(fields(&reply, ["_t", "createdCollectionAutomatically"]), [Bson::from("CreateIndexesResponse"), Bson::Boolean(true)]);
    assert_eq!(fields(&reply, ["numIndexesBefore", "numIndexesAfter", "ok"]), [Bson::Int32(1), Bson::Int32(2), Bson::Double(1.0)]);

    const EVER: i64 = i64::MAX;
    let lives: Vec<(Bson, i64)> = vec![
        (Bson::Double(20.0), 20),
        (Bson::Int32(20), 20),
        (Bson::Int64(20), 20), // these override
        (Bson::Double(20.5), 10),
        (Bson::Int64(2147483649), 10), // these are stored and ignored
        (Bson::from("20"), 10),
        (Bson::from(true), 10),
        (Bson::Null, 10),
        (Bson::Double(f64::NAN), 10),
        (Bson::Double(f64::INFINITY), 10),
        (Bson::Int32(0), 10),
        (Bson::Int32(-2), 10),
        (Bson::from(doc! {"a": 20}), 10),
        (Bson::from(vec![20]), 10),
        (Bson::Decimal128("20".parse::<Decimal128>().expect("a decimal")), 10),
        (Bson::DateTime(DateTime::from_millis(20)), 10),
        (Bson::Int32(-1), EVER),
        (Bson::Int64(-1), EVER),
        (Bson::Double(-1.0), EVER),
        (Bson::Int32(2147483647), EVER),
    ];
    for (ttl, _) in &lives {
        c.insert_one(doc! {"id": 1, "location": "Paris", "ttl": ttl.clone()}).await.unwrap_or_else(|e| panic!("{ttl}: {e}"));
    }
    assert!(!c.find_one(doc! {}).await.expect("find").expect("a document").contains_key("_ts"), "the stamp shows");
    let mut elapsed = 0;
    for second in [0, 9, 10, 19, 20, 1000] {
        server.advance(second - elapsed);
        elapsed = second;
        want_alive(&c, second, lives.iter().filter(|(_, deadline)| second < *deadline).count() as u64).await;
    }
}

/// The index of the Java and C# samples, with the driver's own options.
#[tokio::test]
async fn index_through_the_driver() {
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("collectionName");
    assert_eq!(c.create_index(expiring("_ts", 10)).await.expect("create the index").index_name, "_ts_1");
    let listed = all(c.list_indexes().await).await;
    assert_eq!(listed[1].options.as_ref().expect("options").expire_after, Some(Duration::from_secs(10)));
    c.insert_one(doc! {"_id": 1}).await.expect("insert");
    server.advance(9);
    want_alive(&c, 9, 1).await;
    server.advance(1);
    want_alive(&c, 10, 0).await;
}

/// What was there before the index counts from its own last change, and every write starts anew.
#[tokio::test]
async fn stamp_of_old_documents() {
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("c");
    c.insert_many([doc! {"_id": "old"}, doc! {"_id": "touched"}]).await.expect("insert");
    server.advance(3600);
    c.update_one(doc! {"_id": "touched"}, doc! {"$set": {"a": 1}}).await.expect("update");
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
    want_alive(&c, 0, 1).await;
    server.advance(9);
    c.update_one(doc! {"_id": "touched"}, doc! {"$inc": {"a": 1}}).await.expect("update");
    server.advance(9);
    want_alive(&c, 18, 1).await;

    // collMod changes the lifetime, dropIndexes ends it.
    let changed = db.run_command(doc! {"collMod": "c", "index": {"keyPattern": {"_ts": 1}, "expireAfterSeconds": 100}}).await.expect("collMod");
    assert_eq!(fields(&changed, ["expireAfterSeconds_old", "expireAfterSeconds_new"]), [Bson::Int64(10), Bson::Int64(100)]);
    server.advance(90);
    want_alive(&c, 108, 1).await;
    c.drop_index("_ts_1").await.expect("drop the index");
    server.advance(86400);
    want_alive(&c, 86508, 1).await;
}

/// An expired document is absent for writes too: its _id and its unique values are free.
#[tokio::test]
async fn expired_are_absent_for_writes() {
    let (server, db) = on_virtual_clock().await;
    let c: Collection<Document> = db.collection("c");
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
    c.create_index(IndexModel::builder().keys(doc! {"email": 1}).options(IndexOptions::builder().unique(true).build()).build())
        .await
        .expect("create the index");
    let one = doc! {"_id": 1, "email": "a@example.com"};
    c.insert_one(&one).await.expect("insert");
    refused("the _id again", 11000, c.insert_one(&one).await);
    refused("the email again", 11000, c.insert_one(doc! {"_id": 2, "email": "a@example.com"}).await);
    server.advance(10);
    assert_eq!(c.update_one(doc! {"_id": 1}, doc! {"$set": {"a": 1}}).await.expect("update").matched_count, 0);
    assert_eq!(c.delete_one(doc! {"_id": 1}).await.expect("delete").deleted_count, 0);
    assert_eq!(c.find_one_and_delete(doc! {}).await.expect("find and delete"), None);
    c.insert_one(doc! {"_id": 2, "email": "a@example.com"}).await.expect("insert");
    let upserted = c.update_one(doc! {"_id": 1}, doc! {"$set": {"email": "b@example.com"}}).upsert(true).await.expect("upsert");
    assert_eq!(upserted.upserted_id, Some(Bson::Int32(1)));
}

/// MongoDB's own TTL: a date in the document, hidden at its deadline.
#[tokio::test]
async fn dates() {
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("sessions");
    c.create_index(expiring("at", 60)).await.expect("create the index");
    let at = |seconds: i64| DateTime::from_millis(SOMEDAY_MILLIS + 1000 * seconds);
    c.insert_many([
        doc! {"_id": "now", "at": at(0)},
        doc! {"_id": "later", "at": at(40)},
        doc! {"_id": "earliest", "at": [at(3600), at(20), "x"]},
        doc! {"_id": "no date", "at": "yesterday"},
        doc! {"_id": "none"},
    ])
    .await
    .expect("insert");
    let mut elapsed = 0;
    for (second, want) in [(0, 5), (59, 5), (60, 4), (79, 4), (80, 3), (99, 3), (100, 2), (10000, 2)] {
        server.advance(second - elapsed);
        elapsed = second;
        want_alive(&c, second, want).await;
    }
}

/// What is no lifetime of an index (ttl.md, section 8).
#[tokio::test]
async fn values_of_indexes() {
    let (_server, db) = stand_alone().await;
    let create = async |key: Document, seconds: Bson| {
        let name = format!("{}_1", key.keys().next().expect("a field"));
        db.run_command(doc! {"createIndexes": "c", "indexes": [{"key": key, "name": name, "expireAfterSeconds": seconds}]}).await
    };
    for (what, key, seconds, code) in [
        ("zero on _ts", doc! {"_ts": 1}, Bson::Int32(0), 2),
        ("below -1 on _ts", doc! {"_ts": 1}, Bson::Int32(-2), 2),
        ("a fraction on _ts", doc! {"_ts": 1}, Bson::Double(1.5), 2),
        ("too large on _ts", doc! {"_ts": 1}, Bson::Int64(2147483648), 2),
        ("text on _ts", doc! {"_ts": 1}, Bson::from("10"), 2),
        ("negative on a date", doc! {"at": 1}, Bson::Int32(-1), 67),
        ("too large on a date", doc! {"at": 1}, Bson::Int64(2147483648), 67),
        ("two fields", doc! {"at": 1, "b": 1}, Bson::Int32(10), 67),
        ("hashed", doc! {"at": "hashed"}, Bson::Int32(10), 67),
        ("text", doc! {"at": "text"}, Bson::Int32(10), 67),
        ("2dsphere", doc! {"at": "2dsphere"}, Bson::Int32(10), 67),
        ("wildcard", doc! {"$**": 1}, Bson::Int32(10), 67),
        ("_id", doc! {"_id": 1}, Bson::Int32(10), 197),
    ] {
        refused(what, code, create(key, seconds).await);
    }
    create(doc! {"_ts": 1}, Bson::Double(10.0)).await.expect("ten as a double");
    let again = create(doc! {"_ts": 1}, Bson::Int64(10)).await.expect("the same again");
    assert_eq!(fields(&again, ["note"]), [Bson::from("all indexes already exist")]);
    refused("another lifetime", 85, create(doc! {"_ts": 1}, Bson::Int32(20)).await);
    db.run_command(doc! {"dropIndexes": "c", "index": "_ts_1"}).await.expect("drop the index");
    create(doc! {"_ts": 1}, Bson::Int32(-1)).await.expect("on without a default");
    let listed = db.run_command(doc! {"listIndexes": "c"}).await.expect("listIndexes");
    let batch = listed.get_document("cursor").and_then(|c| c.get_array("firstBatch")).expect("a batch");
    assert_eq!(batch[1].as_document().and_then(|i| i.get("expireAfterSeconds")), Some(&Bson::Int32(-1)), "{listed}");

    let server = Server::start(&["--mongo-ttl=cosmos"]);
    let c = connect(&server, "").await.database("rust").collection::<Document>("c");
    refused("a date with --mongo-ttl=cosmos", 2, c.create_index(expiring("at", 60)).await);
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
}

/// Other spellings of the index, an index without lifetime, and dropIndexes of all.
#[tokio::test]
async fn forms_of_the_index() {
    let (server, db) = on_virtual_clock().await;
    for (i, (key, options, alive)) in [
        (doc! {"_ts": -1}, doc! {"expireAfterSeconds": 10}, 0),
        (doc! {"_ts": 1.0}, doc! {"expireAfterSeconds": 10.0}, 0),
        (doc! {"_ts": 1}, doc! {"expireAfterSeconds": -1}, 1),
        (doc! {"_ts": 1}, doc! {}, 1),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("c{i}");
        let mut index = doc! {"key": key.clone(), "name": "stamp"};
        index.extend(options);
        db.run_command(doc! {"createIndexes": &name, "indexes": [index]}).await.unwrap_or_else(|e| panic!("{key}: {e}"));
        let c = db.collection::<Document>(&name);
        c.insert_one(doc! {"_id": "inherits"}).await.expect("insert");
        server.advance(10);
        want_alive(&c, 10, alive).await;
    }
    let c = db.collection::<Document>("dropped");
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
    c.insert_one(doc! {"_id": 1, "ttl": 5}).await.expect("insert");
    c.drop_indexes().await.expect("drop all indexes");
    server.advance(1000);
    want_alive(&c, 1000, 1).await;
}

/// Any update that matches restarts the countdown; ttl counts in lower case and at
/// the root only; a _ts of the user's is his own; without the index nothing counts.
#[tokio::test]
async fn readings() {
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("c");
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
    c.insert_many(["same", "unmatched", "upper", "nested"].map(|id| match id {
        "upper" => doc! {"_id": id, "n": 1, "TTL": 100},
        "nested" => doc! {"_id": id, "n": 1, "a": {"ttl": 100}},
        _ => doc! {"_id": id, "n": 1, "_ts": DateTime::from_millis(0)},
    }))
    .await
    .expect("insert");
    assert_eq!(
        c.find_one(doc! {"_id": "same"}).await.expect("find").expect("a document").get("_ts"),
        Some(&Bson::DateTime(DateTime::from_millis(0)))
    );
    server.advance(9);
    let updated = c.update_one(doc! {"_id": "same"}, doc! {"$set": {"n": 1}}).await.expect("update");
    assert_eq!((updated.matched_count, updated.modified_count), (1, 0));
    assert_eq!(c.update_one(doc! {"_id": "unmatched", "n": 2}, doc! {"$set": {"n": 3}}).await.expect("update").matched_count, 0);
    want_alive(&c, 9, 4).await;
    server.advance(1);
    want_alive(&c, 10, 1).await;
    server.advance(9);
    want_alive(&c, 19, 0).await;

    let off: Collection<Document> = db.collection("off");
    off.insert_many([doc! {"_id": 1, "ttl": 5}, doc! {"_id": 2, "ttl": "x"}]).await.expect("insert");
    server.advance(1000);
    want_alive(&off, 1000, 2).await;
}

/// One policy, two APIs: what one sets the other sees.
#[tokio::test]
async fn one_policy_for_both_apis() {
    use azure_data_cosmos::models::TimeToLive;
    let (server, db) = on_virtual_clock().await;
    let c = db.collection("c");
    c.create_index(expiring("_ts", 10)).await.expect("create the index");
    c.insert_one(doc! {"_id": "a", "id": "a", "ttl": 20}).await.expect("insert");
    let container = crate::cosmos::connect(&server).await.database_client("rust").container_client("c", None).await.expect("resolve the container");
    let mut properties = container.read(None).await.expect("read").into_model().expect("its properties");
    assert_eq!(properties.default_ttl, TimeToLive::Seconds(10));
    properties.default_ttl = TimeToLive::Seconds(30);
    container.replace(properties, None).await.expect("replace");
    let listed = all(c.list_indexes().await).await;
    assert_eq!(listed[1].options.as_ref().expect("options").expire_after, Some(Duration::from_secs(30)));
    c.insert_one(doc! {"_id": "b"}).await.expect("insert");
    for (advance, second, want) in [(19, 19, 2), (1, 20, 1), (9, 29, 1), (1, 30, 0)] {
        server.advance(advance);
        want_alive(&c, second, want).await;
    }
}
