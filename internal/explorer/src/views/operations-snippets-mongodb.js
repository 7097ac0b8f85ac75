// Programs for the API for MongoDB: each makes a collection whose documents live for a day, writes one and reads it.
import { javaRun } from './operations-snippets-nosql.js';

export const mongodb = {
  go: ({ uri }) => ({
    install: 'go get go.mongodb.org/mongo-driver/v2/mongo', file: 'main.go', run: 'go run .',
    program: `package main

import (
	"context"
	"fmt"
	"log"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func main() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI("${uri}"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	tokens := client.Database("shop").Collection("tokens")
	aDay := mongo.IndexModel{
		Keys:    bson.D{{Key: "_ts", Value: 1}},
		Options: options.Index().SetExpireAfterSeconds(24 * 60 * 60),
	}
	if _, err := tokens.Indexes().CreateOne(ctx, aDay); err != nil {
		log.Fatal(err)
	}
	if _, err := tokens.InsertOne(ctx, bson.D{{Key: "user", Value: "ada"}}); err != nil {
		log.Fatal(err)
	}
	n, err := tokens.CountDocuments(ctx, bson.D{{Key: "user", Value: "ada"}})
	fmt.Println(n, err)
}
` }),
  javascript: ({ uri }) => ({
    install: 'npm install mongodb', file: 'first.mjs', run: 'node first.mjs',
    program: `import { MongoClient } from "mongodb";

const client = new MongoClient("${uri}");
const tokens = client.db("shop").collection("tokens");
await tokens.createIndex({ _ts: 1 }, { expireAfterSeconds: 24 * 60 * 60 });
await tokens.insertOne({ user: "ada" });
console.log(await tokens.findOne({ user: "ada" }));
await client.close();
` }),
  python: ({ uri }) => ({
    install: 'pip install pymongo', file: 'first.py', run: 'python first.py',
    program: `from pymongo import MongoClient

client = MongoClient("${uri}")
tokens = client.shop.tokens
tokens.create_index({"_ts": 1}, expireAfterSeconds=24 * 60 * 60)
tokens.insert_one({"user": "ada"})
print(tokens.find_one({"user": "ada"}))
` }),
  java: ({ uri, trust }) => ({
    install: '<!-- pom.xml -->\n<dependency>\n  <groupId>org.mongodb</groupId>\n  <artifactId>mongodb-driver-sync</artifactId>\n  <version>5.14.0</version>\n</dependency>',
    file: 'Main.java', run: trust ? javaRun : 'java Main.java',
    program: `import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import java.util.concurrent.TimeUnit;
import org.bson.Document;

public class Main {
    public static void main(String[] args) {
        try (MongoClient client = MongoClients.create("${uri}")) {
            MongoCollection<Document> tokens = client.getDatabase("shop").getCollection("tokens");
            tokens.createIndex(Indexes.ascending("_ts"), new IndexOptions().expireAfter(86400L, TimeUnit.SECONDS));
            tokens.insertOne(new Document("user", "ada"));
            System.out.println(tokens.find(new Document("user", "ada")).first());
        }
    }
}
` }),
  csharp: ({ uri }) => ({
    install: 'dotnet add package MongoDB.Driver', file: 'Program.cs', run: 'dotnet run',
    program: `using MongoDB.Bson;
using MongoDB.Driver;

var client = new MongoClient("${uri}");
var tokens = client.GetDatabase("shop").GetCollection<BsonDocument>("tokens");
await tokens.Indexes.CreateOneAsync(new CreateIndexModel<BsonDocument>(
    Builders<BsonDocument>.IndexKeys.Ascending("_ts"),
    new CreateIndexOptions { ExpireAfter = TimeSpan.FromDays(1) }));
await tokens.InsertOneAsync(new BsonDocument("user", "ada"));
Console.WriteLine(await tokens.Find(new BsonDocument("user", "ada")).FirstAsync());
` }),
  rust: ({ uri }) => ({
    install: 'cargo add mongodb\ncargo add tokio --features macros,rt-multi-thread', file: 'src/main.rs', run: 'cargo run',
    program: `use mongodb::bson::{Document, doc};
use mongodb::options::IndexOptions;
use mongodb::{Client, IndexModel};
use std::time::Duration;

#[tokio::main]
async fn main() -> mongodb::error::Result<()> {
    let client = Client::with_uri_str("${uri}").await?;
    let tokens = client.database("shop").collection::<Document>("tokens");
    let a_day = IndexOptions::builder().expire_after(Duration::from_secs(24 * 60 * 60)).build();
    tokens.create_index(IndexModel::builder().keys(doc! {"_ts": 1}).options(a_day).build()).await?;
    tokens.insert_one(doc! {"user": "ada"}).await?;
    println!("{:?}", tokens.find_one(doc! {"user": "ada"}).await?);
    Ok(())
}
` }),
  mongosh: ({ uri }) => ({
    install: 'npm install --global mongosh', file: 'first.js', run: `mongosh --quiet "${uri}" first.js`,
    program: `const tokens = db.getSiblingDB("shop").tokens;
tokens.createIndex({ _ts: 1 }, { expireAfterSeconds: 24 * 60 * 60 });
tokens.insertOne({ user: "ada" });
print(tokens.findOne({ user: "ada" }));
` }),
};
