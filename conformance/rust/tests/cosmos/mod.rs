//! azure_data_cosmos, over TLS. Each test has a server of its own.

mod account;
mod batch;
mod changefeed;
mod items;
mod lifetime;
mod queries;
mod ranges;
mod splits;
mod ttlvalues;

use std::sync::atomic::{AtomicUsize, Ordering};

use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{BatchResponse, ContainerProperties, ItemResponse, ResourceResponse, TimeToLive};
use azure_data_cosmos::options::{
    BinaryEncodingOptions, ChangeFeedOptions, ChangeFeedStartFrom, ConnectionPoolOptions, ContentResponseOnWrite, ItemWriteOptions,
    OperationOptionsBuilder, Region, ServerCertificateValidation,
};
use azure_data_cosmos::{AccountReference, CosmosClient, CosmosError, CosmosRuntime, DatabaseClient, Result, RoutingStrategy};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use crate::server::{KEY, Server};

/// A client over TLS that takes any certificate of a loopback address, as the
/// crate's documentation says for emulators.
pub async fn connect(server: &Server) -> CosmosClient {
    dial(&format!("https://{}/", server.nosql), insecure()).await.expect("connect")
}

pub fn insecure() -> ConnectionPoolOptions {
    let any = ServerCertificateValidation::RequiredUnlessEmulator;
    ConnectionPoolOptions::builder().with_server_certificate_validation(any).build().expect("pool options")
}

/// A client with the crate's defaults: it sends items in Cosmos DB's binary JSON and asks for answers in it.
pub async fn dial(endpoint: &str, pool: ConnectionPoolOptions) -> Result<CosmosClient> {
    dial_with(endpoint, pool, BinaryEncodingOptions::default()).await
}

/// A client with a runtime of its own: the crate's global one would end with the test that made it.
pub async fn dial_with(endpoint: &str, pool: ConnectionPoolOptions, binary: BinaryEncodingOptions) -> Result<CosmosClient> {
    let runtime = CosmosRuntime::builder().with_connection_pool(pool).build().await?;
    CosmosClient::builder()
        .with_runtime(runtime)
        .with_binary_encoding_options(binary)
        .build(
            AccountReference::with_authentication_key(endpoint.parse().expect("endpoint"), KEY.to_string()),
            RoutingStrategy::ProximityTo(Region::EAST_US),
        )
        .await
}

/// A database with a name of its own.
pub async fn new_database(client: &CosmosClient) -> DatabaseClient {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let name = format!("rust-{}", MADE.fetch_add(1, Ordering::Relaxed));
    client.create_database(&name, None).await.expect("create a database");
    client.database_client(name)
}

/// A container partitioned by /pk, in a database of its own.
pub async fn new_container(client: &CosmosClient, change: impl FnOnce(ContainerProperties) -> ContainerProperties) -> ContainerClient {
    let database = new_database(client).await;
    let properties = change(ContainerProperties::new("things", "/pk".into()));
    database.create_container(properties, None).await.expect("create a container");
    database.container_client("things", None).await.expect("resolve the container")
}

/// A container with this lifetime.
pub async fn lives(client: &CosmosClient, ttl: TimeToLive) -> ContainerClient {
    new_container(client, |p| p.with_default_ttl(ttl)).await
}

/// An item of partition "p", with these further properties.
pub fn item(id: &str, more: Value) -> Value {
    let mut item = json!({"id": id, "pk": "p"});
    item.as_object_mut().unwrap().extend(more.as_object().expect("an object").clone());
    item
}

/// Creates an item and returns it as it was stored.
pub async fn create(container: &ContainerClient, item: Value) -> Value {
    let (id, pk) = (item["id"].as_str().expect("id").to_string(), item["pk"].as_str().expect("pk").to_string());
    let made = container.create_item(pk, &id, &item, Some(echo())).await;
    made.unwrap_or_else(|e| panic!("create {item}: {e}")).into_model().expect("the stored item")
}

/// Asks for the stored item in the answer; without it the crate asks for none.
pub fn echo() -> ItemWriteOptions {
    let operation = OperationOptionsBuilder::new().with_content_response_on_write(ContentResponseOnWrite::Enabled).build();
    ItemWriteOptions::default().with_operation_options(operation)
}

/// An item of partition "p", or None when it is not there.
pub async fn read(container: &ContainerClient, id: &str) -> Option<Value> {
    let answer = container.read_item("p", id, None).await;
    match code(&answer) {
        404 => None,
        _ => Some(answer.expect("read").into_model().expect("an item")),
    }
}

/// The rows of a query over all partitions.
pub async fn rows(container: &ContainerClient, query: impl Into<azure_data_cosmos::Query>) -> Vec<Value> {
    rows_of(container, query, FeedScope::full_container()).await
}

pub async fn rows_of(container: &ContainerClient, query: impl Into<azure_data_cosmos::Query>, scope: FeedScope) -> Vec<Value> {
    let rows = container.query_items::<Value>(query, scope, None).await.expect("plan the query");
    rows.try_collect().await.expect("run the query")
}

/// The ids that a change feed has from its beginning.
pub async fn changed(container: &ContainerClient, scope: FeedScope) -> Vec<String> {
    let mut pages =
        container.query_change_feed::<Value>(scope, ChangeFeedStartFrom::Beginning, Some(ChangeFeedOptions::default())).await.expect("change feed");
    let mut all = vec![];
    while let Some(page) = pages.next().await {
        let page = page.expect("a page of the change feed");
        if page.items().is_empty() {
            break; // nothing new at the moment
        }
        all.extend(page.items().iter().map(|i| text(&i.current().expect("an item")["id"])));
    }
    all
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_string()
}

pub fn ids(items: &[Value]) -> Vec<String> {
    items.iter().map(|i| text(&i["id"])).collect()
}

pub fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// The words of a string, sorted.
pub fn words(list: &str) -> Vec<String> {
    sorted(list.split_whitespace().map(String::from).collect())
}

/// What has an HTTP status.
pub trait Answer {
    fn http(&self) -> u16;
}

impl Answer for ItemResponse {
    fn http(&self) -> u16 {
        self.status().status_code().into()
    }
}

impl Answer for BatchResponse {
    fn http(&self) -> u16 {
        self.status().status_code().into()
    }
}

impl<T> Answer for ResourceResponse<T> {
    fn http(&self) -> u16 {
        self.status().status_code().into()
    }
}

/// The HTTP status of an answer, whether it went well or not.
pub fn code(answer: &Result<impl Answer>) -> u16 {
    match answer {
        Ok(answer) => answer.http(),
        Err(error) => error.status().status_code().into(),
    }
}

/// The error of a call that must be refused with this status.
pub fn refused(what: &str, want: u16, answer: Result<impl Answer>) -> CosmosError {
    match answer {
        Ok(answer) => panic!("{what}: {}, want {want}", answer.http()),
        Err(error) => {
            assert_eq!(u16::from(error.status().status_code()), want, "{what}: {error}");
            error
        }
    }
}
