//! One link from its first namespace to its last packet, with the command inside.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use std::time::Instant;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::sample::DirectionSample;
use btu_core::words::shell_word;
use btu_sys::process;
use btu_sys::process::Arrived;
use btu_sys::process::Compartment;
use btu_sys::process::Event;
use btu_sys::process::Foreground;
use btu_sys::process::Happening;
use btu_sys::process::Origin;
use btu_sys::process::Privileges;
use btu_sys::process::ProcessError;
use btu_sys::process::Program;
use btu_sys::process::ReplacedFile;
use btu_sys::process::SignalQueue;
use btu_sys::process::Stdin;
use btu_sys::process::Stdout;
use btu_testbed::around::FarEnd;
use btu_testbed::capture::Capture;
use signal_hook::consts::SIGHUP;
use signal_hook::consts::SIGINT;
use signal_hook::consts::SIGQUIT;
use signal_hook::consts::SIGTERM;

use super::elements::Elements;
use super::emulator::Emulator;
use super::emulator::Record;
use super::far::Listeners;
use super::network;
use super::network::Network;
use super::options::LinkArgs;
use super::options::Net;
use super::reach;
use super::reach::Target;
use super::resolver;
use super::statement;
use crate::exit::Failure;

/// A link that works, with the command ready to start.
#[derive(Debug)]
pub(crate) struct Session {
    network: Network,
    compartment: Compartment,
    signals: SignalQueue,
    emulator: Emulator,
    foreground: Option<Foreground>,
    command: String,
    reached: Vec<Target>,
    far: Option<String>,
    notes: Vec<String>,
}

/// What is left of a link.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The command's exit status; 128 + n for signal n.
    pub(crate) status: u8,
    /// `up`, then `down`.
    pub(crate) directions: Vec<DirectionSample>,
    /// The packets, where they were asked for.
    pub(crate) capture: Option<Capture>,
    /// What happened beside the packets.
    pub(crate) notes: Vec<String>,
}

impl Session {
    /// Makes everything that must stand before the command starts.
    pub(crate) fn prepare(
        args: &LinkArgs,
        elements: &Elements,
        command: &[OsString],
    ) -> Result<Self, Failure> {
        let targets = reach::targets(&args.surroundings.reach)?;
        let foreground = Foreground::of_this_process();
        let network = Network::create(args.mtu, args.surroundings.net)?;
        if network.far_end == FarEnd::Here && !targets.is_empty() {
            return Err(super::only_outermost("--reach"));
        }
        // Init is a copy of this process, so it comes before the emulator's threads.
        let programs = programs(args, command, &network);
        let hosts = reach::hosts_file(&targets, &network.around);
        let nameless = hosts.as_ref().err();
        let notes = nameless.map(|cause| reach::without_names(&targets, &network.around, cause));
        let files = files(args.surroundings.net, hosts.ok().flatten(), &network);
        let compartment = Compartment::create(&programs, &files).map_err(Failure::environment)?;
        let signals = SignalQueue::open().map_err(|cause| {
            Failure::environment(anyhow!(cause).context("queue the signals of this process"))
        })?;
        reach::serve(&targets, &network.around)?;
        let emulator = Emulator::start(args, elements, &network.around)?;
        Ok(Self {
            network,
            compartment,
            signals,
            emulator,
            foreground,
            command: command.first().map_or_else(String::new, |name| name.display().to_string()),
            reached: targets,
            far: args.surroundings.far.clone(),
            notes: notes.unwrap_or_default(),
        })
    }

    /// The first words: what was understood.
    pub(crate) fn announcement(&self, elements: &Elements) -> String {
        let depth = self.network.around.depth();
        let link = format!("link {} - {}", depth.near(), depth.far());
        let understood = statement::understood(elements);
        let reached = self.reached.iter().map(|target| target.announcement(&self.network.around));
        let lines: Vec<String> =
            std::iter::once(format!("{link}: {understood}")).chain(reached).collect();
        lines.join("\n")
    }

    /// Runs the far end's server and the command, until the command ends.
    pub(crate) fn run(mut self) -> Result<Ended, Failure> {
        let status = match self.start_far()? {
            Some(status) => status,
            None => self.run_command_unless_ended()?,
        };
        // First the processes, then the link: no packet is lost that still could be counted.
        drop(self.compartment);
        if let Some(foreground) = &self.foreground {
            foreground.restore();
        }
        let Record { directions, capture } = self.emulator.stop()?;
        let lost = capture.as_ref().map_or(0, |capture| capture.lost);
        if lost > 0 {
            self.notes.push(format!("capture: its memory was full, {lost} packets are missing"));
        }
        Ok(Ended { status, directions, capture, notes: self.notes })
    }

    /// A key pressed until now reached nobody but this process.
    fn run_command_unless_ended(&mut self) -> Result<u8, Failure> {
        match ended_by(&self.signals)? {
            Some(status) => Ok(status),
            None => self.run_command(),
        }
    }

    fn run_command(&mut self) -> Result<u8, Failure> {
        self.compartment.start(COMMAND).map_err(Failure::environment)?;
        loop {
            match self.wait(None)? {
                Some(Happening::Inside(Event::Ended { program: COMMAND, ended })) => {
                    return Ok(ended.exit_code());
                }
                Some(Happening::Inside(event)) => self.note(event)?,
                // What the terminal sends reaches the command directly: it is in our group.
                Some(Happening::Signal(signal)) if signal.origin == Origin::Kernel => {}
                Some(Happening::Signal(signal)) => {
                    self.compartment
                        .signal(COMMAND, signal.signal)
                        .map_err(Failure::environment)?;
                }
                None => {}
            }
        }
    }

    /// Starts the server and waits until it listens, but not for ever: some never do. The status of
    /// the whole where a signal came before the command ran.
    fn start_far(&mut self) -> Result<Option<u8>, Failure> {
        if self.far.is_none() {
            return Ok(None);
        }
        let before = Listeners::of(self.network.around.far());
        self.compartment.start(FAR).map_err(Failure::environment)?;
        let begin = Instant::now();
        let mut serves_alone = false;
        loop {
            // First who runs, then who listens: a server that began meanwhile is seen.
            let is_left_alone = serves_alone && !self.compartment.runs_anything();
            if Listeners::of(self.network.around.far()).has_more_than(&before) {
                return Ok(None);
            }
            let waited = begin.elapsed();
            if is_left_alone || waited >= FAR_PATIENCE {
                self.note_silence(is_left_alone);
                return Ok(None);
            }
            match self.wait(Some(far_poll(waited)))? {
                Some(Happening::Inside(Event::Ended { program: FAR, ended })) => {
                    self.far_ended_early(ended.exit_code())?;
                    serves_alone = true;
                }
                Some(Happening::Inside(event)) => self.note(event)?,
                Some(Happening::Signal(signal)) => {
                    if let Some(status) = status_of(signal) {
                        return Ok(Some(status));
                    }
                }
                None => {}
            }
        }
    }

    /// The command runs all the same: it may want nobody there, or somebody who listens otherwise.
    fn note_silence(&mut self, is_left_alone: bool) {
        let far = self.far.as_deref().unwrap_or_default();
        let what = if is_left_alone {
            "ended before the command began, and nobody listens there".to_owned()
        } else {
            format!("nobody listened there {} s after it", FAR_PATIENCE.as_secs())
        };
        self.notes.push(format!("far end: '{far}': {what}"));
    }

    /// A server that made itself a daemon ends with 0, and may not listen yet.
    fn far_ended_early(&self, status: u8) -> Result<(), Failure> {
        if status == 0 {
            return Ok(());
        }
        let far = self.far.as_deref().unwrap_or_default();
        Err(Failure::environment(anyhow!("--far '{far}': ended with status {status} at once")))
    }

    fn wait(&self, timeout: Option<Duration>) -> Result<Option<Happening>, Failure> {
        self.compartment.wait(&self.signals, timeout).map_err(|cause| match cause {
            gone @ ProcessError::InitGone(_) => Failure::environment(gone),
            other => Failure::environment(anyhow!(other).context("watch the command")),
        })
    }

    /// Everything but the command's end.
    fn note(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Started { .. } => {}
            Event::Refused { program, cause } => {
                let command = shell_word(&self.command);
                let which = if program == COMMAND { &command } else { "--far" };
                let hint = unstartable(&cause);
                let cause = anyhow!(cause).context(format!("execute {which}"));
                return Err(Failure::usage(cause).hint(hint));
            }
            Event::Ended { ended, .. } => {
                let far = self.far.as_deref().unwrap_or_default();
                let status = ended.exit_code();
                self.notes.push(format!("far end: '{far}' ended first, with status {status}"));
            }
        }
        Ok(())
    }
}

/// The status of the whole, where a signal in the queue ends it while there is no command that would get it.
fn ended_by(signals: &SignalQueue) -> Result<Option<u8>, Failure> {
    let next = || signals.next().context("read the queue of signals").map_err(Failure::environment);
    while let Some(signal) = next()? {
        if let Some(status) = status_of(signal) {
            return Ok(Some(status));
        }
    }
    Ok(None)
}

/// 128 + n for a signal n that asks for the end. A blocked signal is queued though it is ignored, as SIGHUP
/// is under `nohup`.
fn status_of(arrived: Arrived) -> Option<u8> {
    let ends = ENDING.contains(&arrived.signal) && !process::ignores(arrived.signal);
    u8::try_from(arrived.signal).ok().filter(|_| ends).map(|number| 128 + number)
}

/// What to do about a command that cannot be started.
fn unstartable(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::NotFound => {
            "the first word after -- names a program, by path or in PATH; what needs a shell goes \
             into -- sh -c '...'"
        }
        // The system says the same of a word that no directory of PATH has, where one may not be looked into.
        io::ErrorKind::PermissionDenied => {
            "name a program, by path or in PATH; make a file executable with chmod +x, or give it to \
             its interpreter"
        }
        _ => "try the same command without btu link",
    }
}

/// The command, and the far end's server if there is one.
fn programs<'n>(args: &LinkArgs, command: &[OsString], network: &'n Network) -> Vec<Program<'n>> {
    let privileges = if args.surroundings.plain { Privileges::Plain } else { Privileges::Ambient };
    let near = Program {
        argv: command.to_vec(),
        environment: variables(network, args.surroundings.far.is_some()),
        network: Some(network.around.near().as_fd()),
        stdout: if args.output.json { Stdout::Stderr } else { Stdout::Inherited },
        stdin: Stdin::Inherited,
        privileges,
    };
    let far = args.surroundings.far.as_ref().map(|text| Program {
        argv: ["/bin/sh", "-c", text].map(OsString::from).to_vec(),
        network: Some(network.around.far().as_fd()),
        stdout: Stdout::Stderr,
        stdin: Stdin::Null,
        ..near.clone()
    });
    std::iter::once(near).chain(far).collect()
}

/// What a program finds of its link; nothing of an enclosing one that has more.
fn variables(network: &Network, own_server: bool) -> Vec<(OsString, Option<OsString>)> {
    let depth = network.around.depth();
    let far6 = network.target6(own_server);
    let near6 = far6.as_ref().map(|_| depth.near6().to_string());
    let all = [
        (network::NEAR, Some(depth.near().to_string())),
        (network::FAR, Some(network.target(own_server))),
        (network::NEAR6, near6),
        (network::FAR6, far6),
        (network::DEPTH, Some(depth.to_string())),
    ];
    all.map(|(name, value)| (name.into(), value.map(OsString::from))).into()
}

/// Files that would mean something else behind the link.
fn files(net: Net, hosts: Option<ReplacedFile>, network: &Network) -> Vec<ReplacedFile> {
    let content = resolver::behind_link(net, network.around.depth().far());
    let resolver = content.map(|content| ReplacedFile {
        path: resolver::RESOLV_CONF.into(),
        content: content.into(),
    });
    hosts.into_iter().chain(resolver).collect()
}

/// The others that are queued mean something to a command alone.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// Indices of the programs.
const COMMAND: usize = 0;
const FAR: usize = 1;
/// How long a server may take until it listens; an interpreter on a busy machine takes seconds.
const FAR_PATIENCE: Duration = Duration::from_secs(5);
/// The pause before the next look: a quick server is seen at once, and one that takes long a little later.
/// The kernel goes through its whole table of connections for each look, which takes milliseconds.
fn far_poll(waited: Duration) -> Duration {
    (waited / 8).clamp(Duration::from_millis(5), Duration::from_millis(200))
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::SIGUSR1;
    use signal_hook::consts::SIGWINCH;
    use signal_hook::low_level::raise;

    use super::*;

    #[test]
    fn before_the_command_a_signal_that_asks_for_the_end_ends_the_link_and_no_other_does() {
        let signals = SignalQueue::open().unwrap();
        assert_eq!(ended_by(&signals).unwrap(), None);
        for signal in [SIGWINCH, SIGUSR1] {
            raise(signal).unwrap();
        }
        assert_eq!(ended_by(&signals).unwrap(), None, "and they are gone");
        for (signal, status) in [(SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 131), (SIGTERM, 143)] {
            raise(SIGWINCH).unwrap();
            raise(signal).unwrap();
            // Whoever started the tests may have had some of them ignored, as a shell does of what runs behind it.
            let expected = (!process::ignores(signal)).then_some(status);
            assert_eq!(ended_by(&signals).unwrap(), expected);
        }
        assert!(!process::ignores(SIGTERM));
        assert_eq!(ended_by(&signals).unwrap(), None);
    }
}
