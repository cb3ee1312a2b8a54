//! The seam between a relay and one of its threads: start, command, end.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::thread;
use std::thread::JoinHandle;

use btu_core::link::Chain;
use btu_sys::cpu;
use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::packet::PacketSocket;
use btu_sys::wait::Waker;

use crate::backend::BackendError;
use crate::backend::DEFAULT_MEMORY;
use crate::backend::LinkPorts;
use crate::backend::Settings;

use super::direction::Direction;
use super::pause::Pause;
use super::store::Store;
use super::worker::Command;
use super::worker::Link;
use super::worker::Worker;

/// A thread that carries some links. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Handle {
    /// Indices of the links that it carries.
    pub(super) links: Range<usize>,
    waker: Waker,
    thread: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    commands: Sender<Command>,
    thread: JoinHandle<Result<(), BackendError>>,
}

impl Handle {
    /// Starts a thread in the namespace `wire`; returns once it carries packets.
    pub(super) fn start(
        wire: &NetNs,
        links: Range<usize>,
        ports: &[LinkPorts],
        settings: &Settings,
        chains: Vec<[Chain; 2]>,
    ) -> Result<Self, BackendError> {
        let waker = Waker::new()?;
        let wire = wire.try_clone();
        let crew = Crew {
            wire: wire.map_err(|cause| btu_sys::Error::new("share a namespace", cause))?,
            ports: ports.to_vec(),
            settings: settings.clone(),
            waker: waker.clone(),
        };
        let (commands, orders) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("btu-relay".to_owned())
            .spawn(move || crew.work(chains, orders, &ready))
            .map_err(btu_sys::limit::no_thread)?;
        let thread = Mutex::new(Some(Running { commands, thread }));
        let handle = Self { links, waker, thread };
        match started.recv() {
            Ok(()) => Ok(handle),
            Err(_) => Err(handle.end()),
        }
    }

    /// Sends a command and waits for its answer. A thread that ended says why.
    pub(super) fn ask<T>(
        &self,
        command: impl FnOnce(Sender<T>) -> Command,
    ) -> Result<T, BackendError> {
        let (reply, answer) = mpsc::channel();
        if let Some(running) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            // Where the thread is gone the answer cannot come either.
            let _ = running.commands.send(command(reply));
            self.waker.wake();
        }
        answer.recv().map_err(|_| self.end())
    }

    /// Ends the thread and says why it ended.
    fn end(&self) -> BackendError {
        let running = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stopped = |cause: &str| BackendError::Stopped { cause: cause.to_owned() };
        let Some(Running { commands, thread }) = running else {
            return stopped("its thread ended before");
        };
        drop(commands);
        self.waker.wake();
        match thread.join() {
            Ok(Ok(())) => stopped("it was told to"),
            Ok(Err(cause)) => cause,
            Err(_) => stopped("its thread panicked"),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a thread takes along.
struct Crew {
    wire: NetNs,
    ports: Vec<LinkPorts>,
    settings: Settings,
    waker: Waker,
}

impl Crew {
    /// The life of a thread; dropping `ready` unsent says that it did not start.
    fn work(
        self,
        chains: Vec<[Chain; 2]>,
        orders: Receiver<Command>,
        ready: &Sender<()>,
    ) -> Result<(), BackendError> {
        self.wire.enter()?;
        if let Some(cpus) = &self.settings.cpus {
            cpu::pin(cpus)?;
        }
        cpu::set_timer_slack(1)?;
        cpu::prefer_latency();
        let links = self.open_links(chains)?;
        let stopped = |cause: std::io::Error| BackendError::Stopped { cause: cause.to_string() };
        let pause = Pause::choose(self.settings.wait, self.settings.shared_cpus);
        let worker = Worker::new(links, self.waker, orders, pause.map_err(stopped)?)?;
        if let Some(give_up) = self.settings.give_up {
            give_up().map_err(|cause| btu_sys::Error::new("give up rights", cause))?;
        }
        // Whoever started the thread waits for this; if not, it ends by itself at once.
        let _ = ready.send(());
        worker.run().map_err(stopped)
    }

    fn open_links(&self, chains: Vec<[Chain; 2]>) -> Result<Vec<Link>, BackendError> {
        let mut netlink = Netlink::open(&self.wire)?;
        let memory = self.settings.memory.unwrap_or(DEFAULT_MEMORY);
        let mut links = Vec::new();
        for (ports, [up, down]) in self.ports.iter().zip(chains) {
            let mut open = |device: &str| -> btu_sys::Result<PacketSocket> {
                PacketSocket::open(netlink.link(device)?.index, self.settings.form)
            };
            links.push(Link {
                near: open(&ports.near)?,
                far: open(&ports.far)?,
                up: Direction::new(up, Store::new(memory)?),
                down: Direction::new(down, Store::new(memory)?),
            });
        }
        Ok(links)
    }
}
