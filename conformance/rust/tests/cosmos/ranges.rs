//! A container with four ranges of partition keys: what the SDK sends to each of them.

use std::num::NonZeroU32;

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::{ChangeFeedPageIterator, ContinuationToken, FeedScope};
use azure_data_cosmos::models::ChangeFeedItem;
use azure_data_cosmos::options::{ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{code, connect, create, new_container, rows, rows_of};
use crate::server::Server;

const COUNT: i64 = 40;

fn numbered(n: i64) -> Value {
    json!({"id": n.to_string(), "pk": format!("key {n}"), "n": n})
}

async fn filled(flags: &[&str]) -> (Server, ContainerClient) {
    let server = Server::start(flags);
    let container = new_container(&connect(&server).await, |p| p).await;
    for n in 0..COUNT {
        create(&container, numbered(n)).await;
    }
    (server, container)
}

fn numbers(values: &[Value]) -> Vec<i64> {
    values.iter().map(|v| v.as_i64().expect("a number")).collect()
}

fn sorted(mut numbers: Vec<i64>) -> Vec<i64> {
    numbers.sort();
    numbers
}

fn all() -> Vec<i64> {
    (0..COUNT).collect()
}

async fn feed(c: &ContainerClient, scope: FeedScope, token: Option<ContinuationToken>) -> ChangeFeedPageIterator<ChangeFeedItem<Value>> {
    let mut options = ChangeFeedOptions::default().with_max_item_count(MaxItemCountHint::Limit(NonZeroU32::new(3).expect("a page size")));
    if let Some(token) = token {
        options = options.with_continuation_token(token);
    }
    c.query_change_feed(scope, ChangeFeedStartFrom::Beginning, Some(options)).await.expect("change feed")
}

/// Reads until each of the ranges has had nothing new, and where the feed stands. The crate gives an empty page for each.
async fn drain(mut pages: ChangeFeedPageIterator<ChangeFeedItem<Value>>, ranges: usize) -> (Vec<i64>, ContinuationToken) {
    let (mut found, mut empty) = (vec![], 0);
    while empty < ranges {
        let page = pages.next().await.expect("the feed goes on").expect("a page of the change feed");
        empty = if page.items().is_empty() { empty + 1 } else { 0 };
        found.extend(page.items().iter().map(|i| i.current().expect("an item")["n"].as_i64().expect("a number")));
    }
    (found, pages.to_continuation_token().expect("a token"))
}

#[tokio::test]
async fn change_feed_of_each_range() {
    let (_server, c) = filled(&["--partitions=4"]).await;
    let ranges = c.read_feed_ranges(None).await.expect("feed ranges");
    assert_eq!(ranges.len(), 4);
    let mut found = vec![];
    for range in ranges {
        let (some, _) = drain(feed(&c, FeedScope::range(range), None).await, 1).await;
        assert!(!some.is_empty());
        found.extend(some);
    }
    assert_eq!(sorted(found), all());
}

#[tokio::test]
async fn change_feed_of_the_container_and_from_a_token() {
    let (_server, c) = filled(&["--partitions=4"]).await;
    let (found, token) = drain(feed(&c, FeedScope::full_container(), None).await, 4).await;
    assert_eq!(sorted(found), all());
    assert_eq!(code(&c.upsert_item("key 7", "7", numbered(7), None).await), 200);
    let (more, _) = drain(feed(&c, FeedScope::full_container(), Some(token)).await, 4).await;
    assert_eq!(more, [7]);
    let (one, _) = drain(feed(&c, FeedScope::partition("key 9"), None).await, 1).await;
    assert_eq!(one, [9]);
}

#[tokio::test]
async fn queries_that_the_client_merges() {
    for mode in ["serve", "strict"] {
        let (_server, c) = filled(&["--partitions=4", &format!("--cross-partition={mode}")]).await;
        assert_eq!(numbers(&rows(&c, "SELECT VALUE c.n FROM c ORDER BY c.n").await), all());
        assert_eq!(numbers(&rows(&c, "SELECT TOP 4 VALUE c.n FROM c ORDER BY c.n DESC").await), [39, 38, 37, 36]);
        assert_eq!(numbers(&rows(&c, "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 3").await), [5, 6, 7]);
        assert_eq!(sorted(numbers(&rows(&c, "SELECT VALUE c.n FROM c").await)), all());
        let some = rows(&c, "SELECT VALUE c.n FROM c WHERE c.pk IN ('key 1', 'key 20', 'key 33') ORDER BY c.n").await;
        assert_eq!(numbers(&some), [1, 20, 33]);
    }
}

#[tokio::test]
async fn a_query_of_each_range() {
    let (_server, c) = filled(&["--partitions=4"]).await;
    let mut found = vec![];
    for range in c.read_feed_ranges(None).await.expect("feed ranges") {
        let some = numbers(&rows_of(&c, "SELECT VALUE c.n FROM c ORDER BY c.n", FeedScope::range(range)).await);
        assert_eq!(some, sorted(some.clone()));
        found.extend(some);
    }
    assert_eq!(sorted(found), all());
}
