//! A far end that closes connections unanswered before it lets one in.

use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;

use super::Seat;
use super::WORDS;

/// The first that says the words of this seat after so many whose words it did not want.
pub(crate) fn let_in_after(closes: usize, door: &TcpListener, seat: &Seat) -> TcpStream {
    let mut words = [0; WORDS];
    for _ in 0..closes {
        door.accept().unwrap().0.read_exact(&mut words).unwrap();
    }
    let mut guest = door.accept().unwrap().0;
    guest.read_exact(&mut words).unwrap();
    guest.write_all(&seat.answer_to(&words).unwrap()).unwrap();
    guest
}
