//! What a client comes for, in bytes: the first that it says to a server of calls.

use std::io;
use std::io::Read;

use btu_core::file::sample::Operation;
use btu_core::units::Bytes;
use btu_sys::memory::Buffer;

use super::Errand;
use super::ftp::scramble;
use crate::error::EngineError;

/// An errand as it travels. Numbers are big-endian: a mark of 8 bytes, the operation in 4, the size in 8, the count in
/// 4, the number of files in 4; of each file the length of its name in 4, and the name.
pub(super) struct Order;

impl Order {
    /// What the client says.
    pub(super) fn encode(errand: &Errand) -> Vec<u8> {
        let mut order = MARK.to_vec();
        order.extend(number_of(errand.operation).to_be_bytes());
        order.extend(errand.size.count().to_be_bytes());
        order.extend(errand.count.to_be_bytes());
        order.extend(length(errand.files.len()).to_be_bytes());
        for name in &errand.files {
            order.extend(length(name.len()).to_be_bytes());
            order.extend(name.as_bytes());
        }
        order
    }

    /// What the server hears. Whoever says something else is not answered.
    pub(super) fn decode(mut from: impl Read) -> io::Result<Errand> {
        let from = &mut from;
        if take::<8>(from)? != MARK {
            return Err(refused("the client says no order"));
        }
        let operation = operation_of(u32::from_be_bytes(take(from)?));
        let operation = operation.ok_or_else(|| refused("there is no such operation"))?;
        let size = Bytes::new(u64::from_be_bytes(take(from)?));
        let count = u32::from_be_bytes(take(from)?);
        let files = u32::from_be_bytes(take(from)?);
        if files > MOST_FILES {
            return Err(refused("too many files"));
        }
        let files = (0..files).map(|_| name(from)).collect::<io::Result<Vec<String>>>()?;
        Ok(Errand { operation, size, count, files })
    }
}

/// The answer to a call or a stream: how many bytes came, cut to 32 bits.
pub(super) fn answer_to(total: u64) -> [u8; 4] {
    let [.., a, b, c, d] = total.to_be_bytes();
    [a, b, c, d]
}

/// What a client sends from and receives into: a block is one write, whatever its size; a file is 64 KiB at a time.
pub(super) fn buffer_for(errand: &Errand, protocol: &str) -> Result<Buffer, EngineError> {
    let size = errand.size;
    let length = match errand.operation {
        Operation::Get | Operation::Put => BUFFER,
        Operation::Call | Operation::Stream if size > Operation::LARGEST_BLOCK => {
            let most = Operation::LARGEST_BLOCK;
            let what = format!("{protocol}: a block of {size} is larger than {most}");
            return Err(EngineError::Refused(what));
        }
        Operation::Call | Operation::Stream => size.len(),
    };
    let mut buffer = Buffer::prefaulted(length)?;
    scramble(&mut buffer);
    Ok(buffer)
}

fn name(from: &mut impl Read) -> io::Result<String> {
    let length = u32::from_be_bytes(take(from)?);
    if length > LONGEST_NAME {
        return Err(refused("a name is too long"));
    }
    let mut name = String::new();
    let came = from.take(length.into()).read_to_string(&mut name)?;
    let is_whole = u32::try_from(came) == Ok(length);
    if is_whole { Ok(name) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn take<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut space = [0; N];
    from.read_exact(&mut space)?;
    Ok(space)
}

fn length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn number_of(operation: Operation) -> u32 {
    match operation {
        Operation::Call => 1,
        Operation::Get => 2,
        Operation::Put => 3,
        Operation::Stream => 4,
    }
}

fn operation_of(number: u32) -> Option<Operation> {
    let all = [Operation::Call, Operation::Get, Operation::Put, Operation::Stream];
    all.into_iter().find(|operation| number_of(*operation) == number)
}

fn refused(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Bytes per call for files, and for what is received.
pub(super) const BUFFER: usize = 65536;

const MARK: [u8; 8] = *b"btu-rpc1";

/// More than any trial asks for, and little memory.
const MOST_FILES: u32 = 100_000;

/// `NAME_MAX` of Linux.
const LONGEST_NAME: u32 = 255;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_order_arrives_as_it_was_said(
            operation in 1_u32..5,
            size: u64,
            count: u32,
            files in prop::collection::vec("[a-z0-9-]{0,20}", 0..4),
        ) {
            let operation = operation_of(operation).unwrap();
            let errand = Errand { operation, size: Bytes::new(size), count, files };
            prop_assert_eq!(Order::decode(&Order::encode(&errand)[..]).unwrap(), errand);
        }

        #[test]
        fn an_order_that_is_cut_short_is_an_error(left_out in 1_usize..20) {
            let files = vec!["some".to_owned(), "other".to_owned()];
            let size = Bytes::new(1);
            let order = Order::encode(&Errand { operation: Operation::Get, size, count: 2, files });
            prop_assert!(Order::decode(&order[..order.len() - left_out]).is_err());
        }

        #[test]
        fn nothing_that_is_said_is_more_than_an_error(said: Vec<u8>) {
            let _ = Order::decode(&said[..]);
            let _ = Order::decode(&[&MARK[..], &said].concat()[..]);
        }
    }
}
