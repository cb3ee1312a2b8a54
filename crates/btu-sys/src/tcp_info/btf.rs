//! Reads where the running kernel keeps the members of a structure, from its own type information
//! (BTF, kernel documentation `bpf/btf.rst`).

/// One member of a structure.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bit_offset: usize,
}

/// The members of `struct name`; `None` where the type information has no such structure.
pub(super) fn members(raw: &[u8], name: &str) -> Option<Vec<Member>> {
    let header = Words { raw };
    let (types, strings) = (header.at(8)?, header.at(16)?);
    let start = header.at(4)?;
    let (mut at, end) = (start + types, start + types + header.at(12)?);
    let text = |offset: usize| string(raw.get(start + strings + offset..)?);
    while at < end {
        let (kind, count, flag) = split(header.at(at + 4)?);
        let body = at + 12;
        if kind == STRUCT && text(header.at(at)?)? == name {
            return (0..count)
                .map(|index| member(&header, body + index * 12, flag, &text))
                .collect();
        }
        at = body + body_length(kind, count);
    }
    None
}

/// The little-endian words of the file.
struct Words<'a> {
    raw: &'a [u8],
}

impl Words<'_> {
    fn at(&self, offset: usize) -> Option<usize> {
        let word = self.raw.get(offset..offset + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(word)).ok()
    }
}

/// Kind, number of entries and the flag that packs a bit-field's size into the offset.
fn split(info: usize) -> (usize, usize, bool) {
    ((info >> 24) & 0x1f, info & 0xffff, info >> 31 == 1)
}

fn member(
    words: &Words<'_>,
    at: usize,
    packed: bool,
    text: &impl Fn(usize) -> Option<String>,
) -> Option<Member> {
    let offset = words.at(at + 8)?;
    let bit_offset = if packed { offset & 0x00ff_ffff } else { offset };
    Some(Member { name: text(words.at(at)?)?, bit_offset })
}

fn string(raw: &[u8]) -> Option<String> {
    let end = raw.iter().position(|byte| *byte == 0)?;
    String::from_utf8(raw[..end].to_vec()).ok()
}

/// Bytes that follow the common 12 of a type, by kind.
fn body_length(kind: usize, count: usize) -> usize {
    match kind {
        1 | 14 | 17 => 4,              // INT, VAR, DECL_TAG
        3 => 12,                       // ARRAY
        4 | 5 | 15 | 19 => count * 12, // STRUCT, UNION, DATASEC, ENUM64
        6 | 13 => count * 8,           // ENUM, FUNC_PROTO
        _ => 0,
    }
}

const STRUCT: usize = 4;
