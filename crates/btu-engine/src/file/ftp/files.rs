//! What a session of the FTP server does with files: transfers, listings, names.

use std::fs::File;
use std::io;
use std::net::TcpStream;

use btu_core::units::Bytes;
use btu_sys::socket;

use super::data;
use super::data::Broken;
use super::data::Patience;
use super::name::Meaning;
use super::name::Name;
use super::name::STANDING;
use super::reply::Reply;
use super::server::Shared;
use super::session::Refusal;
use super::session::Session;
use super::session::quoted;
use super::sink::Discard;
use super::source::Source;
use super::source::Stored;
use super::source::Text;
use super::store::Entry;
use super::store::StoreError;
use crate::file::disk::Reading;

/// Where an upload begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Afresh,
    AtTheEnd,
}

/// What a listing says of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    Long,
    Names,
}

impl Session {
    pub(super) fn retrieve(&mut self, argument: &str) -> Result<Reply, Refusal> {
        let name = self.directory.resolve(argument)?;
        match name.meaning() {
            Meaning::Directory => Err(StoreError::IsDirectory.into()),
            Meaning::Nothing | Meaning::Null => Err(StoreError::Missing.into()),
            Meaning::Stored => self.send_stored(&name),
            Meaning::Synthetic(pattern, size) => {
                let mut source = self.shared.patterns.file(pattern, size);
                self.send(&mut source)
            }
        }
    }

    /// A file of the directory, or of the memory.
    fn send_stored(&mut self, name: &Name) -> Result<Reply, Refusal> {
        if let Some(opened) = self.shared.on_disk(name) {
            return self.send_from_disk(opened.map_err(|_| StoreError::Missing)?.0);
        }
        let object = self.shared.store.file(name)?;
        self.send(&mut Stored::new(object))
    }

    fn send(&mut self, source: &mut impl Source) -> Result<Reply, Refusal> {
        let data = self.open_data()?;
        let sent = data::send(&data, source, self.patience());
        sent.map_err(|cause| self.broken(Broken::Connection(cause), &data))?;
        // The end of the file is the end of the connection: before the reply.
        self.shared.close(data);
        Ok(COMPLETE)
    }

    /// A file that is read into the buffer of the session while it is sent.
    fn send_from_disk(&mut self, file: File) -> Result<Reply, Refusal> {
        let data = self.open_data()?;
        let mut reading = Reading::of(file, &mut self.buffer);
        let sent = data::send(&data, &mut reading, Patience::of(&self.shared, &self.control));
        let read = reading.end();
        sent.map_err(|cause| self.broken(Broken::Connection(cause), &data))?;
        self.shared.close(data);
        read.map(|()| COMPLETE).map_err(|_| UNREADABLE.into())
    }

    /// What a client is told whose transfer broke off: nobody wants the rest. One that cannot be reached
    /// any more, where that has a bound, is told nothing, and its session is over: words, too, would be
    /// repeated.
    fn broken(&self, cause: Broken, data: &TcpStream) -> Refusal {
        use io::ErrorKind::TimedOut;
        use io::ErrorKind::WouldBlock;
        // Where these fail the kernel sends it in vain.
        let _ = socket::reset_on_close(&data);
        match cause {
            Broken::Connection(cause)
                if self.shared.settings.user_timeout.is_some()
                    && matches!(cause.kind(), TimedOut | WouldBlock) =>
            {
                Refusal::Control(cause)
            }
            Broken::Connection(_) => CUT.into(),
            Broken::Store(cause) => cause.into(),
        }
    }

    fn patience(&self) -> Patience<'_> {
        Patience::of(&self.shared, &self.control)
    }

    pub(super) fn write(&mut self, argument: &str, start: Start) -> Result<Reply, Refusal> {
        let name = self.directory.resolve(argument)?;
        match name.meaning() {
            Meaning::Directory | Meaning::Nothing | Meaning::Synthetic(..) => Err(FIXED.into()),
            Meaning::Null => self.discard(),
            Meaning::Stored => self.keep(&name, start),
        }
    }

    fn discard(&mut self) -> Result<Reply, Refusal> {
        let data = self.open_data()?;
        let patience = Patience::of(&self.shared, &self.control);
        let received = data::receive(&data, &mut Discard(&mut self.buffer), patience);
        received.map_err(|cause| self.broken(cause, &data))?;
        self.shared.close(data);
        Ok(COMPLETE)
    }

    fn keep(&mut self, name: &Name, start: Start) -> Result<Reply, Refusal> {
        self.shared.store.may_put(name)?;
        let before = match start {
            Start::Afresh => None,
            Start::AtTheEnd => self.shared.store.file(name).ok(),
        };
        let mut draft = self.shared.store.draft(before.as_deref())?;
        let data = self.open_data()?;
        let received = data::receive(&data, &mut draft, self.patience());
        received.map_err(|cause| self.broken(cause, &data))?;
        self.shared.close(data);
        self.shared.store.put(name, draft)?;
        Ok(COMPLETE)
    }

    pub(super) fn size(&self, argument: &str) -> Result<Reply, Refusal> {
        let name = self.directory.resolve(argument)?;
        let size = match name.meaning() {
            Meaning::Directory => return Err(StoreError::IsDirectory.into()),
            Meaning::Nothing | Meaning::Null => return Err(StoreError::Missing.into()),
            Meaning::Stored => match self.shared.on_disk(&name) {
                Some(opened) => opened.map_err(|_| StoreError::Missing)?.1,
                None => self.shared.store.file(&name)?.size(),
            },
            Meaning::Synthetic(_, size) => size,
        };
        Ok(Reply::told(213, size.count().to_string()))
    }

    pub(super) fn change_directory(&mut self, argument: &str) -> Result<Reply, Refusal> {
        let name = self.directory.resolve(argument)?;
        if !self.shared.store.is_directory(&name) {
            return Err(NO_DIRECTORY.into());
        }
        self.directory = name;
        Ok(CHANGED)
    }

    pub(super) fn delete(&self, argument: &str) -> Result<Reply, Refusal> {
        self.shared.store.remove(&self.changeable(argument)?)?;
        Ok(REMOVED)
    }

    pub(super) fn make_directory(&self, argument: &str) -> Result<Reply, Refusal> {
        let name = self.changeable(argument)?;
        self.shared.store.make_directory(&name)?;
        Ok(quoted(257, &name, "made"))
    }

    pub(super) fn remove_directory(&self, argument: &str) -> Result<Reply, Refusal> {
        self.shared.store.remove_directory(&self.changeable(argument)?)?;
        Ok(REMOVED)
    }

    /// A name that is the store's alone.
    fn changeable(&self, argument: &str) -> Result<Name, Refusal> {
        let name = self.directory.resolve(argument)?;
        if name.meaning() == Meaning::Stored { Ok(name) } else { Err(FIXED.into()) }
    }

    pub(super) fn list(
        &mut self,
        argument: Option<&str>,
        listing: Listing,
    ) -> Result<Reply, Refusal> {
        let name = self.directory.resolve(argument.unwrap_or_default())?;
        let text = self.contents(&name)?.iter().map(|row| row.line(listing)).collect();
        self.send(&mut Text::new(text))
    }

    fn contents(&self, name: &Name) -> Result<Vec<Row>, Refusal> {
        if !self.shared.store.is_directory(name) {
            return Ok(vec![self.file_row(name)?]);
        }
        let standing = STANDING
            .iter()
            .filter(|_| *name == Name::root())
            .map(|standing| Row { name: (*standing).to_owned(), size: None });
        let stored = self.shared.store.list(name).into_iter().map(|(name, entry)| Row {
            name: name.last().to_owned(),
            size: match entry {
                Entry::Directory => None,
                Entry::File(object) => Some(object.size()),
            },
        });
        Ok(standing.chain(stored).collect())
    }

    fn file_row(&self, name: &Name) -> Result<Row, Refusal> {
        let size = match name.meaning() {
            Meaning::Synthetic(_, size) => size,
            _ => self.shared.store.file(name)?.size(),
        };
        Ok(Row { name: name.last().to_owned(), size: Some(size) })
    }
}

impl Shared {
    /// The file that a name below `/disk/` stands for; `None` where that is a name as any other.
    fn on_disk(&self, name: &Name) -> Option<io::Result<(File, Bytes)>> {
        Some(self.disk.as_ref()?.open(name.as_str().strip_prefix("/disk/")?))
    }
}

impl Source for Reading<'_> {
    fn chunk(&mut self) -> Option<&[u8]> {
        Self::chunk(self)
    }
}

/// One line of a listing.
struct Row {
    name: String,
    /// `None` for a directory.
    size: Option<Bytes>,
}

impl Row {
    /// As `ls -l` has it, which is what clients can read.
    fn line(&self, listing: Listing) -> String {
        let Self { name, size } = self;
        let (kind, size) = match size {
            None => ("drwxr-xr-x", 0),
            Some(size) => ("-rw-r--r--", size.count()),
        };
        match listing {
            Listing::Long => format!("{kind} 1 btu btu {size:>12} Jan 01  1970 {name}\r\n"),
            Listing::Names => format!("{name}\r\n"),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(cause: StoreError) -> Self {
        let code = match cause {
            StoreError::Full => 552,
            StoreError::Exists
            | StoreError::IsDirectory
            | StoreError::Missing
            | StoreError::NotEmpty => 550,
        };
        Self::Told(Reply::told(code, cause.to_string()))
    }
}

const COMPLETE: Reply = Reply::new(226, "transfer complete");
const CHANGED: Reply = Reply::new(250, "directory changed");
const REMOVED: Reply = Reply::new(250, "removed");
const UNREADABLE: Reply = Reply::new(451, "the file could not be read to its end");
const CUT: Reply = Reply::new(426, "data connection broken, transfer aborted");
const NO_DIRECTORY: Reply = Reply::new(550, "no such directory");
const FIXED: Reply = Reply::new(553, "this name cannot be changed");
