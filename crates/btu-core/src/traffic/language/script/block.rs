//! Blocks, tests and settings of the block language. After an error it goes on at the next one.

use super::Problem;
use super::token::Place;
use super::token::Token;
use super::tree::DEPTH;
use super::tree::Reader;
use super::tree::Tree;

/// A block as it is written.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct RawBlock {
    pub(in crate::traffic) kind: BlockKind,
    pub(in crate::traffic) place: Place,
    pub(in crate::traffic) settings: Vec<Setting>,
    pub(in crate::traffic) blocks: Vec<Self>,
    pub(in crate::traffic) tests: Vec<RawTest>,
}

/// What a block does with its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::traffic) enum BlockKind {
    Cluster,
    Parallel,
    Serial,
}

/// One end of a connection as it is written.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct RawTest {
    pub(in crate::traffic) place: Place,
    pub(in crate::traffic) host: Option<String>,
    pub(in crate::traffic) settings: Vec<Setting>,
    /// A part of it could not be read, and was told.
    pub(in crate::traffic) is_damaged: bool,
}

/// `name = value`, the name in lower case.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct Setting {
    pub(in crate::traffic) place: Place,
    pub(in crate::traffic) name: String,
    pub(in crate::traffic) value: Tree,
}

/// All blocks of a script; what is wrong is kept in the reader.
pub(super) fn script(reader: &mut Reader) -> Vec<RawBlock> {
    let mut blocks = Vec::new();
    while *reader.peek() != Token::End {
        if let Some(kind) = kind(reader) {
            blocks.extend(block(reader, kind, 1));
        } else {
            let problem = stray(reader, "a block: cluster, parallel or serial");
            reader.problems.push(problem);
        }
    }
    blocks
}

/// The kind of the block that begins here.
fn kind(reader: &Reader) -> Option<BlockKind> {
    let (Token::Word(word), Token::Mark('{')) = (reader.peek(), reader.ahead(1)) else {
        return None;
    };
    match word.to_lowercase().as_str() {
        "cluster" => Some(BlockKind::Cluster),
        "parallel" => Some(BlockKind::Parallel),
        "serial" => Some(BlockKind::Serial),
        _ => None,
    }
}

fn block(reader: &mut Reader, kind: BlockKind, depth: usize) -> Option<RawBlock> {
    let place = reader.place();
    if depth > DEPTH {
        reader.problems.push(Problem::at(place, format!("nested deeper than {DEPTH}")));
        reader.skip();
        skip_braces(reader);
        return None;
    }
    let mut found =
        RawBlock { kind, place, settings: Vec::new(), blocks: Vec::new(), tests: Vec::new() };
    reader.skip();
    reader.skip();
    while !reader.take('}') {
        if *reader.peek() == Token::End {
            reader.problems.push(Problem::at(place, "this block has no end; write }"));
            break;
        }
        item(reader, &mut found, depth);
    }
    reader.take(';');
    Some(found)
}

/// One block, test or setting within a block.
fn item(reader: &mut Reader, into: &mut RawBlock, depth: usize) {
    if let Some(kind) = kind(reader) {
        into.blocks.extend(block(reader, kind, depth + 1));
    } else if begins_test(reader) {
        into.tests.extend(test(reader));
    } else if begins_setting(reader) {
        into.settings.extend(setting(reader));
    } else {
        let problem = stray(reader, "test, a block or a setting");
        reader.problems.push(problem);
    }
}

/// A name and `=`: anything else before `=` is a stray.
fn begins_setting(reader: &Reader) -> bool {
    matches!((reader.peek(), reader.ahead(1)), (Token::Word(_), Token::Mark('=')))
}

fn begins_test(reader: &Reader) -> bool {
    matches!(reader.peek(), Token::Word(word) if word.eq_ignore_ascii_case("test"))
        && matches!(
            (reader.ahead(1), reader.ahead(2)),
            (Token::Mark('{'), _) | (Token::Word(_), Token::Mark('{'))
        )
}

fn test(reader: &mut Reader) -> Option<RawTest> {
    let place = reader.place();
    reader.skip();
    let host = if reader.is('{') { None } else { reader.word("a host").ok() };
    reader.skip();
    let host = host.map(|host| host.to_lowercase());
    let mut found = RawTest { place, host, settings: Vec::new(), is_damaged: false };
    while !reader.take('}') {
        match (reader.peek(), reader.ahead(1)) {
            (Token::End, _) => {
                reader.problems.push(Problem::at(place, "this test has no end; write }"));
                return None;
            }
            (Token::Mark(';'), _) => reader.skip(),
            (Token::Word(_), Token::Mark('=')) => match setting(reader) {
                Some(setting) => found.settings.push(setting),
                None => found.is_damaged = true,
            },
            _ => {
                let problem = reader.unexpected("a setting such as own = HOST:PORT, or }");
                reader.problems.push(problem);
                found.is_damaged = true;
                resume(reader);
            }
        }
    }
    reader.take(';');
    Some(found)
}

/// A setting ends with `;`, or before the next setting or `}`.
fn setting(reader: &mut Reader) -> Option<Setting> {
    let place = reader.place();
    let name = reader.word("a setting").ok()?.to_lowercase();
    reader.skip();
    let read = reader.value(0).and_then(|value| {
        let next = matches!((reader.peek(), reader.ahead(1)), (Token::Word(_), Token::Mark('=')));
        if reader.take(';') || next || reader.is('}') {
            return Ok(value);
        }
        Err(reader.unexpected("; or } after the value"))
    });
    match read {
        Ok(value) => Some(Setting { place, name, value }),
        Err(problem) => {
            reader.problems.push(problem);
            resume(reader);
            None
        }
    }
}

/// What stands where it must not, skipped: a whole daemon of NetSpec, or up to the next `;` or `}`.
fn stray(reader: &mut Reader, wanted: &str) -> Problem {
    let daemon = match (reader.peek(), reader.ahead(1), reader.ahead(2)) {
        (Token::Word(name), Token::Mark('{'), _)
        | (Token::Word(name), Token::Word(_), Token::Mark('{')) => Some(name.clone()),
        _ => None,
    };
    let Some(name) = daemon else {
        let problem = reader.unexpected(wanted);
        reader.skip();
        resume(reader);
        return problem;
    };
    let legal = "write cluster, parallel, serial or test";
    let problem = Problem::at(reader.place(), format!("not supported: {name}; {legal}"));
    while !reader.is('{') {
        reader.skip();
    }
    skip_braces(reader);
    problem
}

/// Goes on after the next `;`, or at the next `}`; braces between are skipped whole.
fn resume(reader: &mut Reader) {
    loop {
        match reader.peek() {
            Token::End | Token::Mark('}') => return,
            Token::Mark(';') => return reader.skip(),
            Token::Mark('{') => skip_braces(reader),
            _ => reader.skip(),
        }
    }
}

/// Skips from `{` to the `}` that closes it.
fn skip_braces(reader: &mut Reader) {
    let mut open = 0_usize;
    loop {
        match reader.peek() {
            Token::End => return,
            Token::Mark('{') => open += 1,
            Token::Mark('}') => open = open.saturating_sub(1),
            _ => {}
        }
        reader.skip();
        if open == 0 {
            return;
        }
    }
}
