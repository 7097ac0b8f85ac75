//! Lifetimes on a virtual clock: the nine cells, changes of the policy, what
//! restarts a countdown, and the expired as absent.

use azure_data_cosmos::TransactionalBatch;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{ContainerProperties, PatchInstructions, PatchOperation, TimeToLive, UniqueKey, UniqueKeyPolicy};
use azure_data_cosmos::options::{ItemWriteOptions, MaxItemCountHint, Precondition, QueryOptions};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::{changed, code, connect, create, ids, item, lives, new_container, read, refused, rows, rows_of, sorted, words};
use crate::server::Server;

/// Requires that exactly these items exist, of all, whichever way one looks.
async fn want_living(container: &ContainerClient, when: &str, all: &str, want: &str) {
    let want = words(want);
    assert_eq!(sorted(ids(&rows(container, "SELECT * FROM c").await)), want, "{when}: a query");
    assert_eq!(rows_of(container, "SELECT VALUE COUNT(1) FROM c", FeedScope::partition("p")).await, [json!(want.len())], "{when}: a count");
    assert_eq!(
        sorted(ids(&rows_of(container, "SELECT c.id FROM c ORDER BY c._ts", FeedScope::partition("p")).await)),
        want,
        "{when}: a sorted query"
    );
    assert_eq!(sorted(changed(container, FeedScope::full_container()).await), want, "{when}: the change feed");
    for id in words(all) {
        assert_eq!(read(container, &id).await.is_some(), want.contains(&id), "{when}: point read of {id}");
    }
}

/// Replaces the container with another default.
async fn set_policy(container: &ContainerClient, ttl: TimeToLive) {
    let mut properties = container.read(None).await.expect("read the container").into_model().expect("its properties");
    properties.default_ttl = ttl;
    container.replace(properties, None).await.expect("replace the container");
}

/// T-20 to T-28, at one second before, at, and after every deadline, and a day later.
#[tokio::test]
async fn nine_cells() {
    let server = Server::with_virtual_clock();
    let client = connect(&server).await;
    let all = "none never short long"; // ttl: absent, -1, 5, 20
    // For each default the second at which an item is gone; absent: never.
    type Deadlines = &'static [(&'static str, i64)];
    let defaults: [(TimeToLive, Deadlines); 3] = [
        (TimeToLive::Forever, &[]),
        (TimeToLive::NoDefault, &[("short", 5), ("long", 20)]),
        (TimeToLive::Seconds(10), &[("none", 10), ("short", 5), ("long", 20)]),
    ];
    let mut containers = vec![];
    for (ttl, _) in &defaults {
        let container = lives(&client, ttl.clone()).await;
        for (id, more) in [("none", json!({})), ("never", json!({"ttl": -1})), ("short", json!({"ttl": 5})), ("long", json!({"ttl": 20}))] {
            let made = create(&container, item(id, more.clone())).await;
            assert_eq!(made.get("ttl"), more.get("ttl"), "the stored item has another ttl than the written one");
        }
        containers.push(container);
    }
    let mut elapsed = 0;
    for second in [0, 4, 5, 6, 9, 10, 11, 19, 20, 21, 86400] {
        server.advance(second - elapsed);
        elapsed = second;
        for (container, (ttl, deadlines)) in containers.iter().zip(&defaults) {
            let dead = |id: &str| deadlines.iter().any(|(name, deadline)| *name == id && second >= *deadline);
            let want: Vec<_> = words(all).into_iter().filter(|id| !dead(id)).collect();
            want_living(container, &format!("default {ttl:?}, second {second}"), all, &want.join(" ")).await;
        }
    }
}

/// What a container replace does to items that are there. Written at second 0:
/// "plain" without ttl, "own" with 30, "never" with -1.
#[tokio::test]
async fn policy_changes() {
    use TimeToLive::{Forever, NoDefault, Seconds};
    /// At this second set this policy, if any; then these live.
    type Step = (i64, Option<TimeToLive>, &'static str);
    let stories: Vec<(&str, TimeToLive, Vec<Step>)> = vec![
        (
            "off to n expires the overdue at once (T-46, T-78)",
            Forever,
            vec![(20, Some(Seconds(10)), "never own"), (29, None, "never own"), (30, None, "never")],
        ),
        ("off to n brings dormant overrides into force (T-46)", Forever, vec![(40, Some(Seconds(100)), "never plain"), (100, None, "never")]),
        ("off to -1 expires only overdue overrides (T-25)", Forever, vec![(40, Some(NoDefault), "never plain"), (4000, None, "never plain")]),
        ("shorter expires more at once (T-10)", Seconds(100), vec![(20, None, "never own plain"), (20, Some(Seconds(10)), "never own")]),
        (
            "longer lets the living live on (T-10)",
            Seconds(10),
            vec![(9, Some(Seconds(20)), "never own plain"), (19, None, "never own plain"), (20, None, "never own")],
        ),
        ("longer brings nobody back (A-01)", Seconds(10), vec![(10, Some(Seconds(1000)), "never own"), (30, None, "never")]),
        (
            "n to -1 stops the inheriting only (T-55)",
            Seconds(10),
            vec![(9, Some(NoDefault), "never own plain"), (29, None, "never own plain"), (30, None, "never plain")],
        ),
        ("n to -1 brings nobody back (A-01)", Seconds(10), vec![(10, Some(NoDefault), "never own")]),
        ("off stops everything (T-53, T-56)", Seconds(10), vec![(9, Some(Forever), "never own plain"), (4000, None, "never own plain")]),
        ("off brings nobody back (A-01)", Seconds(10), vec![(30, Some(Forever), "never"), (31, None, "never")]),
        (
            "off and on again counts from _ts",
            Seconds(10),
            vec![
                (5, Some(Forever), "never own plain"),
                (50, None, "never own plain"),
                (50, Some(Seconds(60)), "never plain"),
                (59, None, "never plain"),
                (60, None, "never"),
            ],
        ),
        (
            "off and on without a default",
            Seconds(10),
            vec![(5, Some(Forever), "never own plain"), (29, Some(NoDefault), "never own plain"), (30, None, "never plain")],
        ),
    ];
    let server = Server::with_virtual_clock();
    let client = connect(&server).await;
    for (name, first, steps) in stories {
        let container = lives(&client, first).await;
        create(&container, item("plain", json!({}))).await;
        create(&container, item("own", json!({"ttl": 30}))).await;
        create(&container, item("never", json!({"ttl": -1}))).await;
        let mut now = 0;
        for (at, policy, want) in steps {
            server.advance(at - now);
            now = at;
            let when = format!("{name}: second {at}, policy {policy:?}");
            if let Some(policy) = policy {
                set_policy(&container, policy).await;
            }
            want_living(&container, &when, "plain own never", want).await;
        }
    }
}

/// Any successful write restarts the countdown; reads and failures do not (T-48).
#[tokio::test]
async fn writes_restart_the_countdown() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::Seconds(10)).await;
    let moves = "replace upsert patch batch";
    let stays = "nothing read query failed-guard failed-batch container";
    let all = format!("{moves} {stays}");
    for id in words(&all) {
        create(&c, item(&id, json!({}))).await;
    }
    server.advance(9);
    let same = |id| item(id, json!({}));
    assert_eq!(code(&c.replace_item("p", "replace", same("replace"), None).await), 200);
    assert_eq!(code(&c.upsert_item("p", "upsert", same("upsert"), None).await), 200);
    let set = PatchInstructions::from(vec![PatchOperation::set("/pk2", json!("same"))]);
    assert_eq!(code(&c.patch_item("p", "patch", set, None).await), 200);
    let batch = TransactionalBatch::new("p").upsert_item(same("batch"), None).expect("an item");
    assert_eq!(code(&c.execute_transactional_batch(batch, None).await), 200);

    assert!(read(&c, "read").await.is_some());
    assert_eq!(rows(&c, "SELECT * FROM c WHERE c.id = 'query'").await.len(), 1);
    let stale = ItemWriteOptions::default().with_precondition(Precondition::if_match("\"00000000-0000-0000-0000-000000000000\""));
    refused("failed guard", 412, c.replace_item("p", "failed-guard", same("failed-guard"), Some(stale)).await);
    let batch = TransactionalBatch::new("p").upsert_item(same("failed-batch"), None).expect("an item").read_item("absent", None);
    assert_eq!(code(&c.execute_transactional_batch(batch, None).await), 207);
    set_policy(&c, TimeToLive::Seconds(10)).await;

    want_living(&c, "second 9", &all, &all).await;
    server.advance(1);
    want_living(&c, "second 10", &all, moves).await;
    server.advance(9);
    want_living(&c, "second 19", &all, "").await;
}

/// An expired item answers every operation as one that never was (T-15, T-16).
#[tokio::test]
async fn expired_is_absent() {
    #[derive(Clone, Copy, Debug)]
    enum Operation {
        Read,
        Create,
        CreateAnotherWithItsUniqueKey,
        Upsert,
        UpsertWithItsETag,
        Replace,
        ReplaceWithItsETag,
        Patch,
        PatchByTheClient,
        Delete,
        DeleteWithItsETag,
        ReadInABatch,
        CreateInABatch,
    }
    use Operation::*;

    /// Does it to the item "x" whose ETag was once etag.
    async fn perform(operation: Operation, c: &ContainerClient, etag: &str) -> u16 {
        use azure_data_cosmos::options::{PatchItemOptions, PatchStrategy};
        let (x, y) = (item("x", json!({})), item("y", json!({"email": "taken"})));
        let guarded = || Some(ItemWriteOptions::default().with_precondition(Precondition::if_match(etag.to_string())));
        let patch = || PatchInstructions::from(vec![PatchOperation::set("/ttl", json!(-1))]);
        let batch = TransactionalBatch::new("p");
        match operation {
            Read => code(&c.read_item("p", "x", None).await),
            Create => code(&c.create_item("p", "x", x, None).await),
            CreateAnotherWithItsUniqueKey => code(&c.create_item("p", "y", y, None).await),
            Upsert => code(&c.upsert_item("p", "x", x, None).await),
            UpsertWithItsETag => code(&c.upsert_item("p", "x", x, guarded()).await),
            Replace => code(&c.replace_item("p", "x", x, None).await),
            ReplaceWithItsETag => code(&c.replace_item("p", "x", x, guarded()).await),
            Patch => code(&c.patch_item("p", "x", patch(), None).await),
            PatchByTheClient => {
                code(&c.patch_item("p", "x", patch(), Some(PatchItemOptions::default().with_strategy(PatchStrategy::ClientSide))).await)
            }
            Delete => code(&c.delete_item("p", "x", None).await),
            DeleteWithItsETag => code(&c.delete_item("p", "x", guarded()).await),
            ReadInABatch => code(&c.execute_transactional_batch(batch.read_item("x", None), None).await),
            CreateInABatch => code(&c.execute_transactional_batch(batch.create_item(x).expect("an item"), None).await),
        }
    }

    let server = Server::with_virtual_clock();
    let client = connect(&server).await;
    let unique = |p: ContainerProperties| {
        p.with_default_ttl(10).with_unique_key_policy(UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/email")))
    };
    for (operation, want) in [
        (Read, 404),
        (Create, 201),
        (CreateAnotherWithItsUniqueKey, 201),
        (Upsert, 201),
        (UpsertWithItsETag, 201),
        (Replace, 404),
        (ReplaceWithItsETag, 404),
        (Patch, 404),
        (PatchByTheClient, 404),
        (Delete, 404),
        (DeleteWithItsETag, 404),
        (ReadInABatch, 207),
        (CreateInABatch, 200),
    ] {
        let (expired, never) = (new_container(&client, unique).await, new_container(&client, unique).await);
        let old = create(&expired, item("x", json!({"email": "taken"}))).await;
        server.advance(10);
        let etag = old["_etag"].as_str().expect("an ETag");
        let outcomes = (perform(operation, &expired, etag).await, perform(operation, &never, etag).await);
        assert_eq!(outcomes, (want, want), "{operation:?} of an expired item, and of one that never was");
        if let Some(new) = read(&expired, "x").await {
            assert!(new["_rid"] != old["_rid"] && new["_etag"] != old["_etag"] && new.get("email").is_none(), "{operation:?}: {old} became {new}");
        }
    }
}

/// Items that expire between two pages are not on the second; the continuation stays good.
#[tokio::test]
async fn between_pages() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::NoDefault).await;
    for i in 0..10 {
        let more = if i % 2 == 0 { json!({"n": i}) } else { json!({"n": i, "ttl": 10}) };
        create(&c, item(&i.to_string(), more)).await;
    }
    for scope in [FeedScope::full_container(), FeedScope::partition("p")] {
        let query = "SELECT VALUE c.n FROM c ORDER BY c.n";
        let by_four = || QueryOptions::default().with_max_item_count(MaxItemCountHint::Limit(4.try_into().expect("a page size")));
        let mut pages = c.query_items::<i64>(query, scope.clone(), Some(by_four())).await.expect("plan").into_pages();
        let first = pages.next().await.expect("a page").expect("a page").into_items();
        server.advance(10);
        let token = pages.to_continuation_token().expect("a token");
        let resumed = c.query_items::<i64>(query, scope, Some(by_four().with_continuation_token(token))).await.expect("plan");
        let rest: Vec<_> = resumed.try_collect().await.expect("the rest");
        let last = *first.last().expect("a row");
        assert_eq!(rest, (last + 1..10).filter(|n| n % 2 == 0).collect::<Vec<_>>(), "after {first:?}");
    }
}

/// A _ts that the client sends is the server's affair, and so is its time.
#[tokio::test]
async fn stamp_of_the_client() {
    let server = Server::start(&["--clock=virtual=2030-01-01T00:00:00Z"]);
    let c = lives(&connect(&server).await, TimeToLive::Seconds(10)).await;
    assert_eq!(create(&c, item("1", json!({"_ts": 1}))).await["_ts"], 1893456000);
    server.advance(9);
    assert!(read(&c, "1").await.is_some());
    server.advance(1);
    assert!(read(&c, "1").await.is_none());
}

/// Aggregates, groups and sorted pages count the living only.
#[tokio::test]
async fn queries_leave_out_the_expired() {
    let server = Server::with_virtual_clock();
    let c = lives(&connect(&server).await, TimeToLive::NoDefault).await;
    for i in 0..20 {
        let more = if i % 2 == 0 { json!({"n": i}) } else { json!({"n": i, "ttl": 10}) };
        create(&c, item(&format!("{i}"), more)).await;
    }
    server.advance(10);
    let even: Vec<i64> = (0..20).step_by(2).collect();
    for (query, want) in [
        ("SELECT VALUE COUNT(1) FROM c", vec![json!(10)]),
        ("SELECT VALUE SUM(c.n) FROM c", vec![json!(even.iter().sum::<i64>())]),
        ("SELECT VALUE MAX(c.n) FROM c", vec![json!(18)]),
        ("SELECT VALUE c.n FROM c ORDER BY c.n", even.iter().map(|n| json!(n)).collect()),
        ("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 3", vec![json!(14), json!(12), json!(10)]),
        ("SELECT TOP 1 VALUE c.n FROM c ORDER BY c.n DESC", vec![json!(18)]),
    ] {
        assert_eq!(rows_of(&c, query, FeedScope::partition("p")).await, want, "{query}");
    }
}

/// The samples of the documents "Expirar dados no Azure Cosmos DB com TTL" and "com Vida Útil".
#[tokio::test]
async fn documented_samples() {
    let server = Server::with_virtual_clock();
    let client = connect(&server).await;
    const DAY: i64 = 60 * 60 * 24;
    let orders = |ttl: TimeToLive| {
        let client = client.clone();
        async move {
            let database = super::new_database(&client).await;
            let properties = ContainerProperties::new("orders", "/customerId".into()).with_default_ttl(ttl);
            let options = azure_data_cosmos::options::CreateContainerOptions::default()
                .with_throughput(azure_data_cosmos::models::ThroughputProperties::manual(20000));
            database.create_container(properties, Some(options)).await.expect("create the container");
            database.container_client("orders", None).await.expect("resolve the container")
        }
    };
    let customer = "CO18009186470";
    let order = |ttl: Option<i64>| {
        let mut order = json!({"id": "SO05", "customerId": customer});
        if let Some(ttl) = ttl {
            order["ttl"] = json!(ttl);
        }
        order
    };
    let stored = |c: ContainerClient| async move {
        let answer = c.read_item(customer, "SO05", None).await;
        if code(&answer) == 404 { None } else { Some(answer.expect("read").into_model::<Value>().expect("an order")) }
    };

    // Never by default, 30 days for one order; extended by any write; then another
    // ttl, none, and TTL switched off.
    let never = orders(TimeToLive::NoDefault).await;
    never.create_item(customer, "SO05", order(Some(30 * DAY)), None).await.expect("create");
    server.advance(30 * DAY - 1);
    let mut read = stored(never.clone()).await.expect("an order");
    never.replace_item(customer, "SO05", &read, None).await.expect("replace");
    server.advance(30 * DAY - 1);
    assert!(stored(never.clone()).await.is_some(), "the replace did not extend the lifetime");
    read["ttl"] = json!(60 * 30);
    never.replace_item(customer, "SO05", &read, None).await.expect("replace");
    server.advance(60 * 30);
    assert!(stored(never.clone()).await.is_none(), "the new ttl is over");
    never.create_item(customer, "SO05", order(Some(10)), None).await.expect("create again");
    let mut read = stored(never.clone()).await.expect("an order");
    read.as_object_mut().unwrap().remove("ttl");
    never.replace_item(customer, "SO05", &read, None).await.expect("replace");
    server.advance(1000 * DAY);
    assert!(stored(never.clone()).await.is_some(), "without ttl the container's default counts: never");

    // 90 days by default; an order with -1 stays.
    let ninety = orders(TimeToLive::Seconds((90 * DAY) as u32)).await;
    ninety.create_item(customer, "SO05", order(None), None).await.expect("create");
    let mut kept = order(Some(-1));
    kept["id"] = json!("SO06");
    ninety.create_item(customer, "SO06", &kept, None).await.expect("create");
    server.advance(90 * DAY - 1);
    assert!(stored(ninety.clone()).await.is_some());
    server.advance(1);
    assert!(stored(ninety.clone()).await.is_none());
    assert_eq!(code(&ninety.read_item(customer, "SO06", None).await), 200);

    // Off: the property is gone from the container, and nothing expires.
    set_policy(&ninety, TimeToLive::Forever).await;
    let properties = ninety.read(None).await.expect("read").into_model().expect("its properties");
    assert_eq!(properties.default_ttl, TimeToLive::Forever);
    ninety.create_item(customer, "SO05", order(Some(5)), None).await.expect("create");
    server.advance(1000 * DAY);
    assert!(stored(ninety.clone()).await.is_some(), "ttl counts although TTL is off");
}
