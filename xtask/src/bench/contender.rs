//! The programs that a bench compares: how each is started and what it says about its rate.

use std::path::Path as File;

use anyhow::Context;
use anyhow::Result;
use serde::Deserialize;

use super::pair::Pair;
use super::process::End;

/// One bulk measurement: one stream, one write per message, reads of the message size.
pub(super) struct Load<'a> {
    pub(super) message_bytes: u64,
    pub(super) seconds: u64,
    pub(super) path: Path<'a>,
    /// Options of our own program, by which it makes other calls.
    pub(super) calls: &'a str,
}

/// Between client and server.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Loopback,
    /// The server is in the other namespace.
    Veth(&'a Pair),
}

impl Path<'_> {
    fn address(self) -> String {
        match self {
            Self::Loopback => "127.0.0.1".to_owned(),
            Self::Veth(pair) => pair.far_address(),
        }
    }

    /// A command line where the server is.
    fn there(self, words: Vec<String>) -> Vec<String> {
        match self {
            Self::Loopback => words,
            Self::Veth(pair) => pair.far().line(words),
        }
    }
}

/// Rate at the receiver, and the CPU time of both processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) bits_per_second: f64,
    pub(super) cpu_seconds_per_gigabyte: f64,
}

/// A program with a server and a client.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// The Debian package, or empty for our own.
    pub(super) package: &'static str,
    /// The comparisons in which it takes part.
    pub(super) within: &'static [&'static str],
    /// Our ratio to it counts; otherwise it is only told.
    pub(super) judged: bool,
    /// The program's name, where it is not the contender's.
    pub(super) program: &'static str,
    port: u16,
    speaks: Speaks,
    server: fn(&File, &Load<'_>) -> Vec<String>,
    client: fn(&File, &Load<'_>) -> Vec<String>,
    read: fn(&str) -> Option<f64>,
}

/// Which end says what the receiver got.
#[derive(PartialEq, Eq)]
enum Speaks {
    Client,
    Server,
}

pub(super) static OURS: Contender = Contender {
    name: "btu",
    package: "",
    within: &["loopback", "veth", "lowat", "sendfile"],
    judged: true,
    program: "comm",
    port: 7411,
    speaks: Speaks::Server,
    server: |program, load| {
        let Load { message_bytes, seconds, path, calls } = load;
        let to = path.address();
        let own = format!("--message {message_bytes} --seconds {seconds} {calls}");
        words(program, &format!("--listen {to}:7411 {own}"))
    },
    client: |program, load| {
        let Load { message_bytes, seconds, path, calls } = load;
        let to = path.address();
        let own = format!("--message {message_bytes} --seconds {seconds} {calls}");
        words(program, &format!("--connect {to}:7411 {own}"))
    },
    read: comm,
};

pub(super) static PEERS: &[Contender] = &[
    IPERF3,
    Contender {
        name: "iperf3 -Z",
        within: &["sendfile"],
        client: |program, load| words(program, &format!("{} -Z", iperf3_client(load))),
        ..IPERF3
    },
    Contender {
        name: "nuttcp",
        package: "nuttcp",
        within: &["loopback", "veth", "lowat"],
        judged: true,
        program: "nuttcp",
        port: 5000,
        speaks: Speaks::Client,
        server: |program, _| words(program, "-1 --nofork"),
        client: |program, load| {
            let Load { message_bytes, seconds, path, .. } = load;
            let to = path.address();
            words(program, &format!("-l {message_bytes} -T {seconds} -fparse {to}"))
        },
        read: nuttcp,
    },
    // A peer of the same kind sends memory that somebody wrote (docs/decisions/0022).
    Contender {
        name: "qperf",
        package: "qperf",
        within: &["loopback", "veth", "lowat"],
        judged: true,
        program: "qperf",
        port: 19765,
        speaks: Speaks::Client,
        server: |program, _| under(WRITTEN_MEMORY, words(program, "")),
        client: |program, load| under(WRITTEN_MEMORY, words(program, &qperf_client(load))),
        read: qperf,
    },
    Contender {
        name: "qperf, the zero page",
        package: "qperf",
        within: &["loopback", "veth"],
        judged: false,
        program: "qperf",
        port: 19765,
        speaks: Speaks::Client,
        server: |program, _| words(program, ""),
        client: |program, load| words(program, &qperf_client(load)),
        read: qperf,
    },
];

const IPERF3: Contender = Contender {
    name: "iperf3",
    package: "iperf3",
    within: &["loopback", "veth", "lowat"],
    judged: true,
    program: "iperf3",
    port: 5201,
    speaks: Speaks::Client,
    server: |program, load| words(program, &format!("-s -1 -B {}", load.path.address())),
    client: |program, load| words(program, &iperf3_client(load)),
    read: iperf3,
};

/// Has the C library write to all memory that it gives out.
const WRITTEN_MEMORY: &str = "GLIBC_TUNABLES=glibc.malloc.perturb=72";

fn iperf3_client(load: &Load<'_>) -> String {
    let Load { message_bytes, seconds, path, .. } = load;
    format!("-c {} -l {message_bytes} -t {seconds} -J -i 0", path.address())
}

fn qperf_client(load: &Load<'_>) -> String {
    let Load { message_bytes, seconds, path, .. } = load;
    format!("{} -t {seconds} -m {message_bytes} -uu tcp_bw", path.address())
}

/// A command line with a variable in its environment.
fn under(variable: &str, words: Vec<String>) -> Vec<String> {
    ["env", variable].into_iter().map(String::from).chain(words).collect()
}

impl Contender {
    /// One measurement: the server on one CPU, the client, which sends, on another.
    pub(super) fn measure(
        &self,
        program: &File,
        load: &Load<'_>,
        cpus: [usize; 2],
    ) -> Result<Rate> {
        let server = load.path.there((self.server)(program, load));
        let mut server = End::start(cpus[1], &server)?;
        server.listens(self.port)?;
        let mut client = End::start(cpus[0], &(self.client)(program, load))?;
        let said = client.output()?;
        let text = if self.speaks == Speaks::Client { said } else { server.output()? };
        let bits_per_second = (self.read)(&text)
            .with_context(|| format!("{}: no rate in `{}`", self.name, text.trim()))?;
        let cpu = client.cpu_seconds()? + server.cpu_seconds()?;
        let seconds = f64::from(u32::try_from(load.seconds)?);
        let gigabytes = bits_per_second * seconds / 8e9;
        Ok(Rate { bits_per_second, cpu_seconds_per_gigabyte: cpu / gigabytes })
    }
}

fn words(program: &File, args: &str) -> Vec<String> {
    let program = program.display().to_string();
    std::iter::once(program).chain(args.split_whitespace().map(String::from)).collect()
}

/// Our own example prints one JSON document: the receiver's bits over the receiver's time.
pub(super) fn comm(text: &str) -> Option<f64> {
    #[derive(Deserialize)]
    struct Comm {
        goodput_bit_s: f64,
    }
    serde_json::from_str::<Comm>(text).ok().map(|comm| comm.goodput_bit_s)
}

fn iperf3(text: &str) -> Option<f64> {
    let document: serde_json::Value = serde_json::from_str(text).ok()?;
    document.pointer("/end/sum_received/bits_per_second")?.as_f64()
}

/// `megabytes=242.6 real_seconds=1.00 rate_Mbps=2033.2 ...`
fn nuttcp(text: &str) -> Option<f64> {
    let rate = text.split_whitespace().find_map(|word| word.strip_prefix("rate_Mbps="))?;
    rate.parse::<f64>().ok().map(|megabits| megabits * 1e6)
}

/// `bw  =  285299500 bytes/sec`
fn qperf(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_start().starts_with("bw"))?;
    let bytes = line.split_whitespace().find_map(|word| word.parse::<f64>().ok())?;
    Some(bytes * 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_s_rate_is_read_in_bits_per_second() {
        let iperf3_text = r#"{"end":{"sum_received":{"bits_per_second":634764701.5}}}"#;
        assert_eq!(iperf3(iperf3_text), Some(634_764_701.5));
        let nuttcp_text = "megabytes=242.6 real_seconds=1.00 rate_Mbps=2033.25 tx_cpu=96";
        assert_eq!(nuttcp(nuttcp_text), Some(2_033_250_000.0));
        assert_eq!(qperf("tcp_bw:\n    bw  =  1000 bytes/sec\n"), Some(8000.0));
        assert_eq!(comm(r#"{"goodput_bit_s": 5e9, "more": 1}"#), Some(5e9));
        assert_eq!(qperf("failed"), None);
    }
}
