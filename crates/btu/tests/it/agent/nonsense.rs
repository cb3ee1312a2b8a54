//! A paired host that talks nonsense: over its own secure channel, where strangers do not come.

use std::io;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use btu_control::HostId;
use btu_control::Identity;
use btu_control::frame;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Bounded;
use btu_control::message::MAJOR;
use btu_control::message::MINOR;
use btu_control::message::Request;
use btu_control::tls;
use rustls::ClientConnection;
use serde_json::Value;

use super::broken::assert_works;
use super::broken::garbage;
use super::broken::log;
use super::hosts::Black;
use super::hosts::Hosts;
use crate::dice::Dice;
use crate::dice::mutated;
use crate::isolated::isolated;
use crate::parsers::corpus;

/// A paired host that says anything at all, whole dialogues twice among it.
#[test]
fn a_paired_host_that_talks_nonsense_gets_nothing_and_harms_nobody() {
    let name = "agent::nonsense::a_paired_host_that_talks_nonsense_gets_nothing_and_harms_nobody";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let own = Identity::load_or_create(&hosts.state("2")).unwrap();
        let id: HostId = agent.id().as_str().unwrap().parse().unwrap();
        let mut dice = Dice::new(1);
        let (mut said, mut welcomed) = (0, 0);
        hosts.inside(2, || {
            for (file, bytes) in corpus("frame") {
                // As it is, again on the same connection, and damaged.
                let twice = [&bytes[..], &bytes[..]].concat();
                let damaged = (0..3).map(|_| mutated(&bytes, &mut dice));
                for (time, words) in std::iter::once(twice).chain(damaged).enumerate() {
                    said += 1;
                    let heard = say(&agent, (&own, id), &words);
                    welcomed += usize::from(heard.unwrap_or_else(|error| {
                        let before = format!("{}, {time}, after {said} dialogues", file.display());
                        panic!("{before}: {error}\nlog of the agent: {}", log(&agent))
                    }));
                }
            }
        });
        assert!(welcomed * 2 > said, "{welcomed} of {said} were heard");
        assert_works(&hosts, &agent, "result");
    });
}

/// Streams of damaged frames: of most the agent hears a word or three before it ends them.
#[test]
fn damaged_streams_of_a_paired_host_change_nothing() {
    isolated("agent::nonsense::damaged_streams_of_a_paired_host_change_nothing", || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let own = Identity::load_or_create(&hosts.state("2")).unwrap();
        let id: HostId = agent.id().as_str().unwrap().parse().unwrap();
        let mut welcomed = 0;
        hosts.inside(2, || {
            for (number, forty) in garbage().chunks(40).enumerate() {
                let heard = say(&agent, (&own, id), &forty.concat());
                welcomed += usize::from(heard.unwrap_or_else(|error| {
                    panic!("dialogue {number}: {error}\nlog of the agent: {}", log(&agent))
                }));
            }
        });
        assert!(welcomed > 225, "{welcomed} of 250 dialogues were begun");
        assert_works(&hosts, &agent, "result");
    });
}

/// Each of ten thousand is a whole frame whose content is no request, each is heard, and each is answered:
/// the third of a dialogue by its end.
#[test]
fn ten_thousand_malformed_frames_of_a_paired_host_change_nothing() {
    let name = "agent::nonsense::ten_thousand_malformed_frames_of_a_paired_host_change_nothing";
    isolated(name, || {
        let hosts = Hosts::new();
        let agent = hosts.lab1(&[]);
        let own = Identity::load_or_create(&hosts.state("2")).unwrap();
        let id: HostId = agent.id().as_str().unwrap().parse().unwrap();
        let before = agent.processes();
        // As many dialogues at once as there are seeds: most of one is waiting.
        let talk = |seed: u64| {
            let mut malformed = Malformed::new(seed);
            for dialogue in 0..DIALOGUES {
                let three: [Vec<u8>; 3] = std::array::from_fn(|_| malformed.frame());
                let refusals =
                    provoke(&agent, (&own, id), &three.concat()).unwrap_or_else(|error| {
                        let after = format!("seed {seed}, dialogue {dialogue}, {three:?}");
                        panic!("{after}: {error}\nlog of the agent: {}", log(&agent))
                    });
                assert_eq!(refusals, [REFUSED, REFUSED, BYE], "{three:?}");
            }
        };
        std::thread::scope(|scope| {
            for seed in 0..SEEDS {
                let talk = &talk;
                let hosts = &hosts;
                scope.spawn(move || hosts.inside(2, || talk(seed)));
            }
        });
        assert_eq!(agent.processes(), before, "a process of the agent ended, or one more runs");
        assert_eq!(agent.status()["connections"], 1, "only the one that asks is left");
        assert_works(&hosts, &agent, "result");
    });
}

/// Frames that are whole and mean nothing: damaged messages of the corpus, each told apart from a request
/// by the agent's own parser.
struct Malformed {
    messages: Vec<Vec<u8>>,
    dice: Dice,
    next: usize,
}

impl Malformed {
    fn new(seed: u64) -> Self {
        let mut messages = Vec::new();
        for (_, bytes) in corpus("frame").into_iter().chain(corpus("join")) {
            let mut frames = FrameReader::new(FrameLimits::ANSWERS);
            frames.push(&bytes);
            while let Ok(Some(Frame::Message(text))) = frames.next_frame() {
                messages.push(text);
            }
        }
        assert!(messages.len() > 20, "{} messages", messages.len());
        Self { messages, dice: Dice::new(seed), next: 0 }
    }

    fn frame(&mut self) -> Vec<u8> {
        loop {
            let message = &self.messages[self.next % self.messages.len()];
            self.next += 1;
            let mut damaged = mutated(message, &mut self.dice);
            damaged.truncate(4096);
            // What does not begin as a message ends the stream at once, and is no frame.
            if damaged.first() != Some(&b'{') || Request::parse(&damaged).is_ok() {
                continue;
            }
            let length = u32::try_from(damaged.len()).unwrap();
            return [&length.to_be_bytes()[..], &damaged].concat();
        }
    }
}

const SEEDS: u64 = 6;
/// Of three frames each: 10,000 of them and some more.
const DIALOGUES: u64 = 556;
const REFUSED: &str = "refused";
const BYE: &str = "bye";

/// A greeting, and then these bytes: the kinds of all answers to them, until the agent has ended the
/// connection.
fn provoke(
    agent: &Black<'_>,
    (own, id): (&Identity, HostId),
    bytes: &[u8],
) -> io::Result<Vec<String>> {
    let mut tls = greeting(own, id);
    let mut stream = connected(agent)?;
    let mut channel = rustls::Stream::new(&mut tls, &mut stream);
    channel.write_all(&frame::encode(&hello()).unwrap())?;
    let (mut frames, mut space) = (FrameReader::new(FrameLimits::ANSWERS), [0; 4096]);
    let mut heard = Vec::new();
    let mut said = false;
    loop {
        match channel.read(&mut space) {
            Ok(0) => return Ok(heard),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(heard),
            Err(error) => return Err(error),
            Ok(count) => frames.push(&space[..count]),
        }
        while let Ok(Some(Frame::Message(text))) = frames.next_frame() {
            let answer: Value = serde_json::from_slice(&text).unwrap();
            let kind = answer["type"].as_str().unwrap().to_owned();
            if said {
                heard.push(kind);
            } else {
                assert_eq!(kind, "welcome", "{answer}");
                channel.write_all(bytes)?;
                channel.flush()?;
                said = true;
            }
        }
    }
}

/// How long an agent that lives may take for a step of a dialogue.
const A_STEP: Duration = Duration::from_secs(5);

/// A greeting, and then these bytes; the agent may close at any moment, but not be silent. True where it
/// welcomed.
fn say(agent: &Black<'_>, (own, id): (&Identity, HostId), bytes: &[u8]) -> io::Result<bool> {
    let mut tls = greeting(own, id);
    let mut stream = connected(agent)?;
    let mut channel = rustls::Stream::new(&mut tls, &mut stream);
    let mut answer = [0; 4096];
    let greeted = channel.write_all(&frame::encode(&hello()).unwrap());
    let heard = or_closed(greeted.and_then(|()| channel.read(&mut answer)))?;
    let answer = String::from_utf8_lossy(&answer[..heard]);
    assert!(heard == 0 || answer.contains(r#""type":"welcome""#), "{answer}");
    let talked = channel.write_all(bytes).and_then(|()| channel.flush());
    or_closed(talked.map(|()| 0))?;
    Ok(heard > 0)
}

fn hello() -> Request {
    Request::Hello { major: MAJOR, minor: MINOR, build: "0".to_owned() }
}

fn greeting(own: &Identity, id: HostId) -> ClientConnection {
    let config = Arc::new(tls::client_config(own, id).unwrap());
    ClientConnection::new(config, tls::no_name()).unwrap()
}

/// Whose steps take no longer than an agent that lives may.
fn connected(agent: &Black<'_>) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&agent.address().parse().unwrap(), A_STEP)?;
    stream.set_read_timeout(Some(A_STEP))?;
    stream.set_write_timeout(Some(A_STEP))?;
    Ok(stream)
}

/// A connection that was closed gave nothing; one that is silent is a failure.
fn or_closed(step: io::Result<usize>) -> io::Result<usize> {
    use io::ErrorKind;
    step.or_else(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(error),
        _ => Ok(0),
    })
}
