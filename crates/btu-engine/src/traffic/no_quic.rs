//! What stands in the place of QUIC in a build without it: an end that nobody can have.

use std::io;
use std::net::SocketAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::units::Nanos;

use super::job::QuicSettings;
use crate::error::EngineError;

/// An end that does not exist.
#[derive(Debug)]
pub(super) enum QuicEnd {}

/// An end of a conversation that does not exist.
#[derive(Debug)]
pub(crate) enum QuicTalk {}

/// A stream that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamId {}

/// What the ends of a job show that are waited at: nothing in this build.
#[derive(Clone, Debug)]
pub enum Keys {}

/// Trust that nobody can have.
pub(crate) enum Trust {}

/// Which end of a stream an end of a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Reads,
    Sends,
}

impl Keys {
    /// None.
    ///
    /// # Errors
    /// Always: how to get them.
    pub fn new() -> Result<Self, EngineError> {
        Err(left_out())
    }

    /// What the ends that connect have to know.
    pub fn certificate(&self) -> &[u8] {
        match *self {}
    }
}

impl Trust {
    pub(crate) fn of(_: &[u8]) -> Result<Self, EngineError> {
        Err(left_out())
    }
}

fn left_out() -> EngineError {
    EngineError::Refused("this build leaves quic out: build with `--features quic`".to_owned())
}

impl QuicEnd {
    pub(super) fn awaiting(
        _: Arc<UdpSocket>,
        keys: &Keys,
        _: (&QuicSettings, u32),
        _: Half,
    ) -> Result<Self, EngineError> {
        match *keys {}
    }

    pub(super) fn calling(
        _: Arc<UdpSocket>,
        trust: &Trust,
        _: (&QuicSettings, u32, SocketAddr),
        _: Half,
    ) -> Result<Self, EngineError> {
        match *trust {}
    }

    pub(super) fn is_met(&mut self) -> io::Result<bool> {
        match *self {}
    }

    pub(super) fn turn(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn due(&mut self) -> Option<Nanos> {
        match *self {}
    }

    pub(super) fn send(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(super) fn recv(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(super) fn finish(&mut self) {
        match *self {}
    }

    pub(super) fn delivers(&self) -> bool {
        match *self {}
    }

    pub(super) fn acknowledgements(&self) -> u64 {
        match *self {}
    }

    pub(super) fn is_gone(&self) -> bool {
        match *self {}
    }

    pub(super) fn close(&mut self) {
        match *self {}
    }
}

impl QuicTalk {
    pub(crate) fn answerer(
        _: UdpSocket,
        keys: &Keys,
        _: &QuicSettings,
    ) -> Result<Self, EngineError> {
        match *keys {}
    }

    pub(crate) fn asker(
        _: UdpSocket,
        trust: &Trust,
        _: &QuicSettings,
        _: SocketAddr,
    ) -> Result<Self, EngineError> {
        match *trust {}
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        match *self {}
    }

    pub(crate) fn meet(&mut self, _: Nanos, _: &AtomicBool) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn idle_until(&mut self, _: Nanos, _: &AtomicBool) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn pause(&mut self, _: Nanos) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn turn(&mut self) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn due(&mut self) -> Option<Nanos> {
        match *self {}
    }

    pub(crate) fn open(&mut self) -> io::Result<StreamId> {
        match *self {}
    }

    pub(crate) fn accept(&mut self) -> Option<StreamId> {
        match *self {}
    }

    pub(crate) fn send(&mut self, _: StreamId, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn recv(&mut self, _: StreamId, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn finish(&mut self, _: StreamId) {
        match *self {}
    }

    pub(crate) fn is_gone(&self) -> bool {
        match *self {}
    }

    pub(crate) fn close(&mut self) {
        match *self {}
    }
}
