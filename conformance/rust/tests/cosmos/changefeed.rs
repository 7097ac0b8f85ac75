//! The change feed: every start, every scope.

use std::num::NonZeroU32;

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::{ChangeFeedPageIterator, ContinuationToken, FeedScope};
use azure_data_cosmos::models::ChangeFeedItem;
use azure_data_cosmos::options::{ChangeFeedMode, ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{changed, code, connect, create, new_container, text};
use crate::server::Server;

type Pages = ChangeFeedPageIterator<ChangeFeedItem<Value>>;

async fn filled() -> (Server, ContainerClient) {
    let server = Server::start(&[]);
    let container = new_container(&connect(&server).await, |p| p).await;
    for i in 0..6 {
        create(&container, json!({"id": i.to_string(), "pk": format!("k{}", i % 2)})).await;
    }
    (server, container)
}

async fn feed(container: &ContainerClient, start: ChangeFeedStartFrom, options: ChangeFeedOptions) -> Pages {
    container.query_change_feed(FeedScope::full_container(), start, Some(options)).await.expect("change feed")
}

/// Reads until there is nothing new: the ids, and where the feed stands.
async fn drain(mut pages: Pages) -> (String, ContinuationToken) {
    let mut ids = String::new();
    while let Some(page) = pages.next().await {
        let page = page.expect("a page of the change feed");
        if page.items().is_empty() {
            break;
        }
        for item in page.items() {
            ids += &text(&item.current().expect("an item")["id"]);
        }
    }
    (ids, pages.to_continuation_token().expect("a token"))
}

fn by(n: u32) -> ChangeFeedOptions {
    ChangeFeedOptions::default().with_max_item_count(MaxItemCountHint::Limit(NonZeroU32::new(n).expect("a page size")))
}

#[tokio::test]
async fn from_the_beginning_and_from_a_token() {
    let (_server, c) = filled().await;
    let (ids, token) = drain(feed(&c, ChangeFeedStartFrom::Beginning, by(2)).await).await;
    assert_eq!(ids, "012345");
    assert_eq!(code(&c.upsert_item("k0", "2", json!({"id": "2", "pk": "k0", "again": true}), None).await), 200);
    assert_eq!(code(&c.delete_item("k1", "3", None).await), 204);
    let resumed = feed(&c, ChangeFeedStartFrom::Beginning, by(2).with_continuation_token(token)).await;
    assert_eq!(drain(resumed).await.0, "2");
    assert_eq!(drain(feed(&c, ChangeFeedStartFrom::Beginning, by(100)).await).await.0, "01452");
}

#[tokio::test]
async fn from_now() {
    let (_server, c) = filled().await;
    let (ids, token) = drain(feed(&c, ChangeFeedStartFrom::Now, by(100)).await).await;
    assert_eq!(ids, "");
    create(&c, json!({"id": "n", "pk": "k0"})).await;
    let resumed = feed(&c, ChangeFeedStartFrom::Now, by(100).with_continuation_token(token)).await;
    assert_eq!(drain(resumed).await.0, "n");
}

#[tokio::test]
async fn of_a_partition_key_and_of_ranges() {
    let (_server, c) = filled().await;
    assert_eq!(changed(&c, FeedScope::partition("k1")).await.concat(), "135");
    let ranges = c.read_feed_ranges(None).await.expect("feed ranges");
    assert!(!ranges.is_empty());
    let mut all = vec![];
    for range in ranges {
        all.extend(changed(&c, FeedScope::range(range)).await);
    }
    assert_eq!(super::sorted(all).concat(), "012345");
    let of_key = c.feed_range_from_partition_key("k0", None).await.expect("the ranges of a key");
    assert_eq!(of_key.len(), 1);
}

/// The feed of all versions and deletes is refused: docs/differences.md, D-14.
#[tokio::test]
async fn all_versions_and_deletes() {
    let (_server, c) = filled().await;
    let mut pages = feed(&c, ChangeFeedStartFrom::Now, by(100).with_mode(ChangeFeedMode::AllVersionsAndDeletes)).await;
    let error = pages.next().await.expect("an answer").expect_err("the feed is refused");
    assert_eq!(u16::from(error.status().status_code()), 400, "{error}");
}
