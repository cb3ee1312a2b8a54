//! What a reader should know of a launch.

use btu_core::app::sample::RankSample;
use btu_core::sample::Flag;
use btu_core::units::Nanos;
use btu_core::words::several;

use super::cpus::Berths;
use super::life::Ended;
use super::life::How;

/// A rank did not end when it was told to: its thread keeps a CPU busy until its next message call or its end.
pub const LEFT_BEHIND: &str = "rank-left-behind";

pub(super) fn of(ended: &[Ended], berths: &Berths) -> Vec<Flag> {
    let crowded = berths.is_crowded.then(|| {
        let (ranks, cpus) = (several(ended.len(), "rank"), several(berths.count, "CPU"));
        Flag::new(Flag::OVERSUBSCRIBED, format!("{ranks} on {cpus}; at most one on each"))
    });
    let longest = ended.iter().max_by(|a, b| share(&a.sample).total_cmp(&share(&b.sample)));
    let delayed = longest.and_then(|one| delayed(&one.sample));
    crowded.or(delayed).into_iter().chain(left_behind(ended)).collect()
}

fn delayed(rank: &RankSample) -> Option<Flag> {
    let share = share(rank);
    let detail = format!(
        "rank {} was ready and had no CPU for {:.3} s of {:.3} s, {:.1} %; at most {:.0} %",
        rank.rank,
        rank.run_delay_ns?.seconds(),
        rank.lived_ns.seconds(),
        share * 100.0,
        LIMIT * 100.0
    );
    (share > LIMIT).then(|| Flag::new(Flag::OVERSUBSCRIBED, detail))
}

/// How much of its life a rank was ready and had no CPU; nothing where the kernel keeps no account.
fn share(rank: &RankSample) -> f64 {
    let delay = rank.run_delay_ns.unwrap_or_default();
    delay.seconds() / rank.lived_ns.max(Nanos::new(1)).seconds()
}

fn left_behind(ended: &[Ended]) -> Option<Flag> {
    let left = ended.iter().filter(|one| one.how == How::LeftBehind);
    let left: Vec<String> = left.map(|one| one.sample.rank.to_string()).collect();
    let detail =
        format!("still computing: {}; the next launch waits for their end", left.join(", "));
    (!left.is_empty()).then(|| Flag::new(LEFT_BEHIND, detail))
}

/// Of the life of any rank: the guard of the design of message passing.
const LIMIT: f64 = 0.05;

#[cfg(test)]
mod tests {
    use btu_sys::cpu::CpuSet;

    use super::*;

    fn rank(rank: u32, delayed_ms: u64) -> Ended {
        let run_delay_ns = Some(Nanos::from_millis(delayed_ms));
        let lived_ns = Nanos::from_millis(2000);
        let sample = RankSample { rank, lived_ns, run_delay_ns, ..RankSample::default() };
        Ended { sample, how: How::Returned }
    }

    fn berths(is_crowded: bool) -> Berths {
        Berths { cpus: vec![CpuSet::of([0]); 2], count: 1, is_crowded }
    }

    #[test]
    fn the_rank_that_waited_longest_for_a_cpu_is_told_with_its_limit() {
        let ended = [rank(0, 120), rank(1, 400)];
        let detail = "rank 1 was ready and had no CPU for 0.400 s of 2.000 s, 20.0 %; at most 5 %";
        assert_eq!(of(&ended, &berths(false)), [Flag::new(Flag::OVERSUBSCRIBED, detail)]);
        assert_eq!(of(&[rank(0, 100), rank(1, 5)], &berths(false)), []);
    }

    #[test]
    fn more_ranks_than_cpus_are_told_before_what_came_of_it() {
        let detail = "2 ranks on 1 CPU; at most one on each";
        let flags = of(&[rank(0, 0), rank(1, 900)], &berths(true));
        assert_eq!(flags, [Flag::new(Flag::OVERSUBSCRIBED, detail)]);
    }

    #[test]
    fn a_rank_that_computes_on_is_named() {
        let left = Ended { how: How::LeftBehind, ..rank(3, 0) };
        let flags = of(&[rank(0, 0), left], &berths(false));
        assert_eq!(flags[0].name, LEFT_BEHIND);
        assert!(flags[0].detail.contains(": 3;"), "{flags:?}");
    }
}
