//! A listener that was opened while there was a right to: it hears the connections of one test at a
//! time, and nothing in between.

use std::io;
use std::net::IpAddr;

use btu_sys::Error;
use btu_sys::Result;
use btu_sys::addresses;
use btu_sys::packet::Tap;

use super::Capture;
use super::Own;
use super::listen::Scribe;

/// The listener.
#[derive(Debug)]
pub struct Ear {
    tap: Tap,
    /// The addresses of this host, each with its link.
    links: Vec<(IpAddr, u32)>,
    hearing: Option<Hearing>,
}

#[derive(Debug)]
struct Hearing {
    own: Own,
    scribe: Scribe,
}

impl Ear {
    /// Needs the right to open packet sockets, which nothing else of it does.
    pub fn open() -> Result<Self> {
        Ok(Self { tap: Tap::closed()?, links: addresses()?, hearing: None })
    }

    /// Records these packets from now on, up to `limit` in each direction; what it recorded before is
    /// forgotten.
    pub fn begin(&mut self, own: Own, limit: usize) -> Result<()> {
        self.hearing = None;
        let here = own.local.first().map(|local| local.ip().to_canonical());
        let link = self.links.iter().find(|(address, _)| Some(*address) == here);
        let unknown = || {
            let whose = here.map_or_else(|| "no data socket".to_owned(), |here| here.to_string());
            let cause = "no address of this host when its agent started; start the agent again";
            Error::new(
                format!("find the device of {whose}"),
                io::Error::new(io::ErrorKind::NotFound, cause),
            )
        };
        let (_, link) = link.ok_or_else(unknown)?;
        self.tap.listen(*link, own.remote)?;
        self.hearing = Some(Hearing { own, scribe: Scribe::new(limit) });
        Ok(())
    }

    /// True while it records.
    pub const fn is_hearing(&self) -> bool {
        self.hearing.is_some()
    }

    /// Takes over what the kernel heard meanwhile.
    pub fn note(&mut self) {
        if let Some(Hearing { own, scribe }) = &mut self.hearing {
            scribe.note_all(&mut self.tap, Some(own));
        }
    }

    /// Hears nothing from now on, and hands over what was recorded; `None` where nothing was begun.
    pub fn finish(&mut self) -> Result<Option<Capture>> {
        self.tap.close()?;
        self.note();
        let Some(Hearing { scribe, .. }) = self.hearing.take() else { return Ok(None) };
        Ok(Some(scribe.finish(String::new(), self.tap.lost()?)))
    }
}
