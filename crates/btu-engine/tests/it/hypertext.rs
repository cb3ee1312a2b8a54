//! Programs of others against our servers of HTTP, and our clients against a server of others: what is put comes back, byte
//! for byte.

use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_engine::file;
use btu_engine::file::Errand;
use btu_engine::file::FileProtocol;
use btu_engine::file::Moments;
use btu_engine::file::Offer;
use btu_engine::file::Served;
use btu_engine::file::Visit;
use btu_sys::socket::Settings;

use crate::file_service::offer;
use crate::file_service::visit;
use crate::ftp::DELAYED_ACK;
use crate::ftp::content;
use crate::ftp::fastest;
use crate::ftp::peers::client;
use crate::ftp::peers::path;
use crate::ftp::peers::there_and_back;
use crate::skip;
use crate::wait::wait_until;

/// Each version, and what makes curl speak it.
fn versions() -> [(&'static dyn FileProtocol, &'static str); 2] {
    [("http", "--http1.1"), ("h2", "--http2-prior-knowledge")]
        .map(|(name, option)| (file::by_name(name).unwrap(), option))
}

fn server(protocol: &dyn FileProtocol) -> Box<dyn Served> {
    protocol.serve(&offer(4)).unwrap()
}

fn url(server: &dyn Served, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

fn curl(option: &str, arguments: &[&str]) -> Vec<u8> {
    client("curl", &[&["-sS", "-m", "60", option], arguments].concat())
}

#[test]
fn curl_puts_and_gets_identical_bytes() {
    if !skip::installed("curl") {
        skip!("program missing: curl");
    }
    for (protocol, option) in versions() {
        let server = server(protocol);
        there_and_back(
            |from, name| {
                let target = url(&*server, &format!("/{name}"));
                curl(option, &["-f", "-T", path(from), &target]);
            },
            |name, to| {
                let source = url(&*server, &format!("/{name}"));
                curl(option, &["-f", "-o", path(to), &source]);
            },
        );
        assert_eq!(curl(option, &["-f", &url(&*server, "/zero/100000")]), vec![0; 100_000]);
        let random = curl(option, &["-f", &url(&*server, "/random/100000")]);
        assert!(random[..34_464] == random[65_536..] && random[..8] != random[8..16]);
    }
}

#[test]
fn curl_is_told_how_each_request_ended() {
    if !skip::installed("curl") {
        skip!("program missing: curl");
    }
    for (protocol, option) in versions() {
        let server = server(protocol);
        let status = |method: &str, path: &str| {
            let told = ["-o", "/dev/null", "-w", "%{http_code}", "-X", method];
            let said = curl(option, &[&told[..], &["-d", "bits", &url(&*server, path)]].concat());
            String::from_utf8(said).unwrap()
        };
        for (method, path, told) in [
            ("GET", "/nothing", "404"),
            ("GET", "/disk/nothing", "404"),
            ("GET", "/zero/many", "404"),
            ("PUT", "/x", "201"),
            ("PUT", "/x", "204"),
            ("PUT", "/null/x", "204"),
            ("PUT", "/disk/x", "403"),
            ("PUT", "/zero/5", "403"),
            ("PUT", "/nowhere/x", "404"),
            ("PUT", "/null", "403"),
            ("POST", "/x", "403"),
            ("DELETE", "/x", "204"),
            ("DELETE", "/x", "404"),
            ("DELETE", "/random/1", "403"),
            ("PATCH", "/x", "501"),
        ] {
            assert_eq!(status(method, path), told, "{option} {method} {path}");
        }
        let call = curl(option, &["-d", "four", &url(&*server, "/null/x")]);
        assert_eq!(call, 4_u32.to_be_bytes());
        let head = curl(option, &["-I", &url(&*server, "/zero/100000")]);
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.contains("content-length: 100000"), "{head}");
    }
}

#[test]
fn files_of_the_directory_are_given_and_no_others() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let bytes = content(200_000);
    std::fs::write(folder.path().join("there"), &bytes).unwrap();
    for (protocol, _) in versions() {
        let directory = Some(folder.path().to_owned());
        let server = protocol.serve(&Offer { directory, ..offer(1) }).unwrap();
        let mut session = protocol.open(&visit(&*server, Operation::Get)).unwrap();
        let session = session.keeping().unwrap();
        let mut back = Vec::new();
        assert_eq!(session.get("/disk/there", &mut back).unwrap().len(), bytes.len());
        assert!(back == bytes);
        for name in ["/disk/nothing", "/disk/../../etc/passwd", "/disk/a/b"] {
            let refused = session.get(name, &mut Vec::new()).unwrap_err().to_string();
            assert!(refused.contains("404 Not Found"), "{refused}");
        }
        session.put("/disk/there", &mut &b"bits"[..]).unwrap_err();
        session.remove("/disk/there").unwrap_err();
    }
}

#[test]
fn an_answer_of_another_length_is_told() {
    for (protocol, _) in versions() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::write(folder.path().join("there"), [7; 100]).unwrap();
        let directory = Some(folder.path().to_owned());
        let server = protocol.serve(&Offer { directory, ..offer(2) }).unwrap();
        let told = |size| {
            let mut visit = visit(&*server, Operation::Get);
            visit.errand = Errand { size, files: vec!["there".to_owned()], ..visit.errand };
            let mut session = protocol.open(&visit).unwrap();
            let progress = AtomicU64::new(0);
            let fault = session.run(0, &mut Moments::from_now(&progress)).unwrap_err();
            fault.to_string()
        };
        let name = protocol.name();
        assert_eq!(told(Bytes::new(99)), format!("{name}: more than 99B came"));
        assert_eq!(told(Bytes::new(101)), format!("{name}: 1B of 101B did not come"));
    }
}

/// The same as with FTP: no answer waits for an acknowledgement.
#[test]
fn small_files_do_not_wait_for_delayed_acknowledgements() {
    for (protocol, _) in versions() {
        let server = server(protocol);
        for operation in [Operation::Call, Operation::Get, Operation::Put] {
            let mut session = protocol.open(&visit(&*server, operation)).unwrap();
            let progress = AtomicU64::new(0);
            let mut number = 0;
            let took = fastest(100, || {
                let _ = session.run(number, &mut Moments::from_now(&progress)).unwrap();
                number += 1;
            });
            assert!(took < DELAYED_ACK, "{} {operation:?}: {took:?}", protocol.name());
        }
    }
}

/// A server of others, until it is dropped.
struct Nginx(Child);

impl Nginx {
    /// Whose files are in `folder`, as whoever runs the tests, on a free port for each version.
    fn start(folder: &Path) -> (Self, [SocketAddr; 2]) {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap();
        let [one, two] = [free(), free()].map(|listener| listener.local_addr().unwrap());
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration(folder, one, two)).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-e").arg(folder.join("log")).arg("-c").arg(&file);
        let server = Self(command.stdin(Stdio::null()).spawn().unwrap());
        for address in [one, two] {
            wait_until("nginx listens", || TcpStream::connect(address).is_ok());
        }
        (server, [one, two])
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its worker ends when it does; killed, it would leave it behind.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// A second server that speaks HTTP/2 without TLS; every path that nginx would have elsewhere is in `folder`.
fn configuration(folder: &Path, one: SocketAddr, two: SocketAddr) -> String {
    let folder = path(folder);
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = kinds.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n")).concat();
    let files = format!("root {folder}/root; dav_methods PUT DELETE;");
    // Started by root, its worker would be somebody who may not write here.
    let user = if folder_is_of_root() { "user root;\n" } else { "" };
    format!(
        "{user}daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;\n\
         events {{}}\nhttp {{\naccess_log off; client_max_body_size 0;\n{temporary}\
         server {{ listen {one}; {files} }}\nserver {{ listen {two} http2; {files} }}\n}}\n"
    )
}

fn folder_is_of_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
fn nginx_gives_our_clients_back_what_it_was_given() {
    if !Path::new("/usr/sbin/nginx").exists() {
        skip!("program missing: nginx");
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::create_dir(folder.path().join("root")).unwrap();
    let (_server, addresses) = Nginx::start(folder.path());
    for ((protocol, _), server) in versions().into_iter().zip(addresses) {
        let size = Bytes::new(1);
        let visit = Visit {
            server,
            settings: Settings::default(),
            patience: Duration::from_mins(1),
            errand: Errand { operation: Operation::Get, size, count: 1, files: Vec::new() },
            stay: None,
            sockets: Arc::default(),
            program: None,
        };
        let mut session = protocol.open(&visit).unwrap();
        let files = session.keeping().unwrap();
        for length in [0, 1, 65_537, 3_000_000] {
            let (bytes, mut back) = (content(length), Vec::new());
            assert_eq!(files.put("/x", &mut &bytes[..]).unwrap().len(), length);
            assert_eq!(files.get("/x", &mut back).unwrap().len(), length);
            assert!(back == bytes, "{}: {length} B", protocol.name());
            files.remove("/x").unwrap();
        }
        let refused = files.get("/x", &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(refused, format!("{} GET /x: 404 Not Found", protocol.name()));
        session.close().unwrap();
    }
}
