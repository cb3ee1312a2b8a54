//! What comes, a part at a time.

use std::future::poll_fn;
use std::pin::Pin;

use hyper::body::Body;
use hyper::body::Incoming;

/// Shows each part of a body that is still to come, until its end.
pub(super) async fn receive<E: From<hyper::Error>>(
    body: &mut Incoming,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    while let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await {
        // Fields that follow a body say nothing of it.
        if let Ok(bytes) = frame?.into_data() {
            each(&bytes)?;
        }
    }
    Ok(())
}
