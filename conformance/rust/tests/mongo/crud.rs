//! Insert, find, update, replace, delete, bulk writes, cursors, types.

use futures_util::TryStreamExt;
use mongodb::bson::{Bson, DateTime, Decimal128, Document, Regex, Timestamp, Uuid, doc, oid::ObjectId};
use mongodb::error::ErrorKind;
use mongodb::options::{InsertOneModel, ReturnDocument, UpdateOneModel, WriteModel};
use mongodb::{Collection, Namespace};

use super::{all, connect, fields, filled, ids, refused, replica_set, stand_alone};
use crate::server::Server;

#[tokio::test]
async fn insert_find_update_replace_delete() {
    let (_server, db) = stand_alone().await;
    let c: Collection<Document> = db.collection("people");
    let ann = c.insert_one(doc! {"name": "ann", "age": 31, "tags": ["a", "b"], "address": {"city": "Oslo"}}).await.expect("insert").inserted_id;
    assert!(matches!(ann, Bson::ObjectId(_)));
    let found = c.find_one(doc! {"address.city": "Oslo"}).projection(doc! {"_id": 0, "name": 1, "tags": {"$slice": 1}}).await.expect("find");
    assert_eq!(found, Some(doc! {"name": "ann", "tags": ["a"]}));
    let updated = c
        .update_one(doc! {"_id": &ann}, doc! {"$inc": {"age": 1}, "$addToSet": {"tags": "c"}, "$currentDate": {"seen": true}})
        .await
        .expect("update");
    assert_eq!((updated.matched_count, updated.modified_count), (1, 1));
    let after = c
        .find_one_and_update(doc! {"name": "ann"}, vec![doc! {"$set": {"old": {"$gt": ["$age", 30]}}}])
        .return_document(ReturnDocument::After)
        .await
        .expect("find and update")
        .expect("a document");
    assert_eq!(fields(&after, ["age", "old"]), [Bson::Int32(32), Bson::Boolean(true)]);
    assert!(after.get_datetime("seen").is_ok());
    let upserted = c.replace_one(doc! {"_id": 7}, doc! {"name": "bob"}).upsert(true).await.expect("replace");
    assert_eq!(upserted.upserted_id, Some(Bson::Int32(7)));
    assert_eq!((c.count_documents(doc! {}).await.expect("count"), c.estimated_document_count().await.expect("estimate")), (2, 2));
    assert_eq!(c.distinct("name", doc! {}).await.expect("distinct"), [Bson::from("ann"), Bson::from("bob")]);
    assert_eq!(c.find_one_and_delete(doc! {"_id": 7}).await.expect("find and delete"), Some(doc! {"_id": 7, "name": "bob"}));
    assert_eq!(c.update_many(doc! {}, doc! {"$unset": {"tags": ""}}).await.expect("update").modified_count, 1);
    assert_eq!(c.delete_many(doc! {}).await.expect("delete").deleted_count, 1);
    c.insert_one(doc! {"_id": 1}).await.expect("insert");
    refused("the same _id again", 11000, c.insert_one(doc! {"_id": 1}).await);
}

#[tokio::test]
async fn insert_many_and_its_errors() {
    let (_server, db) = stand_alone().await;
    let c = filled(&db, (0..3).map(|i| doc! {"_id": i})).await;
    for (ordered, inserted, failed) in [(true, 1, vec![1]), (false, 2, vec![1, 2])] {
        let error = c
            .insert_many(["a", "x", "x", "b"].map(|id| {
                if id == "x" {
                    doc! {"_id": 1}
                } else {
                    doc! {"_id": id}
                }
            }))
            .ordered(ordered)
            .await;
        let error = refused("a duplicate", 11000, error);
        let ErrorKind::InsertMany(error) = error.kind.as_ref() else { panic!("{error:?}") };
        let errors = error.write_errors.as_ref().expect("write errors");
        assert_eq!(errors.iter().map(|e| e.index).collect::<Vec<_>>(), failed, "ordered {ordered}");
        let n = c.count_documents(doc! {}).await.expect("count");
        assert_eq!(n, 3 + inserted, "ordered {ordered}");
        c.delete_many(doc! {"_id": {"$in": ["a", "b"]}}).await.expect("delete");
    }
}

/// Client::bulk_write needs MongoDB 8 (wire version 25): the driver refuses it at 21.
#[tokio::test]
async fn bulk_write_of_the_client() {
    let (_server, db) = replica_set().await;
    let namespace = Namespace::new("rust", "c");
    let models: Vec<WriteModel> = vec![
        InsertOneModel::builder().namespace(namespace.clone()).document(doc! {"_id": 1}).build().into(),
        UpdateOneModel::builder().namespace(namespace).filter(doc! {"_id": 1}).update(doc! {"$set": {"a": 1}}).build().into(),
    ];
    let error = db.client().bulk_write(models).await.expect_err("a bulk write");
    assert!(matches!(error.kind.as_ref(), ErrorKind::IncompatibleServer { .. }), "{error:?}");
}

#[tokio::test]
async fn cursors() {
    let (_server, db) = stand_alone().await;
    let c = filled(&db, (0..1000).map(|i| doc! {"_id": i, "n": i % 10})).await;
    let mut cursor = c.find(doc! {}).sort(doc! {"_id": -1}).batch_size(37).await.expect("find");
    let mut next = 999;
    while let Some(document) = cursor.try_next().await.expect("next") {
        assert_eq!(fields(&document, ["_id"]), [Bson::Int32(next)]);
        next -= 1;
    }
    assert_eq!(next, -1);
    assert_eq!(
        ids(&all(c.find(doc! {"n": 3}).sort(doc! {"_id": 1}).skip(2).limit(3).await).await),
        [Bson::Int32(23), Bson::Int32(33), Bson::Int32(43)]
    );

    let open = db.run_command(doc! {"find": "c", "batchSize": 2}).await.expect("find");
    let id = open.get_document("cursor").and_then(|c| c.get_i64("id")).expect("a cursor's id");
    let killed = db.run_command(doc! {"killCursors": "c", "cursors": [id]}).await.expect("killCursors");
    assert_eq!(fields(&killed, ["cursorsKilled"]), [Bson::from(vec![id])]);
    refused("getMore of a killed cursor", 43, db.run_command(doc! {"getMore": id, "collection": "c"}).await);
}

#[tokio::test]
async fn every_type_comes_back_as_it_went() {
    let (_server, db) = stand_alone().await;
    let document = doc! {
        "_id": ObjectId::new(), "double": 1.5, "whole": 3.0, "text": "Grüße \u{0} 漢字 😀", "object": {"a": {"b": {}}}, "array": [1, [2, [3]], []],
        "uuid": Uuid::new(), "yes": true, "date": DateTime::from_millis(-1), "nothing": Bson::Null, "int": -5, "long": 9007199254740993i64,
        "pattern": Regex { pattern: "^a.*b$".try_into().expect("a pattern"), options: "im".try_into().expect("options") },
        "timestamp": Timestamp { time: 5, increment: 6 }, "decimal": "-1.2340E+10".parse::<Decimal128>().expect("a decimal"),
        "infinite": f64::NEG_INFINITY, "least": Bson::MinKey, "greatest": Bson::MaxKey,
    };
    let c = filled(&db, [document.clone()]).await;
    assert_eq!(c.find_one(doc! {}).await.expect("find"), Some(document));
}

#[tokio::test]
async fn over_tls() {
    let server = Server::start(&[]);
    let file = std::env::temp_dir().join(format!("{}.pem", server.mongo.replace(':', "-")));
    std::fs::write(&file, server.authority()).expect("write the authority");
    let client = connect(&server, &format!("?tls=true&tlsCAFile={}", file.display())).await;
    let pong = client.database("admin").run_command(doc! {"ping": 1}).await;
    let stranger = connect(&server, "?tls=true&serverSelectionTimeoutMS=500").await;
    let untrusted = stranger.database("admin").run_command(doc! {"ping": 1}).await;
    let _ = std::fs::remove_file(&file);
    pong.expect("ping");
    untrusted.expect_err("an unknown authority must not be trusted");
}

#[tokio::test]
async fn with_a_password() {
    let server = Server::start(&["--mongo-auth=on"]);
    let key: String = crate::server::KEY.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D");
    let with = |user: &str| format!("mongodb://{user}@{}/", server.mongo);
    let client = mongodb::Client::with_uri_str(with(&format!("mayfly:{key}"))).await.expect("connect");
    client.database("rust").collection("c").insert_one(doc! {"_id": 1}).await.expect("insert");
    let stranger = mongodb::Client::with_uri_str(with("mayfly:wrong")).await.expect("a client");
    let error = stranger.database("rust").collection("c").insert_one(doc! {"_id": 2}).await.expect_err("a wrong password");
    assert!(matches!(error.kind.as_ref(), ErrorKind::Authentication { .. }), "{error:?}");
    let nobody = connect(&server, "").await;
    refused("without a password", 13, nobody.database("rust").run_command(doc! {"find": "c"}).await);
}
