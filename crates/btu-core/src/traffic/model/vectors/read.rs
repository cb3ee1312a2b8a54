//! The text of connection vectors, in both forms that tmix has for it.
//!
//! From `doc/tmix.tex`, "Connection Vectors", of ns-2.35. The number of exchanges in a header is not compared with those that
//! follow: recordings that come with ns-2 differ from it.

use super::super::prelude::*;
use super::Step;
use super::Vector;

/// True for a text whose first line is the header of a connection vector.
pub(in crate::traffic::model) fn is_one(text: &str) -> bool {
    let first = text.lines().map(words).find(|words| !words.is_empty());
    first.is_some_and(|words| header(words[0]).is_some())
}

/// The connections of a text in the order of their starts, the first of which is zero; or why it is none, as
/// `:LINE: what stands there`.
pub(in crate::traffic::model) fn read(text: &str) -> Result<Vec<Vector>, String> {
    let (mut all, mut open) = (Vec::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        let words = words(line);
        let Some((word, rest)) = words.split_first() else { continue };
        let refused = |cause| format!(":{number}: \"{}\"; {cause}", line.trim());
        if let Some((sequential, alternate)) = header(word) {
            all.extend(finished(open.take())?);
            let start = started(rest, sequential).map_err(refused)?;
            open = Some(Reading { sequential, alternate, start, number, ..Reading::default() });
        } else {
            let open: Option<&mut Reading> = open.as_mut();
            let first = || refused("write SEQ, CONC, S or C with its numbers first");
            open.ok_or_else(first)?.line(word, rest).map_err(refused)?;
        }
    }
    all.extend(finished(open)?);
    if super::period(&all) == Nanos::ZERO {
        return Err(": no time passes in it".to_owned());
    }
    all.sort_by_key(|vector: &Vector| vector.start);
    let first = all.first().map_or(Nanos::ZERO, |vector| vector.start);
    for vector in &mut all {
        vector.start = vector.start.since(first);
    }
    Ok(all)
}

/// The words of a line without its comment.
fn words(line: &str) -> Vec<&str> {
    line.split('#').next().unwrap_or("").split_whitespace().collect()
}

/// Of a header: whether each end waits for the other one, and whether it is of the form that says for each time what
/// it is counted from.
fn header(word: &str) -> Option<(bool, bool)> {
    match word {
        "SEQ" => Some((true, false)),
        "CONC" => Some((false, false)),
        "S" => Some((true, true)),
        "C" => Some((false, true)),
        _ => None,
    }
}

/// The start that a header says.
fn started(rest: &[&str], sequential: bool) -> Result<Nanos, &'static str> {
    let cause = if sequential {
        "write the start in us, exchanges, and two numbers that name it"
    } else {
        "write the start in us, what each end sends, and two numbers that name it"
    };
    let numbers = whole_numbers(rest).filter(|all| all.len() == 4 + usize::from(!sequential));
    numbers.map(|all| micros(all[0])).ok_or(cause)
}

/// What an end does after a time: it sends so much, or closes.
#[derive(Clone, Copy, Debug)]
struct Turn {
    end: usize,
    after: Nanos,
    bytes: u64,
}

/// A vector that is being read.
#[derive(Debug, Default)]
struct Reading {
    sequential: bool,
    alternate: bool,
    start: Nanos,
    /// Of the line of its header.
    number: usize,
    turns: Vec<Turn>,
    /// What each end waits for before its next turn; of a sequential one, who has it.
    waits: [Option<Nanos>; 2],
    closed: [bool; 2],
}

impl Reading {
    fn line(&mut self, word: &str, rest: &[&str]) -> Result<(), &'static str> {
        match word {
            "w" => measured(rest, 2, "write two windows in bytes"),
            "r" => measured(rest, 1, "write a round trip in us"),
            "l" => measured(rest, 2, "write two shares of loss"),
            _ if self.alternate => self.said(word, rest),
            _ => self.original(word, rest),
        }
    }

    /// `I` or `A` with a time since it sent, one since it received, and bytes.
    fn said(&mut self, word: &str, rest: &[&str]) -> Result<(), &'static str> {
        let cause = "write I or A, two times in us and bytes";
        let end = ["I", "A"].iter().position(|end| *end == word).ok_or(cause)?;
        let numbers = whole_numbers(rest).ok_or(cause)?;
        let [sent, received, bytes] = numbers[..] else { return Err(cause) };
        if sent > 0 && received > 0 {
            return Err("write 0 for the time since it sent or for that since it received");
        }
        if !self.sequential && received > 0 {
            return Err(
                "write 0 for the time since it received: both ends of C send by themselves",
            );
        }
        self.turn(Turn { end, after: micros(sent + received), bytes })
    }

    /// `>`, `<` and `t`, or `c>`, `c<`, `t>` and `t<`, with a number.
    fn original(&mut self, word: &str, rest: &[&str]) -> Result<(), &'static str> {
        let (cause, names) = if self.sequential {
            ("write >, < or t with a number", [[">", "<"], ["t", "t"]])
        } else {
            ("write c>, c<, t> or t< with a number", [["c>", "c<"], ["t>", "t<"]])
        };
        let numbers = whole_numbers(rest).ok_or(cause)?;
        let [number] = numbers[..] else { return Err(cause) };
        let at = |names: [&str; 2]| names.iter().position(|name| *name == word);
        if let Some(end) = at(names[0]) {
            if number == 0 {
                return Err("write 1 byte or more");
            }
            let after = self.waits[self.clock(end)].take().unwrap_or_default();
            return self.turn(Turn { end, after, bytes: number });
        }
        let end = at(names[1]).ok_or(cause)?;
        let clock = self.clock(end);
        if self.turns.iter().all(|turn| self.clock(turn.end) != clock) {
            return Err("write what is sent first");
        }
        match self.waits[clock].replace(micros(number)) {
            Some(_) => Err("write one time before what is sent"),
            None => Ok(()),
        }
    }

    /// Whose times those of an end are: of a sequential one there is a single row of them.
    fn clock(&self, end: usize) -> usize {
        if self.sequential { 0 } else { end }
    }

    fn turn(&mut self, turn: Turn) -> Result<(), &'static str> {
        let clock = self.clock(turn.end);
        if self.closed[clock] {
            return Err("write nothing after 0 bytes, which close");
        }
        self.closed[clock] = turn.bytes == 0;
        self.turns.push(turn);
        Ok(())
    }

    /// What stands at the end, a time alone, is when it closes.
    fn vector(mut self) -> Vector {
        for end in 0..2 {
            if let Some(after) = self.waits[end] {
                self.turns.push(Turn { end, after, bytes: 0 });
            }
        }
        let (start, waits) = (self.start, self.sequential);
        let steps = if waits { one_after_another(&self.turns) } else { side_by_side(&self.turns) };
        Vector { start, waits, steps }
    }
}

/// The vector that was read, if any.
fn finished(open: Option<Reading>) -> Result<Option<Vector>, String> {
    let Some(open) = open else { return Ok(None) };
    if open.turns.iter().all(|turn| turn.bytes == 0) {
        return Err(format!(":{}: nothing is sent; write what is, or leave it out", open.number));
    }
    Ok(Some(open.vector()))
}

/// Each turn after the one before.
fn one_after_another(turns: &[Turn]) -> Vec<Step> {
    let (mut steps, mut after) = (Vec::new(), Nanos::ZERO);
    for turn in turns {
        after = after.saturating_add(turn.after);
        if turn.bytes > 0 && !answers(*turn, &mut steps) {
            steps.push(asking(*turn, std::mem::take(&mut after)));
        }
    }
    steps.push(Step { after, ask: None });
    steps
}

/// The turns of each end after its own ones.
fn side_by_side(turns: &[Turn]) -> Vec<Step> {
    let mut clocks = [Nanos::ZERO; 2];
    let timed = turns.iter().map(|turn| {
        let clock = &mut clocks[turn.end];
        *clock = clock.saturating_add(turn.after);
        (*clock, *turn)
    });
    let mut timed: Vec<(Nanos, Turn)> = timed.collect();
    timed.sort_by_key(|(at, turn)| (*at, turn.end));
    let (mut steps, mut now) = (Vec::new(), Nanos::ZERO);
    for (at, turn) in timed.into_iter().filter(|(_, turn)| turn.bytes > 0) {
        if at > now || !answers(turn, &mut steps) {
            steps.push(asking(turn, at.since(now)));
            now = at;
        }
    }
    steps.push(Step { after: clocks[0].max(clocks[1]).since(now), ask: None });
    steps
}

/// Makes a turn of the other end the answer of the last request, if that has none.
fn answers(turn: Turn, steps: &mut [Step]) -> bool {
    match steps.last_mut().and_then(|step| step.ask.as_mut()) {
        Some((_, answer)) if turn.end == 1 && answer.is_empty() => {
            *answer = Bytes::new(turn.bytes);
            true
        }
        _ => false,
    }
}

fn asking(turn: Turn, after: Nanos) -> Step {
    let bytes = Bytes::new(turn.bytes);
    let ask = if turn.end == 0 { (bytes, Bytes::ZERO) } else { (Bytes::new(1), bytes) };
    Step { after, ask: Some(ask) }
}

/// Numbers that say how the path was.
fn measured(rest: &[&str], count: usize, cause: &'static str) -> Result<(), &'static str> {
    let good = |word: &&str| word.parse().is_ok_and(|number| (0.0..=1e12).contains(&number));
    if rest.len() == count && rest.iter().all(good) { Ok(()) } else { Err(cause) }
}

/// Whole numbers up to 10^12.
fn whole_numbers(rest: &[&str]) -> Option<Vec<u64>> {
    let number = |word: &&str| word.parse().ok().filter(|number| *number <= 1_000_000_000_000_u64);
    rest.iter().map(number).collect()
}

const fn micros(count: u64) -> Nanos {
    Nanos::from_micros(count)
}

#[cfg(test)]
mod tests;
