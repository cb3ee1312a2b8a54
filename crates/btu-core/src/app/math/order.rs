//! In which order the loops of one repeat are timed.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;

use crate::run::schedule::shuffle;

/// So many loops in the order of a repeat: what slows the machine down for a while meets another one each time.
pub fn order(seed: u64, repeat: u32, loops: usize) -> Vec<usize> {
    let mut chance = ChaCha12Rng::seed_from_u64(seed);
    chance.set_stream(repeat.into());
    let mut order: Vec<usize> = (0..loops).collect();
    shuffle(&mut order, &mut chance);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repeat_has_each_loop_once_in_an_order_of_its_own() {
        let [first, second] = [0, 1].map(|repeat| order(1, repeat, 40));
        assert_ne!(first, second);
        for mut order in [first.clone(), second] {
            order.sort_unstable();
            assert_eq!(order, (0..40).collect::<Vec<usize>>());
        }
        assert_eq!(first, order(1, 0, 40), "the same seed");
        assert_ne!(first, order(2, 0, 40), "another seed");
    }
}
