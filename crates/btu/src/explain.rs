//! The verb `explain`: what a capture of TCP tells, and why its connections were slow.

mod result;

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use btu_core::capture;
use btu_core::capture::Capture;
use btu_core::capture::PcapNg;
use btu_core::diagnosis::Evidence;
use btu_core::tcp;
use btu_core::tcp::Analysis;
use btu_report::Explained;

use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A capture: pcap or pcapng, such as `tcpdump -w` writes, headers are enough (`-s 128`); or the
    /// directory of a result, whose cells with a second run are explained
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,
    /// With DIR: only this cell, as `SEND/telnet/none`
    #[arg(value_name = "CELL")]
    cell: Option<String>,
    /// Only this connection, by its number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connection: Option<u32>,
    /// How many connections to show in full: those with most payload
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Write one page with time-sequence charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the connection with most payload for xplot
    #[arg(long, value_name = "FILE")]
    xplot: Option<PathBuf>,
    /// Write the packets as pcapng, cut to their headers
    #[arg(long, value_name = "FILE")]
    pcapng: Option<PathBuf>,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    if args.file.is_dir() {
        return result::explain(args);
    }
    let name = args.file.display().to_string();
    if let Some(cell) = &args.cell {
        let cause =
            anyhow::anyhow!("{cell}: a cell is of the directory of a result; {name} is a file");
        return Err(Failure::usage(cause));
    }
    args.spares_capture()?;
    let bytes = read(&args.file)?;
    let capture = captured(&bytes, &name)?;
    let analysis = tcp::analyse(&capture);
    let chosen = chosen(args, &analysis)?;
    let file = args.file.file_name().map_or(name, |file| file.to_string_lossy().into_owned());
    let evidence = Evidence::default();
    let most = usize::try_from(args.most).unwrap_or(usize::MAX);
    let mut explained = btu_report::explain(file, &analysis, &evidence, most);
    if let Some(place) = chosen {
        explained = explained.only(place);
    }
    write_files(args, &capture, &explained)?;
    if args.json {
        output::json(&btu_report::explained_json(&explained))?;
    } else {
        let document = btu_report::compose_explained(&explained);
        output::result(&btu_report::explained_text(&document))?;
    }
    Ok(Exit::Done)
}

impl ExplainArgs {
    /// What is written must not take the place of what is read: its payload would be gone.
    fn spares_capture(&self) -> Result<(), Failure> {
        let real = |file: &Path| std::fs::canonicalize(file).ok();
        let capture = real(&self.file);
        let outputs =
            [("--html", &self.html), ("--xplot", &self.xplot), ("--pcapng", &self.pcapng)];
        for (option, file) in outputs {
            let Some(file) = file.as_deref() else { continue };
            if capture.is_some() && real(file) == capture {
                let cause = anyhow::anyhow!("{option} {}: is the capture itself", file.display());
                return Err(Failure::usage(cause).hint("name another file"));
            }
        }
        Ok(())
    }
}

/// A bundle of a result has no packets in it: what explains them is its directory.
fn captured<'f>(bytes: &'f [u8], name: &str) -> Result<Capture<'f>, Failure> {
    let read = capture::read(bytes).with_context(|| format!("read {name}"));
    let is_bundle = read.is_err() && btu_report::unpack(bytes).is_ok();
    let failure = |cause| match Failure::usage(cause) {
        failure if is_bundle => failure.hint(OF_BUNDLE),
        failure => failure,
    };
    read.map_err(failure)
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let name = file.display();
    std::fs::read(file).with_context(|| format!("read {name}")).map_err(Failure::usage)
}

/// The place of the one connection that was asked for, if one was.
fn chosen(args: &ExplainArgs, analysis: &Analysis) -> Result<Option<usize>, Failure> {
    let Some(number) = args.connection else { return Ok(None) };
    let count = analysis.connections.len();
    let place = usize::try_from(number).unwrap_or(usize::MAX) - 1;
    if place >= count {
        let name = args.file.display();
        let cause = anyhow::anyhow!("--connection {number}: {name} has {count} TCP connections");
        return Err(Failure::usage(cause));
    }
    Ok(Some(place))
}

fn write_files(
    args: &ExplainArgs,
    capture: &Capture<'_>,
    explained: &Explained<'_>,
) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        let document = btu_report::compose_explained(explained);
        write(file, &btu_report::explained_html(&document))?;
    }
    if let Some(file) = &args.xplot {
        let first = explained.shown.first().map(|place| &explained.analysis.connections[*place]);
        let connection = first.ok_or_else(|| {
            Failure::usage(anyhow::anyhow!("--xplot: the capture has no TCP connection"))
        })?;
        write(file, btu_report::xplot(connection).as_bytes())?;
    }
    if let Some(file) = &args.pcapng {
        write(file, &headers(capture))?;
    }
    Ok(())
}

/// The packets without their payload: each ends where its headers do.
fn headers(capture: &Capture<'_>) -> Vec<u8> {
    let mut file = PcapNg::new("headers only");
    for interface in &capture.interfaces {
        file.interface(interface);
    }
    for packet in &capture.packets {
        let seen = usize::try_from(packet.interface).ok();
        let interface = seen.and_then(|place| capture.interfaces.get(place));
        let end = interface.map_or(0, |one| tcp::headers_end(one.link_type, packet.data));
        file.packet(&capture::Packet { data: &packet.data[..end], ..*packet });
    }
    let missing = &capture.missing;
    match (missing.full_since, capture.packets.last()) {
        (Some(full), Some(_)) => file.full(0, full, missing.scattered(), missing.behind),
        (None, Some(last)) if missing.dropped > 0 => file.lost(0, last.at, missing.dropped),
        _ => {}
    }
    file.finish()
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes)
        .with_context(|| format!("write {}", file.display()))
        .map_err(Failure::environment)
}

/// Where a bundle was named.
const OF_BUNDLE: &str = "it is the bundle of a result: name the directory that it was made of, or one that tar xzf \
                         unpacks it into; packets are in no bundle";
