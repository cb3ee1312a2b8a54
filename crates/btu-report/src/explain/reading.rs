//! How to read what a capture tells.

use crate::document::Block;

/// What the words mean, and what a capture cannot show.
pub(super) fn blocks() -> Vec<Block> {
    let items = [
        "Diagnoses are ranked by the share of the time that each explains, weighed by its confidence. None \
         means that nothing slowed the connection down.",
        "A capture shows what passed one place. What was lost before it is a gap; what was lost behind it \
         was sent twice. Bytes in flight are counted as the sender saw them.",
        "Segments of more than the wire carries are super-packets (GSO, GRO): one call of the stack, many \
         packets.",
        "A window whose shift is not known, because the SYN was not captured, is not shown.",
        "A wait is named by what the sender lacked before its next segment: data of its application, room \
         in the window, an acknowledgement, or nothing that a capture shows.",
    ];
    vec![Block::List { items: items.map(str::to_owned).to_vec() }]
}
