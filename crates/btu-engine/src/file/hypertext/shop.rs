//! What a server has, and how it answers: names as FTP's server has them, and a method for each thing to do with them.

use std::io;
use std::io::Read;
use std::sync::Arc;

use btu_core::units::Bytes as Size;
use hyper::Method;
use hyper::Request;
use hyper::Response;
use hyper::StatusCode;
use hyper::body::Body;
use hyper::body::Bytes;
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;

use super::BUFFER;
use super::body::Content;
use super::body::shared;
use super::chunk::Watch;
use super::incoming::receive;
use crate::error::EngineError;
use crate::file::ftp::Limits;
use crate::file::ftp::Meaning;
use crate::file::ftp::Name;
use crate::file::ftp::Object;
use crate::file::ftp::Pattern;
use crate::file::ftp::Patterns;
use crate::file::ftp::Store;
use crate::file::ftp::StoreError;
use crate::file::order::answer_to;
use crate::file::reception::House;

/// What all clients of a server find there.
#[derive(Debug)]
pub(super) struct Shop {
    store: Store,
    random: Bytes,
    zero: Bytes,
}

/// Who answers one client.
#[derive(Clone)]
pub(super) struct Clerk {
    shop: Arc<Shop>,
    house: Arc<House>,
}

/// Why a request is not done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The client has broken off.
    Broken(hyper::Error),
    /// It is told this.
    Told(StatusCode),
}

/// A file of the store, as it is read.
struct Reading {
    object: Arc<Object>,
    next: usize,
    /// Of the block in work, bytes that were read.
    done: usize,
}

impl Shop {
    pub(super) fn new() -> Result<Arc<Self>, EngineError> {
        let patterns = Patterns::of(Size::new(BUFFER as u64))?;
        let of = |pattern| shared(patterns.buffer(pattern));
        let (random, zero) = (of(Pattern::Random), of(Pattern::Zero));
        Ok(Arc::new(Self { store: Store::of_at_most(Limits::default().store), random, zero }))
    }
}

impl Clerk {
    pub(super) fn new(shop: &Arc<Shop>, house: &Arc<House>) -> Self {
        Self { shop: Arc::clone(shop), house: Arc::clone(house) }
    }

    /// An answer to every request; an error where the client has broken off.
    pub(super) async fn answer(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<Content>, hyper::Error> {
        let (head, mut body) = request.into_parts();
        match self.handle(&head, &mut body).await {
            Err(Refusal::Broken(cause)) => Err(cause),
            Err(Refusal::Told(status)) => {
                // Clients that are reset while they send do not hear why.
                receive::<hyper::Error>(&mut body, |_| Ok(())).await?;
                Ok(empty(status))
            }
            Ok(answer) => Ok(answer),
        }
    }

    async fn handle(
        &self,
        head: &Parts,
        body: &mut Incoming,
    ) -> Result<Response<Content>, Refusal> {
        let name = Name::root().resolve(head.uri.path());
        let name = name.map_err(|_| Refusal::Told(StatusCode::URI_TOO_LONG))?;
        match head.method {
            Method::DELETE => self.remove(&name),
            Method::GET => self.give(&name),
            Method::HEAD => self.give(&name).map(|answer| head_of(&answer)),
            Method::POST => self.hear_call(&name, body).await,
            Method::PUT => self.take(&name, body).await,
            _ => Err(Refusal::Told(StatusCode::NOT_IMPLEMENTED)),
        }
    }

    fn give(&self, name: &Name) -> Result<Response<Content>, Refusal> {
        let content = match name.meaning() {
            Meaning::Directory | Meaning::Nothing | Meaning::Null => return Err(MISSING),
            Meaning::Stored => self.stored(name)?,
            Meaning::Synthetic(pattern, size) => {
                let bytes = match pattern {
                    Pattern::Random => &self.shop.random,
                    Pattern::Zero => &self.shop.zero,
                };
                Content::repeated(bytes.clone(), size.count(), self.watch())
            }
        };
        Ok(Response::new(content))
    }

    /// A file of the directory, or of the memory.
    fn stored(&self, name: &Name) -> Result<Content, Refusal> {
        if let Some(on_disk) = on_disk(name) {
            let (file, size) = self.house.open(on_disk).map_err(|_| MISSING)?;
            return Ok(Content::read(file, size, self.watch()));
        }
        let object = self.shop.store.file(name)?;
        let size = object.size();
        Ok(Content::read(Reading { object, next: 0, done: 0 }, size, self.watch()))
    }

    /// Takes what comes, and says how much came.
    async fn hear_call(
        &self,
        name: &Name,
        body: &mut Incoming,
    ) -> Result<Response<Content>, Refusal> {
        if name.meaning() != Meaning::Null {
            return Err(FIXED);
        }
        let total = self.discard(body).await?;
        Ok(Response::new(Content::words(&answer_to(total))))
    }

    async fn take(&self, name: &Name, body: &mut Incoming) -> Result<Response<Content>, Refusal> {
        match name.meaning() {
            Meaning::Null => {
                self.discard(body).await?;
                Ok(empty(StatusCode::NO_CONTENT))
            }
            Meaning::Stored if on_disk(name).is_none() => self.keep(name, body).await,
            _ => Err(FIXED),
        }
    }

    async fn discard(&self, body: &mut Incoming) -> Result<u64, Refusal> {
        let mut total = 0;
        let count = |bytes: &[u8]| {
            self.house.count(bytes.len());
            total += bytes.len() as u64;
            Ok(())
        };
        receive::<Refusal>(body, count).await?;
        Ok(total)
    }

    async fn keep(&self, name: &Name, body: &mut Incoming) -> Result<Response<Content>, Refusal> {
        let store = &self.shop.store;
        store.may_put(name)?;
        let mut draft = store.draft(None)?;
        let add = |mut bytes: &[u8]| {
            self.house.count(bytes.len());
            while !bytes.is_empty() {
                let room = draft.room()?;
                let count = room.len().min(bytes.len());
                room[..count].copy_from_slice(&bytes[..count]);
                draft.take(count);
                bytes = &bytes[count..];
            }
            Ok(())
        };
        receive::<Refusal>(body, add).await?;
        let is_new = store.file(name).is_err();
        store.put(name, draft)?;
        Ok(empty(if is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT }))
    }

    fn remove(&self, name: &Name) -> Result<Response<Content>, Refusal> {
        if name.meaning() != Meaning::Stored || on_disk(name).is_some() {
            return Err(FIXED);
        }
        self.shop.store.remove(name)?;
        Ok(empty(StatusCode::NO_CONTENT))
    }

    fn watch(&self) -> Watch {
        Watch::House(Arc::clone(&self.house))
    }
}

impl Read for Reading {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let Some(block) = self.object.chunk(self.next) else { return Ok(0) };
        let rest = &block[self.done..];
        let count = rest.len().min(space.len());
        space[..count].copy_from_slice(&rest[..count]);
        self.done += count;
        if count == rest.len() {
            (self.next, self.done) = (self.next + 1, 0);
        }
        Ok(count)
    }
}

impl From<hyper::Error> for Refusal {
    fn from(cause: hyper::Error) -> Self {
        Self::Broken(cause)
    }
}

impl From<StoreError> for Refusal {
    fn from(cause: StoreError) -> Self {
        Self::Told(match cause {
            StoreError::Exists | StoreError::IsDirectory | StoreError::NotEmpty => {
                StatusCode::CONFLICT
            }
            StoreError::Full => StatusCode::INSUFFICIENT_STORAGE,
            StoreError::Missing => StatusCode::NOT_FOUND,
        })
    }
}

/// Which file of the directory a name means.
fn on_disk(name: &Name) -> Option<&str> {
    name.as_str().strip_prefix("/disk/")
}

fn empty(status: StatusCode) -> Response<Content> {
    let mut answer = Response::new(Content::nothing());
    *answer.status_mut() = status;
    answer
}

/// The answer without its body (RFC 9110, 9.3.2).
fn head_of(answer: &Response<Content>) -> Response<Content> {
    let mut head = empty(answer.status());
    let length = answer.body().size_hint().lower();
    head.headers_mut().insert(CONTENT_LENGTH, length.into());
    head
}

const MISSING: Refusal = Refusal::Told(StatusCode::NOT_FOUND);
/// What has this name cannot be changed, or called.
const FIXED: Refusal = Refusal::Told(StatusCode::FORBIDDEN);
