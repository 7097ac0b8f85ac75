//! Transactional batches: all or nothing.

use azure_data_cosmos::models::TransactionalBatchResponse;
use azure_data_cosmos::options::{BatchOptions, BatchReplaceOptions, ContentResponseOnWrite, OperationOptionsBuilder, Precondition};
use azure_data_cosmos::{Result, TransactionalBatch};
use serde_json::{Value, json};

use super::{code, connect, create, item, new_container, read, refused};
use crate::server::Server;

fn codes(answer: &TransactionalBatchResponse) -> Vec<u16> {
    answer.results().iter().map(|r| r.status_code()).collect()
}

#[tokio::test]
async fn commits() -> Result<()> {
    let server = Server::start(&[]);
    let c = new_container(&connect(&server).await, |p| p).await;
    for id in ["read", "replace", "upsert", "delete"] {
        create(&c, item(id, json!({"n": 1}))).await;
    }
    let batch = TransactionalBatch::new("p")
        .create_item(item("create", json!({})))?
        .read_item("read", None)
        .replace_item("replace", item("replace", json!({"n": 2})), None)?
        .upsert_item(item("upsert", json!({"n": 2})), None)?
        .upsert_item(item("inserted", json!({"n": 2})), None)?
        .delete_item("delete", None)
        .read_item("create", None);
    let operation = OperationOptionsBuilder::new().with_content_response_on_write(ContentResponseOnWrite::Enabled).build();
    let answer = c.execute_transactional_batch(batch, Some(BatchOptions::default().with_operation_options(operation))).await?;
    assert_eq!(answer.status().status_code(), 200);
    let answer = answer.into_model()?;
    assert_eq!(codes(&answer), [201, 200, 200, 200, 201, 204, 200]);
    for (i, result) in answer.results().iter().enumerate() {
        let body: Option<Value> = result.into_model()?;
        assert!(result.is_success() && result.request_charge().is_some_and(|c| c > 0.0), "operation {i}");
        assert_eq!((result.etag().is_some(), body.is_some()), (i != 5, i != 5), "operation {i} has an ETag and a body unless it deletes");
    }
    for (id, n) in [("replace", 2), ("upsert", 2), ("inserted", 2), ("read", 1)] {
        assert_eq!(read(&c, id).await.expect("an item")["n"], n, "{id}");
    }
    assert_eq!(read(&c, "delete").await, None);
    Ok(())
}

#[tokio::test]
async fn rolls_back() -> Result<()> {
    let server = Server::start(&[]);
    let c = new_container(&connect(&server).await, |p| p).await;
    let kept = create(&c, item("kept", json!({"n": 1}))).await;
    let stale = BatchReplaceOptions::default().with_precondition(Precondition::if_match("\"00000000-0000-0000-0000-000000000000\""));
    let begun = || TransactionalBatch::new("p").create_item(item("new", json!({})));
    for (what, batch, want) in [
        ("conflict", begun()?.create_item(item("kept", json!({})))?, 409),
        ("read of an absent item", begun()?.read_item("absent", None), 404),
        ("delete of an absent item", begun()?.delete_item("absent", None), 404),
        ("stale ETag", begun()?.replace_item("kept", item("kept", json!({})), Some(stale))?, 412),
    ] {
        let answer = c.execute_transactional_batch(batch.delete_item("kept", None), None).await?;
        assert_eq!(answer.status().status_code(), 207, "{what}");
        assert_eq!(codes(&answer.into_model()?), [424, want, 424], "{what}");
        assert_eq!(read(&c, "new").await, None, "{what}: an operation before the failure was applied");
        assert_eq!(read(&c, "kept").await.as_ref(), Some(&kept), "{what}: the item that was there changed");
    }
    Ok(())
}

#[tokio::test]
async fn limits() -> Result<()> {
    let server = Server::start(&[]);
    let c = new_container(&connect(&server).await, |p| p).await;
    let of = |n: usize| (0..n).try_fold(TransactionalBatch::new("p"), |batch, i| batch.create_item(item(&format!("{n}-{i}"), json!({}))));
    assert_eq!(code(&c.execute_transactional_batch(of(100)?, None).await), 200);
    refused("101 operations", 400, c.execute_transactional_batch(of(101)?, None).await);
    Ok(())
}
