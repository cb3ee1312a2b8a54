//! The data behind a time-sequence chart, packed for the script that zooms into it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use btu_core::tcp::SequenceData;
use miniz_oxide::deflate::compress_to_vec;

/// The columns as text that `sequence.js` unpacks: [`SequenceData::encoded`], deflated.
pub(super) fn packed(data: &SequenceData) -> String {
    let text = BASE64_STANDARD.encode(compress_to_vec(&data.encoded(), LEVEL));
    format!("<script type=\"application/octet-stream\">{text}</script>")
}

/// Of deflate (RFC 1951): higher ones take much longer for a few percent.
const LEVEL: u8 = 6;

#[cfg(test)]
mod tests {
    use btu_core::tcp::Sign;

    use super::*;

    #[test]
    fn a_page_says_what_the_script_finds() {
        let data = SequenceData { signs: vec![(7, 9, Sign::Fin)], ..SequenceData::default() };
        let text = packed(&data);
        let inside = text.split(['>', '<']).nth(2).unwrap();
        let raw = BASE64_STANDARD.decode(inside).unwrap();
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&raw).unwrap(), data.encoded());
    }
}
