//! The listener on this host's own addresses, in a process of its own: it opens its packet socket,
//! gives up its rights, and then records the connections of one run at a time for the agent.

mod turn;

use std::io;
use std::io::Read;
use std::net::IpAddr;
use std::net::SocketAddr;

use anyhow::Context;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::MOST_PACKETS;
use btu_control::message::Which;
use btu_core::units::Bytes;
use btu_sys::process;
use btu_sys::wait::Waiter;
use btu_testbed::capture::Capture;
use btu_testbed::capture::Connection;
use btu_testbed::capture::Ear;
use btu_testbed::capture::End;
use btu_testbed::capture::Own;
use btu_testbed::capture::write_pcapng;
use serde::Deserialize;
use serde::Serialize;

use super::confine;
use super::worker::doorway::Ends;
use crate::exit::Exit;
use crate::exit::Failure;

pub(super) use self::turn::Listener;

/// What the agent tells its listener when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct ListenerArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
}

/// The whole list of what an agent can ask of its listener.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Order {
    /// Record what comes from a host to these sockets, and what they answer.
    Begin { turn: u64, local: Vec<SocketAddr>, remote: IpAddr },
    /// Forget it.
    End {},
    /// Hand over what was recorded of these connections.
    Hand { turn: u64, connections: Vec<Ends> },
}

/// Opens the socket, and does what it is told until the agent is gone.
pub(super) fn listener(args: &ListenerArgs) -> Result<Exit, Failure> {
    let made = make(args);
    let told = made.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
    btu_control::line::say(&mut io::stdout(), &told).map_err(Failure::environment)?;
    let Ok(mut ear) = made else { return Ok(Exit::Done) };
    serve(&mut ear).context("listen for the agent").map_err(Failure::environment)
}

/// The right to open the socket is the only one it needs, and it goes before anything is heard.
fn make(args: &ListenerArgs) -> anyhow::Result<Ear> {
    process::die_with_parent(args.parent).context("bind the listener to its agent")?;
    let ear = Ear::open()?;
    confine::worker().context("confine the listener")?;
    Ok(ear)
}

fn serve(ear: &mut Ear) -> anyhow::Result<Exit> {
    let waiter = Waiter::new()?;
    waiter.add(&io::stdin())?;
    let mut frames = FrameReader::new(FrameLimits::ORDERS);
    // Larger than the buffer of stdin, which so never keeps what nobody waits for.
    let mut space = vec![0; 64 << 10];
    loop {
        let is_told = waiter.wait(ear.is_hearing().then_some(NAP_NS))?;
        ear.note();
        if !is_told {
            continue;
        }
        match io::stdin().lock().read(&mut space) {
            Ok(0) => return Ok(Exit::Done),
            Ok(count) => frames.push(&space[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(Frame::Message(text)) = frames.next_frame()? {
            obey(ear, serde_json::from_slice(&text)?)?;
        }
    }
}

fn obey(ear: &mut Ear, order: Order) -> anyhow::Result<()> {
    let told = |error| format!("{:#}", anyhow::Error::new(error));
    let (turn, done) = match order {
        Order::Begin { turn, local, remote } => {
            let begun = ear.begin(Own { local, remote }, MOST_PACKETS);
            (turn, begun.map(|()| None).map_err(told))
        }
        Order::End {} => return ear.finish().map(drop).map_err(Into::into),
        Order::Hand { turn, connections } => (turn, packets(ear, &connections).map(Some)),
    };
    let which = Which { seq: turn, ..Which::default() };
    let (answer, document) = match done {
        Ok(None) => (Answer::Prepared { which, addresses: Vec::new() }, Vec::new()),
        Ok(Some(packets)) => {
            let (seq, length) = (turn, packets.len() as u64);
            (Answer::Document { seq, length, moved_bytes: Bytes::ZERO, account: None }, packets)
        }
        Err(reason) => (Answer::Failed { seq: turn, reason }, Vec::new()),
    };
    super::worker::say(&mut io::stdout(), &answer, &document)
}

fn packets(ear: &mut Ear, connections: &[Ends]) -> Result<Vec<u8>, String> {
    let capture = ear.finish().map_err(|error| format!("{:#}", anyhow::Error::new(error)))?;
    let capture = capture.ok_or_else(|| "no packets of it were recorded".to_owned())?;
    file(capture, connections, End::Far).map_err(|error| error.to_string())
}

/// The packets of these connections, and of no other, as one end saw them.
pub(super) fn file(capture: Capture, connections: &[Ends], end: End) -> io::Result<Vec<u8>> {
    let connections: Vec<Connection> = connections
        .iter()
        .map(|[local, remote]| Connection { local: *local, remote: *remote })
        .collect();
    let mut file = Vec::new();
    write_pcapng(&mut file, &[capture.of_connections(&connections)], end)?;
    Ok(file)
}

/// Between two looks at what the kernel heard, which has room for a second of it.
const NAP_NS: u64 = 2_000_000;

#[cfg(test)]
mod tests {
    use btu_control::frame;

    use super::*;

    #[test]
    fn an_order_of_the_most_connections_that_a_run_may_have_is_heard_whole() {
        let end = |port: u16| -> SocketAddr {
            format!("[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:{port}").parse().unwrap()
        };
        let connections = (1..=1024).map(|n| [end(40_000 + n), end(50_000 + n)]).collect();
        let bytes = frame::encode(&Order::Hand { turn: u64::MAX, connections }).unwrap();
        let mut frames = FrameReader::new(FrameLimits::ORDERS);
        frames.push(&bytes);
        let Ok(Some(Frame::Message(text))) = frames.next_frame() else { panic!("no whole frame") };
        let order: Order = serde_json::from_slice(&text).unwrap();
        let Order::Hand { connections, .. } = order else { panic!("{order:?}") };
        assert_eq!(connections.len(), 1024);
    }
}
