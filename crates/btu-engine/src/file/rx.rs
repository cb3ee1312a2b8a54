//! Rx, the remote procedure calls of AFS: what the protocols `rx-rpc` and `rx-stream` have in common.
//!
//! The library has one state for each process ([`btu_sys::rx`]), so each end is a process of its own: this program once
//! more, in the network of the thread that starts it. What it is to do and what it saw are words on a socket that is its
//! standard input; it ends with that socket, and with the thread that started it. Times are those of the machine's
//! clock, which all processes share.

mod called;
mod caller;
mod client;
mod process;
mod progress;
mod server;
mod words;

use std::os::unix::net::UnixStream;

use btu_sys::rx;

use self::words::Channel;
use self::words::Order;
use self::words::Word;
use super::Account;
use crate::error::EngineError;

pub(super) use self::client::Client;
pub(super) use self::server::Server;

/// Is one end of Rx: does what the process that started this one says on the channel, until that ends.
///
/// # Errors
/// The channel broke, or said what nobody understands. What Rx refuses is said on the channel.
pub fn attend(channel: UnixStream) -> Result<(), EngineError> {
    let mut channel = Channel::over(channel)?;
    let Some(order) = channel.hear::<Order>()? else { return Ok(()) };
    if !rx::is_installed() {
        let missing = format!("{} not found: apt-get install libafsrpc2", rx::LIBRARY);
        return channel.say(&Word::Failed(missing));
    }
    match order {
        Order::Call(calling) => caller::call(calling, &mut channel),
        Order::Serve(serving) => called::serve(serving, &mut channel),
    }
}

/// The account of a server of Rx.
fn account() -> Account {
    Account::without_calls("the library of Rx makes calls for datagrams, which nobody counts")
}

/// A service that takes all bytes of a call and answers with how many came: rxperf's number.
const TAKING: u16 = 147;
/// A service that gives the file that it is asked for.
const GIVING: u16 = 148;
/// A service's answer to what it cannot do: `EIO`.
const FAULT: i32 = 5;
