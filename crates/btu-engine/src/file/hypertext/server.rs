//! The end that is asked, in the thread of one client.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::server::conn::http2;
use hyper::service::service_fn;

use super::BUFFER;
use super::CONNECTION_WINDOW;
use super::STREAM_WINDOW;
use super::Version;
use super::driver::Driver;
use super::shop::Clerk;
use super::shop::Shop;
use crate::file::reception::House;

/// Answers a client until it leaves.
pub(super) fn serve(
    stream: &Arc<TcpStream>,
    house: &Arc<House>,
    (shop, version): (&Arc<Shop>, Version),
) -> io::Result<()> {
    let driver = Driver::of(Arc::clone(stream), Some(house.account.clone()), None)?;
    let clerk = Clerk::new(shop, house);
    let service = service_fn(move |request| clerk.clone().answer(request));
    let served = match version {
        Version::One => {
            let mut server = http1::Builder::new();
            server.max_buf_size(BUFFER);
            driver.wait_for(server.serve_connection(driver.pipe(), service))?
        }
        Version::Two => {
            let mut server = http2::Builder::new(driver.starter());
            server.initial_stream_window_size(STREAM_WINDOW);
            server.initial_connection_window_size(CONNECTION_WINDOW);
            server.max_send_buf_size(BUFFER);
            driver.wait_for(server.serve_connection(driver.pipe(), service))?
        }
    };
    served.map_err(io::Error::other)
}
