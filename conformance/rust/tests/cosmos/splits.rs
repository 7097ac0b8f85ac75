//! Ranges of partition keys that are split while the SDK reads and writes, with what it has cached about them.

use std::num::NonZeroU32;

use azure_data_cosmos::ResourceIdentity;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::{ContinuationToken, FeedScope};
use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::options::{ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint, QueryOptions};
use futures_util::StreamExt;
use serde_json::{Value, json};

use super::{code, connect, create, new_database, sorted};
use crate::server::Server;

const COUNT: i64 = 60;

/// A container with the items, and the ranges to split in turn.
struct Filled {
    server: Server,
    database: String,
    container: ContainerClient,
    splits: Vec<&'static str>,
}

impl Filled {
    async fn new(flag: &str, splits: [&'static str; 2]) -> Filled {
        let server = Server::start(&[flag]);
        let database = new_database(&connect(&server).await).await;
        database.create_container(ContainerProperties::new("things", "/pk".into()), None).await.expect("create a container");
        let container = database.container_client("things", None).await.expect("resolve the container");
        for i in 0..COUNT {
            create(&container, numbered(i * 7 % COUNT)).await; // not in the order of the numbers
        }
        let ResourceIdentity::Name(name) = database.id().clone() else { panic!("a database without a name") };
        Filled { server, database: name, container, splits: splits.to_vec() }
    }

    async fn all() -> [Filled; 3] {
        [
            Filled::new("--partitions=1", ["0", "1"]).await,
            Filled::new("--cross-partition=strict", ["0", "1"]).await,
            Filled::new("--partitions=4", ["0", "2"]).await,
        ]
    }

    /// Splits the next range; false if there is none.
    fn split(&mut self) -> bool {
        if self.splits.is_empty() {
            return false;
        }
        self.server.split(&self.database, "things", self.splits.remove(0));
        true
    }

    /// Reads a query to its end and splits a range after each of the first pages; returns the numbers of the items.
    async fn read_over(&mut self, query: &str) -> Vec<i64> {
        let options = QueryOptions::default().with_max_item_count(four());
        let rows = self.container.query_items::<Value>(query, FeedScope::full_container(), Some(options)).await;
        let mut pages = rows.expect("plan").into_pages();
        let mut found = vec![];
        while let Some(page) = pages.next().await {
            found.extend(page.unwrap_or_else(|e| panic!("{query}: {e}")).into_items().iter().map(number));
            assert!(!self.split() || (found.len() as i64) < COUNT, "the query has ended before the split");
        }
        assert!(self.splits.is_empty(), "a range was not split");
        found
    }

    /// Adds what is new in the feed to found, at most so many pages, and returns the token to go on with. The crate gives
    /// an empty page for each range that has nothing new.
    async fn follow(&self, token: Option<ContinuationToken>, found: &mut Vec<i64>, most: usize) -> ContinuationToken {
        let mut options = ChangeFeedOptions::default().with_max_item_count(four());
        if let Some(token) = token {
            options = options.with_continuation_token(token);
        }
        let feed = self.container.query_change_feed::<Value>(FeedScope::full_container(), ChangeFeedStartFrom::Beginning, Some(options));
        let mut pages = feed.await.expect("change feed");
        let mut empty = 0;
        for _ in 0..most {
            let page = pages.next().await.expect("the feed goes on").expect("a page of the change feed");
            found.extend(page.items().iter().map(|i| number(i.current().expect("an item"))));
            empty = if page.items().is_empty() { empty + 1 } else { 0 };
            if empty == 6 {
                break; // one for each of at most six ranges
            }
        }
        pages.to_continuation_token().expect("a token")
    }
}

fn numbered(n: i64) -> Value {
    json!({"id": n.to_string(), "pk": format!("key {n}"), "n": n})
}

fn number(item: &Value) -> i64 {
    item["n"].as_i64().expect("a number")
}

fn four() -> MaxItemCountHint {
    MaxItemCountHint::Limit(NonZeroU32::new(4).expect("a page size"))
}

fn numbers(count: i64) -> Vec<i64> {
    (0..count).collect()
}

#[tokio::test]
async fn a_query() {
    for mut filled in Filled::all().await {
        assert_eq!(sorted(filled.read_over("SELECT * FROM c").await), numbers(COUNT));
    }
}

#[tokio::test]
async fn a_query_with_order_by() {
    for mut filled in Filled::all().await {
        assert_eq!(filled.read_over("SELECT * FROM c ORDER BY c.n").await, numbers(COUNT));
    }
}

#[tokio::test]
async fn the_change_feed_and_its_token() {
    for mut filled in Filled::all().await {
        let mut found = vec![];
        let mut token = filled.follow(None, &mut found, 3).await;
        while filled.split() {
            token = filled.follow(Some(token), &mut found, 2).await;
        }
        for n in [60, 61] {
            create(&filled.container, numbered(n)).await;
        }
        token = filled.follow(Some(token), &mut found, 1000).await;
        assert_eq!(sorted(found.clone()), numbers(COUNT + 2));
        filled.follow(Some(token), &mut found, 1000).await;
        assert_eq!(found.len() as i64, COUNT + 2);
    }
}

#[tokio::test]
async fn reads_and_writes() {
    for mut filled in Filled::all().await {
        filled.container.read_feed_ranges(None).await.expect("feed ranges");
        while filled.split() {
            for n in 0..COUNT {
                let (key, id) = (format!("key {n}"), n.to_string());
                assert_eq!(code(&filled.container.read_item(key.clone(), &id, None).await), 200);
                assert_eq!(code(&filled.container.upsert_item(key, &id, numbered(n), None).await), 200);
            }
        }
    }
}
