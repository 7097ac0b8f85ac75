//! Starts the binary under test and moves its clock.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The account key that every emulator shares and publishes.
pub const KEY: &str = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// One running mayfly, in memory, with both APIs. It ends with the test that holds it.
pub struct Server {
    process: Child,
    log: PathBuf,
    pub nosql: String, // addresses, host:port
    pub mongo: String,
    admin: String,
}

impl Server {
    /// Starts the binary on free ports; returns when it is ready.
    pub fn start(flags: &[&str]) -> Server {
        let [nosql, mongo, admin] = free_addresses();
        let log = std::env::temp_dir().join(format!("mayfly-rust-{}.log", admin.replace(':', "-")));
        let out = fs::File::create(&log).expect("create the log");
        let process = Command::new(binary())
            .args(["--memory", "--nosql", &nosql, "--mongo", &mongo, "--admin", &admin])
            .args(flags)
            .stdout(out.try_clone().expect("share the log"))
            .stderr(out)
            .spawn()
            .expect("start mayfly");
        let mut server = Server { process, log, nosql, mongo, admin };
        server.await_ready();
        server
    }

    /// A mayfly whose clock stands still until the test moves it.
    pub fn with_virtual_clock() -> Server {
        Server::start(&["--clock=virtual"])
    }

    /// A mayfly that MongoDB's clients take for a replica set of one.
    pub fn with_replica_set() -> Server {
        Server::start(&[])
    }

    /// Moves a virtual clock; everything due by then has happened when it returns.
    pub fn advance(&self, seconds: i64) {
        let (status, answer) = http(&self.admin, "POST", "/clock/advance", &format!(r#"{{"duration":"{seconds}s"}}"#)).expect("reach the admin API");
        assert_eq!(status / 100, 2, "advance by {seconds} s: {answer}");
    }

    /// Splits a range of a container and waits for the end.
    pub fn split(&self, database: &str, container: &str, range: &str) {
        let ranges = format!("/_mayfly/v1/databases/{database}/containers/{container}/ranges");
        let (status, answer) = http(&self.admin, "POST", &format!("{ranges}/{range}/split"), "{}").expect("reach the admin API");
        assert_eq!(status, 202, "split range {range}: {answer}");
        loop {
            let (_, list) = http(&self.admin, "GET", &ranges, "").expect("reach the admin API");
            let list: serde_json::Value = serde_json::from_str(&list).unwrap_or_else(|e| panic!("{e}: {list}"));
            if list["split"].is_null() {
                let left = list["ranges"].as_array().expect("ranges").iter().any(|r| r["id"] == range);
                assert!(!left, "range {range} was not split");
                return;
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// The certificate of the server's own authority, in PEM.
    pub fn authority(&self) -> String {
        let (status, pem) = http(&self.nosql, "GET", "/_mayfly/ca.pem", "").expect("reach the NoSQL API");
        assert_eq!(status, 200, "{pem}");
        pem
    }

    fn await_ready(&mut self) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            if let Some(status) = self.process.try_wait().expect("watch mayfly") {
                panic!("mayfly ended before it was ready: {status}\n{}", self.output());
            }
            if matches!(http(&self.admin, "GET", "/readyz", ""), Ok((200, _))) {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("mayfly did not get ready\n{}", self.output());
    }

    fn output(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("mayfly printed:\n{}", self.output());
        }
        let _ = fs::remove_file(&self.log);
    }
}

/// The mayfly under test: TESTED_BIN, or one built here.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(binary) = std::env::var_os("TESTED_BIN") {
            return binary.into();
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let binary = here.join("target/mayfly");
        let built = Command::new("go").args(["build", "-o"]).arg(&binary).arg("./cmd/mayfly").current_dir(here.join("../..")).status();
        assert!(built.expect("start go").success(), "building mayfly failed");
        binary
    })
}

/// Three addresses that nothing listens on at the moment, all different, never given twice. Their ports are below those
/// that systems give to connections and to port 0 (../../loopback).
fn free_addresses() -> [String; 3] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    [(); 3].map(|()| loop {
        let n = std::process::id().wrapping_mul(97).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let address = format!("127.0.0.1:{}", 10240 + n % 22528);
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    })
}

/// One request without a client library: status and body.
fn http(address: &str, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    Ok((status, body.to_string()))
}
