//! Whether this kernel has the congestion control that a plan names.

use btu_core::run::plan::Plan;

/// What a plan should know whose congestion control this kernel does not list. Routes that are made by root load its
/// module, where there is one; else the kernel takes another one without a word, which is known when all has been
/// measured. Real hosts keep the routes that they have.
pub(super) fn unlisted(plan: &Plan) -> Option<String> {
    let name = plan.sockets.congestion.as_deref().filter(|_| plan.testbed_class.is_local())?;
    told(name, &std::fs::read_to_string(AVAILABLE).ok()?)
}

fn told(name: &str, listed: &str) -> Option<String> {
    let listed: Vec<&str> = listed.split_whitespace().collect();
    (!listed.contains(&name)).then(|| {
        format!(
            "note: sockets.congestion = \"{name}\": this kernel lists {}; where it has no module tcp_{name} to load, \
             another one is used and the result is not ranked",
            listed.join(", ")
        )
    })
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_is_one_of_the_words_of_the_list() {
        for (name, is_it) in [("cubic", true), ("bbr", true), ("bb", false), ("reno bbr", false)] {
            assert_eq!(told(name, "reno bbr cubic\n").is_none(), is_it, "{name}");
        }
    }
}
