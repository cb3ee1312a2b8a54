//! Lines of numbers, and the check that a line agrees with itself.

use super::ImportError;
use super::ImportedPoint;
use super::ImportedValue;
use crate::pingpong::configuration::size_f64;
use crate::units::Bytes;

/// The text of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

/// One line, in cells.
#[derive(Clone, Debug)]
pub(super) struct Row<'t> {
    file: &'t str,
    line: usize,
    cells: Vec<&'t str>,
}

/// A printed number, and how far the true one may be from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printed {
    pub(super) value: f64,
    pub(super) rounding: f64,
}

impl<'t> Rows<'t> {
    /// The lines that are neither empty nor comments.
    pub(super) fn data(self) -> impl Iterator<Item = Row<'t>> {
        self.all().filter(|row| row.cells.first().is_some_and(|cell| !cell.starts_with('#')))
    }

    /// All lines.
    pub(super) fn all(self) -> impl Iterator<Item = Row<'t>> {
        let row = move |(line, text): (usize, &'t str)| Row {
            file: self.file,
            line,
            cells: text.split_whitespace().collect(),
        };
        (1..).zip(self.text.lines()).map(row)
    }

    pub(super) fn unfit(&self, cause: &str) -> ImportError {
        ImportError::Unfit { file: self.file.to_owned(), cause: cause.to_owned() }
    }
}

impl<'t> Row<'t> {
    pub(super) fn cells(&self) -> &[&'t str] {
        &self.cells
    }

    /// The first cell as a block size.
    pub(super) fn size(&self) -> Result<Bytes, ImportError> {
        let cell = self.cells.first().copied().unwrap_or_default();
        let size = cell.parse().ok().filter(|size| *size <= LARGEST);
        size.map(Bytes::new).ok_or_else(|| self.error(&format!("\"{cell}\" is no block size")))
    }

    /// A cell as a number that is positive, or nothing.
    pub(super) fn number(&self, at: usize, what: &str) -> Result<Printed, ImportError> {
        let cell = self.cells.get(at).copied().unwrap_or_default();
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let value = value.ok_or_else(|| self.error(&format!("\"{cell}\" is no {what}")))?;
        Ok(Printed { value, rounding: 0.5 * last_digit(cell) })
    }

    /// A point whose time is `time_us`.
    pub(super) fn time(&self, time_us: f64) -> Result<ImportedPoint, ImportError> {
        if time_us <= 0.0 {
            return Err(self.error("a time of nothing"));
        }
        let size = self.size()?;
        if size.is_empty() {
            return Err(self.error("a block of nothing"));
        }
        Ok(ImportedPoint { size, value: ImportedValue::TimeUs(time_us) })
    }

    /// Refuses a line whose rate is not its bytes by its time, in any of `units` (bytes per second
    /// each), by more than 2 % beyond the rounding of the print.
    pub(super) fn agree(
        &self,
        time_s: Printed,
        rate: Printed,
        units: &[f64],
    ) -> Result<(), ImportError> {
        let bytes = size_f64(self.size()?);
        let slack = 0.02 + time_s.rounding / time_s.value;
        let agrees = |unit: &f64| {
            let computed = bytes / time_s.value / unit;
            (computed - rate.value).abs() <= slack * computed + rate.rounding
        };
        let computed = bytes / time_s.value / units.first().copied().unwrap_or(1.0);
        let cause = format!("rate {} disagrees with bytes / time = {computed:.3}", rate.value);
        if units.iter().any(agrees) { Ok(()) } else { Err(self.error(&cause)) }
    }

    pub(super) fn error(&self, cause: &str) -> ImportError {
        ImportError::Line { file: self.file.to_owned(), line: self.line, cause: cause.to_owned() }
    }
}

impl Printed {
    /// In a unit that is `factor` of this one.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, rounding: self.rounding * factor }
    }
}

/// What one in the last digit of a number is: 1e-6 in `6.4e-5`.
fn last_digit(number: &str) -> f64 {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimals = i32::try_from(decimals).unwrap_or(i32::MAX);
    10.0_f64.powi(exponent.parse().unwrap_or(0_i32).saturating_sub(decimals))
}

/// True for a line of nothing but numbers.
pub(super) fn is_numeric(cells: &[&str]) -> bool {
    cells.iter().all(|cell| cell.parse::<f64>().is_ok())
}

/// Blocks above a tebibyte are a misread line.
const LARGEST: u64 = 1 << 40;
