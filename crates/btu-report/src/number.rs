//! Numbers as text: the one place where a float becomes digits.
//!
//! Rust prints floats the same way on every machine and in every locale; what is settled here is
//! how many digits a reader needs, and what stands where there is no number.

/// What stands where there is no number.
pub(crate) const NONE: &str = "-";

/// At least three significant digits, never more than six decimals: `5412`, `87.3`, `0.0412`.
pub(crate) fn figure(value: f64) -> String {
    fixed(value, decimals_for(value))
}

/// A figure that may be any number: beyond what has readable digits, in powers of ten.
pub(crate) fn any_figure(value: f64) -> String {
    let is_tiny = value != 0.0 && value.abs() < LEAST_DIGITS;
    if is_tiny { powers(value) } else { any(value, figure) }
}

/// A percentage that may be any number.
pub(crate) fn any_percent(value: f64) -> String {
    any(value, percent)
}

fn any(value: f64, form: fn(f64) -> String) -> String {
    if value.is_finite() && value.abs() >= MOST_DIGITS { powers(value) } else { form(value) }
}

/// `3.16e45`
fn powers(value: f64) -> String {
    format!("{value:.2e}")
}

/// Below, six decimals leave hardly a digit.
const LEAST_DIGITS: f64 = 1e-5;
/// From here on nobody counts the digits.
const MOST_DIGITS: f64 = 1e9;
/// From here on they are no longer those of the number.
const NO_DIGITS: f64 = 1e15;

/// A figure with its unit; a whole count, which has none, has no decimals either, nor has nothing.
pub(crate) fn measured(value: f64, unit: &str) -> String {
    let is_count = value == 0.0 || (unit.is_empty() && value.fract() == 0.0);
    let text = if is_count { fixed(value, 0) } else { figure(value) };
    format!("{text} {unit}").trim_end().to_owned()
}

/// A figure, or a dash.
pub(crate) fn figure_or_none(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), figure)
}

/// A percentage without its sign: one decimal below 100, none above.
pub(crate) fn percent(value: f64) -> String {
    fixed(value, usize::from(value.abs() < 99.95))
}

/// The same, or a dash.
pub(crate) fn percent_or_none(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), percent)
}

/// A ratio such as a slowdown: two decimals.
pub(crate) fn ratio(value: f64) -> String {
    fixed(value, if value.abs() < 99.95 { 2 } else { 0 })
}

/// The same, or a dash.
pub(crate) fn ratio_or_none(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), ratio)
}

/// So many significant digits, and zeros for those before the point that do not count: 263 is `260` in two.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return fixed(value, 0);
    }
    // Rounding may carry into another digit: 0.0996 is 0.10.
    let magnitude = |value: f64| floored(value.abs().log10());
    let step = 10_f64.powi(magnitude(value) - digits + 1);
    let rounded = (value / step).round() * step;
    let decimals = digits - 1 - magnitude(rounded * (1.0 + f64::EPSILON));
    fixed(rounded, usize::try_from(decimals).unwrap_or(0))
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms of floats are within 400 of zero")]
fn floored(value: f64) -> i32 {
    value.floor() as i32
}

/// `[lo, hi]` in the given form, or a dash.
pub(crate) fn interval(bounds: Option<[f64; 2]>, form: fn(f64) -> String) -> String {
    bounds.map_or_else(|| NONE.to_owned(), |[lo, hi]| format!("[{}, {}]", form(lo), form(hi)))
}

/// Exactly this many decimals; zero has no sign, what is not finite is a dash, and what no digits express is in powers
/// of ten.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value.abs() >= NO_DIGITS {
        return powers(value);
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// A chance; of a tiny one nobody knows more than that.
pub(crate) fn chance(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

/// A coordinate of a drawing: at most one decimal, no trailing zero.
pub(crate) fn coordinate(value: f64) -> String {
    trimmed(&fixed(value, 1))
}

/// A round number as its axis shows it: no more digits than it needs.
pub(crate) fn tick(value: f64) -> String {
    trimmed(&fixed(value, 6))
}

fn trimmed(text: &str) -> String {
    if !text.contains('.') || text.contains('e') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Decimals that leave three significant digits.
fn decimals_for(value: f64) -> usize {
    const STEPS: [f64; 6] = [99.95, 9.995, 0.9995, 0.099_95, 0.009_995, 0.000_999_5];
    STEPS.iter().position(|step| value.abs() >= *step).unwrap_or(STEPS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_three_significant_digits_and_keeps_its_whole_part() {
        let shown = |values: &[f64]| values.iter().map(|v| figure(*v)).collect::<Vec<_>>();
        assert_eq!(
            shown(&[5412.4, 99.96, 87.34, 9.996, 2.868, 0.0412, 0.000_412, 0.0]),
            ["5412", "100", "87.3", "10.0", "2.87", "0.0412", "0.000412", "0.000000"]
        );
    }

    #[test]
    fn what_has_too_many_digits_is_shown_in_powers_of_ten() {
        let shown = [3.1623e45, 1e9, 999_999_999.0, 1e-5, 9.9e-6, 1e-90, 0.0].map(any_figure);
        let wanted =
            ["3.16e45", "1.00e9", "999999999", "0.000010", "9.90e-6", "1.00e-90", "0.000000"];
        assert_eq!(shown, wanted);
        assert_eq!([1e102, 25.0, 1e-9].map(any_percent), ["1.00e102", "25.0", "0.0"]);
    }

    #[test]
    fn no_number_of_any_kind_takes_a_line() {
        let forms = [figure, percent, ratio, tick, coordinate, |value| measured(value, "ms")];
        for value in [1e15, -1e69, f64::MAX] {
            let shown = forms.map(|form| form(value));
            assert!(shown.iter().all(|text| text.len() < 14), "{shown:?}");
        }
        assert_eq!([tick(1e60), percent(1e15), ratio(999.0)], ["1.00e60", "1.00e15", "999"]);
    }

    #[test]
    fn a_count_is_whole_and_what_has_a_unit_is_not() {
        assert_eq!([measured(14.0, ""), measured(0.0, ""), measured(2.5, "")], ["14", "0", "2.50"]);
        assert_eq!(measured(14.0, "ms"), "14.0 ms");
    }

    #[test]
    fn two_significant_digits_are_as_a_paper_prints_them() {
        let shown = [263.16, 1111.1, 5.7, 86.4, 0.0123, 0.0996, 996.0, 1000.0, 0.0, f64::NAN];
        let wanted = ["260", "1100", "5.7", "86", "0.012", "0.10", "1000", "1000", "0", "-"];
        assert_eq!(shown.map(|value| significant(value, 2)), wanted);
    }

    #[test]
    fn no_number_is_a_dash_and_zero_has_no_sign() {
        assert_eq!(figure(f64::NAN), "-");
        assert_eq!(percent(-0.04), "0.0");
        assert_eq!(percent(-3.24), "-3.2");
        assert_eq!([coordinate(12.04), tick(0.25), tick(1500.0)], ["12", "0.25", "1500"]);
    }

    #[test]
    fn intervals_show_both_ends() {
        assert_eq!(interval(Some([1.0, 2.0]), percent), "[1.0, 2.0]");
        assert_eq!(interval(None, percent), "-");
    }
}
