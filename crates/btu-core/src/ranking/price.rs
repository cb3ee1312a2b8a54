//! What a user says of a host: its price, and its marks in other benchmarks.

/// `2900USD@2026-11`
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// Of which currency: three capital letters.
    pub currency: String,
    /// Year, month or day, as written.
    pub date: Option<String>,
}

/// `SPECint=76.9@spec.org`
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Of which benchmark.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Where it was published, as written.
    pub source: Option<String>,
}

impl Price {
    /// Reads a price as `--price` takes it; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (amount, date) = split(text);
        let at = amount.len().checked_sub(3)?;
        let (number, currency) = amount.split_at_checked(at)?;
        let legal = currency.bytes().all(|letter| letter.is_ascii_uppercase());
        let amount = number.parse().ok().filter(|amount: &f64| amount.is_finite() && legal)?;
        Some(Self { amount, currency: currency.to_owned(), date })
    }
}

impl Mark {
    /// Reads a mark as `--mark` takes it; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('=')?;
        let (value, source) = split(rest);
        let value = value.parse().ok().filter(|value: &f64| value.is_finite())?;
        Some(Self { name: name.to_owned(), value, source })
    }
}

/// What stands before and after an at sign.
fn split(text: &str) -> (&str, Option<String>) {
    match text.split_once('@') {
        Some((before, after)) => (before, Some(after.to_owned())),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_and_marks_read_as_they_were_given() {
        let price = Price::parse("2900.50USD@2026-11").unwrap();
        assert_eq!(price.currency, "USD");
        assert!((price.amount - 2900.5).abs() < 1e-9 && price.date.as_deref() == Some("2026-11"));
        let mark = Mark::parse("SPECint=76.9@spec.org").unwrap();
        assert_eq!((mark.name.as_str(), mark.source.as_deref()), ("SPECint", Some("spec.org")));
        for wrong in ["", "USD", "2900", "2900usd", "\u{20ac}\u{20ac}", "infUSD"] {
            assert_eq!(Price::parse(wrong), None, "{wrong}");
        }
        assert_eq!(
            [Mark::parse("a"), Mark::parse("a=b"), Mark::parse("a=NaN")],
            [None, None, None]
        );
    }
}
