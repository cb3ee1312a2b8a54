//! FTP servers that somebody else runs.

use std::time::Duration;

use btu_core::units::Bytes;

use super::client::Access;
use super::client::Client;
use super::protocol::Ftp;
use crate::error::EngineError;
use crate::file::site::Abroad;
use crate::file::site::Housekeeping;
use crate::file::site::Site;

impl Abroad for Ftp {
    /// RFC 959, 8.
    fn port(&self) -> u16 {
        21
    }

    fn arrive(
        &self,
        site: &Site,
        patience: Duration,
    ) -> Result<Box<dyn Housekeeping>, EngineError> {
        Ok(Box::new(Client::connect(&Access { patience, ..Access::to(site) })?))
    }
}

impl Housekeeping for Client {
    fn greeting(&self) -> String {
        Self::greeting(self).to_owned()
    }

    fn size(&mut self, name: &str) -> Result<Bytes, EngineError> {
        Self::size(self, name)
    }

    fn make_directory(&mut self, name: &str) -> Result<(), EngineError> {
        Self::make_directory(self, name)
    }

    fn remove_directory(&mut self, name: &str) -> Result<(), EngineError> {
        Self::remove_directory(self, name)
    }

    fn leave(self: Box<Self>) -> Result<(), EngineError> {
        self.close()
    }
}

impl Access {
    /// As whom clients come to a site, and from where they ask for files.
    pub(super) fn to(site: &Site) -> Self {
        let anonymous = Self::anonymous(site.address);
        let directories = site.directories.clone();
        match site.login.clone() {
            Some(login) => {
                Self { user: login.user, password: login.password, directories, ..anonymous }
            }
            None => Self { directories, ..anonymous },
        }
    }
}
