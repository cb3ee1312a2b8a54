//! The test host moved memory to swap, or back from it.

use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::sample::HostSample;
use crate::units::Bytes;

pub(super) const RULE: Rule = Rule {
    name: "swapping",
    about: "the test host moved more than 1 MiB to swap and back from it within the window",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(|run| judge(&run.sample.host)),
};

/// Whose memory it was, and why it went, the kernel does not say. No run is repeated for it: it may go on.
fn judge(host: &HostSample) -> Option<String> {
    let swapped = host.swapped.filter(|swapped| *swapped > MOST)?;
    Some(format!(
        "{swapped} > {MOST} went to swap and came from it: programs may have waited for theirs"
    ))
}

/// A few pages that nobody needed go at any time.
const MOST: Bytes = Bytes::new(1 << 20);
