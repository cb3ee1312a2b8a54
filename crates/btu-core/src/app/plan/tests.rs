//! Plans of applications as options and files give them.

use std::collections::BTreeSet;

use super::*;

fn plan() -> Plan {
    let program = |(kernel, ranks): (&str, u32)| Program { kernel: kernel.to_owned(), ranks };
    Plan {
        verb: Verb::App,
        path: Path::Loopback,
        class: ProblemClass::S,
        layers: ["tcp", "unix", "shm"].map(ToOwned::to_owned).to_vec(),
        wait: Wait::Block,
        launches: 5,
        cap_ns: Nanos::from_secs(60),
        seed: 7,
        programs: [("ep", 2), ("cg", 2), ("sp", 4)].map(program).to_vec(),
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let text = plan().to_toml();
    assert!(Plan::is_in(&text), "{text}");
    assert_eq!(Plan::stored("plan.toml", &text), Ok(plan()));
}

#[test]
fn a_value_that_no_option_can_ask_for_is_refused_by_its_name() {
    for (from, to, told) in [
        ("launches = 5", "launches = 0", "launches: 0: write 1 to 1000"),
        ("ranks = 4", "ranks = 0", "programs.ranks: 0: write 1 to 256"),
        ("cap_ns = 60000000000", "cap_ns = 0", "cap_ns: 0ns: write a time up to"),
        ("\"unix\", \"shm\"", "\"tcp\", \"shm\"", "layers: tcp is there twice"),
        ("kernel = \"cg\"", "kernel = \"ep\"", "programs: ep with 2 ranks is there twice"),
        ("class = \"S\"", "class = \"B\"", "line 3: unknown variant `B`"),
        ("seed = 7", "seed = 7\nsed = 8", "line 8: unknown field `sed`"),
    ] {
        let text = plan().to_toml();
        assert!(text.contains(from), "{text}");
        let refused = Plan::stored("plan.toml", &text.replace(from, to)).unwrap_err();
        assert!(refused.cause.starts_with(told), "{}", refused.cause);
    }
    let nothing = Plan { layers: Vec::new(), ..plan() };
    let refused = Plan::stored("plan.toml", &nothing.to_toml()).unwrap_err();
    assert!(refused.cause.starts_with("programs, layers: "), "{}", refused.cause);
}

#[test]
fn every_round_has_every_job_once_in_an_order_of_its_own_that_the_seed_decides() {
    let order = plan().order();
    assert_eq!(order, plan().order());
    assert_ne!(order, Plan { seed: 8, ..plan() }.order());
    let all: BTreeSet<Job> = plan().jobs().into_iter().collect();
    assert_eq!(all.len(), 9);
    let rounds: Vec<&[Slot]> = order.chunk_by(|a, b| a.round == b.round).collect();
    assert_eq!(rounds.len(), 5);
    for round in &rounds {
        let jobs: BTreeSet<Job> = round.iter().map(|slot| slot.job.clone()).collect();
        assert_eq!(jobs, all);
        assert!((1..=9).eq(round.iter().map(|slot| slot.position)));
    }
    let jobs = |round: &[Slot]| round.iter().map(|slot| slot.job.clone()).collect::<Vec<_>>();
    assert_ne!(jobs(rounds[0]), jobs(rounds[1]));
}
