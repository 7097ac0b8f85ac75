//! How a client connects, and what it does with databases, containers and throughput.

use std::process::Command;

use azure_data_cosmos::models::{ContainerProperties, IndexingPolicy, PropertyPath, ThroughputProperties, TimeToLive, UniqueKey, UniqueKeyPolicy};
use azure_data_cosmos::options::{ConnectionPoolOptions, CreateContainerOptions};
use futures_util::TryStreamExt;
use serde_json::json;

use super::{code, connect, create, dial, item, new_container, new_database, read, refused, rows};
use crate::server::{KEY, Server};

/// The crate takes plain http for loopback addresses.
#[tokio::test]
async fn plain_http() {
    let server = Server::start(&[]);
    let client = dial(&format!("http://{}/", server.nosql), ConnectionPoolOptions::default()).await.expect("connect");
    let container = new_container(&client, |p| p).await;
    create(&container, item("1", json!({}))).await;
    assert_eq!(read(&container, "1").await.expect("an item")["pk"], "p");
}

/// An untrusted certificate is refused; SSL_CERT_FILE makes it a trusted one. The
/// variable is read when a client is made: hence a process of its own.
#[tokio::test]
async fn authority_in_ssl_cert_file() {
    let server = Server::start(&[]);
    let endpoint = format!("https://{}/", server.nosql);
    let error = dial(&endpoint, ConnectionPoolOptions::default()).await.expect_err("an unknown authority must not be trusted");
    assert!(format!("{error:?}").to_lowercase().contains("certificate"), "{error:?}");

    let file = std::env::temp_dir().join(format!("{}.pem", server.nosql.replace(':', "-")));
    std::fs::write(&file, server.authority()).expect("write the authority");
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "cosmos::account::with_trusted_authority", "--ignored"])
        .env("SSL_CERT_FILE", &file)
        .env("TESTED_TRUSTED_ENDPOINT", &endpoint)
        .output()
        .expect("start this program again");
    let _ = std::fs::remove_file(&file);
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[tokio::test]
#[ignore = "authority_in_ssl_cert_file runs it"]
async fn with_trusted_authority() {
    let endpoint = std::env::var("TESTED_TRUSTED_ENDPOINT").expect("an endpoint");
    let client = dial(&endpoint, ConnectionPoolOptions::default()).await.expect("connect");
    let container = new_container(&client, |p| p).await;
    create(&container, item("1", json!({}))).await;
    assert_eq!(read(&container, "1").await.expect("an item")["pk"], "p");
}

#[tokio::test]
async fn wrong_key() {
    let server = Server::start(&["--key", "d3Jvbmcga2V5IHdyb25nIGtleSB3cm9uZyBrZXkgd3Jvbmcga2V5IHdyb25nIGtleQ=="]);
    let error = dial(&format!("http://{}/", server.nosql), ConnectionPoolOptions::default()).await.expect_err("the key is wrong");
    assert_eq!(u16::from(error.status().status_code()), 401, "{error}");
    assert!(!format!("{error:?}").contains(KEY), "the error shows the key");
}

#[tokio::test]
async fn databases_and_containers() {
    let server = Server::start(&[]);
    let client = connect(&server).await;
    let database = new_database(&client).await;
    let name = database.name().expect("a name").to_string();
    refused("the same database again", 409, client.create_database(&name, None).await);
    let listed: Vec<_> = client.query_databases("SELECT * FROM root", None).await.expect("plan").try_collect().await.expect("list databases");
    assert_eq!(listed.into_iter().map(|d| d.id).collect::<Vec<_>>(), [Some(name)]);

    let policy = IndexingPolicy::default().with_included_path(PropertyPath::from("/*")).with_excluded_path(PropertyPath::from("/secret/?"));
    let properties = ContainerProperties::new("things", "/pk".into())
        .with_indexing_policy(policy.clone())
        .with_unique_key_policy(UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/email")))
        .with_default_ttl(60);
    let made = database.create_container(properties.clone(), None).await.expect("create a container").into_model().expect("its properties");
    assert_eq!((made.default_ttl, made.unique_key_policy), (TimeToLive::Seconds(60), properties.unique_key_policy.clone()));
    refused("the same container again", 409, database.create_container(properties, None).await);
    let listed: Vec<ContainerProperties> =
        database.query_containers("SELECT * FROM c WHERE c.id = 'things'", None).await.expect("plan").try_collect().await.expect("list containers");
    assert_eq!(listed.len(), 1);

    let container = database.container_client("things", None).await.expect("resolve the container");
    let mut changed = container.read(None).await.expect("read").into_model().expect("its properties");
    changed.default_ttl = TimeToLive::NoDefault;
    let changed = container.replace(changed, None).await.expect("replace").into_model().expect("its properties");
    assert_eq!(changed.default_ttl, TimeToLive::NoDefault);
    assert!(changed.indexing_policy.expect("a policy").excluded_paths.iter().any(|p| p.path == "/secret/?"));

    create(&container, item("1", json!({"email": "a@example.com"}))).await;
    let twin = item("2", json!({"email": "a@example.com"}));
    refused("a unique value again", 409, container.create_item("p", "2", &twin, None).await);

    assert_eq!(code(&container.delete(None).await), 204);
    refused("read a deleted container", 404, container.read(None).await);
    assert_eq!(code(&database.delete(None).await), 204);
    refused("read a deleted database", 404, database.read(None).await);
}

/// A client that knows a container's former self finds the one that was made in its place.
#[tokio::test]
async fn a_container_made_again() {
    let server = Server::start(&[]);
    let database = new_database(&connect(&server).await).await;
    let make = async |path: &'static str| {
        database.create_container(ContainerProperties::new("things", path.into()), None).await.expect("create a container")
    };
    make("/pk").await;
    let container = database.container_client("things", None).await.expect("resolve the container");
    for id in ["1", "2", "3"] {
        create(&container, item(id, json!({}))).await;
    }
    container.delete(None).await.expect("delete the container");
    make("/pk").await;
    assert_eq!(read(&container, "1").await, None);
    create(&container, item("1", json!({"n": 2}))).await;
    assert_eq!(read(&container, "1").await.expect("an item")["n"], 2);
    assert_eq!(rows(&container, "SELECT VALUE c.id FROM c").await, [json!("1")]);
}

#[tokio::test]
async fn throughput() {
    let server = Server::start(&[]);
    let client = connect(&server).await;
    let database = new_database(&client).await;
    assert!(database.read_throughput(None).await.expect("read").is_none(), "a database without an offer has one");
    for (name, wanted) in [("manual", ThroughputProperties::manual(500)), ("autoscale", ThroughputProperties::autoscale(4000, None))] {
        let options = CreateContainerOptions::default().with_throughput(wanted.clone());
        database.create_container(ContainerProperties::new(name, "/pk".into()), Some(options)).await.expect("create a container");
        let container = database.container_client(name, None).await.expect("resolve the container");
        let offer = container.read_throughput(None).await.expect("read").expect("an offer");
        assert_eq!(offer.autoscale_maximum(), wanted.autoscale_maximum());
        if name == "manual" {
            assert_eq!(offer.throughput(), Some(500));
        }
        let more = if name == "manual" { ThroughputProperties::manual(700) } else { ThroughputProperties::autoscale(6000, None) };
        let replaced =
            container.begin_replace_throughput(more.clone(), None).await.expect("begin").await.expect("replace").into_model().expect("an offer");
        assert_eq!(replaced.autoscale_maximum(), more.autoscale_maximum());
        let offer = container.read_throughput(None).await.expect("read").expect("an offer");
        assert_eq!((offer.throughput().filter(|_| name == "manual"), offer.autoscale_maximum()), (more.throughput(), more.autoscale_maximum()));
    }
}
