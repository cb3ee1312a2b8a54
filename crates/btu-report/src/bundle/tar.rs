//! The tar archive inside a bundle: POSIX ustar with plain files, no owners and no times.

use std::collections::BTreeMap;

use super::BundleError;
use super::RESULT_FILES;

/// The archive of these files, in the order of their names.
pub(super) fn archive(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        archive.extend(header(name, content.len()));
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// The files of an archive.
pub(super) fn files(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    let mut files = BTreeMap::new();
    let mut rest = archive;
    loop {
        let (header, after) = rest.split_at_checked(BLOCK).ok_or_else(cut_off)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(files);
        }
        let (name, length) = read_header(header)?;
        let (content, after) = after.split_at_checked(length).ok_or_else(cut_off)?;
        let padding = length.next_multiple_of(BLOCK) - length;
        rest = after.get(padding..).ok_or_else(cut_off)?;
        if files.insert(name.to_owned(), content.to_vec()).is_some() {
            return Err(BundleError::Archive(format!("it holds {name} twice")));
        }
    }
}

/// Name and length of a member: only the files of a result have one.
fn read_header(header: &[u8]) -> Result<(&'static str, usize), BundleError> {
    let text = header[..NAME].split(|byte| *byte == 0).next().unwrap_or_default();
    let known = RESULT_FILES.into_iter().find(|known| known.as_bytes() == text);
    let name = known.ok_or_else(|| {
        let shown: String = String::from_utf8_lossy(text).escape_default().take(NAME).collect();
        BundleError::Archive(format!("it holds \"{shown}\", which is no file of a result"))
    })?;
    let digits = std::str::from_utf8(&header[SIZE..SIZE + 11]).ok();
    let length = digits.and_then(|digits| usize::from_str_radix(digits, 8).ok());
    let length = length.filter(|length| *length <= super::LONGEST_RESULT);
    let length =
        length.ok_or_else(|| BundleError::Archive(format!("{name} has no legal length")))?;
    Ok((name, length))
}

/// A header of POSIX.1-1988 (ustar): mode 0644, user and group 0, time 0.
fn header(name: &str, length: usize) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let size = format!("{length:011o}\0");
    let fields: [(usize, &[u8]); 8] = [
        (0, name.as_bytes()),
        (100, b"0000644\0"),
        (108, b"0000000\0"),
        (116, b"0000000\0"),
        (SIZE, size.as_bytes()),
        (136, b"00000000000\0"),
        (148, b"        0"),
        (257, b"ustar\x0000"),
    ];
    for (at, field) in fields {
        header[at..at + field.len()].copy_from_slice(field);
    }
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

fn cut_off() -> BundleError {
    BundleError::Archive("its archive is cut off".to_owned())
}

const BLOCK: usize = 512;
const NAME: usize = 100;
const SIZE: usize = 124;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<u8> {
        let mut archive = header(name, 3).to_vec();
        archive.extend(b"abc");
        archive.resize(4 * BLOCK, 0);
        archive
    }

    #[test]
    fn only_files_of_a_result_are_taken() {
        assert!(files(&of("plan.toml")).is_ok());
        for name in ["../plan.toml", "/etc/passwd", "plan.toml/x", "samples.jsonl.exe", "a\u{1b}b"]
        {
            let error = files(&of(name)).unwrap_err().to_string();
            assert!(error.ends_with("which is no file of a result"), "{error}");
            assert!(!error.contains('\u{1b}'));
        }
    }

    #[test]
    fn the_same_file_twice_is_refused() {
        let once = of("plan.toml");
        let twice = [&once[..2 * BLOCK], &once].concat();
        let error = files(&twice).unwrap_err().to_string();
        assert!(error.ends_with("it holds plan.toml twice"), "{error}");
    }

    #[test]
    fn a_length_that_lies_is_refused() {
        let mut archive = of("plan.toml");
        archive[SIZE..SIZE + 11].copy_from_slice(b"77777777777");
        assert!(files(&archive).unwrap_err().to_string().ends_with("no legal length"));
        archive[SIZE..SIZE + 11].copy_from_slice(b"00000077777");
        assert!(files(&archive).unwrap_err().to_string().ends_with("cut off"));
    }
}
