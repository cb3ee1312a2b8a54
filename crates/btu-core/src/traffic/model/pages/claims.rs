//! What is claimed of pages, and the values that have to show it.

use super::super::library;
use super::super::library::Files;
use super::super::prelude::*;
use super::Fetch;
use super::Laws;
use super::Page;
use super::Pages;
use super::Reader;

/// What is claimed of every part of a page: what a reader asks for, and how long the pauses are.
pub(in super::super) fn claims<P: Pages>(call: &Call) -> Vec<Claim> {
    let laws = P::laws(call);
    let below = laws.below_tails().rates()[1];
    let mut claims = vec![claim_of_requests::<P>(&laws)];
    match &laws.files {
        None => claims.extend(claims_of_sizes::<P>(&laws)),
        Some(files) => claims.extend(claims_of_files::<P>(&laws, files)),
    }
    claims.push(claim_of_objects::<P>(&laws));
    claims.extend(laws.mtu.clone().map(claim_of_mtu::<P>));
    claims.extend(claims_of_pauses::<P>(laws));
    claims
        .push(below_tails(below, |call, streams, n| P::laws(call).below_tails().pages(streams, n)));
    claims
}

fn claim_of_requests<P: Pages>(laws: &Laws) -> Claim {
    rounded("size of a request", laws.request.clone(), |call, streams, n| {
        requests(P::laws(call), streams, n)
    })
}

fn claims_of_sizes<P: Pages>(laws: &Laws) -> [Claim; 2] {
    [
        rounded("size of a document", laws.document.clone(), |call, streams, n| {
            documents(P::laws(call), streams, n.div_ceil(P::SPARSE))
        }),
        rounded("size of an object", laws.object.clone(), |call, streams, n| {
            objects(P::laws(call), streams, n)
        }),
    ]
}

fn claim_of_objects<P: Pages>(laws: &Laws) -> Claim {
    let what = "objects of a page, before some are left out";
    rounded(what, laws.objects.clone(), |call, streams, n| {
        numbers_of_objects(P::laws(call), streams, n.div_ceil(P::SPARSE))
    })
}

/// A set of files gives each of them one size, and each set others: what is claimed of sizes and of the rate is
/// that of many sets.
fn claims_of_files<P: Pages>(laws: &Laws, files: &Files) -> [Claim; 5] {
    [
        rounded("size of a file", laws.document.clone(), |call, streams, n| {
            sizes_of_files(&P::laws(call), streams, n)
        }),
        follows("rank of the file of a request", files.popularity().clone(), |call, streams, n| {
            ranks(&P::laws(call), streams, n)
        }),
        rounded("depth of what is asked for again", library::depth(), |call, streams, n| {
            library::depths(P::laws(call).library(streams), n)
        }),
        follows("requests to the next visit", files.between_visits(), |call, streams, n| {
            library::between_visits(P::laws(call).library(streams), n)
        }),
        // A set costs more than a page.
        per_session(laws.rates()[1], |call, streams, n| P::laws(call).pages(streams, n / 10)),
    ]
}

/// Of as many sessions, for each has one.
fn claim_of_mtu<P: Pages>(mtu: Law) -> Claim {
    rounded("MTU of a session", mtu, |call, streams, n| mtus(&P::laws(call), streams, n))
}

fn claims_of_pauses<P: Pages>(laws: Laws) -> Vec<Claim> {
    let mut claims = vec![
        follows("time to parse", laws.parsing, |call, streams, n| {
            times_to_parse(P::laws(call), streams, n.div_ceil(P::SPARSE))
        }),
        follows("time to read", laws.reading, |call, streams, n| {
            times_to_read(P::laws(call), streams, n.div_ceil(P::SPARSE))
        }),
    ];
    if let Fetch::Paused(pause) = laws.fetch {
        claims.push(follows("pause before an object", pause, |call, streams, n| {
            pauses(P::laws(call), streams, n)
        }));
    }
    claims
}

/// The pages of one reader, one after the other.
fn pages(laws: Laws, streams: &Streams) -> impl Iterator<Item = Page> {
    let mut reader = Reader::new(laws, streams);
    std::iter::repeat_with(move || reader.read())
}

fn requests(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let asks = pages(laws, streams).flat_map(|page| page.asks);
    asks.take(n).map(|(request, _)| float(request.count())).collect()
}

fn documents(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    pages(laws, streams).map(|page| float(page.asks[0].1.count())).take(n).collect()
}

fn objects(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let objects = pages(laws, streams).flat_map(|page| page.asks.into_iter().skip(1));
    objects.take(n).map(|(_, answer)| float(answer.count())).collect()
}

fn numbers_of_objects(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let less = laws.less;
    let objects = |page: Page| crate::stats::count(page.asks.len() - 1) + less;
    pages(laws, streams).map(objects).take(n).collect()
}

fn sizes_of_files(laws: &Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let mut library = laws.library(streams);
    (1..=n as u64).map(|file| float(library.size(file).count())).collect()
}

/// The request of a set that tells the popularity: most of those before it are to files that were asked for.
const LATER: u32 = 20;

fn ranks(laws: &Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let rank = |set| {
        let mut library = laws.library(&streams.part(set));
        float((0..LATER).map(|_| library.visit().file).last().unwrap_or(0))
    };
    (0..n as u64).map(rank).collect()
}

fn mtus(laws: &Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let session = |part| Reader::new(laws.clone(), &streams.part(part)).mtu;
    (0..n as u64).filter_map(session).map(|mtu| float(mtu.count())).collect()
}

fn times_to_parse(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    pages(laws, streams).map(|page| float(page.pauses[0].count())).take(n).collect()
}

fn times_to_read(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let pauses = pages(laws, streams).filter_map(|page| page.pauses.last().copied());
    pauses.take(n).map(|pause| float(pause.count())).collect()
}

fn pauses(laws: Laws, streams: &Streams, n: usize) -> Vec<f64> {
    let inner = |page: Page| page.pauses[1..page.pauses.len() - 1].to_vec();
    let pauses = pages(laws, streams).flat_map(inner);
    pauses.take(n).map(|pause| float(pause.count())).collect()
}
