//! The official Rust clients, azure_data_cosmos and mongodb, against a mayfly binary: MAYFLY_BIN names it.

mod cosmos;
mod mongo;
mod server;
