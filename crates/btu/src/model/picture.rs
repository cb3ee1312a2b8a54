//! A second of traffic in a line of the terminal.

use btu_core::traffic::Direction;
use btu_core::traffic::Message;
use btu_core::units::Nanos;

/// Bytes of each of so many parts of a second, one way.
pub(super) fn columns(messages: &[Message], way: Direction, start: Nanos) -> Vec<u64> {
    let mut columns = vec![0; COLUMNS];
    for message in messages.iter().filter(|m| m.direction == way && m.at >= start) {
        let column = message.at.since(start).count() / (SECOND / COLUMNS as u64);
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        if let Some(bytes) = columns.get_mut(column) {
            *bytes += message.bytes.count();
        }
    }
    columns
}

/// The whole second in which the most is due.
pub(super) fn busiest(messages: &[Message]) -> Nanos {
    let second = |message: &Message| message.at.count() / SECOND;
    let seconds = messages.chunk_by(|a, b| second(a) == second(b));
    let bytes = |part: &&[Message]| part.iter().map(|m| m.bytes.count()).sum::<u64>();
    let most = seconds.max_by_key(bytes).and_then(|part| part.first());
    Nanos::new(most.map_or(0, second) * SECOND)
}

/// Columns as bars, the tallest full.
pub(super) fn bars(columns: &[u64]) -> String {
    let most = columns.iter().max().copied().unwrap_or(0).max(1);
    let bar = |bytes: &u64| match bytes {
        0 => ' ',
        bytes => {
            let eighth = (bytes * 8).div_ceil(most).clamp(1, 8);
            usize::try_from(eighth).ok().and_then(|at| BARS.get(at)).copied().unwrap_or(' ')
        }
    };
    columns.iter().map(bar).collect()
}

/// Parts of the second.
pub(super) const COLUMNS: usize = 80;
const SECOND: u64 = 1_000_000_000;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

#[cfg(test)]
mod tests {
    use super::*;
    use btu_core::units::Bytes;

    #[test]
    fn the_tallest_column_is_full_and_an_empty_one_blank() {
        assert_eq!(bars(&[0, 1, 100, 800]), " ▁▁█");
    }

    #[test]
    fn each_message_is_in_the_column_of_its_time() {
        let message = |ms, bytes| Message {
            at: Nanos::from_millis(ms),
            bytes: Bytes::new(bytes),
            flow: 0,
            direction: Direction::Forward,
        };
        let messages = [message(10, 5), message(2_000, 70), message(2_013, 1), message(2_999, 3)];
        assert_eq!(busiest(&messages), Nanos::from_secs(2));
        let columns = columns(&messages, Direction::Forward, Nanos::from_secs(2));
        assert_eq!((columns[0], columns[1], columns[79]), (70, 1, 3));
    }
}
