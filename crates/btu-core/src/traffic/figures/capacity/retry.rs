//! What load adjustment C has beside B: when the rate is doubled, and after how many slow steps it is again.
//!
//! Source of the rule: `adjust_sending_rate` in `udpst_data.c` of `BroadbandForum/obudpst` (3201cf8), which its
//! README.md calls "multiply and retry".

/// When the rate is doubled, and when that is tried again.
#[derive(Clone, Debug)]
pub(super) struct Retry {
    /// A good report waits, and the next one doubles.
    is_ready: bool,
    /// Slow steps since the last retry.
    waited: u32,
    /// Slow steps after which it is tried again.
    patience: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self { is_ready: false, waited: 0, patience: PATIENCE }
    }
}

impl Retry {
    /// The row after a good report while the path was not full: the double with each second one, and the row of
    /// high speed where the double were beyond it.
    pub(super) fn fast(&mut self, row: usize, high_speed: usize) -> usize {
        if row * 2 > high_speed {
            return high_speed;
        }
        let row = row.max(1);
        self.is_ready = !self.is_ready;
        if self.is_ready { row } else { row * 2 }
    }

    /// A slow step up. True where it is time to double again; the next time is then further away.
    pub(super) fn rose(&mut self) -> bool {
        let is_time = self.step();
        if is_time {
            self.patience += PATIENCE;
        }
        is_time
    }

    /// A slow step down. True where it is time to double again.
    pub(super) fn fell(&mut self) -> bool {
        self.step()
    }

    fn step(&mut self) -> bool {
        self.waited += 1;
        let is_time = self.waited >= self.patience;
        if is_time {
            self.waited = 0;
        }
        is_time
    }
}

/// Slow steps before the first retry.
const PATIENCE: u32 = 5;
