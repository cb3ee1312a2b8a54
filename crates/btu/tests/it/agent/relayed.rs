//! An agent that somebody passes words on for: it proves who it is and is believed, but what it wants at an
//! address of its own would go to a host that nobody has reached.

use std::io;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::thread;

use super::flows::one;
use super::hosts::Hosts;
use super::hosts::said;
use crate::isolated::isolated;
use crate::program::Cells;

/// Passes on what comes to an address of the host under test, for as long as this process lives.
fn relay(hosts: &Hosts, to: &str) -> SocketAddr {
    let to: SocketAddr = to.parse().unwrap();
    hosts.inside(2, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        thread::spawn(move || {
            for near in listener.incoming().map(Result::unwrap) {
                let far = TcpStream::connect(to).unwrap();
                pass(near.try_clone().unwrap(), far.try_clone().unwrap());
                pass(far, near);
            }
        });
        at
    })
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        // Either end may be reset.
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}

#[test]
fn nothing_is_sent_to_another_host_than_the_one_that_was_reached() {
    let name = "agent::relayed::nothing_is_sent_to_another_host_than_the_one_that_was_reached";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.agent(0, &[]);
        let at = relay(&hosts, agent.address()).to_string();
        let invite = agent.invite().replace(agent.address(), &at);
        hosts.btu(2).args(["pair", &invite, "--name", "lab1"]).ends_with(0);
        let bursts = "type = \"burstq(blocksize=1 kB, period=5 ms, duration=50 ms)\"";
        std::fs::write(hosts.path("s.toml"), one("here", "lab1", bursts)).unwrap();
        let ftp = Cells { activities: &["ftp"], ..Cells::SHORT };
        for (file, plan) in [("cells.toml", Cells::SHORT), ("ftp.toml", ftp)] {
            std::fs::write(hosts.path(file), plan.to_string()).unwrap();
        }
        let run = |plan| vec!["run", "--plan", plan, "--active", "lab1"];
        let sizes = ["--sizes", "1B", "--rounds", "1", "--chasms", "off", "--reference", "off"];
        let blocks = [&["pingpong", "tcp", "--peer", "lab1"][..], &sizes].concat();
        for (out, args) in [
            ("flows", vec!["traffic", "s.toml"]),
            ("cells", run("cells.toml")),
            ("files", run("ftp.toml")),
            ("blocks", blocks),
        ] {
            let ended = hosts.btu(2).args(args).args(["--out", out]).output().unwrap();
            assert_ne!(ended.status.code(), Some(0), "{out}: {}", said(&ended));
            let kept = ["samples.jsonl", "events.jsonl", "result.json"].map(|file| {
                std::fs::read_to_string(hosts.path(out).join(file)).unwrap_or_default()
            });
            let told = said(&ended) + &kept.concat();
            let why = "it wants data at 10.77.0.2, and was reached at 127.0.0.1";
            assert!(told.contains(why), "{out}: {told}");
        }
    });
}
