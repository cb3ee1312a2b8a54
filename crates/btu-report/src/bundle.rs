//! A result as one file: a gzip of a tar, the same bytes for the same result on every machine.
//!
//! `tar xzf` reads it. We read it with suspicion: only the files of a result, each once, in our own
//! form to the last bit of the archive, and never more than a bound.

mod tar;

use btu_core::journal::file;
use std::collections::BTreeMap;

use miniz_oxide::DataFormat;
use miniz_oxide::MZFlush;
use miniz_oxide::MZStatus;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::stream;
use miniz_oxide::inflate::stream::InflateState;

/// The files of a result that a bundle may hold, in the order of their names. Whatever else lies in a
/// directory is no part of its result.
pub const RESULT_FILES: [&str; 11] = [
    file::EVENTS,
    "events.torn",
    file::HOSTS,
    "manifest.json",
    file::PLAN_GIVEN,
    file::PLAN,
    file::REPORT,
    file::RESULT,
    file::SAMPLES,
    "samples.torn",
    "signatures.json",
];

/// No bundle is read that is longer.
pub(crate) const LONGEST_BUNDLE: usize = 64 << 20;
/// No result is read that is longer, all files together.
pub(crate) const LONGEST_RESULT: usize = 256 << 20;

/// Why a file is no bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The archive is not one that `btu bundle` writes.
    #[error("not a bundle of btu: {0}")]
    Archive(String),
    /// The checksum at the end is another.
    #[error("damaged: the checksum of its content is wrong")]
    Checksum,
    /// It begins as no gzip file of ours.
    #[error("not a bundle of btu: it is no gzip file as `btu bundle` writes it")]
    Head,
    /// It ends too early, or its content does not unpack.
    #[error("damaged: its content does not unpack ({0})")]
    Packing(String),
    /// It is longer than any result.
    #[error("too large: more than {0} MiB")]
    TooLarge(usize),
}

/// The bundle of these files.
///
/// # Errors
/// It would be longer than [`unpack`] reads.
pub fn pack(files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, BundleError> {
    pack_within(files, LONGEST_RESULT, LONGEST_BUNDLE)
}

/// The same, where the archive has at most `longest` bytes and its bundle at most `longest_packed`.
fn pack_within(
    files: &BTreeMap<String, Vec<u8>>,
    longest: usize,
    longest_packed: usize,
) -> Result<Vec<u8>, BundleError> {
    let archive = tar::archive(files);
    bounded(archive.len(), longest)?;
    let mut bundle = HEAD.to_vec();
    bundle.extend(compress_to_vec(&archive, LEVEL));
    bundle.extend(crc32(&archive).to_le_bytes());
    bundle.extend(length_mod_32(&archive).to_le_bytes());
    bounded(bundle.len(), longest_packed)?;
    Ok(bundle)
}

const fn bounded(length: usize, longest: usize) -> Result<(), BundleError> {
    if length > longest { Err(BundleError::TooLarge(longest >> 20)) } else { Ok(()) }
}

/// The files of a bundle, by name.
///
/// # Errors
/// It is damaged, too large, or not one of ours.
pub fn unpack(bundle: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    unpack_within(bundle, LONGEST_RESULT)
}

/// The same, where all files together have at most `longest` bytes.
fn unpack_within(bundle: &[u8], longest: usize) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    bounded(bundle.len(), LONGEST_BUNDLE)?;
    let body = bundle.strip_prefix(&HEAD).ok_or(BundleError::Head)?;
    let cut = body.len().checked_sub(8).ok_or(BundleError::Packing("cut off".to_owned()))?;
    let (packed, trailer) = body.split_at(cut);
    let archive = inflated(packed, longest)?;
    let sums = [crc32(&archive).to_le_bytes(), length_mod_32(&archive).to_le_bytes()].concat();
    if trailer != sums {
        return Err(BundleError::Checksum);
    }
    let files = tar::files(&archive)?;
    // What we would write ourselves is the only form that is read: nothing hides in a bundle.
    if tar::archive(&files) != archive {
        return Err(BundleError::Archive(MORE.to_owned()));
    }
    Ok(files)
}

/// The archive, which has at most `longest` bytes and ends where `packed` does: what stands behind is read by nobody.
fn inflated(mut packed: &[u8], longest: usize) -> Result<Vec<u8>, BundleError> {
    let mut state = InflateState::new_boxed(DataFormat::Raw);
    let (mut archive, mut piece) = (Vec::new(), vec![0; PIECE]);
    loop {
        let step = stream::inflate(&mut state, packed, &mut piece, MZFlush::None);
        let status = step.status.map_err(|error| BundleError::Packing(format!("{error:?}")))?;
        archive.extend_from_slice(&piece[..step.bytes_written]);
        packed = &packed[step.bytes_consumed..];
        bounded(archive.len(), longest)?;
        match status {
            MZStatus::StreamEnd if packed.is_empty() => return Ok(archive),
            MZStatus::StreamEnd => return Err(BundleError::Archive(MORE.to_owned())),
            _ if step.bytes_written == 0 && packed.is_empty() => {
                return Err(BundleError::Packing("cut off".to_owned()));
            }
            _ => {}
        }
    }
}

/// The length as gzip writes it: modulo 2^32.
#[expect(clippy::cast_possible_truncation, reason = "RFC 1952 asks for the length modulo 2^32")]
const fn length_mod_32(content: &[u8]) -> u32 {
    content.len() as u32
}

/// The checksum of gzip (RFC 1952, section 8).
fn crc32(content: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| sum >> 8 ^ CRC_TABLE[usize::from(sum.to_le_bytes()[0] ^ byte)];
    !content.iter().fold(u32::MAX, step)
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "a byte")]
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

/// Gzip without name or time, of an unknown system (RFC 1952, section 2.3).
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
const LEVEL: u8 = 6;
/// How much is unpacked in a step.
const PIECE: usize = 1 << 16;
const MORE: &str = "it holds more than its files";

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> BTreeMap<String, Vec<u8>> {
        let long: Vec<u8> = (0..150_u32).flat_map(u32::to_le_bytes).collect();
        let plan = ("plan.toml".to_owned(), b"seed = 7\n".to_vec());
        [plan, ("events.jsonl".to_owned(), Vec::new()), ("samples.jsonl".to_owned(), long)].into()
    }

    /// The check value of CRC-32: of the digits 1 to 9 it is cbf43926.
    #[test]
    fn the_checksum_is_that_of_gzip() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_bundle_reads_back_and_is_the_same_each_time() {
        let bundle = pack(&files()).unwrap();
        assert_eq!(unpack(&bundle), Ok(files()));
        assert_eq!(pack(&files()), Ok(bundle));
    }

    #[test]
    fn every_cut_is_an_error() {
        let bundle = pack(&files()).unwrap();
        for cut in 0..bundle.len() {
            assert!(unpack(&bundle[..cut]).is_err(), "{cut}");
        }
    }

    /// xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003).
    fn next(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        usize::try_from(*state >> 32).unwrap()
    }

    #[test]
    fn ten_thousand_changed_bundles_are_errors_or_the_same_files() {
        let bundle = pack(&files()).unwrap();
        let mut state = 7;
        for _ in 0..10_000 {
            let mut changed = bundle.clone();
            for _ in 0..=next(&mut state) % 3 {
                let at = next(&mut state) % changed.len();
                changed[at] ^= 1 << (next(&mut state) % 8);
            }
            let found = unpack(&changed);
            assert!(found.is_err() || found == Ok(files()));
        }
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let archive = tar::archive(&files()).len();
        let bundle = pack(&files()).unwrap();
        let exactly = pack_within(&files(), archive, bundle.len());
        assert_eq!(exactly.as_ref(), Ok(&bundle));
        assert_eq!(unpack_within(&bundle, archive), Ok(files()));
        for (longest, packed) in [(archive - 1, bundle.len()), (archive, bundle.len() - 1)] {
            assert_eq!(pack_within(&files(), longest, packed), Err(BundleError::TooLarge(0)));
        }
    }

    /// Programs that unpack gzip stumble over it or pass it by: here it is an error.
    #[test]
    fn bytes_behind_the_archive_are_refused() {
        let mut bundle = pack(&files()).unwrap();
        let trailer = bundle.split_off(bundle.len() - 8);
        bundle.extend(b"a secret");
        bundle.extend(trailer);
        assert_eq!(unpack(&bundle), Err(BundleError::Archive(MORE.to_owned())));
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut bomb = HEAD.to_vec();
        bomb.extend(compress_to_vec(&vec![0; (1 << 20) + 1], 1));
        bomb.extend([0; 8]);
        assert!(bomb.len() < 20_000);
        assert_eq!(unpack_within(&bomb, 1 << 20), Err(BundleError::TooLarge(1)));
    }
}
