//! Queries over several partitions and several pages, in both gateway modes: mayfly
//! answers them itself, or leaves the merging to the client as the service does.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::{FeedScope, Query};
use azure_data_cosmos::models::{CompositeIndex, CompositeIndexOrder, CompositeIndexProperty, IndexingPolicy, PropertyPath};
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions, QueryPlanMode};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::{connect, create, new_container, rows, rows_of, sorted};
use crate::server::Server;

const COUNT: i64 = 60;
const CITIES: [&str; 4] = ["Lisboa", "Porto", "Sevilla", "Vigo"];
const MODES: [&str; 2] = ["--cross-partition=serve", "--cross-partition=strict"];

fn price(i: i64) -> i64 {
    (i * 37) % 50
}

/// Item i of six partitions; every seventh has no n, every tenth a string there.
fn made(i: i64) -> Value {
    let (pk, city, tags) = (format!("k{}", i % 6), CITIES[(i % 4) as usize], [format!("t{}", i % 3), format!("t{}", i % 5)]);
    let mut item = json!({"id": i.to_string(), "pk": pk, "city": city, "i": i, "price": price(i), "tags": tags});
    if i % 10 == 0 {
        item["n"] = json!(format!("text {}", i % 20));
    } else if i % 7 != 0 {
        item["n"] = json!((i * 13) % 17);
    }
    item
}

async fn filled(flag: &str) -> (Server, ContainerClient) {
    let server = Server::start(&[flag]);
    let composite = CompositeIndex::default()
        .with_property(CompositeIndexProperty::new("/city", CompositeIndexOrder::Ascending))
        .with_property(CompositeIndexProperty::new("/price", CompositeIndexOrder::Descending));
    let policy = IndexingPolicy::default().with_included_path(PropertyPath::from("/*")).with_composite_index(composite);
    let container = new_container(&connect(&server).await, |p| p.with_indexing_policy(policy)).await;
    for i in 0..COUNT {
        create(&container, made(i)).await;
    }
    (server, container)
}

fn limit(n: u32) -> MaxItemCountHint {
    MaxItemCountHint::Limit(NonZeroU32::new(n).expect("a page size"))
}

/// The rows of a query by pages of seven, and in how many pages they came.
async fn pages(container: &ContainerClient, query: &str, options: QueryOptions) -> (Vec<Value>, usize) {
    let mut pages = container
        .query_items::<Value>(query, FeedScope::full_container(), Some(options.with_max_item_count(limit(7))))
        .await
        .unwrap_or_else(|e| panic!("{query}: {e}"))
        .into_pages();
    let (mut rows, mut n) = (vec![], 0);
    while let Some(page) = pages.next().await {
        rows.extend(page.unwrap_or_else(|e| panic!("{query}: {e}")).into_items());
        n += 1;
        assert!(n < 500, "{query}: no end");
    }
    (rows, n)
}

#[tokio::test]
async fn over_partitions() {
    let all = || 0..COUNT;
    let prices = || all().map(price);
    let json = |list: Vec<i64>| list.into_iter().map(Value::from).collect::<Vec<_>>();
    let ordered: Vec<(&str, Vec<Value>)> = vec![
        ("SELECT VALUE c.i FROM c ORDER BY c.i", json(all().collect())),
        ("SELECT VALUE c.i FROM c ORDER BY c.i DESC", json(all().rev().collect())),
        ("SELECT VALUE c.price FROM c ORDER BY c.price", json(sorted(prices().collect()))),
        ("SELECT VALUE c.i FROM c WHERE c.i >= 10 AND c.i < 30 ORDER BY c.i", json((10..30).collect())),
        ("SELECT TOP 9 VALUE c.i FROM c ORDER BY c.i", json((0..9).collect())),
        ("SELECT VALUE c.i FROM c ORDER BY c.i OFFSET 11 LIMIT 20", json((11..31).collect())),
        ("SELECT DISTINCT VALUE c.price FROM c ORDER BY c.price", json(prices().collect::<BTreeSet<_>>().into_iter().collect())),
        (
            "SELECT VALUE c.i FROM c WHERE c.city LIKE '%o%' AND ARRAY_CONTAINS(c.tags, 't4') ORDER BY c.i",
            json(all().filter(|i| i % 5 == 4 && i % 4 != 2).collect()),
        ),
    ];
    for mode in MODES {
        let (_server, container) = filled(mode).await;
        for plan in [QueryPlanMode::LocalPreferred, QueryPlanMode::GatewayOnly] {
            let options = || QueryOptions::default().with_query_plan_mode(plan);
            for (query, want) in &ordered {
                assert_eq!(&pages(&container, query, options()).await.0, want, "{mode}, {plan:?}: {query}");
            }
            let (rows, n) = pages(&container, "SELECT * FROM c", options()).await;
            assert!(rows.len() == COUNT as usize && n >= 9, "{mode}, {plan:?}: {} rows in {n} pages", rows.len());
            let (rows, _) = pages(&container, "SELECT c.city, c.price FROM c ORDER BY c.city ASC, c.price DESC", options()).await;
            let mut want: Vec<_> = all().map(|i| (CITIES[(i % 4) as usize], -price(i))).collect();
            want.sort();
            let want: Vec<_> = want.iter().map(|(city, price)| json!({"city": city, "price": -price})).collect();
            assert_eq!(rows, want, "{mode}, {plan:?}: two keys over a composite index");
            let (rows, _) = pages(&container, "SELECT * FROM c ORDER BY c.n", options()).await;
            let rank = |x: &Value| match &x["n"] {
                Value::Null => 0,
                Value::Number(_) => 1,
                _ => 2,
            };
            assert_eq!(rows.len(), COUNT as usize, "{mode}, {plan:?}: sorted by a property of several types");
            assert!(rows.is_sorted_by_key(rank), "{mode}, {plan:?}: absent, numbers, strings");
        }
    }
}

/// The crate merges no aggregates and no groups, and says so when it asks for a plan: the
/// service refuses then, and so does mayfly. Of one partition they need no merging.
#[tokio::test]
async fn aggregates_and_groups() {
    for mode in MODES {
        let (_server, container) = filled(mode).await;
        let of_k1 = || (0..COUNT).filter(|i| i % 6 == 1).map(price);
        for (query, want) in [
            ("SELECT VALUE COUNT(1) FROM c", json!(10)),
            ("SELECT VALUE SUM(c.price) FROM c", json!(of_k1().sum::<i64>())),
            ("SELECT VALUE MIN(c.price) FROM c", json!(of_k1().min())),
            ("SELECT VALUE MAX(c.price) FROM c", json!(of_k1().max())),
            ("SELECT VALUE AVG(c.i) FROM c", json!(28)),
            ("SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk", json!({"pk": "k1", "n": 10})),
        ] {
            assert_eq!(rows_of(&container, query, FeedScope::partition("k1")).await, [want], "{mode}: {query}");
            let error = container.query_items::<Value>(query, FeedScope::full_container(), None).await.map(|_| ()).expect_err(query);
            assert_eq!(u16::from(error.status().status_code()), 400, "{mode}: {query}: {error}");
        }
    }
}

#[tokio::test]
async fn distinct() {
    for mode in MODES {
        let (_server, container) = filled(mode).await;
        let text = |list: Vec<Value>| sorted(list.iter().map(Value::to_string).collect());
        let got = rows(&container, "SELECT DISTINCT TOP 100 VALUE c.city FROM c").await; // the crate wants a bound
        assert_eq!(text(got), text(CITIES.iter().map(|city| json!(city)).collect()), "{mode}");
    }
}

#[tokio::test]
async fn of_one_partition() {
    for mode in MODES {
        let (_server, container) = filled(mode).await;
        let k1 = || FeedScope::partition("k1");
        let want: Vec<_> = (0..COUNT).filter(|i| i % 6 == 1).rev().map(Value::from).collect();
        assert_eq!(rows_of(&container, "SELECT VALUE c.i FROM c ORDER BY c.i DESC", k1()).await, want, "{mode}");
        let paged = container.query_items::<Value>("SELECT * FROM c", k1(), Some(QueryOptions::default().with_max_item_count(limit(3)))).await;
        let sizes: Vec<_> = paged.expect("plan").into_pages().map(|page| page.expect("a page").items().len()).collect().await;
        assert_eq!(sizes.iter().sum::<usize>(), 10, "{mode}: pages of {sizes:?}");
        assert!(sizes.len() >= 4, "{mode}: pages of {sizes:?}");
    }
}

#[tokio::test]
async fn parameters_and_mistakes() {
    let (_server, container) = filled(MODES[0]).await;
    let query = Query::from("SELECT VALUE c.i FROM c WHERE c.city = @city AND c.i IN (@a, @b) ORDER BY c.i")
        .with_parameter("@city", "Porto")
        .and_then(|q| q.with_parameter("@a", 1))
        .and_then(|q| q.with_parameter("@b", 5))
        .expect("parameters");
    assert_eq!(rows(&container, query).await, [json!(1), json!(5)]);
    for query in ["SELECT FORM c", "SELECT * FROM c WHERE", "SELECT * FROM c ORDER BY c.price, c.city"] {
        let answer = match container.query_items::<Value>(query, FeedScope::full_container(), None).await {
            Ok(rows) => rows.try_collect::<Vec<_>>().await,
            Err(error) => Err(error),
        };
        let error = answer.expect_err(query);
        assert_eq!(u16::from(error.status().status_code()), 400, "{query}: {error}");
    }
}

/// A page at a time, each by the token of the one before, over all partitions.
#[tokio::test]
async fn continuations() {
    for mode in MODES {
        let (_server, container) = filled(mode).await;
        for (query, scope) in [
            ("SELECT VALUE c.i FROM c ORDER BY c.i", FeedScope::full_container()),
            ("SELECT VALUE c.i FROM c", FeedScope::full_container()),
            ("SELECT VALUE c.i FROM c ORDER BY c.i", FeedScope::partition("k2")),
        ] {
            let want: Vec<_> = match scope {
                FeedScope::Partition(_) => (0..COUNT).filter(|i| i % 6 == 2).collect(),
                _ => (0..COUNT).collect(),
            };
            let (mut got, mut token) = (vec![], None);
            for _ in 0..100 {
                let mut options = QueryOptions::default().with_max_item_count(limit(4));
                if let Some(token) = token {
                    options = options.with_continuation_token(token);
                }
                let mut pages = container.query_items::<i64>(query, scope.clone(), Some(options)).await.expect("plan").into_pages();
                let Some(page) = pages.next().await else { break };
                got.extend(page.expect("a page").into_items());
                token = Some(pages.to_continuation_token().expect("a token"));
            }
            if query.contains("ORDER BY") {
                assert!(got.is_sorted(), "{mode}: {query}: {got:?}");
            }
            assert_eq!(sorted(got), want, "{mode}: {query}");
        }
    }
}

#[tokio::test]
async fn metrics() {
    let (_server, container) = filled(MODES[0]).await;
    let options = QueryOptions::default().with_populate_query_metrics(true).with_populate_index_metrics(true);
    let query = "SELECT * FROM c WHERE c.city = 'Vigo' AND c.i > 5";
    let mut pages = container.query_items::<Value>(query, FeedScope::full_container(), Some(options)).await.expect("plan").into_pages();
    let page = pages.next().await.expect("a page").expect("a page");
    assert!(page.headers().request_charge().expect("a charge").value() > 0.0);
    assert!(page.query_metrics().expect("query metrics").contains("retrievedDocumentCount"));
    assert!(page.index_metrics().expect("index metrics").contains("/city/?"), "{:?}", page.index_metrics());
}
