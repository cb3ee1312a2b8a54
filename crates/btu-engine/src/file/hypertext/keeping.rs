//! Files that a server keeps, ours or another: PUT, GET and DELETE of a path.

use std::io::Cursor;
use std::io::Read;
use std::io::Write;

use btu_core::units::Bytes as Size;
use hyper::Method;
use hyper::body::Incoming;

use super::body::Content;
use super::chunk::Watch;
use super::dialogue::Dialogue;
use super::dialogue::Fault;
use super::incoming::receive;
use crate::error::EngineError;
use crate::file::Keeping;

impl Keeping for Dialogue {
    fn get(&mut self, name: &str, sink: &mut dyn Write) -> Result<Size, EngineError> {
        let mut total = 0;
        let keep = |bytes: &[u8]| {
            let kept = sink.write_all(bytes);
            kept.map_err(EngineError::peer(format!("keep what came of {name}")))?;
            total += bytes.len() as u64;
            Ok(())
        };
        let hear = async |body: &mut Incoming| receive::<Fault>(body, keep).await;
        let path = self.path(name);
        self.ask((Method::GET, &path), Content::nothing(), hear, || ())?;
        Ok(Size::new(total))
    }

    /// All of it is read first: a request says how long its body is.
    fn put(&mut self, name: &str, source: &mut dyn Read) -> Result<Size, EngineError> {
        let mut all = Vec::new();
        let read = source.read_to_end(&mut all);
        read.map_err(EngineError::peer(format!("read what goes to {name}")))?;
        let size = Size::new(all.len() as u64);
        let content = Content::read(Cursor::new(all), size, Watch::Nobody);
        let path = self.path(name);
        self.ask((Method::PUT, &path), content, ignore, || ())?;
        Ok(size)
    }

    fn remove(&mut self, name: &str) -> Result<(), EngineError> {
        let path = self.path(name);
        self.ask((Method::DELETE, &path), Content::nothing(), ignore, || ())
    }
}

/// What is said besides the status.
async fn ignore(body: &mut Incoming) -> Result<(), Fault> {
    receive(body, |_| Ok(())).await
}
