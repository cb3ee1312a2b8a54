//! COMM beside a bare loop of its calls over one TCP connection: slices of one in turn with slices of the other, on the
//! same CPUs of one process, so that what the machine does for longer than a slice is in both.
//!
//! ```text
//! bare --message BYTES --pairs N --slice-ms N [--cpus NEAR,FAR]
//! ```
//!
//! Each pair is one line of JSON: the rate of each reader, its bits over the time from its first byte to its last.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io;
use std::net::Shutdown;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use btu_core::role::Role;
use btu_core::run::cell::Direction;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Place;
use btu_engine::comm::Amount;
use btu_engine::comm::EndReport;
use btu_engine::comm::FarFlow;
use btu_engine::comm::FarJob;
use btu_engine::comm::FarSide;
use btu_engine::comm::NearFlow;
use btu_engine::comm::NearJob;
use btu_engine::comm::NearSide;
use btu_engine::comm::Terms;
use btu_engine::comm::stream::LARGE;
use btu_engine::transport::Tcp;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::descriptors::OwnTable;
use btu_sys::socket;
use btu_sys::socket::Settings;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One slice of either loop.
struct Slice {
    message: usize,
    time: Duration,
    /// Of the end that writes, and of the one that reads.
    cpus: [Option<u32>; 2],
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn main() -> Outcome<()> {
    let cpus = option("--cpus")?;
    let slice = Slice {
        message: number("--message")?,
        time: Duration::from_millis(number("--slice-ms")?),
        cpus: cpus.map_or(Ok([None; 2]), |text| two(&text))?,
    };
    for pair in 0..number("--pairs")? {
        // Whoever comes second finds what the first left: they take turns in that, too.
        let [comm, bare] = if pair % 2 == 0 {
            let comm = comm(&slice)?;
            [comm, bare(&slice)?]
        } else {
            let bare = bare(&slice)?;
            [comm(&slice)?, bare]
        };
        println!("{{\"comm_mbps\": {comm}, \"bare_mbps\": {bare}}}");
    }
    Ok(())
}

/// The rate of COMM's reader, Mb/s.
fn comm(slice: &Slice) -> Outcome<f64> {
    let amount = Amount::Window(slice.time.into());
    let message = Bytes::new(slice.message.try_into()?);
    let terms = Terms::new(&Tcp, message, amount, Nanos::from_secs(60));
    let [near, far] = slice.cpus;
    let place = |role, cpu: Option<u32>| Place {
        cpus: cpu.into_iter().collect::<CpuSet>(),
        ..Place::here(role)
    };
    let flows = vec![FarFlow { direction: Direction::Send, listen: "127.0.0.1:0".parse()? }];
    let (sockets, at) = (Settings::default(), place(Role::Active, far));
    let far = FarSide::listen(FarJob { flows, terms: terms.clone(), sockets, place: at })?;
    let (peer, address) = (Role::Active, *far.addresses().first().ok_or("no address")?);
    let flows = vec![NearFlow { peer, direction: Direction::Send, address }];
    let (sockets, at) = (Settings::default(), place(Role::Test, near));
    let near = NearSide::connect(NearJob { flows, terms, sockets, place: at })?.go()?;
    let ends = far.finish()?;
    let faults = |ends: &[EndReport]| ends.iter().find_map(|end| end.fault.clone());
    match (faults(&near.ends).or_else(|| faults(&ends)), ends.first()) {
        (None, Some(end)) => rate(end.bytes, end.read_elapsed),
        (fault, _) => Err(fault.map_or("no end".into(), |fault| fault.as_str().into())),
    }
}

/// The same calls and nothing else, of threads that share no table of files either: the rate of the reader, Mb/s.
fn bare(slice: &Slice) -> Outcome<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let [near, far] = slice.cpus;
    // Memory that was written to: the kernel copies the page of zeros faster (decision 22).
    let memory = || vec![0x48; slice.message];
    // Each thread makes its connection, and leaves it to be closed where it is open: in the table of the others.
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            pin(far)?;
            let stream = listener.accept()?.0;
            read(&stream, &mut memory()).map(|rate| (stream, rate))
        });
        let writer = scope.spawn(|| {
            pin(near)?;
            let stream = TcpStream::connect(address)?;
            write(&stream, &memory(), slice.time).map(|()| stream)
        });
        let _out = writer.join().map_err(|_| "the writer ended early")??;
        let (_in, rate) = reader.join().map_err(|_| "the reader ended early")??;
        Ok(rate)
    })
}

fn write(stream: &TcpStream, message: &[u8], time: Duration) -> Outcome<()> {
    let over = Arc::new(AtomicBool::new(false));
    let given = Arc::clone(&over);
    thread::spawn(move || {
        thread::sleep(time);
        given.store(true, Relaxed);
    });
    // After that thread was born: it would share the table.
    let _own = OwnTable::keeping(stream);
    let sent = send_until(&over, stream, message);
    stream.shutdown(Shutdown::Write)?;
    Ok(sent?)
}

fn send_until(over: &AtomicBool, stream: &TcpStream, message: &[u8]) -> io::Result<()> {
    let socket = stream.as_fd();
    while !over.load(Relaxed) {
        let mut sent = 0;
        while sent < message.len() {
            sent += socket::send(socket, &message[sent..])?;
        }
    }
    Ok(())
}

fn read(stream: &TcpStream, space: &mut [u8]) -> Outcome<f64> {
    let _own = OwnTable::keeping(stream);
    let socket = stream.as_fd();
    let mut bytes = read_once(socket, space, 0)?;
    let first = Instant::now();
    loop {
        match read_once(socket, space, bytes)? {
            0 => break,
            more => bytes += more,
        }
    }
    rate(Bytes::new(bytes.try_into()?), first.elapsed().into())
}

/// Mb/s.
fn rate(bytes: Bytes, time: Nanos) -> Outcome<f64> {
    Ok(bytes.per(time).ok_or("no time passed")?.mbps())
}

/// One read where so many bytes came before, as COMM has it for messages of this size.
fn read_once(socket: BorrowedFd<'_>, space: &mut [u8], bytes: usize) -> io::Result<usize> {
    if space.len() < LARGE {
        return socket::recv(socket, space);
    }
    let came = bytes % space.len();
    socket::recv_ready(socket, &mut space[came..])
}

fn pin(cpu: Option<u32>) -> Outcome<()> {
    match cpu {
        Some(cpu) => Ok(cpu::pin(&CpuSet::of([cpu]))?),
        None => Ok(()),
    }
}

fn two(text: &str) -> Outcome<[Option<u32>; 2]> {
    let (near, far) = text.split_once(',').ok_or("--cpus: give two, as 0,1")?;
    Ok([Some(near.parse()?), Some(far.parse()?)])
}

fn number<T: std::str::FromStr>(name: &str) -> Outcome<T>
where
    T::Err: Error + Send + Sync + 'static,
{
    Ok(option(name)?.ok_or_else(|| format!("give {name} N"))?.parse()?)
}

/// The value that follows an option, if it is there.
fn option(name: &str) -> Outcome<Option<String>> {
    let mut args = std::env::args().skip_while(|arg| arg != name);
    match (args.next(), args.next()) {
        (Some(_), None) => Err(format!("{name}: a value is missing").into()),
        (_, value) => Ok(value),
    }
}
