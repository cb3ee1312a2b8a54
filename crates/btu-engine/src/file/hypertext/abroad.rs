//! Servers of HTTP that somebody else runs: files by PUT, GET and DELETE, a directory by MKCOL (RFC 4918, 9.3).

use std::time::Duration;

use btu_core::units::Bytes as Size;
use hyper::Method;
use hyper::Response;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::header::SERVER;

use super::Version;
use super::body::Content;
use super::dialogue::Dialogue;
use super::dialogue::good;
use super::door::Door;
use super::door::PORT;
use crate::error::EngineError;
use crate::file::site::Abroad;
use crate::file::site::Housekeeping;
use crate::file::site::Site;

/// HTTP/1.1, which every server speaks.
#[derive(Debug)]
pub(super) struct Hypertext;

impl Abroad for Hypertext {
    fn port(&self) -> u16 {
        PORT
    }

    fn arrive(
        &self,
        site: &Site,
        patience: Duration,
    ) -> Result<Box<dyn Housekeeping>, EngineError> {
        let mut dialogue = Dialogue::begin(Door::to(site, patience)?, Version::One)?;
        dialogue.introduce()?;
        Ok(Box::new(dialogue))
    }
}

impl Dialogue {
    /// Hears what the server calls itself. Whether it shows the directory does not matter: it need not list any.
    fn introduce(&mut self) -> Result<(), EngineError> {
        let path = self.path("");
        let hear = async |answer: Response<Incoming>| {
            let answer = match answer.status() {
                StatusCode::UNAUTHORIZED => good(answer)?,
                _ => answer,
            };
            let name = answer.headers().get(SERVER).and_then(|name| name.to_str().ok());
            Ok(name.unwrap_or(NAMELESS).to_owned())
        };
        self.greeting = self.exchange((Method::HEAD, &path), Content::nothing(), hear, || ())?;
        Ok(())
    }

    /// A request without a body, of whose answer the status counts.
    fn bid(&mut self, method: Method, path: &str) -> Result<StatusCode, EngineError> {
        let hear = async |answer: Response<Incoming>| Ok(good(answer)?.status());
        self.exchange((method, path), Content::nothing(), hear, || ())
    }
}

impl Housekeeping for Dialogue {
    fn greeting(&self) -> String {
        self.greeting.clone()
    }

    fn size(&mut self, name: &str) -> Result<Size, EngineError> {
        let path = self.path(name);
        let hear = async |answer: Response<Incoming>| {
            let answer = good(answer)?;
            let length = answer.headers().get(CONTENT_LENGTH).and_then(|size| size.to_str().ok());
            Ok(length.and_then(|length| length.parse().ok()).map(Size::new))
        };
        let found = self.exchange((Method::HEAD, &path), Content::nothing(), hear, || ())?;
        found.ok_or_else(|| EngineError::Refused(format!("http HEAD {path}: no Content-Length")))
    }

    fn make_directory(&mut self, name: &str) -> Result<(), EngineError> {
        let made = Method::from_bytes(b"MKCOL");
        let mkcol = made.map_err(|cause| EngineError::Refused(format!("http: {cause}")))?;
        let path = self.path(&format!("{name}/"));
        self.bid(mkcol, &path).map(drop)
    }

    /// With all that is in it (RFC 4918, 9.6.1): where a part of it stays, the answer has several statuses.
    fn remove_directory(&mut self, name: &str) -> Result<(), EngineError> {
        let path = self.path(&format!("{name}/"));
        match self.bid(Method::DELETE, &path)? {
            StatusCode::MULTI_STATUS => {
                Err(EngineError::Refused(format!("http DELETE {path}: not all of it is removed")))
            }
            _ => Ok(()),
        }
    }

    fn leave(self: Box<Self>) -> Result<(), EngineError> {
        self.end()
    }
}

/// A server need not say what it is (RFC 9110, 10.2.4).
const NAMELESS: &str = "none";
