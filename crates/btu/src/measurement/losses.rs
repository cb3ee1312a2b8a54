//! How often one run is tried again because an agent was lost in it.

/// The losses of agents in the tries of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses(u32);

impl Losses {
    /// Counts a loss.
    ///
    /// # Errors
    /// The reason to give up, where this run has had its tries: an agent that comes back each time would
    /// be asked for the same run for ever.
    pub(crate) fn one_more(&mut self) -> Result<(), String> {
        self.0 += 1;
        if self.0 <= MOST_LOST {
            return Ok(());
        }
        Err(format!("an agent was lost in {} tries of one run", self.0))
    }
}

/// How often one run is tried again after an agent was lost in it.
const MOST_LOST: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_three_tries_and_the_next_one_as_many() {
        for _run in 0..2 {
            let mut losses = Losses::default();
            assert_eq!([losses.one_more(), losses.one_more()], [Ok(()), Ok(())]);
            let reason = losses.one_more().unwrap_err();
            assert_eq!(reason, "an agent was lost in 3 tries of one run");
        }
    }
}
