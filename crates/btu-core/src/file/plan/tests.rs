//! Tests of plans of a file service.

use super::*;
use crate::file::experiment::EXPERIMENTS;

fn all() -> Plan {
    Plan::new(EXPERIMENTS.iter().map(|one| one.name().to_owned()).collect(), 7)
}

#[test]
fn a_plan_comes_back_from_its_file() {
    let plan = Plan { protocols: vec!["ftp".into()], clients: vec![1, 2], ..all() };
    let text = plan.to_toml();
    assert!(Plan::is_in(&text), "{text}");
    assert_eq!(Plan::stored("plan.toml", &text).unwrap(), plan);
}

#[test]
fn a_value_that_nobody_can_measure_with_is_named_with_the_legal_ones() {
    let plan = |change: fn(&mut Plan)| {
        let mut plan = all();
        change(&mut plan);
        Plan::stored("p", &plan.to_toml()).unwrap_err().to_string()
    };
    assert_eq!(plan(|plan| plan.rounds = 0), "p: rounds: 0: write 1 to 1000");
    assert_eq!(plan(|plan| plan.clients = vec![65]), "p: clients: 65: write 1 to 64");
    assert!(plan(|plan| plan.sizes_bytes = vec![Bytes::ZERO]).contains("sizes_bytes: "));
    assert!(plan(|plan| plan.mtus_bytes = vec![Bytes::new(68)]).contains("mtus_bytes: "));
    assert!(plan(|plan| plan.patience_ns = Nanos::ZERO).contains("patience_ns: 0"));
    let block = plan(|plan| plan.sizes_bytes = vec![Bytes::new(65 << 20)]);
    assert!(
        block.ends_with("sizes_bytes: 65MiB: the block of a call has at most 64MiB"),
        "{block}"
    );
    let names = "baseline, transfer, rpc-sweep, cold-read, client-load";
    let unknown = plan(|plan| plan.experiments = vec!["nightly".into()]);
    assert_eq!(unknown, format!("p: experiments: unknown experiment \"nightly\"; write {names}"));
    assert!(plan(|plan| plan.experiments.clear()).ends_with(names));
    let loopback = plan(|plan| {
        plan.path = Path::Loopback;
        plan.mtus_bytes = vec![Bytes::new(1500)];
    });
    assert!(loopback.contains("the loopback keeps its MTU"), "{loopback}");
}

#[test]
fn a_value_that_is_named_twice_or_that_no_experiment_looks_at_is_refused() {
    let refused = |name: &str, change: fn(&mut Plan)| {
        let mut plan = Plan::new(vec![name.to_owned()], 1);
        change(&mut plan);
        let (key, cause) = plan.illegal().unwrap_or_default();
        format!("{key}: {cause}")
    };
    let twice = |plan: &mut Plan| plan.clients = vec![1, 2, 1];
    assert_eq!(refused("cold-read", twice), "clients: 1 is named twice; name it once");
    let protocols = |plan: &mut Plan| plan.protocols = vec!["ftp".into(), "ftp".into()];
    assert_eq!(refused("baseline", protocols), "protocols: ftp is named twice; name it once");
    let mtu = |plan: &mut Plan| plan.mtus_bytes = vec![Bytes::new(9000)];
    assert_eq!(refused("cold-read", mtu), "mtus_bytes: none of cold-read has them; leave them out");
    assert_eq!(refused("transfer", mtu), ": ");
    let clients = |plan: &mut Plan| plan.clients = vec![4];
    assert_eq!(refused("baseline", clients), "clients: none of baseline has them; leave them out");
    assert_eq!(refused("client-load", clients), ": ");
}

#[test]
fn every_round_has_every_trial_once_in_an_order_of_its_own_that_the_seed_decides() {
    let plan = all();
    let trials =
        |round| -> Vec<Trial> { plan.round(round).into_iter().map(|slot| slot.trial).collect() };
    let (first, second) = (trials(1), trials(2));
    assert_eq!(first.len(), plan.trials().len());
    assert!(plan.trials().iter().all(|trial| first.contains(trial) && second.contains(trial)));
    assert_ne!(first, second);
    assert_eq!(first, trials(1));
    assert_ne!(
        first,
        Plan { seed: 8, ..plan.clone() }
            .round(1)
            .into_iter()
            .map(|slot| slot.trial)
            .collect::<Vec<_>>()
    );
    let slots: Vec<Slot> = plan.slots().collect();
    assert_eq!(slots.len(), first.len() * 6);
    assert!(slots.iter().all(|slot| slot.warm_up == (slot.round == 1)));
}

/// The seed has five everywhere; a plan with an experiment of many trials has one.
#[test]
fn warm_up_rounds_are_as_few_as_the_longest_experiment_takes() {
    let of = |names: &[&str]| {
        Plan::new(names.iter().map(|name| (*name).to_owned()).collect(), 1).warm_rounds
    };
    assert_eq!((of(&["baseline"]), of(&["cold-read", "client-load"])), (5, 5));
    assert_eq!((of(&["rpc-sweep"]), of(&["baseline", "transfer"])), (1, 1));
}
