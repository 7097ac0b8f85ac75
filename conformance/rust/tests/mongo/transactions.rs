//! Sessions and transactions.

use futures_util::future::join_all;
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::{TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT};

use super::{all, filled, refused, replica_set, stand_alone};

#[tokio::test]
async fn transfers() {
    let (_server, db) = replica_set().await;
    let accounts = filled(&db, (0..4).map(|i| doc! {"_id": i, "balance": 100})).await;
    let workers = (0..4).map(|worker| {
        let (client, accounts) = (db.client().clone(), accounts.clone());
        async move {
            let mut session = client.start_session().await.expect("a session");
            for i in 0..20 {
                let (from, to) = ((worker + i) % 4, (worker + i + 1) % 4);
                session
                    .start_transaction()
                    .and_run2(async |session| {
                        accounts.update_one(doc! {"_id": from}, doc! {"$inc": {"balance": -1}}).session(&mut *session).await?;
                        accounts.update_one(doc! {"_id": to}, doc! {"$inc": {"balance": 1}}).session(session).await
                    })
                    .await
                    .unwrap_or_else(|e| panic!("worker {worker}: {e}"));
            }
        }
    });
    join_all(workers).await;
    let sum = all(accounts.aggregate(vec![doc! {"$group": {"_id": Bson::Null, "sum": {"$sum": "$balance"}}}]).await).await;
    assert_eq!(sum, [doc! {"_id": Bson::Null, "sum": 400}]);
}

#[tokio::test]
async fn commit_abort_and_conflict() {
    let (_server, db) = replica_set().await;
    let c = filled(&db, [doc! {"_id": 0}]).await;
    let mut session = db.client().start_session().await.expect("a session");

    session.start_transaction().await.expect("start");
    c.insert_one(doc! {"_id": "new"}).session(&mut session).await.expect("insert");
    assert_eq!(c.count_documents(doc! {"_id": "new"}).await.expect("count"), 0, "an insert shows before its commit");
    assert!(c.find_one(doc! {"_id": "new"}).session(&mut session).await.expect("find").is_some(), "a transaction does not read its own write");
    session.abort_transaction().await.expect("abort");
    assert_eq!(c.count_documents(doc! {"_id": "new"}).await.expect("count"), 0, "an insert outlives its abort");

    session.start_transaction().await.expect("start");
    c.update_one(doc! {"_id": 0}, doc! {"$set": {"x": 1}}).session(&mut session).await.expect("update");
    let mut other = db.client().start_session().await.expect("a session");
    other.start_transaction().await.expect("start");
    let conflict = c.update_one(doc! {"_id": 0}, doc! {"$set": {"x": 2}}).session(&mut other).await;
    let error = refused("two transactions write one document", 112, conflict);
    assert!(error.contains_label(TRANSIENT_TRANSACTION_ERROR), "{error:?}");
    assert!(!error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT), "{error:?}");
    session.commit_transaction().await.expect("commit");
    session.commit_transaction().await.expect("commit again");
    assert_eq!(c.find_one(doc! {}).await.expect("find"), Some(doc! {"_id": 0, "x": 1}));
}

#[tokio::test]
async fn causal_and_snapshot_sessions() {
    let (_server, db) = replica_set().await;
    let c = filled(&db, [doc! {"_id": 0}]).await;
    let mut session = db.client().start_session().causal_consistency(true).await.expect("a session");
    c.update_one(doc! {"_id": 0}, doc! {"$set": {"x": 1}}).session(&mut session).await.expect("update");
    assert_eq!(c.find_one(doc! {"x": 1}).session(&mut session).await.expect("find"), Some(doc! {"_id": 0, "x": 1}));
    assert!(session.cluster_time().is_some());

    // A snapshot holds in a transaction only: docs/mongo.md.
    let mut snapshot = db.client().start_session().snapshot(true).await.expect("a session");
    refused("a snapshot outside of transactions", 72, c.find_one(doc! {}).session(&mut snapshot).await);
}

#[tokio::test]
async fn a_stand_alone_has_none() {
    let (_server, db) = stand_alone().await;
    let mut session = db.client().start_session().await.expect("a session");
    session.start_transaction().await.expect("start");
    let answer = db.collection::<Document>("c").insert_one(doc! {"_id": 1}).session(&mut session).await;
    refused("a transaction on a stand-alone", 20, answer);
}
