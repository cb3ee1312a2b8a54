//! In which respects a course, or what was made of it, is not what the text of its method asks for.

use super::Findings;
use super::OF_IPV6;
use crate::traffic::course::QOS;
use crate::traffic::course::methods_of_sheet;
use crate::traffic::figures::path_mtu::LEAST_TIMER;
use crate::traffic::method;
use crate::traffic::method::FRAMES_OF_A_TRIAL;
use crate::traffic::plan::Course;
use crate::traffic::probe::PathMtuFigures;

impl Findings {
    /// What the text of its method asks for and a course, or what was made of it, is not.
    pub fn deviations(&self, course: &Course) -> Vec<String> {
        let known = method::find(&course.name);
        let mut found = match known {
            Some(method) => method.deviations(course),
            None if course.name == QOS => deviations_of_sheet(course),
            None => Vec::new(),
        };
        found.extend(self.over_ipv6.then(|| OF_IPV6.to_owned()));
        found.extend(self.path_mtu.as_ref().and_then(of_path_mtu));
        found.extend(self.path_mtu.as_ref().and_then(method::too_small));
        let of = |(frame, seconds): &(u32, f64)| format!("{seconds:.2} s with {frame} B");
        let shortened: Vec<String> = self.shortened.iter().map(of).collect();
        if !shortened.is_empty() {
            found.push(format!(
                "trials of {FRAMES_OF_A_TRIAL} frames at the most: down to {} instead of {} s",
                shortened.join(", "),
                course.time_ns.seconds()
            ));
        }
        found
    }
}

/// A search for the path MTU that waits less for an answer than its text asks for, or that found none.
fn of_path_mtu(found: &PathMtuFigures) -> Option<String> {
    let unanswered = found.path_mtu.is_none().then_some("no probe was answered");
    if let Some(why) = found.unavailable.as_deref().or(unanswered) {
        return Some(format!("the path MTU is not known: {why}"));
    }
    (found.timer < LEAST_TIMER).then(|| {
        format!(
            "an answer to a probe of the path MTU waited for {} s beside four round trips instead of {} s (RFC 8899)",
            found.timer.seconds(),
            LEAST_TIMER.seconds()
        )
    })
}

/// A sheet takes from each method one figure or two, in the time that it has for them.
fn deviations_of_sheet(course: &Course) -> Vec<String> {
    let parts = std::iter::once(OF_STREAMS.to_owned());
    let of_methods = methods_of_sheet(course).into_iter().flat_map(|(method, time)| {
        let own = Course { time_ns: time, ..method.standard() };
        let told = |deviation| format!("{}: {deviation}", method.name);
        method.deviations(&own).into_iter().map(told).collect::<Vec<_>>()
    });
    parts.chain(of_methods).collect()
}

/// What a sheet says by RFC 6349.
const OF_STREAMS: &str =
    "rfc6349: efficiency and buffer delay alone, of full streams with one window";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    /// Each method is followed in part, and in less time than its text asks for.
    #[test]
    fn a_sheet_says_in_which_respects_its_methods_are_not_what_their_texts_ask_for() {
        let said = |time: Nanos| {
            let course = Course { name: QOS.into(), time_ns: time, ..Course::default() };
            Findings::default().deviations(&course)
        };
        let short = said(Nanos::from_millis(500));
        for (method, deviation) in [
            ("rfc9097", "the search of 2.5 s instead of 10 s"),
            ("rfc6349", "transfers of 0.5 s instead of 30 s"),
            ("responsiveness", "intervals of 0.5 s instead of 1 s"),
        ] {
            let told = |deviation: &str| short.contains(&format!("{method}: {deviation}"));
            assert!(told(deviation), "{short:#?}");
            let always = method::find(method).unwrap().differs;
            assert!(always.iter().all(|deviation| told(deviation)), "{short:#?}");
        }
        assert!(short[0].contains("efficiency and buffer delay alone"), "{short:#?}");
        let long = said(Nanos::from_secs(30));
        assert!(
            long.len() + 3 == short.len() && long.iter().all(|one| short.contains(one)),
            "{long:#?}"
        );
    }
}
