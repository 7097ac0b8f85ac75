//! Change streams.

use futures_util::TryStreamExt;
use mongodb::Collection;
use mongodb::bson::{Bson, Document, doc};
use mongodb::change_stream::ChangeStream;
use mongodb::change_stream::event::{ChangeStreamEvent, OperationType};
use mongodb::options::FullDocumentType;

use super::{connect, filled, refused, replica_set, stand_alone};
use crate::server::Server;

type Stream = ChangeStream<ChangeStreamEvent<Document>>;

async fn next(stream: &mut Stream) -> ChangeStreamEvent<Document> {
    stream.try_next().await.expect("the stream").expect("an event")
}

#[tokio::test]
async fn tells_of_all_that_happens_and_resumes() {
    let (_server, db) = replica_set().await;
    let c = filled(&db, [doc! {"_id": 0}]).await;
    let mut stream = c.watch().full_document(FullDocumentType::UpdateLookup).await.expect("watch");
    c.insert_one(doc! {"_id": 1, "a": 1}).await.expect("insert");
    c.update_one(doc! {"_id": 1}, doc! {"$inc": {"a": 1}}).await.expect("update");
    let inserted = next(&mut stream).await;
    assert_eq!((inserted.operation_type, inserted.full_document), (OperationType::Insert, Some(doc! {"_id": 1, "a": 1})));
    let updated = next(&mut stream).await;
    assert_eq!((updated.operation_type, updated.full_document), (OperationType::Update, Some(doc! {"_id": 1, "a": 2})));
    assert_eq!(updated.update_description.expect("a description").updated_fields, doc! {"a": 2});
    let token = stream.resume_token().expect("a token");
    c.replace_one(doc! {"_id": 1}, doc! {"z": 1}).await.expect("replace");
    c.delete_one(doc! {"_id": 1}).await.expect("delete");
    let replaced = next(&mut stream).await;
    assert_eq!((replaced.operation_type, replaced.full_document), (OperationType::Replace, Some(doc! {"_id": 1, "z": 1})));
    let deleted = next(&mut stream).await;
    assert_eq!((deleted.operation_type, deleted.document_key), (OperationType::Delete, Some(doc! {"_id": 1})));

    let mut resumed = c.watch().pipeline(vec![doc! {"$match": {"operationType": "delete"}}]).resume_after(token).await.expect("resume");
    assert_eq!(next(&mut resumed).await.operation_type, OperationType::Delete);
    c.drop().await.expect("drop");
    assert_eq!(next(&mut stream).await.operation_type, OperationType::Drop);
    assert_eq!(next(&mut stream).await.operation_type, OperationType::Invalidate);
}

#[tokio::test]
async fn of_a_database_and_of_all() {
    let (_server, db) = replica_set().await;
    let mut of_database = db.watch().await.expect("watch the database");
    let mut of_all = db.client().watch().await.expect("watch everything");
    let elsewhere: Collection<Document> = db.client().database("other").collection("c");
    elsewhere.insert_one(doc! {"_id": "elsewhere"}).await.expect("insert");
    db.collection("c").insert_one(doc! {"_id": "here"}).await.expect("insert");
    let key = |e: &ChangeStreamEvent<Document>| e.document_key.as_ref().and_then(|k| k.get("_id").cloned());
    assert_eq!(key(&next(&mut of_database).await), Some(Bson::from("here")));
    assert_eq!(key(&next(&mut of_all).await), Some(Bson::from("elsewhere")));
    assert_eq!(key(&next(&mut of_all).await), Some(Bson::from("here")));
}

/// A document that its lifetime ends is a delete in the stream.
#[tokio::test]
async fn shows_expiry() {
    let server = Server::start(&["--clock=virtual"]);
    let db = connect(&server, "?replicaSet=globaldb").await.database("rust");
    db.run_command(doc! {"createIndexes": "c", "indexes": [{"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": 10}]})
        .await
        .expect("the index");
    let mut stream = db.watch().await.expect("watch");
    db.collection("c").insert_one(doc! {"_id": 1}).await.expect("insert");
    server.advance(11);
    for want in [OperationType::Insert, OperationType::Delete] {
        let event = next(&mut stream).await;
        assert_eq!((event.operation_type, event.document_key), (want, Some(doc! {"_id": 1})));
    }
}

#[tokio::test]
async fn a_stand_alone_has_none() {
    let (_server, db) = stand_alone().await;
    refused("a change stream on a stand-alone", 40573, db.collection::<Document>("c").watch().await.map(|_| ()));
}
