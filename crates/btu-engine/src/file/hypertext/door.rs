//! Where a server is, as whom it is asked, and how requests name what it has.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use btu_core::file::target::encoded;
use btu_sys::socket::Settings;
use hyper::header::HeaderValue;

use super::Version;
use super::dialogue::Sender;
use super::driver::Driver;
use crate::error::EngineError;
use crate::file::Sockets;
use crate::file::Visit;
use crate::file::site::Login;
use crate::file::site::Site;

/// What every connection with a server begins with.
pub(super) struct Door {
    address: SocketAddr,
    /// The server, as requests name it.
    pub(super) authority: String,
    /// What proves who asks (RFC 7617).
    pub(super) credentials: Option<HeaderValue>,
    /// A server of others.
    site: Option<Arc<Site>>,
    settings: Settings,
    patience: Duration,
    sockets: Arc<Sockets>,
}

impl Door {
    /// Of the server that a client comes to.
    pub(super) fn of(visit: &Visit) -> Result<Self, EngineError> {
        let sockets = Arc::clone(&visit.sockets);
        let own = Self {
            address: visit.server,
            authority: visit.server.to_string(),
            credentials: None,
            site: None,
            settings: visit.settings.clone(),
            patience: visit.patience,
            sockets,
        };
        match &visit.stay {
            Some(stay) => own.at(&stay.site),
            None => Ok(own),
        }
    }

    /// Of a server of others, for whoever comes before its clients.
    pub(super) fn to(site: &Site, patience: Duration) -> Result<Self, EngineError> {
        let own = Self {
            address: site.address,
            authority: String::new(),
            credentials: None,
            site: None,
            settings: Settings::default(),
            patience,
            sockets: Arc::default(),
        };
        own.at(&Arc::new(site.clone()))
    }

    fn at(self, site: &Arc<Site>) -> Result<Self, EngineError> {
        let credentials = site.login.as_ref().map(credentials_of).transpose()?;
        let (authority, site) = (authority_of(site), Some(Arc::clone(site)));
        Ok(Self { authority, credentials, site, ..self })
    }

    /// Where a server is somebody else's.
    pub(super) fn is_of_others(&self) -> bool {
        self.site.is_some()
    }

    /// A connection with nothing on its way.
    pub(super) fn open(&self, version: Version) -> Result<(Driver, Sender), EngineError> {
        let settings = Settings { nodelay: Some(true), ..self.settings.clone() };
        let stream = self.sockets.connect(self.address, &settings, self.patience)?;
        let driver = Driver::of(stream, None, Some(self.patience));
        let driver = driver.map_err(EngineError::peer("set a socket"))?;
        let named =
            |fault: super::dialogue::Fault| fault.named(format!("{}: begin", version.protocol()));
        let sender = Sender::over(&driver, version).map_err(named)?;
        Ok((driver, sender))
    }

    /// What a request for a file says: at our server its name, at another what stands below the directories of the site.
    pub(super) fn path(&self, name: &str) -> String {
        self.site.as_ref().map_or_else(|| name.to_owned(), |site| path_at(site, name))
    }
}

/// One that ends with `/` is a directory.
fn path_at(site: &Site, name: &str) -> String {
    let above = site.directories.iter().map(String::as_str);
    let parts = above.chain(name.split('/').filter(|part| !part.is_empty()));
    let path = parts.fold(String::new(), |path, part| format!("{path}/{}", encoded(part)));
    if name.is_empty() || name.ends_with('/') { path + "/" } else { path }
}

/// RFC 9110, 4.2.1: the port is left out where it is that of HTTP.
fn authority_of(site: &Site) -> String {
    let host = if site.host.contains(':') { format!("[{}]", site.host) } else { site.host.clone() };
    match site.address.port() {
        PORT => host,
        port => format!("{host}:{port}"),
    }
}

fn credentials_of(login: &Login) -> Result<HeaderValue, EngineError> {
    let Login { user, password } = login;
    if user.contains(':') {
        let what =
            format!("http: the user {user} has a colon in it, behind which a password begins");
        return Err(EngineError::Refused(what));
    }
    let words = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
    // Base64 has no byte that a field may not have.
    let told = HeaderValue::try_from(words);
    let mut told = told.map_err(|cause| EngineError::Refused(format!("http: {cause}")))?;
    told.set_sensitive(true);
    Ok(told)
}

/// RFC 9110, 4.2.1.
pub(super) const PORT: u16 = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn site(host: &str, port: u16) -> Site {
        let login = Some(Login { user: "Aladdin".to_owned(), password: "open sesame".to_owned() });
        let directories = vec!["/srv".to_owned(), "my files".to_owned()];
        let address = SocketAddr::new([127, 0, 0, 1].into(), port);
        Site { address, host: host.to_owned(), login, directories }
    }

    #[test]
    fn what_is_at_a_site_has_its_path_below_the_directories_of_the_url() {
        let site = site("nas.example", 80);
        assert_eq!(path_at(&site, "btu-1/get-5"), "/%2Fsrv/my%20files/btu-1/get-5");
        assert_eq!(path_at(&site, "btu-1/"), "/%2Fsrv/my%20files/btu-1/");
        assert_eq!(path_at(&site, "what?#%"), "/%2Fsrv/my%20files/what%3F%23%25");
        assert_eq!(path_at(&Site { directories: Vec::new(), ..site }, ""), "/");
    }

    #[test]
    fn a_server_of_others_is_named_as_its_user_wrote_it() {
        assert_eq!(authority_of(&site("nas.example", 80)), "nas.example");
        assert_eq!(authority_of(&site("nas.example", 8080)), "nas.example:8080");
        assert_eq!(authority_of(&site("fe80::1", 8080)), "[fe80::1]:8080");
    }

    /// The example of RFC 7617, 2.
    #[test]
    fn a_login_is_said_as_rfc_7617_has_it_and_never_shown() {
        let told = credentials_of(&site("nas.example", 80).login.unwrap()).unwrap();
        assert_eq!(told, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(format!("{told:?}"), "Sensitive");
    }
}
