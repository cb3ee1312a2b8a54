//! A server that somebody else runs: where it is, as whom clients come, and what a measurement makes there.

mod proof;

use std::fmt;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use btu_core::units::Bytes;

use self::proof::Proof;
use super::Keeping;
use crate::error::EngineError;

pub(super) use self::proof::Repeated;

/// How clients of a protocol use a server that somebody else runs.
///
/// A protocol that has this opens sessions there, too: [`super::Visit::stay`] then says as whom, and with which files.
pub trait Abroad: fmt::Debug + Sync {
    /// The port of the protocol, where a URL names none.
    fn port(&self) -> u16;

    /// Comes to the server, to make and to remove what the clients need. The calling thread is in their network.
    fn arrive(&self, site: &Site, patience: Duration)
    -> Result<Box<dyn Housekeeping>, EngineError>;
}

/// What is made at a server of others, and removed. Names are those below the directories of the site.
pub trait Housekeeping: Keeping + fmt::Debug {
    /// What the server says of itself.
    fn greeting(&self) -> String;

    /// How large a file is.
    fn size(&mut self, name: &str) -> Result<Bytes, EngineError>;

    /// Makes a directory, which must not be there.
    fn make_directory(&mut self, name: &str) -> Result<(), EngineError>;

    /// Removes a directory, in which there must be nothing.
    fn remove_directory(&mut self, name: &str) -> Result<(), EngineError>;

    /// Takes leave.
    fn leave(self: Box<Self>) -> Result<(), EngineError>;
}

/// Where a server of others is, and as whom its clients come.
#[derive(Clone, Debug)]
pub struct Site {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its name, as the user wrote it.
    pub host: String,
    /// `None` for a client that nobody knows.
    pub login: Option<Login>,
    /// Below which nothing is asked for: each in the one before.
    pub directories: Vec<String>,
}

/// Who a client is.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Its name.
    pub user: String,
    /// What it proves that with.
    pub password: String,
}

/// What is kept at a site for a measurement: all of it in one directory, which nobody else uses.
#[derive(Clone, Debug)]
pub struct Lodging {
    /// Where that is.
    pub site: Arc<Site>,
    /// The name of the directory.
    pub directory: String,
    /// A file that was there before, and is retrieved instead of ours.
    pub object: Option<String>,
}

/// How one client comes to a site, and what it passes there.
#[derive(Clone, Debug)]
pub struct Stay {
    /// The server.
    pub site: Arc<Site>,
    /// The file that it retrieves.
    pub retrieved: String,
    /// The file as which it stores what it sends, again and again.
    pub stored: String,
}

impl fmt::Debug for Login {
    /// Whoever reads messages need not learn the password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Lodging {
    /// The file of this size that clients retrieve.
    pub fn retrieved(&self, size: Bytes) -> String {
        let own = || format!("{}/get-{}", self.directory, size.count());
        self.object.clone().unwrap_or_else(own)
    }

    /// The file that the client of this number stores.
    pub fn stored(&self, client: u32) -> String {
        format!("{}/put-{client}", self.directory)
    }

    /// How a client of a trial of this size comes.
    pub(super) fn stay(&self, client: u32, size: Bytes) -> Stay {
        let (retrieved, stored) = (self.retrieved(size), self.stored(client));
        Stay { site: Arc::clone(&self.site), retrieved, stored }
    }
}

/// Stores a file of this size, and makes sure that what comes back is the same, byte for byte.
///
/// # Errors
/// The server refuses it, or gives something else.
pub fn store_and_prove(
    house: &mut dyn Housekeeping,
    name: &str,
    size: Bytes,
) -> Result<(), EngineError> {
    let stored = house.put(name, &mut Repeated::new().take(size.count()))?;
    let came = house.get(name, &mut Proof::new())?;
    if came == size {
        return Ok(());
    }
    Err(EngineError::Refused(format!("{name}: {stored} were stored, and {came} came back")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_does_not_say_its_password() {
        let login = Login { user: "alice".to_owned(), password: "secret".to_owned() };
        assert_eq!(format!("{login:?}"), "Login { user: \"alice\", .. }");
    }
}
