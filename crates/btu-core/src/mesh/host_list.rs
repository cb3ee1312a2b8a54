//! Lists of hosts as schedulers write them: `n[1-4,7],m[01-03]` is n1, n2, n3, n4, n7, m01, m02 and m03.

/// A list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    /// A bracket without its other one, or one in another.
    #[error("hosts \"{0}\": a bracket without its other one; write n[1-4,7]")]
    Bracket(String),
    /// What stands in brackets is no number and no range.
    #[error("hosts \"{list}\": \"{part}\" is no number and no range; write 7 or 1-4")]
    Range {
        /// The list.
        list: String,
        /// What stands there.
        part: String,
    },
    /// More hosts than anybody has.
    #[error("hosts \"{0}\": more than {MOST} hosts")]
    TooMany(String),
}

/// The hosts of a list, in its order; leading zeros are kept.
///
/// # Errors
/// A bracket, a range or their number.
pub fn expand(text: &str) -> Result<Vec<String>, HostListError> {
    let mut hosts = Vec::new();
    for entry in entries(text)? {
        hosts.extend(expanded(entry, text)?);
        if hosts.len() > MOST {
            return Err(HostListError::TooMany(text.to_owned()));
        }
    }
    Ok(hosts)
}

/// What commas outside of brackets part.
fn entries(text: &str) -> Result<Vec<&str>, HostListError> {
    let (mut entries, mut begin, mut is_inside) = (Vec::new(), 0, false);
    for (at, sign) in text.char_indices() {
        match sign {
            '[' | ']' if is_inside == (sign == '[') => {
                return Err(HostListError::Bracket(text.to_owned()));
            }
            '[' | ']' => is_inside = !is_inside,
            ',' if !is_inside => {
                entries.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err(HostListError::Bracket(text.to_owned()));
    }
    entries.push(&text[begin..]);
    Ok(entries.into_iter().map(str::trim).filter(|entry| !entry.is_empty()).collect())
}

/// One entry: every bracket in it is a choice, the last one turns fastest.
fn expanded(entry: &str, text: &str) -> Result<Vec<String>, HostListError> {
    let Some((before, rest)) = entry.split_once('[') else { return Ok(vec![entry.to_owned()]) };
    let (inside, after) = rest.split_once(']').unwrap_or((rest, ""));
    let ends = expanded(after, text)?;
    let mut hosts = Vec::new();
    for part in inside.split(',') {
        let (first, last) = bounds(part.trim(), text)?;
        for number in first.value..=last {
            if hosts.len() > MOST {
                return Err(HostListError::TooMany(text.to_owned()));
            }
            let width = first.width;
            hosts.extend(ends.iter().map(|end| format!("{before}{number:0width$}{end}")));
        }
    }
    Ok(hosts)
}

/// The first number of a range, with the digits that it is written in.
struct First {
    value: u64,
    width: usize,
}

fn bounds(part: &str, text: &str) -> Result<(First, u64), HostListError> {
    let wrong = || HostListError::Range { list: text.to_owned(), part: part.to_owned() };
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { digits.parse::<u64>().map_err(|_| wrong()) } else { Err(wrong()) }
    };
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (value, end) = (number(first)?, number(last)?);
    if value > end {
        return Err(wrong());
    }
    Ok((First { value, width: first.len() }, end))
}

/// More than a mesh has.
const MOST: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_schedulers_write_it() {
        for (list, hosts) in [
            ("a", "a"),
            ("n[1-4,7],m[01-03]", "n1 n2 n3 n4 n7 m01 m02 m03"),
            ("r[1-2]n[01-03]", "r1n01 r1n02 r1n03 r2n01 r2n02 r2n03"),
            ("a1,b[2-3,5]", "a1 b2 b3 b5"),
            ("n[8-11]", "n8 n9 n10 n11"),
            ("n[098-101]-ib", "n098-ib n099-ib n100-ib n101-ib"),
            (" a , b ", "a b"),
        ] {
            assert_eq!(expand(list).unwrap().join(" "), hosts, "{list}");
        }
        assert_eq!(expand("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_list_is_told_with_what_is() {
        let told = |list: &str| expand(list).unwrap_err().to_string();
        assert_eq!(
            told("n[1-4"),
            "hosts \"n[1-4\": a bracket without its other one; write n[1-4,7]"
        );
        assert!(told("n]1[").contains("bracket"));
        assert!(told("n[[1]]").contains("bracket"));
        assert!(told("n[1-x]").contains("\"1-x\" is no number and no range"));
        assert!(told("n[4-1]").contains("\"4-1\" is no number and no range"));
        assert!(told("n[]").contains("\"\" is no number"));
        assert!(told("n[1-99999999]").contains("more than 100000 hosts"));
        assert!(told("n[1-99999]m[1-99999]").contains("more than 100000 hosts"));
    }
}
