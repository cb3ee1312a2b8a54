//! Whether the kernel gave a socket what a factor changed: one that it caps changes nothing, and says
//! nothing of the cause.

use crate::pingpong::configuration::Configuration;
use crate::sample::SocketOptions;
use crate::units::Bytes;

/// Why `wanted` is no test of what it changes of `base`, judged by the options read back; `None` where
/// the kernel did what was asked, or does not say.
pub fn not_given(
    base: &Configuration,
    wanted: &Configuration,
    given: &SocketOptions,
) -> Option<String> {
    let changed =
        |of: fn(&Configuration) -> Option<Bytes>| of(wanted).filter(|_| of(wanted) != of(base));
    let send = changed(|one| one.send_buffer_bytes);
    let receive = changed(|one| one.receive_buffer_bytes);
    let segment = changed(|one| one.max_segment_bytes);
    buffer("SO_SNDBUF", "net.core.wmem_max", send, given.send_buffer_bytes)
        .or_else(|| buffer("SO_RCVBUF", "net.core.rmem_max", receive, given.receive_buffer_bytes))
        .or_else(|| larger_segment(segment, given.mss_bytes))
}

/// Linux doubles what is set, up to twice its limit (socket(7)).
fn buffer(option: &str, limit: &str, asked: Option<Bytes>, given: Option<u64>) -> Option<String> {
    let (wanted, given) = (asked?.count().saturating_mul(2), given?);
    (given < wanted).then(|| {
        format!("the kernel gave {option} {given} in place of {wanted}: {limit} bounds it")
    })
}

/// The kernel takes time stamps off a segment, and never adds anything.
fn larger_segment(asked: Option<Bytes>, given: Option<u64>) -> Option<String> {
    let (asked, given) = (asked?.count(), given?);
    (given > asked).then(|| format!("the kernel gave TCP_MAXSEG {given} in place of {asked}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_caps_is_named_with_its_limit() {
        let base = Configuration::new("tcp");
        let sent = Configuration { send_buffer_bytes: Some(Bytes::new(500)), ..base.clone() };
        let given =
            |bytes| SocketOptions { send_buffer_bytes: Some(bytes), ..SocketOptions::default() };
        let why = not_given(&base, &sent, &given(999)).unwrap();
        assert_eq!(
            why,
            "the kernel gave SO_SNDBUF 999 in place of 1000: net.core.wmem_max bounds it"
        );
        assert_eq!(not_given(&base, &sent, &given(1_000)), None);
        assert_eq!(not_given(&base, &sent, &SocketOptions::default()), None);
        let received =
            Configuration { receive_buffer_bytes: Some(Bytes::new(500)), ..base.clone() };
        let given = SocketOptions { receive_buffer_bytes: Some(2), ..SocketOptions::default() };
        assert!(not_given(&base, &received, &given).unwrap().contains("net.core.rmem_max"));
    }

    /// A user whose own buffer was capped still learns what every other factor does.
    #[test]
    fn what_was_capped_in_the_base_too_is_no_fault_of_a_factor() {
        let base =
            Configuration { send_buffer_bytes: Some(Bytes::new(500)), ..Configuration::new("tcp") };
        let given = SocketOptions { send_buffer_bytes: Some(10), ..SocketOptions::default() };
        let nodelay = Configuration { nodelay: Some(false), ..base.clone() };
        assert_eq!(not_given(&base, &nodelay, &given), None);
        let more = Configuration { send_buffer_bytes: Some(Bytes::new(900)), ..base.clone() };
        assert!(not_given(&base, &more, &given).is_some());
    }

    #[test]
    fn a_segment_that_stays_large_is_no_factor() {
        let base = Configuration::new("tcp");
        let small = Configuration { max_segment_bytes: Some(Bytes::new(724)), ..base.clone() };
        let given = |mss| SocketOptions { mss_bytes: Some(mss), ..SocketOptions::default() };
        assert_eq!(not_given(&base, &small, &given(712)), None);
        assert!(not_given(&base, &small, &given(1_448)).unwrap().contains("TCP_MAXSEG 1448"));
    }
}
