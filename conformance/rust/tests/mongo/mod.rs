//! The MongoDB driver. Each test has a server of its own.

mod aggregation;
mod crud;
mod files;
mod indexes;
mod lifetime;
mod transactions;
mod watch;

use std::fmt::Debug;

use futures_util::{Stream, TryStreamExt};
use mongodb::bson::{Bson, Document};
use mongodb::error::{Error, ErrorKind, Result, WriteFailure};
use mongodb::{Client, Collection, Database};

use crate::server::Server;

/// A client of a stand-alone server, or of a replica set of one.
pub async fn connect(server: &Server, options: &str) -> Client {
    Client::with_uri_str(format!("mongodb://{}/{options}", server.mongo)).await.expect("connect")
}

/// A stand-alone server and a database on it.
pub async fn stand_alone() -> (Server, Database) {
    let server = Server::start(&["--mongo-replset="]);
    let database = connect(&server, "").await.database("rust");
    (server, database)
}

/// The same as a replica set of one: transactions and change streams need it.
pub async fn replica_set() -> (Server, Database) {
    let server = Server::with_replica_set();
    let database = connect(&server, "?replicaSet=globaldb").await.database("rust");
    (server, database)
}

pub async fn all<T>(documents: Result<impl Stream<Item = Result<T>>>) -> Vec<T> {
    documents.expect("a cursor").try_collect().await.expect("its documents")
}

/// A collection with these documents.
pub async fn filled(database: &Database, documents: impl IntoIterator<Item = Document>) -> Collection<Document> {
    let collection = database.collection("c");
    collection.insert_many(documents).await.expect("insert");
    collection
}

pub fn ids(documents: &[Document]) -> Vec<Bson> {
    documents.iter().map(|d| d.get("_id").expect("_id").clone()).collect()
}

/// The values of these fields.
pub fn fields<const N: usize>(document: &Document, names: [&str; N]) -> [Bson; N] {
    names.map(|name| document.get(name).unwrap_or_else(|| panic!("no {name} in {document}")).clone())
}

/// The code of a server's error, 0 for any other.
pub fn code_of(error: &Error) -> i32 {
    match error.kind.as_ref() {
        ErrorKind::Command(e) => e.code,
        ErrorKind::Write(WriteFailure::WriteError(e)) => e.code,
        ErrorKind::InsertMany(e) => e.write_errors.iter().flatten().map(|e| e.code).next().unwrap_or(0),
        _ => 0,
    }
}

/// Requires that the server refuses with this code.
pub fn refused<T: Debug>(what: &str, code: i32, answer: Result<T>) -> Error {
    let error = answer.expect_err(what);
    assert_eq!(code_of(&error), code, "{what}: {error}");
    error
}
