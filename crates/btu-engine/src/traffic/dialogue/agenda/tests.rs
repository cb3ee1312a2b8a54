//! Askers that are late, in virtual time.

use btu_core::traffic::Dialect;
use btu_core::traffic::Streams;
use btu_core::traffic::Train;
use btu_core::traffic::figures::flow::Figures;

use super::*;

fn train(model: &str) -> Box<dyn Closed> {
    let files = |_: &str| Err("no files".to_owned());
    let (call, _) = btu_core::traffic::call(model, Dialect::Btu, &files).unwrap();
    match call.train(&Streams::new(1, "late")) {
        Some(Train::Closed(train)) => train,
        _ => panic!("{model} waits for no answer"),
    }
}

/// What comes when, on which flow: the answer of this exchange.
type Coming = Vec<(Nanos, u32, usize)>;

fn asked(agenda: &mut Agenda, coming: &mut Coming, turn: &Turn, now: Nanos) {
    for action in &turn.actions {
        if let Action::Ask { flow, .. } = *action {
            coming.push((now + ROUND_TRIP, flow, agenda.ask(turn, 1, now)));
        }
    }
    coming.sort_unstable();
}

/// Carries a train whose answers come a round trip after their requests. What is due at one time the asker
/// comes to at another.
fn carry(model: &str, awake: impl Fn(Nanos) -> Nanos) -> Trace {
    let (mut agenda, mut train) = (Agenda::default(), train(model));
    let mut coming = Coming::new();
    let first = agenda.begin(&mut *train);
    asked(&mut agenda, &mut coming, &first, awake(Nanos::ZERO));
    loop {
        let answer = coming.first().map(|(at, ..)| *at);
        let timer = agenda.next_due().filter(|due| *due < END);
        let Some(next) = timer.into_iter().chain(answer).min() else { break };
        let now = awake(next);
        while let Some(turn) = agenda.fell_due(&mut *train, now, END) {
            asked(&mut agenda, &mut coming, &turn, now);
        }
        while coming.first().is_some_and(|(at, ..)| *at <= now) {
            let (_, flow, place) = coming.remove(0);
            agenda.hear(place, now);
            if now < END {
                let turn = agenda.answered(&mut *train, flow, now);
                asked(&mut agenda, &mut coming, &turn, now);
            }
        }
    }
    agenda.trace(END)
}

/// An asker that others keep from its CPU for five of sixty seconds.
fn held_up(due: Nanos) -> Nanos {
    let end = Nanos::from_secs(35);
    if (Nanos::from_secs(30)..end).contains(&due) { end } else { due }
}

#[test]
fn a_late_asker_is_host_limited_and_its_delay_has_its_lateness() {
    let model = "telnet(interarrival=1 s)";
    let [prompt, late] = [carry(model, |due| due), carry(model, held_up)];
    let of_prompt = Figures::of(&prompt);
    let (delay, pacing) = (of_prompt.delay.unwrap(), of_prompt.pacing.unwrap());
    assert!((delay.max_s - ROUND_TRIP.seconds()).abs() < 1e-9, "{delay:?}");
    assert!(pacing.blocks > 500 && !pacing.host_limited, "{pacing:?}");

    let of_late = Figures::of(&late);
    let (delay, pacing) = (of_late.delay.unwrap(), of_late.pacing.unwrap());
    assert!(pacing.host_limited && pacing.late_p99_us > 1e6, "{pacing:?}");
    assert!(delay.max_s > 4.0 && delay.p50_s < 0.01, "{delay:?}");
    // Not a key is typed later than it would have been.
    assert_eq!(dues(&late), dues(&prompt));
}

fn dues(trace: &Trace) -> Vec<Nanos> {
    trace.blocks.iter().map(|one| one.due).collect()
}

/// What was due before the end is waited for after it, and nothing else.
#[test]
fn an_asker_that_is_late_at_the_end_leaves_out_nothing() {
    let late_at_the_end = |due| {
        let end = END.saturating_add(Nanos::from_secs(5));
        if (Nanos::from_secs(55)..end).contains(&due) { end } else { due }
    };
    let model = "telnet(interarrival=1 s)";
    let [prompt, late] = [carry(model, |due| due), carry(model, late_at_the_end)];
    assert_eq!(dues(&late), dues(&prompt));
    let of_late = Figures::of(&late);
    assert!(of_late.pacing.unwrap().host_limited && of_late.delay.unwrap().max_s > 5.0);
    assert!(late.read_times.iter().all(Option::is_some));
}

/// A player that fills its buffer asks as fast as it is answered, and no clock says when.
#[test]
fn what_answers_alone_decide_has_no_time_to_keep() {
    let trace = carry("dash(segment=4 s, buffer=60 s)", held_up);
    let (timed, untimed): (Vec<&BlockRecord>, Vec<_>) =
        trace.blocks.iter().partition(|one| !one.is_untimed);
    assert!(timed.len() > 5 && untimed.len() > 10, "{} {}", timed.len(), untimed.len());
    assert_eq!(Figures::of(&trace).pacing.unwrap().blocks, u64::try_from(timed.len()).unwrap());
    let blocks = untimed.into_iter().copied().collect();
    assert_eq!(Figures::of(&Trace { blocks, ..trace }).pacing, None);
}

const ROUND_TRIP: Nanos = Nanos::from_millis(1);
const END: Nanos = Nanos::from_secs(60);
