// Programs for the API for NoSQL: each makes a container whose items live for a day, writes an item and reads it.

// javaRun starts a program that trusts the store of operations-snippets.js.
export const javaRun = 'java -Djavax.net.ssl.trustStore=mayfly.p12 -Djavax.net.ssl.trustStorePassword=changeit Main.java';

export const nosql = {
  go: ({ endpoint, key }) => ({
    install: 'go get github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos', file: 'main.go', run: 'go run .',
    program: `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func main() {
	ctx := context.Background()
	key, err := azcosmos.NewKeyCredential("${key}")
	check(err)
	client, err := azcosmos.NewClientWithKey("${endpoint}", key, nil)
	check(err)
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil)
	check(err)
	shop, err := client.NewDatabase("shop")
	check(err)
	aDay := int32(24 * 60 * 60)
	_, err = shop.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "carts",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/user"}},
		DefaultTimeToLive:      &aDay,
	}, nil)
	check(err)
	carts, err := shop.NewContainer("carts")
	check(err)
	ada := azcosmos.NewPartitionKeyString("ada")
	_, err = carts.UpsertItem(ctx, ada, []byte(\`{"id": "1", "user": "ada"}\`), nil)
	check(err)
	item, err := carts.ReadItem(ctx, ada, "1", nil)
	check(err)
	fmt.Println(string(item.Value))
}

// check ends the program, except where something exists already.
func check(err error) {
	var answer *azcore.ResponseError
	if err != nil && !(errors.As(err, &answer) && answer.StatusCode == http.StatusConflict) {
		log.Fatal(err)
	}
}
` }),
  javascript: ({ endpoint, key }) => ({
    install: 'npm install @azure/cosmos', file: 'first.mjs', run: 'node first.mjs',
    program: `import { CosmosClient } from "@azure/cosmos";

const client = new CosmosClient({
  endpoint: "${endpoint}",
  key: "${key}",
});
const { database } = await client.databases.createIfNotExists({ id: "shop" });
const carts = { id: "carts", partitionKey: "/user", defaultTtl: 24 * 60 * 60 };
const { container } = await database.containers.createIfNotExists(carts);
await container.items.upsert({ id: "1", user: "ada" });
const { resource } = await container.item("1", "ada").read();
console.log(resource);
` }),
  python: ({ endpoint, key }) => ({
    install: 'pip install azure-cosmos', file: 'first.py', run: 'python first.py',
    program: `from azure.cosmos import CosmosClient, PartitionKey

KEY = "${key}"
client = CosmosClient("${endpoint}", KEY)
database = client.create_database_if_not_exists("shop")
carts = database.create_container_if_not_exists(
    "carts", partition_key=PartitionKey("/user"), default_ttl=24 * 60 * 60)
carts.upsert_item({"id": "1", "user": "ada"})
print(carts.read_item("1", partition_key="ada"))
` }),
  java: ({ endpoint, key, trust }) => ({
    install: '<!-- pom.xml -->\n<dependency>\n  <groupId>com.azure</groupId>\n  <artifactId>azure-cosmos</artifactId>\n  <version>4.81.0</version>\n</dependency>',
    file: 'Main.java', run: trust ? javaRun : 'java Main.java',
    program: `import com.azure.cosmos.CosmosClient;
import com.azure.cosmos.CosmosClientBuilder;
import com.azure.cosmos.CosmosContainer;
import com.azure.cosmos.CosmosDatabase;
import com.azure.cosmos.models.CosmosContainerProperties;
import com.azure.cosmos.models.PartitionKey;
import java.util.Map;

public class Main {
    public static void main(String[] args) {
        try (CosmosClient client = new CosmosClientBuilder()
                .endpoint("${endpoint}")
                .key("${key}")
                .gatewayMode()
                .buildClient()) {
            client.createDatabaseIfNotExists("shop");
            CosmosDatabase shop = client.getDatabase("shop");
            CosmosContainerProperties properties = new CosmosContainerProperties("carts", "/user");
            properties.setDefaultTimeToLiveInSeconds(24 * 60 * 60);
            shop.createContainerIfNotExists(properties);
            CosmosContainer carts = shop.getContainer("carts");
            carts.upsertItem(Map.of("id", "1", "user", "ada"));
            System.out.println(carts.readItem("1", new PartitionKey("ada"), Map.class).getItem());
        }
    }
}
` }),
  csharp: ({ endpoint, key }) => ({
    install: 'dotnet add package Microsoft.Azure.Cosmos\ndotnet add package Newtonsoft.Json', file: 'Program.cs', run: 'dotnet run',
    program: `using Microsoft.Azure.Cosmos;

var options = new CosmosClientOptions { ConnectionMode = ConnectionMode.Gateway };
using var client = new CosmosClient(
    "${endpoint}",
    "${key}",
    options);
Database database = await client.CreateDatabaseIfNotExistsAsync("shop");
Container carts = await database.CreateContainerIfNotExistsAsync(
    new ContainerProperties("carts", "/user") { DefaultTimeToLive = 24 * 60 * 60 });
await carts.UpsertItemAsync(new { id = "1", user = "ada" }, new PartitionKey("ada"));
var item = await carts.ReadItemAsync<dynamic>("1", new PartitionKey("ada"));
Console.WriteLine(item.Resource);
` }),
  rust: ({ endpoint, key }) => ({
    install: 'cargo add azure_data_cosmos --features key_auth,control_plane\ncargo add tokio --features macros,rt-multi-thread\ncargo add serde_json',
    file: 'src/main.rs', run: 'cargo run',
    program: `use azure_data_cosmos::models::{ContainerProperties, TimeToLive};
use azure_data_cosmos::options::Region;
use azure_data_cosmos::{AccountReference, CosmosClient, RoutingStrategy};
use serde_json::{Value, json};

const KEY: &str = "${key}";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let account = AccountReference::with_authentication_key("${endpoint}".parse()?, KEY.to_string());
    let client = CosmosClient::builder().build(account, RoutingStrategy::ProximityTo(Region::EAST_US)).await?;
    let _ = client.create_database("shop", None).await; // it may exist already
    let shop = client.database_client("shop");
    let carts = ContainerProperties::new("carts", "/user".into()).with_default_ttl(TimeToLive::Seconds(24 * 60 * 60));
    let _ = shop.create_container(carts, None).await;
    let carts = shop.container_client("carts", None).await?;
    carts.upsert_item("ada", "1", json!({"id": "1", "user": "ada"}), None).await?;
    let item: Value = carts.read_item("ada", "1", None).await?.into_model()?;
    println!("{item}");
    Ok(())
}
` }),
};
