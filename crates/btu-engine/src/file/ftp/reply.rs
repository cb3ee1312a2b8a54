//! Replies of the FTP server, each one write on the control connection (RFC 959, 4.2).

use std::borrow::Cow;

/// What the server answers: a code, and one line or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    code: u16,
    text: Cow<'static, str>,
    /// Lines between the first and the last one.
    lines: &'static [&'static str],
}

impl Reply {
    pub(super) const fn new(code: u16, text: &'static str) -> Self {
        Self { code, text: Cow::Borrowed(text), lines: &[] }
    }

    /// A reply whose text was made for the occasion.
    pub(super) fn told(code: u16, text: String) -> Self {
        Self { code, text: Cow::Owned(text), lines: &[] }
    }

    /// A reply of several lines (RFC 2389, 3.2): `text` opens it, `End` closes it.
    pub(super) const fn listing(
        code: u16,
        text: &'static str,
        lines: &'static [&'static str],
    ) -> Self {
        Self { code, text: Cow::Borrowed(text), lines }
    }

    #[cfg(test)]
    pub(super) fn code(&self) -> u16 {
        self.code
    }

    /// The reply as it goes over the connection.
    pub(super) fn wire(&self) -> Vec<u8> {
        let Self { code, text, lines } = self;
        if lines.is_empty() {
            return format!("{code} {text}\r\n").into_bytes();
        }
        let middle: String = lines.iter().flat_map(|line| [" ", line, "\r\n"]).collect();
        format!("{code}-{text}\r\n{middle}{code} End\r\n").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_a_code_and_a_line() {
        assert_eq!(Reply::new(200, "done").wire(), b"200 done\r\n");
        assert_eq!(Reply::told(213, "17".to_owned()).wire(), b"213 17\r\n");
    }

    /// The example of RFC 2389, 3.2: each feature stands behind one space.
    #[test]
    fn a_listing_indents_its_lines() {
        let reply = Reply::listing(211, "Extensions supported:", &["SIZE", "EPSV"]);
        assert_eq!(reply.wire(), b"211-Extensions supported:\r\n SIZE\r\n EPSV\r\n211 End\r\n");
    }
}
