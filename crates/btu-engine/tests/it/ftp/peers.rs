//! Programs of others against our server, and our client against a server of others: what is put comes back, byte for byte.

use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;

use crate::skip;
use crate::wait::wait_until;

/// Runs a client program to its end; its complaint fails the test.
pub(crate) fn client(program: &str, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(program);
    // What the user's own files of settings say must not matter.
    command.args(arguments).env("HOME", "/nonexistent").stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    output.stdout
}

fn url(server: &Server, path: &str) -> String {
    format!("ftp://{}{path}", server.address())
}

pub(crate) fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Puts a file of each size and gets it back, by two commands of the same program.
pub(crate) fn there_and_back(put: impl Fn(&Path, &str), get: impl Fn(&str, &Path)) {
    let directory = tempfile::tempdir().unwrap();
    for length in [0, 1, 1024, 65_537, 3_000_000] {
        let bytes = super::content(length);
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        std::fs::write(&from, &bytes).unwrap();
        let name = format!("file-{length}");
        put(&from, &name);
        get(&name, &to);
        assert!(std::fs::read(&to).unwrap() == bytes, "{length} B");
        std::fs::remove_file(&to).unwrap();
    }
}

#[test]
fn curl_puts_and_gets_identical_bytes() {
    if !skip::installed("curl") {
        skip!("program missing: curl");
    }
    let server = super::server();
    for form in [&["--epsv"][..], &["--disable-epsv"]] {
        let curl =
            |arguments: &[&str]| client("curl", &[&["-sSf", "-m", "60"], form, arguments].concat());
        there_and_back(
            |from, name| {
                let target = url(&server, &format!("/{name}"));
                curl(&["-T", path(from), &target]);
            },
            |name, to| {
                let source = url(&server, &format!("/{name}"));
                curl(&["-o", path(to), &source]);
            },
        );
    }
}

#[test]
fn curl_makes_directories_lists_appends_and_removes() {
    if !skip::installed("curl") {
        skip!("program missing: curl");
    }
    let server = super::server();
    let curl = |arguments: &[&str]| client("curl", &[&["-sSf", "-m", "60"], arguments].concat());
    let directory = tempfile::tempdir().unwrap();
    let part = directory.path().join("part");
    std::fs::write(&part, "bits").unwrap();
    let target = url(&server, "/a/b%20c/x");
    curl(&["--ftp-create-dirs", "-T", path(&part), &target]);
    curl(&["--append", "-T", path(&part), &target]);
    assert_eq!(curl(&[&target]), b"bitsbits");
    let listing = String::from_utf8(curl(&[&url(&server, "/a/b%20c/")])).unwrap();
    assert!(listing.starts_with("-rw-r--r--") && listing.trim_end().ends_with(" x"), "{listing}");
    assert_eq!(curl(&["-l", &url(&server, "/a/")]), b"b c\n");
    curl(&["-Q", "DELE /a/b c/x", "-o", "/dev/null", &url(&server, "/")]);
    assert_eq!(curl(&["-l", &url(&server, "/a/b%20c/")]), b"");
    assert_eq!(curl(&[&url(&server, "/zero/100000")]), vec![0; 100_000]);
    curl(&["-T", path(&part), &url(&server, "/null/x")]);
}

#[test]
fn curl_is_told_what_is_not_there() {
    if !skip::installed("curl") {
        skip!("program missing: curl");
    }
    let server = super::server();
    let status = |path: &str| {
        let mut command = Command::new("curl");
        command.args(["-s", "-m", "60", "-o", "/dev/null", &url(&server, path)]);
        command.status().unwrap().code().unwrap()
    };
    // curl's own numbers: 9 no such directory, 78 no such file.
    assert_eq!((status("/nowhere/x"), status("/nothing")), (9, 78));
}

#[test]
fn lftp_puts_and_gets_identical_bytes() {
    if !skip::installed("lftp") {
        skip!("program missing: lftp");
    }
    let server = super::server();
    let lftp = |script: &str| {
        let open = format!(
            "set net:timeout 20; set net:max-retries 1; set cmd:fail-exit yes; open {}; {script}",
            url(&server, "/")
        );
        client("lftp", &["--norc", "-c", &open])
    };
    there_and_back(
        |from, name| drop(lftp(&format!("put {} -o {name}", path(from)))),
        |name, to| drop(lftp(&format!("get {name} -o {}", path(to)))),
    );
    let listing =
        String::from_utf8(lftp("mkdir sub; cls -1 --size; rmdir sub; rm file-1")).unwrap();
    assert!(listing.contains("sub/") && listing.contains("file-65537"), "{listing}");
    let names = String::from_utf8(lftp("nlist")).unwrap();
    assert!(!names.lines().any(|name| name == "file-1" || name == "sub"), "{names}");
}

#[test]
fn lftp_abandons_a_transfer_and_goes_on() {
    if !skip::installed("lftp") {
        skip!("program missing: lftp");
    }
    let server = super::server();
    let script = format!(
        "set net:timeout 20; set net:max-retries 1; open {}; \
         cat /zero/1000000000000 | head -c 1000 | wc -c; cat /zero/7 | wc -c",
        url(&server, "/")
    );
    let said = client("lftp", &["--norc", "-c", &script]);
    assert_eq!(
        String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>(),
        ["1000", "7"]
    );
}

/// A server of others, until it is dropped.
struct Vsftpd(Child);

impl Vsftpd {
    /// Whose files are in `root`, as whoever runs the tests, on a free port.
    fn start(folder: &Path) -> (Self, SocketAddr) {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (root, file) = (folder.join("root"), folder.join("vsftpd.conf"));
        std::fs::create_dir(&root).unwrap();
        let settings = format!(
            "listen=YES\nlisten_address=127.0.0.1\nlisten_port={}\nrun_as_launching_user=YES\n\
             background=NO\nanonymous_enable=YES\nanon_root={root}\nwrite_enable=YES\n\
             anon_upload_enable=YES\nanon_other_write_enable=YES\nanon_umask=022\n\
             seccomp_sandbox=NO\nsecure_chroot_dir={root}\nftpd_banner=one of several\n",
            address.port(),
            root = path(&root)
        );
        std::fs::write(&file, settings).unwrap();
        // Ended with this value, also where it never listens.
        let server = Self(Command::new("/usr/sbin/vsftpd").arg(&file).spawn().unwrap());
        wait_until("vsftpd listens", || TcpStream::connect(address).is_ok());
        (server, address)
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn vsftpd_gives_our_client_back_what_it_was_given() {
    if !Path::new("/usr/sbin/vsftpd").exists() {
        skip!("program missing: vsftpd");
    }
    let folder = tempfile::tempdir().unwrap();
    let (_server, address) = Vsftpd::start(folder.path());
    let mut client = Client::connect(&Access::anonymous(address)).unwrap();
    for length in [0, 1, 65_537, 3_000_000] {
        let (bytes, name) = (super::content(length), format!("file-{length}"));
        super::send_all(client.store(&name).unwrap(), &bytes);
        assert_eq!(client.size(&name).unwrap().len(), length);
        assert!(super::receive_all(client.retrieve(&name).unwrap()) == bytes, "{length} B");
        // Half a file is abandoned; the dialogue goes on.
        drop(client.retrieve(&name).unwrap());
        client.nothing().unwrap();
        client.remove(&name).unwrap();
    }
    let refused = client.retrieve("nothing").unwrap_err().sentence();
    assert!(refused.contains("RETR nothing") && refused.contains("550"), "{refused}");
    client.close().unwrap();
}
