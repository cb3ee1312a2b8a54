//! Our FTP server beside vsftpd, and our client beside curl, once each: a block of `cargo xtask bench ftp`, one line of JSON
//! per measurement. With any argument the order is turned around. What is not installed is left out.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use btu_core::role::Role;
use btu_engine::Place;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use serde::Serialize;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The middle one of some transfers.
#[derive(Serialize)]
struct Measured {
    who: &'static str,
    way: &'static str,
    bytes: usize,
    seconds: f64,
}

fn main() -> Outcome<()> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ours = Server::start(Serving::at(Place::here(Role::Active), loopback))?;
    let scratch = tempfile::tempdir()?;
    let theirs = Vsftpd::start(scratch.path());
    if let Err(cause) = &theirs {
        eprintln!("vsftpd: not available: {cause}");
    }
    let theirs = theirs.ok();
    let own = ours.address();
    let mut parts: Vec<Box<dyn Fn() -> Outcome<()>>> = vec![
        Box::new(move || warm("server", own, WARM, ["/random/1048576", "/null/x"])),
        Box::new(move || warm("small", own, SMALL, ["/random/1024", "/null/x"])),
        Box::new(move || whole_by_us(own)),
        Box::new(move || whole_by_curl(own)),
    ];
    if let Some(vsftpd) = &theirs {
        let at = vsftpd.address;
        parts.push(Box::new(move || warm("vsftpd", at, WARM, ["/data", "/up/x"])));
    }
    if std::env::args().len() > 1 {
        parts.reverse();
    }
    parts.iter().try_for_each(|part| part())
}

/// Get and put in one session that is there already.
fn warm(who: &'static str, server: SocketAddr, bytes: usize, [from, to]: [&str; 2]) -> Outcome<()> {
    let mut client = Client::connect(&Access::anonymous(server))?;
    let block = vec![7; 65536];
    let get = middle(|| retrieve(&mut client, from, bytes))?;
    let put = middle(|| {
        let mut transfer = client.store(to)?;
        let mut rest = bytes;
        while rest > 0 {
            rest -= transfer.send(&block[..rest.min(block.len())])?;
        }
        Ok(transfer.finish()?)
    })?;
    say(&Measured { who, way: "get", bytes, seconds: get })?;
    say(&Measured { who, way: "put", bytes, seconds: put })
}

fn retrieve(client: &mut Client, from: &str, bytes: usize) -> Outcome<()> {
    let (mut space, mut total) = (vec![0; 65536], 0);
    let transfer = client.retrieve(from)?;
    loop {
        match transfer.receive(&mut space)? {
            0 => break,
            count => total += count,
        }
    }
    transfer.finish()?;
    if total == bytes { Ok(()) } else { Err(format!("{total} bytes of {bytes} came").into()) }
}

/// Connection, login and one file, as curl counts its `time_total`.
fn whole_by_us(server: SocketAddr) -> Outcome<()> {
    let name = format!("/random/{WHOLE}");
    let seconds = middle(|| {
        let mut client = Client::connect(&Access::anonymous(server))?;
        retrieve(&mut client, &name, WHOLE)
    })?;
    say(&Measured { who: "client", way: "get", bytes: WHOLE, seconds })
}

fn whole_by_curl(server: SocketAddr) -> Outcome<()> {
    let address = format!("ftp://{server}//random/{WHOLE}");
    let mut all = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let words = ["--silent", "--fail", "--output", "/dev/null", "--write-out"];
        let mut curl = Command::new("curl");
        curl.args(words).args(["%{size_download} %{time_total}", &address]);
        let told = match curl.output() {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                eprintln!("curl: not available: {cause}");
                return Ok(());
            }
            told => String::from_utf8(told?.stdout)?,
        };
        let (bytes, seconds) = told.split_once(' ').ok_or_else(|| format!("curl said {told:?}"))?;
        if bytes != WHOLE.to_string() {
            return Err(format!("curl got {bytes} bytes of {WHOLE}").into());
        }
        if round >= WARM_UP {
            all.push(seconds.parse()?);
        }
    }
    say(&Measured { who: "curl", way: "get", bytes: WHOLE, seconds: median(all) })
}

/// Seconds of the middle one, after some that warm up.
fn middle(mut transfer: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut seconds = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let start = Instant::now();
        transfer()?;
        if round >= WARM_UP {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(median(seconds))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn say(measured: &Measured) -> Outcome<()> {
    println!("{}", serde_json::to_string(measured)?);
    Ok(())
}

/// A vsftpd of our own, with its files in a scratch directory.
struct Vsftpd {
    process: Child,
    address: SocketAddr,
}

impl Vsftpd {
    fn start(scratch: &Path) -> Outcome<Self> {
        let (root, up) = (scratch.join("root"), scratch.join("root/up"));
        fs::create_dir_all(&up)?;
        fs::write(root.join("data"), vec![7; WARM])?;
        let open = |path: &Path, mode| {
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
        };
        // vsftpd refuses a root that its anonymous user could write to.
        open(scratch, 0o755)?;
        open(&root, 0o755)?;
        open(&up, 0o777)?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let settings = scratch.join("vsftpd.conf");
        fs::write(
            &settings,
            format!(
                "listen=YES\nlisten_port={}\nlisten_address=127.0.0.1\nbackground=NO\nseccomp_sandbox=NO\nanonymous_enable=YES\nno_anon_password=YES\nanon_root={}\nanon_upload_enable=YES\nanon_other_write_enable=YES\nwrite_enable=YES\n",
                address.port(),
                root.display()
            ),
        )?;
        // It runs in no namespace of ours and needs the folder into which it shuts itself.
        fs::create_dir_all("/var/run/vsftpd/empty")?;
        let process = Command::new("vsftpd")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let vsftpd = Self { process, address };
        let until = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(address).is_err() {
            if Instant::now() > until {
                return Err("it does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(vsftpd)
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Bytes of a file in a session that is there, of a small one, and of one that curl gets, too.
const WARM: usize = 1 << 20;
const SMALL: usize = 1024;
const WHOLE: usize = 11_000_000;
const WARM_UP: usize = 5;
const ROUNDS: usize = 31;
