//! What was made at a server of others and is still there, as a journal tells it.

use super::sample::Line;

/// Names in the order in which they can be removed: what is in a directory before the directory, which ends with `/`.
pub fn leftovers(lines: &[Line]) -> Vec<String> {
    let mut left: Vec<String> = Vec::new();
    for line in lines {
        match line {
            Line::FileMade { name } => left.push(name.clone()),
            Line::FileRemoved { name } => left.retain(|made| !made.starts_with(name)),
            _ => {}
        }
    }
    left.reverse();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str) -> Line {
        Line::FileMade { name: name.to_owned() }
    }

    #[test]
    fn what_was_made_is_left_until_its_directory_is_gone() {
        let mut lines = vec![made("btu-1/"), made("btu-1/get-1"), made("btu-1/put-1")];
        assert_eq!(leftovers(&lines), ["btu-1/put-1", "btu-1/get-1", "btu-1/"]);
        lines.push(Line::FileRemoved { name: "btu-1/".to_owned() });
        lines.extend([made("btu-2/"), made("btu-2/get-1")]);
        assert_eq!(leftovers(&lines), ["btu-2/get-1", "btu-2/"]);
        assert!(leftovers(&[]).is_empty());
    }
}
