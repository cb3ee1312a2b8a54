//! A server that somebody else runs, as users of `btu file --target` see it.

use std::fs;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use btu_core::role::Role;
use btu_engine::Place;
use btu_engine::file::ftp::Login;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::run;
use crate::program::assert_reported_again;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;
use crate::trust::verified;

/// Few rounds of small files into the folder's `out`.
fn short(folder: &Path, args: &[&str]) -> Command {
    let mut command = btu();
    command.current_dir(folder).env_remove("BTU_TARGET_PASSWORD").arg("file").args(args);
    command.args(["--rounds", "3", "--warm", "0", "--out", "out"]);
    command
}

/// A server of this program in the part of somebody else's.
fn server(login: Login, directory: Option<PathBuf>) -> (Server, String) {
    let at = Serving::at(Place::here(Role::Active), IpAddr::V4(Ipv4Addr::LOCALHOST));
    let server = Server::start(Serving { login, directory, ..at }).unwrap();
    let place = server.address().to_string();
    (server, place)
}

/// vsftpd as whoever runs the tests, until it is dropped: clients may write below `up`.
struct Vsftpd(Child);

impl Vsftpd {
    fn start(folder: &Path) -> (Self, SocketAddr) {
        let address = free_address();
        let (root, file) = (folder.join("root"), folder.join("vsftpd.conf"));
        fs::create_dir_all(root.join("up")).unwrap();
        let settings = format!(
            "listen=YES\nlisten_address=127.0.0.1\nlisten_port={}\nrun_as_launching_user=YES\n\
             background=NO\nanonymous_enable=YES\nanon_root={root}\nwrite_enable=YES\n\
             anon_upload_enable=YES\nanon_mkdir_write_enable=YES\nanon_other_write_enable=YES\n\
             anon_umask=022\nseccomp_sandbox=NO\nsecure_chroot_dir={root}\nftpd_banner=one of several\n",
            address.port(),
            root = root.display()
        );
        fs::write(&file, settings).unwrap();
        let mut command = Command::new(VSFTPD);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        btu_sys::process::dies_with_its_starter(&mut command);
        let server = Self(command.spawn().unwrap());
        wait_until(|| TcpStream::connect(address).is_ok());
        (server, address)
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// nginx in one process as whoever runs the tests, until it is dropped: the user alice may write below `up`.
struct Nginx(Child);

impl Nginx {
    fn start(folder: &Path) -> (Self, SocketAddr) {
        let address = free_address();
        let file = folder.join("nginx.conf");
        fs::create_dir_all(folder.join("root/up")).unwrap();
        fs::write(folder.join("users"), "alice:{PLAIN}sesame-opens\n").unwrap();
        fs::write(&file, nginx_settings(&folder.display().to_string(), address)).unwrap();
        let mut command = Command::new(NGINX);
        command.arg("-e").arg(folder.join("log")).arg("-c").arg(&file).stdin(Stdio::null());
        btu_sys::process::dies_with_its_starter(&mut command);
        let server = Self(command.spawn().unwrap());
        wait_until(|| TcpStream::connect(address).is_ok());
        (server, address)
    }
}

/// A connection ends after seven requests.
fn nginx_settings(folder: &str, address: SocketAddr) -> String {
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = kinds.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n")).concat();
    format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;\n\
         events {{}}\nhttp {{\naccess_log off; client_max_body_size 0; keepalive_requests 7;\n{temporary}\
         server {{ listen {address}; root {folder}/root; dav_methods PUT DELETE MKCOL;\n\
         auth_basic btu; auth_basic_user_file {folder}/users; }}\n}}\n"
    )
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn what_a_server_of_others_cannot_be_asked_is_refused_with_the_reason() {
    let target = ["--target", "ftp://nas.example/up"];
    for (args, word) in [
        (&["all", "--target", "ftp://alice:secret@nas.example"][..], "write the user alone"),
        (
            &["all", "--target", "gopher://nas.example"],
            "gopher has no clients for servers of others",
        ),
        (
            &["baseline", target[0], target[1]],
            "baseline needs servers of this program: it is about",
        ),
        (&["cold-read", target[0], target[1]], "nobody here can empty the cache"),
        (&["transfer", target[0], target[1], "--mtu", "1500B"], "keeps its MTU"),
        (&["transfer", target[0], target[1], "--protocols", "ftp"], "--protocols: the URL"),
        (&["transfer", target[0], target[1], "--path", "direct"], "cannot be used with"),
        (&["transfer", "--object", "x"], "--target <URL>"),
    ] {
        let output = btu().arg("file").args(args).arg("--dry-run").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(word), "no {word} in\n{}", said(&output));
        assert!(!said(&output).contains("secret"), "{}", said(&output));
    }
    let told = run(btu().args(["file", "all", target[0], target[1], "--dry-run"])).unwrap();
    assert!(told.contains("experiments = [\"transfer\", \"client-load\"]"), "{told}");
}

#[test]
fn vsftpd_is_measured_and_left_as_it_was() {
    if !Path::new(VSFTPD).exists() {
        skip!("program missing: vsftpd");
    }
    let folder = TempDir::new_in("/var/tmp").unwrap();
    let (_server, address) = Vsftpd::start(folder.path());
    let target = format!("ftp://{address}/up");
    let args = ["all", "--target", &target, "--sizes", "64KiB", "--clients", "3"];
    let told = run(&mut short(folder.path(), &args)).unwrap();
    for word in ["A->127.0.0.1 (KB/s)", "one of several", "server-of-others", "3 at once"] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    assert_whole_and_left(folder.path(), &target);
    assert_reported_again(folder.path(), "ftp");
}

#[test]
fn nginx_is_measured_and_left_as_it_was() {
    if !Path::new(NGINX).exists() {
        skip!("program missing: nginx");
    }
    let folder = TempDir::new_in("/var/tmp").unwrap();
    let (_server, address) = Nginx::start(folder.path());
    let target = format!("http://alice@{address}/up");
    let with = |password| {
        let args = ["all", "--target", &target, "--sizes", "64KiB", "--clients", "3"];
        let mut command = short(folder.path(), &args);
        command.env("BTU_TARGET_PASSWORD", password);
        command
    };
    let refused = said(&with("wrong").output().unwrap());
    assert!(refused.contains("http HEAD /up/: 401 Unauthorized"), "{refused}");
    let told = run(&mut with("sesame-opens")).unwrap();
    for word in ["A->127.0.0.1 (KB/s)", "nginx/", "server-of-others", "3 at once"] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    assert_whole_and_left(folder.path(), &target);
}

/// Of what was measured into `out`: every trial has a rate, and nothing is below `up`.
fn assert_whole_and_left(folder: &Path, target: &str) {
    let out = folder.join("out");
    let result = read_json(&out.join("result.json"));
    let found = [&result["complete"], &result["path"], &result["target"]];
    assert_eq!(found, [&Value::from(true), &"target".into(), &target.into()]);
    for trial in result["trials"].as_array().unwrap() {
        assert!(trial["rate_kib_s"].as_f64().is_some_and(|rate| rate > 0.0), "{trial:#}");
        assert_eq!(trial["held"], "unknown");
    }
    let sample = &of_kind(&out, "file_trial")[0];
    let reason = &sample["servers"][0]["not_available"]["cpu_ns"];
    assert_eq!(reason, "the server is not this program's");
    assert!(is_empty(&folder.join("root/up")), "what was made is removed");
    assert_eq!(of_kind(&out, "file_removed").len(), 1);
    assert_eq!(verified(&out, &[]).0, Some(0));
}

#[test]
fn a_server_that_only_gives_is_asked_for_a_named_file_alone() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("disc.iso"), vec![7; 70_001]).unwrap();
    let (_server, place) = server(Login::Anybody, Some(folder.path().to_owned()));
    let url = format!("ftp://{place}");
    let args = ["transfer", "--target", &url, "--object", "disk/disc.iso"];
    run(&mut short(folder.path(), &args)).unwrap();
    let out = folder.path().join("out");
    let trials = of_kind(&out, "file_trial");
    assert!(trials.iter().all(|one| one["trial"]["operation"] == "get"), "{trials:#?}");
    assert!(trials.iter().all(|one| one["trial"]["size_bytes"] == 70_001), "{trials:#?}");
    assert!(of_kind(&out, "file_made").is_empty());
}

#[test]
fn a_password_comes_from_a_file_and_is_in_none_of_the_result() {
    let folder = TempDir::new().unwrap();
    let (user, password) = ("alice".to_owned(), "sesame-opens".to_owned());
    let (_server, place) = server(Login::Only { user, password: password.clone() }, None);
    let file = folder.path().join("password");
    let url = format!("ftp://alice@{place}");
    let args = ["transfer", "--target", &url, "--sizes", "1KiB"];
    let told = said(&short(folder.path(), &args).output().unwrap());
    assert!(told.contains("names the user alice, and nothing its password"), "{told}");
    fs::write(&file, "wrong\n").unwrap();
    let with_file = [&args[..], &["--password-file", "password"]].concat();
    let told = said(&short(folder.path(), &with_file).output().unwrap());
    assert!(told.contains("PASS: the server answers 530"), "{told}");
    fs::write(&file, format!("{password}\n")).unwrap();
    run(&mut short(folder.path(), &with_file)).unwrap();
    let out = folder.path().join("out");
    run(btu().arg("redact").arg(&out).arg("-o").arg(folder.path().join("public"))).unwrap();
    for (folder, word) in [(out, password.as_str()), (folder.path().join("public"), "alice")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
    assert_eq!(verified(&folder.path().join("public"), &[]).0, Some(0));
}

#[test]
fn what_a_killed_measurement_left_is_removed_by_the_part_that_goes_on() {
    if !Path::new(VSFTPD).exists() {
        skip!("program missing: vsftpd");
    }
    let folder = TempDir::new_in("/var/tmp").unwrap();
    let (_server, address) = Vsftpd::start(folder.path());
    let (out, up) = (folder.path().join("out"), folder.path().join("root/up"));
    let target = format!("ftp://{address}/up");
    let args = ["file", "transfer", "--target", &target, "--sizes", "1KiB", "--quiet"];
    let mut command = btu();
    command.current_dir(folder.path()).args(args).args(["--rounds", "300", "--out", "out"]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let samples = out.join("samples.jsonl");
    wait_until(|| fs::read_to_string(&samples).is_ok_and(|text| text.contains("file_trial")));
    signal(child.id(), "KILL");
    child.wait().unwrap();
    assert!(!is_empty(&up), "it was killed too late");
    let mut again = btu();
    again.current_dir(folder.path()).args(["file", "--resume", "out", "--quiet"]);
    let mut child = again.stdout(Stdio::null()).spawn().unwrap();
    wait_until(|| of_kind(&out, "file_removed").len() == 1);
    signal(child.id(), "INT");
    child.wait().unwrap();
    assert!(is_empty(&up), "what both parts made is removed");
    assert_eq!(of_kind(&out, "file_removed").len(), 2);
}

const VSFTPD: &str = "/usr/sbin/vsftpd";
const NGINX: &str = "/usr/sbin/nginx";
