//! What this host told before of a test that it shall go on with, as its conductor brings it back: it is
//! believed where this host itself signed it.

use btu_control::Identity;
use btu_control::message::Answer;
use btu_control::message::TestOrder;
use btu_core::journal::file;
use btu_core::manifest::unhex;

use crate::elsewhere::proof::Files;
use crate::elsewhere::proof::Proof;
use crate::exit::Failure;
use crate::state::StateDir;

/// A bundle that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Given {
    bundle: Vec<u8>,
}

impl Given {
    /// Takes the next piece; the first of a bundle makes an end of the one before.
    pub(super) fn take(&mut self, seq: u64, offset: u64, piece: &str) -> Answer {
        let failed = |reason: &str| Answer::Failed { seq, reason: reason.to_owned() };
        if offset == 0 {
            self.bundle.clear();
        }
        let Some(piece) = unhex(piece) else { return failed("a piece that is not hexadecimal") };
        if offset != self.bundle.len() as u64 {
            return failed("a piece of a result at a wrong place");
        }
        if self.bundle.len() + piece.len() > LONGEST {
            return failed("a result that is longer than any");
        }
        self.bundle.extend_from_slice(&piece);
        Answer::Taken { seq }
    }

    /// What an order goes on with, in the directory of the test; nothing for a new one.
    pub(super) fn told(&mut self, state: &StateDir, order: &TestOrder) -> Result<Files, Failure> {
        state.clear_test();
        let bundle = std::mem::take(&mut self.bundle);
        if !order.goes_on {
            return Ok(Files::new());
        }
        let part = believed(&bundle, order, &state.identity()?);
        let part = part.map_err(|why| Failure::usage(anyhow::anyhow!("resume: {why}")))?;
        let folder = state.test_folder();
        std::fs::create_dir_all(&folder).map_err(Failure::environment)?;
        for (name, content) in &part {
            std::fs::write(folder.join(name), content).map_err(Failure::environment)?;
        }
        Ok(part)
    }
}

/// The files of a bundle as this host told them, of the test that is ordered.
fn believed(bundle: &[u8], order: &TestOrder, own: &Identity) -> Result<Files, String> {
    let mut files = btu_report::unpack(bundle).map_err(|error| error.to_string())?;
    let proof = Proof::part(&mut files).ok_or("nobody stands for what was brought")?;
    let part = proof.proved(&files, own.id())?;
    if part.get(file::PLAN).map(Vec::as_slice) != Some(order.plan.as_bytes()) {
        return Err("what was brought is of another plan".to_owned());
    }
    Ok(part)
}

/// No bundle of a test is longer.
const LONGEST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use btu_core::manifest::hex;

    use super::*;

    fn files(plan: &str) -> Files {
        let all = [("plan.toml", plan), ("samples.jsonl", "1\n")];
        all.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
    }

    fn order() -> TestOrder {
        let order = serde_json::json!({
            "seq": 1, "lease_ns": 1, "plan": "seed = 7\n", "boxes": [], "reconnect_s": 5, "marks": [],
            "goes_on": true,
        });
        serde_json::from_value(order).unwrap()
    }

    #[test]
    fn pieces_are_taken_in_order_and_a_first_one_begins_anew() {
        let mut given = Given::default();
        let taken = |answer: Answer| matches!(answer, Answer::Taken { .. });
        assert!(taken(given.take(1, 0, "0102")));
        for (offset, piece) in [(1, "03"), (3, "03"), (2, "0"), (2, "xy")] {
            assert!(!taken(given.take(2, offset, piece)), "{offset} {piece}");
        }
        assert!(taken(given.take(3, 2, "03")));
        assert_eq!(given.bundle, [1, 2, 3]);
        assert!(taken(given.take(4, 0, "09")));
        assert_eq!(given.bundle, [9]);
    }

    #[test]
    fn only_what_this_host_signed_of_this_plan_is_believed() {
        let own = Identity::ephemeral().unwrap();
        let packed = |by: &Identity, plan: &str| {
            let mut all = files(plan);
            Proof::of(&all, by).join(&mut all);
            btu_report::pack(&all).unwrap()
        };
        let good = packed(&own, "seed = 7\n");
        assert_eq!(believed(&good, &order(), &own), Ok(files("seed = 7\n")));
        let other = Identity::ephemeral().unwrap();
        for (bundle, why) in [
            (packed(&other, "seed = 7\n"), "not signed by the host under test"),
            (packed(&own, "seed = 8\n"), "of another plan"),
            (btu_report::pack(&files("seed = 7\n")).unwrap(), "nobody stands for"),
            (b"none".to_vec(), "not a bundle"),
        ] {
            let refused = believed(&bundle, &order(), &own).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn what_is_gone_on_with_is_in_the_directory_of_the_test_and_nothing_of_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let args = crate::agent::StateArgs { state: Some(folder.path().into()) };
        let state = StateDir::open(&args).unwrap();
        std::fs::create_dir_all(state.test_folder()).unwrap();
        std::fs::write(state.test_folder().join("left"), "").unwrap();
        let mut all = files("seed = 7\n");
        Proof::of(&all, &state.identity().unwrap()).join(&mut all);
        let mut given = Given::default();
        given.take(1, 0, &hex(&btu_report::pack(&all).unwrap()));
        assert_eq!(given.told(&state, &order()).unwrap(), files("seed = 7\n"));
        let names = std::fs::read_dir(state.test_folder()).unwrap().count();
        assert_eq!(names, 2);
        let again = given.told(&state, &order()).unwrap_err();
        assert!(again.cause.to_string().starts_with("resume: "), "{:#}", again.cause);
        assert!(!state.test_folder().exists());
    }
}
