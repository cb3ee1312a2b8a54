//! What `--price` may say: an amount, its currency, and since when it is true.

use time::Date;
use time::Month;

/// `2900USD@2026-11`: digits, a currency of three letters, an optional date (year, month, day).
pub(super) fn price(text: &str) -> Result<String, String> {
    let (amount, date) = match text.split_once('@') {
        Some((amount, date)) => (amount, Some(date)),
        None => (text, None),
    };
    match wrong_amount(amount).or_else(|| date.and_then(wrong_date)) {
        None => Ok(text.to_owned()),
        Some(wrong) => Err(format!("{wrong}; write 2900USD or 2900USD@2026-11")),
    }
}

fn wrong_amount(text: &str) -> Option<String> {
    let is_of_number = |c: char| c.is_ascii_digit() || ".,-+".contains(c);
    let currency = text.trim_start_matches(is_of_number);
    let number = &text[..text.len() - currency.len()];
    let is_plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    match number.parse::<f64>() {
        Ok(value) if is_plain && value.is_finite() => {}
        Ok(_) if is_plain => return Some(format!("the amount {number:?} is too large")),
        _ => return Some(format!("the amount {number:?} {NO_DIGITS}")),
    }
    let is_legal = currency.len() == 3 && currency.chars().all(|c| c.is_ascii_uppercase());
    (!is_legal).then(|| format!("the currency {currency:?} is not three capital letters"))
}

/// `2026`, `2026-11` or `2026-11-21`.
fn wrong_date(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('-').collect();
    let widths = [4, 2, 2];
    let is_shaped = parts.len() <= widths.len() && parts.iter().zip(widths).all(is_digits);
    if !is_shaped {
        return Some(format!("the date {text:?} is none like 2026, 2026-11 or 2026-11-21"));
    }
    let part = |at: usize| parts.get(at).copied().unwrap_or("01");
    let (year, month, day) = (part(0), part(1), part(2));
    let Some(of_year) = month.parse::<u8>().ok().and_then(|month| Month::try_from(month).ok())
    else {
        return Some(format!("the month {month:?} is none of 01 to 12"));
    };
    let date = |year, day| Date::from_calendar_date(year, of_year, day).ok();
    let found = year.parse().ok().zip(day.parse().ok()).and_then(|(year, day)| date(year, day));
    found.is_none().then(|| format!("the day {day:?} is none of {year}-{month}"))
}

fn is_digits((part, width): (&&str, usize)) -> bool {
    part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit())
}

const NO_DIGITS: &str = "is not written in digits, such as 2900 or 2900.50";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_a_currency_and_perhaps_a_date() {
        for good in [
            "2900USD",
            "2900.50EUR@2026-11",
            "2900USD@2026",
            "2900USD@2026-11-21",
            "2900USD@2024-02-29",
        ] {
            assert_eq!(price(good).as_deref(), Ok(good));
        }
    }

    #[test]
    fn what_is_wrong_of_a_price_is_named() {
        let long = format!("{}USD", "9".repeat(400));
        for (bad, wrong) in [
            ("2900", "the currency \"\" is not"),
            ("2900usd", "the currency \"usd\" is not"),
            ("2900USDX", "the currency \"USDX\" is not"),
            ("USD", "the amount \"\" is not written in digits, such as 2900 or 2900.50"),
            ("", "the amount \"\" is not written in digits, such as 2900 or 2900.50"),
            ("1.2.3USD", "the amount \"1.2.3\" is not written in digits, such as 2900 or 2900.50"),
            ("-1USD", "the amount \"-1\" is not written in digits, such as 2900 or 2900.50"),
            ("2,900USD", "the amount \"2,900\" is not written in digits, such as 2900 or 2900.50"),
            (&long, "9\" is too large"),
            ("2900USD@", "the date \"\" is none"),
            ("2900USD@soon", "the date \"soon\" is none"),
            ("2900USD@-", "the date \"-\" is none"),
            ("2900USD@2026-1", "the date \"2026-1\" is none"),
            ("2900USD@2026-11-21-1", "the date \"2026-11-21-1\" is none"),
            ("2900USD@2026-13", "the month \"13\" is none of 01 to 12"),
            ("2900USD@2026-00", "the month \"00\" is none of 01 to 12"),
            ("2900USD@2026-02-29", "the day \"29\" is none of 2026-02"),
        ] {
            let told = price(bad).unwrap_err();
            assert!(told.contains(wrong), "{bad}: {told}");
            assert!(told.ends_with("; write 2900USD or 2900USD@2026-11"), "{bad}: {told}");
        }
    }
}
