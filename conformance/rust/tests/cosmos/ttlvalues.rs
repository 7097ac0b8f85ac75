//! Which values are a lifetime, and which are refused.

use azure_data_cosmos::models::{ContainerProperties, IndexingMode, IndexingPolicy, PatchInstructions, PatchOperation, TimeToLive};
use azure_data_cosmos::options::{PatchItemOptions, PatchStrategy};
use azure_data_cosmos::{Result, TransactionalBatch};
use serde_json::{Value, json};

use super::{Answer, code, connect, create, item, lives, new_container, new_database, read, refused, rows, words};
use crate::server::Server;

const REMEDY: &str = "Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.";

fn good() -> Vec<Value> {
    vec![json!(1), json!(20), json!(-1), json!(2147483647), json!(20.0)]
}

fn bad() -> Vec<Value> {
    vec![json!(null), json!(0), json!(-2), json!(-10), json!(2147483648i64), json!(20.5), json!("20"), json!(true), json!({}), json!([])]
}

/// Requires the service's 400 for a bad lifetime.
fn want_refusal(what: &str, property: &str, answer: Result<impl Answer>) {
    let error = refused(what, 400, answer);
    let shown = format!("{error:?} {error}");
    for part in [&format!("The input {property} '"), REMEDY] {
        assert!(shown.contains(part), "{what}: the error lacks {part:?}: {shown}");
    }
}

#[tokio::test]
async fn of_items() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::Seconds(10)).await;
    let by_the_server = || Some(PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide));
    for way in ["create", "upsert that creates", "upsert that replaces", "replace", "patch set", "patch add", "patch by the client"] {
        for (values, accepted) in [(good(), true), (bad(), false)] {
            for ttl in values {
                let what = format!("{way} with ttl {ttl}");
                let _ = c.delete_item("p", "new", None).await;
                c.upsert_item("p", "kept", item("kept", json!({})), None).await.expect("the item to write on");
                let before = read(&c, "kept").await.expect("an item");
                let (new, kept) = (item("new", json!({"ttl": ttl})), item("kept", json!({"ttl": ttl})));
                let set = PatchInstructions::from(vec![PatchOperation::set("/ttl", ttl.clone())]);
                let add = PatchInstructions::from(vec![PatchOperation::add("/ttl", ttl.clone())]);
                let answer = match way {
                    "create" => c.create_item("p", "new", new, None).await,
                    "upsert that creates" => c.upsert_item("p", "new", new, None).await,
                    "upsert that replaces" => c.upsert_item("p", "kept", kept, None).await,
                    "replace" => c.replace_item("p", "kept", kept, None).await,
                    "patch set" => c.patch_item("p", "kept", set, by_the_server()).await,
                    "patch add" => c.patch_item("p", "kept", add, by_the_server()).await,
                    _ => c.patch_item("p", "kept", set, Some(PatchItemOptions::default().with_strategy(PatchStrategy::ClientSide))).await,
                };
                if accepted {
                    assert_eq!(code(&answer) / 100, 2, "{what}: {:?}", answer.err());
                    continue;
                }
                want_refusal(&what, "ttl", answer);
                assert_eq!(read(&c, "kept").await, Some(before), "{what}: a refused write changed the item");
                assert_eq!(read(&c, "new").await, None, "{what}: a refused write made an item");
            }
        }
    }
    for ttl in bad() {
        let batch = TransactionalBatch::new("p").create_item(item("first", json!({}))).expect("an item");
        let batch = batch.create_item(item("second", json!({"ttl": ttl}))).expect("an item");
        let answer = c.execute_transactional_batch(batch, None).await.expect("a batch").into_model().expect("its results");
        let codes: Vec<_> = answer.results().iter().map(|r| r.status_code()).collect();
        assert_eq!(codes, [424, 400], "ttl {ttl} in a batch");
        assert_eq!(read(&c, "first").await, None, "ttl {ttl} in a batch: the first operation was applied");
    }
}

#[tokio::test]
async fn patches_of_ttl() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::Seconds(10)).await;
    let by_the_server = || Some(PatchItemOptions::default().with_strategy(PatchStrategy::ServerSide));
    create(&c, item("i", json!({"ttl": 5}))).await;
    let to_zero = PatchInstructions::from(vec![PatchOperation::increment("/ttl", -5i64)]);
    want_refusal("increment to zero", "ttl", c.patch_item("p", "i", to_zero, by_the_server()).await);
    server.advance(4);
    let remove = PatchInstructions::from(vec![PatchOperation::remove("/ttl")]);
    c.patch_item("p", "i", remove, by_the_server()).await.expect("remove the ttl");
    server.advance(9);
    assert!(read(&c, "i").await.is_some(), "9 s after the patch that removed ttl");
    server.advance(1);
    assert!(read(&c, "i").await.is_none(), "10 s after the patch that removed ttl");
}

#[tokio::test]
async fn other_names_are_ordinary() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::Seconds(10)).await;
    create(&c, item("o", json!({"TTL": 0, "a": {"ttl": 0}, "timeToLive": 0, "_ttl": "x"}))).await;
    server.advance(9);
    assert!(read(&c, "o").await.is_some());
    server.advance(1);
    assert!(read(&c, "o").await.is_none());
}

/// While TTL is off the ttl of an item is not looked at (T-21, T-22, A-04); a bad
/// one that is there when TTL comes on counts as absent.
#[tokio::test]
async fn dormant() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::Forever).await;
    let living = async || super::sorted(super::ids(&rows(&c, "SELECT * FROM c").await)).join(" ");
    let mut all = vec![];
    for (i, ttl) in bad().into_iter().enumerate() {
        let made = create(&c, item(&format!("bad{i}"), json!({"ttl": ttl}))).await;
        assert_eq!(made["ttl"], ttl);
        all.push(format!("bad{i}"));
    }
    for (id, ttl) in [("long", 2147483647), ("never", -1), ("short", 3)] {
        create(&c, item(id, json!({"ttl": ttl}))).await;
        all.push(id.to_string());
    }
    server.advance(5);
    assert_eq!(living().await, words(&all.join(" ")).join(" "), "off");
    let mut properties = c.read(None).await.expect("read").into_model().expect("its properties");
    properties.default_ttl = TimeToLive::Seconds(10);
    c.replace(properties, None).await.expect("replace");
    all.retain(|id| id != "short");
    assert_eq!(living().await, words(&all.join(" ")).join(" "), "on, second 5");
    server.advance(5);
    assert_eq!(living().await, "long never", "on, second 10");
}

/// What the crate's TimeToLive can express.
#[tokio::test]
async fn of_containers() {
    use TimeToLive::{Forever, NoDefault, Seconds};
    let server = Server::with_virtual_clock();
    let client = connect(&server).await;
    let replaced = lives(&client, Seconds(77)).await;
    let with = |ttl: TimeToLive| ContainerProperties::new("things", "/pk".into()).with_default_ttl(ttl);
    for ttl in [Forever, NoDefault, Seconds(1), Seconds(60), Seconds(2147483647)] {
        let made = new_container(&client, |p| p.with_default_ttl(ttl.clone())).await;
        let read = made.read(None).await.expect("read").into_model().expect("its properties");
        let answer = replaced.replace(with(ttl.clone()), None).await.expect("replace").into_model().expect("its properties");
        assert_eq!((read.default_ttl, answer.default_ttl), (ttl.clone(), ttl));
    }
    replaced.replace(with(Seconds(77)), None).await.expect("replace");
    let database = new_database(&client).await;
    for seconds in [0, 2147483648, u32::MAX] {
        want_refusal(&format!("create with {seconds}"), "defaultTtl", database.create_container(with(Seconds(seconds)), None).await);
        want_refusal(&format!("replace with {seconds}"), "defaultTtl", replaced.replace(with(Seconds(seconds)), None).await);
    }
    let kept = replaced.read(None).await.expect("read").into_model().expect("its properties");
    assert_eq!(kept.default_ttl, Seconds(77), "after refused replaces");

    // The other lifetime of a container is kept and echoed beside it (L-11).
    let both = new_container(&client, |p| p.with_default_ttl(60).with_analytical_storage_ttl(NoDefault)).await;
    let read = both.read(None).await.expect("read").into_model().expect("its properties");
    assert_eq!((read.default_ttl, read.analytical_storage_ttl), (Seconds(60), NoDefault));

    // Lifetimes need an index (T-66, T-67).
    let none = || IndexingPolicy::default().with_indexing_mode(IndexingMode::None);
    for answer in [
        database.create_container(with(Seconds(5)).with_indexing_policy(none()), None).await,
        replaced.replace(with(Seconds(5)).with_indexing_policy(none()), None).await,
    ] {
        let error = refused("indexing none with a default", 400, answer);
        let text = "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection";
        assert!(format!("{error:?} {error}").contains(text), "{error:?}");
    }
}
