//! Items: create, read, replace, upsert, patch, delete, ETags, kinds of partition keys.

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::{ContainerProperties, PatchInstructions, PatchOperation};
use azure_data_cosmos::options::{BinaryEncodingOptions, ItemReadOptions, ItemWriteOptions, PatchItemOptions, PatchStrategy, Precondition};
use azure_data_cosmos::{PartitionKey, TransactionalBatch};
use futures_util::TryStreamExt;
use serde_json::{Value, json};

use super::{code, connect, create, dial_with, echo, insecure, item, new_container, new_database, read, refused, rows};
use crate::server::Server;

#[tokio::test]
async fn create_read_replace_upsert_delete() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;

    let made = create(&container, item("1", json!({"n": 1, "text": "Grüße 漢字 😀 \u{0} \"", "deep": {"a": [1, 2.5, null, true]}}))).await;
    for property in ["_rid", "_self", "_etag", "_attachments"] {
        assert!(made[property].is_string(), "{property}: {made}");
    }
    assert!(made["_ts"].is_u64(), "{made}");
    refused("create again", 409, container.create_item("p", "1", item("1", json!({})), None).await);
    let answer = container.read_item("p", "1", None).await.expect("read");
    assert!(answer.headers().request_charge().expect("a charge").value() > 0.0);
    assert!(answer.headers().session_token().is_some() && answer.headers().activity_id().is_some());
    assert_eq!(answer.into_model::<Value>().expect("an item"), made);

    let answer = container.replace_item("p", "1", item("1", json!({"n": 2})), None).await.expect("replace");
    assert!(answer.into_body().is_empty(), "a write answers with the item although the client wants none");
    assert_eq!(read(&container, "1").await.expect("an item")["n"], 2);
    refused("replace an absent item", 404, container.replace_item("p", "2", item("2", json!({})), None).await);
    assert_eq!(code(&container.upsert_item("p", "2", item("2", json!({})), None).await), 201);
    assert_eq!(code(&container.upsert_item("p", "2", item("2", json!({"n": 3})), None).await), 200);
    assert_eq!(code(&container.delete_item("p", "2", None).await), 204);
    refused("delete an absent item", 404, container.delete_item("p", "2", None).await);
    assert_eq!(read(&container, "2").await, None);
    let other = container.read_item("q", "1", None).await;
    refused("read in another partition", 404, other);
}

#[tokio::test]
async fn etags() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    create(&container, item("1", json!({"n": 1}))).await;
    let first = container.read_item("p", "1", None).await.expect("read").headers().etag().expect("an ETag").clone();
    let guarded = || Some(ItemWriteOptions::default().with_precondition(Precondition::if_match(first.clone())));

    let unchanged = ItemReadOptions::default().with_precondition(Precondition::if_none_match(first.clone()));
    assert_eq!(code(&container.read_item("p", "1", Some(unchanged.clone())).await), 304);
    assert_eq!(code(&container.replace_item("p", "1", item("1", json!({"n": 2})), guarded()).await), 200);
    assert_eq!(code(&container.read_item("p", "1", Some(unchanged)).await), 200);
    let stale = container.replace_item("p", "1", item("1", json!({"n": 3})), guarded()).await;
    assert!(refused("replace with a stale ETag", 412, stale).status().is_precondition_failed());
    refused("upsert with a stale ETag", 412, container.upsert_item("p", "1", item("1", json!({})), guarded()).await);
    refused("delete with a stale ETag", 412, container.delete_item("p", "1", guarded()).await);
    assert_eq!(read(&container, "1").await.expect("an item")["n"], 2);
}

/// Each way of applying a patch: by the server, and by the client with a read and a guarded replace.
#[tokio::test]
async fn patch() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    for strategy in [PatchStrategy::Auto, PatchStrategy::ServerSide, PatchStrategy::ClientSide] {
        let _ = container.delete_item("p", "1", None).await;
        create(&container, item("1", json!({"n": 1, "list": ["a", "c"], "old": true, "from": 7}))).await;
        let operations = PatchInstructions::from(vec![
            PatchOperation::increment("/n", 4i64),
            PatchOperation::add("/list/1", json!("b")),
            PatchOperation::set("/new", json!({"a": 1})),
            PatchOperation::replace("/old", json!(false)),
            PatchOperation::move_value("/from", "/to"),
            PatchOperation::remove("/list/0"),
        ]);
        let options = PatchItemOptions::default().with_strategy(strategy);
        container.patch_item("p", "1", operations, Some(options.clone())).await.unwrap_or_else(|e| panic!("{strategy:?}: {e}"));
        let now = read(&container, "1").await.expect("an item");
        assert_eq!(
            json!([now["n"], now["list"], now["new"], now["old"], now["to"], now.get("from")]),
            json!([5, ["b", "c"], {"a": 1}, false, 7, null]),
            "{strategy:?}"
        );
        let absent = PatchInstructions::from(vec![PatchOperation::set("/n", json!(1))]);
        refused("patch an absent item", 404, container.patch_item("p", "absent", absent, Some(options.clone())).await);
        let misplaced = PatchInstructions::from(vec![PatchOperation::replace("/absent/deep", json!(1))]);
        refused("replace an absent path", 400, container.patch_item("p", "1", misplaced, Some(options)).await);
    }
    let many = PatchInstructions::from((0..11).map(|i| PatchOperation::set(format!("/f{i}"), json!(i))).collect::<Vec<_>>());
    let options = PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide);
    refused("eleven operations", 400, container.patch_item("p", "1", many.clone(), Some(options)).await);
    container.patch_item("p", "1", many, None).await.expect("eleven operations, applied by the client");
    assert_eq!(read(&container, "1").await.expect("an item")["f10"], 10);
}

#[tokio::test]
async fn partition_keys() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    let keys: Vec<(PartitionKey, Value)> = vec![
        ("text".into(), json!("text")),
        (String::new().into(), json!("")),
        ("Grüße/漢字 \"'\\".into(), json!("Grüße/漢字 \"'\\")),
        (7i64.into(), json!(7)),
        (PartitionKey::try_from(1.5f64).expect("a number"), json!(1.5)),
        (true.into(), json!(true)),
        (None::<String>.into(), json!(null)),
    ];
    for (key, value) in &keys {
        let stored = json!({"id": "same", "pk": value});
        assert_eq!(code(&container.create_item(key.clone(), "same", &stored, None).await), 201, "{value}");
        let read: Value = container.read_item(key.clone(), "same", None).await.expect("read").into_model().expect("an item");
        assert_eq!(&read["pk"], value);
    }
    assert_eq!(rows(&container, "SELECT VALUE c.id FROM c").await.len(), keys.len());
    let mismatch = container.create_item("p", "x", json!({"id": "x", "pk": "q"}), None).await;
    refused("a key that is not the item's", 400, mismatch);
}

#[tokio::test]
async fn hierarchical_partition_keys() {
    let server = Server::start(&[]);
    let database = new_database(&connect(&server).await).await;
    let properties = ContainerProperties::new("things", ("/tenant", "/user").into());
    database.create_container(properties, None).await.expect("create a container");
    let container: ContainerClient = database.container_client("things", None).await.expect("resolve the container");
    for (tenant, user) in [("a", "1"), ("a", "2"), ("b", "1")] {
        let stored = json!({"id": "same", "tenant": tenant, "user": user});
        assert_eq!(code(&container.create_item((tenant, user), "same", &stored, None).await), 201);
    }
    let read: Value = container.read_item(("a", "2"), "same", None).await.expect("read").into_model().expect("an item");
    assert_eq!((&read["tenant"], &read["user"]), (&json!("a"), &json!("2")));
    let of_a = super::rows_of(&container, "SELECT VALUE c.user FROM c ORDER BY c.user", azure_data_cosmos::FeedScope::partition("a")).await;
    assert_eq!(of_a, [json!("1"), json!("2")]);
}

#[tokio::test]
async fn names_with_special_characters() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    for id in ["a b", "ü漢😀", "a+b&c=d%41", "'\"<>|", "a:b;c,d@e!", " x", "%2F", "..x"] {
        create(&container, item(id, json!({}))).await;
        assert_eq!(read(&container, id).await.unwrap_or_else(|| panic!("{id} is not there"))["id"], id);
        assert_eq!(code(&container.delete_item("p", id, None).await), 204, "{id}");
    }
}

/// The crate sends items in Cosmos DB's binary JSON, and asks for answers in it, unless it is told not to.
#[tokio::test]
async fn binary_encoding_of_items() {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    let numbers = json!([0, 1, 31, 32, 255, 256, 65536, -1, -129, 4294967296u64, 1.5, -0.25, 1e300]);
    let nested =
        item("1", json!({"numbers": numbers, "text": ["", "a", "ü漢😀", "x".repeat(300)], "deep": {"a": {"b": [[], {}, null, true, false]}}}));
    let made = create(&container, nested.clone()).await;
    for (name, value) in nested.as_object().unwrap() {
        assert_eq!(&made[name], value);
    }
    assert_eq!(read(&container, "1").await, Some(made.clone()));
    assert_eq!(rows(&container, "SELECT * FROM c").await, [made]);
    assert_eq!(code(&container.upsert_item("p", "1", item("1", json!({"n": 1})), Some(echo())).await), 200);
    assert_eq!(code(&container.replace_item("p", "1", item("1", json!({"n": 2})), None).await), 200);
    assert_eq!(read(&container, "1").await.expect("an item")["n"], 2);
}

/// A client that is told so sends and takes text, and both see the same items.
#[tokio::test]
async fn text_encoding() {
    let server = Server::start(&[]);
    let client = connect(&server).await;
    let container = new_container(&client, |p| p).await;
    let made = create(&container, item("1", json!({"n": 1, "x": 0.1}))).await;

    let text = BinaryEncodingOptions::new().with_enabled(false);
    let plain = dial_with(&format!("https://{}/", server.nosql), insecure(), text).await.expect("connect");
    let listed: Vec<_> = plain.query_databases("SELECT * FROM root", None).await.expect("plan").try_collect().await.expect("list databases");
    let database = plain.database_client(listed[0].id.clone().expect("an id"));
    let same = database.container_client("things", None).await.expect("resolve the container");
    assert_eq!(read(&same, "1").await, Some(made.clone()));
    assert_eq!(rows(&same, "SELECT * FROM c").await, [made]);
    assert_eq!(code(&same.replace_item("p", "1", item("1", json!({"n": 2})), None).await), 200);
    let set = PatchInstructions::from(vec![PatchOperation::set("/n", json!(3))]);
    assert_eq!(code(&same.patch_item("p", "1", set, None).await), 200);
    let batch = TransactionalBatch::new("p").upsert_item(item("2", json!({"n": 4})), None).expect("an item");
    assert_eq!(code(&same.execute_transactional_batch(batch, None).await), 200);
    assert_eq!(read(&container, "1").await.expect("an item")["n"], 3);
    assert_eq!(read(&container, "2").await, read(&same, "2").await);
    assert_eq!(code(&container.upsert_item("p", "2", item("2", json!({"n": 5})), None).await), 200);
    assert_eq!(read(&same, "2").await.expect("an item")["n"], 5);
    assert_eq!(code(&same.delete_item("p", "1", None).await), 204);
}
