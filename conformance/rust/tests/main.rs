//! The official Rust clients, azure_data_cosmos and mongodb, against a mayfly binary: TESTED_BIN, or one that
//! the tests build.

mod cosmos;
mod mongo;
mod server;
