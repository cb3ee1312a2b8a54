//! Rates of our FTP client with our server, and with a vsftpd that it starts where there is one:
//! `cargo run --release -p btu-engine --example ftp_rates`. Get and put of 1 MiB, warm, one session.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::fs;
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

use btu_core::cell::Role;
use btu_engine::Place;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Client;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ours = Server::start(Serving::at(Place::here(Role::Active), loopback))?;
    let scratch = tempfile::tempdir()?;
    let theirs = Vsftpd::start(scratch.path());
    println!(
        "{:<8} {:<4} {:>9} {:>9} {:>9}  MB/s, one transfer of 1 MiB",
        "server", "", "p10", "median", "p90"
    );
    // In turn, so that what the machine does meanwhile hits both.
    for _ in 0..3 {
        show("ours", ours.address(), "/random/1048576", "/null/x")?;
        match &theirs {
            Ok(vsftpd) => show("vsftpd", vsftpd.address, "/data", "/up/x")?,
            Err(cause) => println!("vsftpd   not available: {cause}"),
        }
    }
    Ok(())
}

fn show(server: &str, address: SocketAddr, from: &str, to: &str) -> Outcome<()> {
    let mut client = Client::connect(&Access::anonymous(address))?;
    let (mut space, block) = (vec![0; 65536], vec![7; 65536]);
    let get = rates(|| {
        let transfer = client.retrieve(from)?;
        let mut total = 0;
        loop {
            match transfer.receive(&mut space)? {
                0 => break,
                count => total += count,
            }
        }
        transfer.finish()?;
        if total == SIZE { Ok(()) } else { Err(format!("{total} bytes came").into()) }
    })?;
    let put = rates(|| {
        let mut transfer = client.store(to)?;
        let mut rest = SIZE;
        while rest > 0 {
            rest -= transfer.send(&block[..rest.min(block.len())])?;
        }
        Ok(transfer.finish()?)
    })?;
    for (way, [low, middle, high]) in [("get", get), ("put", put)] {
        println!("{server:<8} {way:<4} {low:>9.0} {middle:>9.0} {high:>9.0}");
    }
    Ok(())
}

/// Decile, median and ninth decile of the rate of so many transfers, in MB/s.
fn rates(mut transfer: impl FnMut() -> Outcome<()>) -> Outcome<[f64; 3]> {
    let mut rates = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let start = Instant::now();
        transfer()?;
        let seconds = start.elapsed().as_secs_f64();
        if round >= WARM_UP {
            rates.push(1.048_576 / seconds);
        }
    }
    rates.sort_by(f64::total_cmp);
    Ok([rates[ROUNDS / 10], rates[ROUNDS / 2], rates[ROUNDS * 9 / 10]])
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
        fs::write(root.join("data"), vec![7; SIZE])?;
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

const SIZE: usize = 1 << 20;
const WARM_UP: usize = 20;
const ROUNDS: usize = 200;
