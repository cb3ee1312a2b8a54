//! How long a bench takes and what it compares.

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

pub(super) const USAGE: &str =
    "--blocks N --seconds N --sizes N,N --seed N --only TEXT --keep FOLDER --again FOLDER";

/// Defaults are long enough to judge by; shorter ones show that the bench works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Complete blocks in random order; each holds every contender once.
    pub(super) blocks: u64,
    /// Of one measurement.
    pub(super) seconds: u64,
    /// Message sizes in bytes.
    pub(super) sizes: Vec<u64>,
    /// Of the order within blocks and of the bootstrap.
    pub(super) seed: u64,
    /// Options that only some benches take, as they were given: which parts, where trials are kept.
    pub(super) own: Vec<String>,
    /// Set when the bench has put itself into a network namespace of its own.
    pub(super) inside: bool,
}

impl Options {
    pub(super) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            blocks: 10,
            seconds: 2,
            sizes: vec![100, 1024, 1250, 4096, 65536, 1_048_576],
            seed: 1996,
            own: Vec::new(),
            inside: false,
        };
        let mut args = args.iter();
        while let Some(name) = args.next() {
            match name.as_str() {
                "--inside" => options.inside = true,
                "--blocks" => options.blocks = number(name, args.next())?,
                "--seconds" => options.seconds = number(name, args.next())?,
                "--seed" => options.seed = number(name, args.next())?,
                "--sizes" => options.sizes = numbers(name, args.next())?,
                "--only" | "--keep" | "--again" => {
                    let value = args.next().with_context(|| format!("{name}: missing value"))?;
                    options.own.extend([name.clone(), value.clone()]);
                }
                _ => bail!("{name}: unknown option; {USAGE}"),
            }
        }
        Ok(options)
    }

    /// An option that the bench does not take would be swallowed.
    pub(super) fn refuse_all_but(&self, legal: &[&str]) -> Result<()> {
        match self.own.iter().step_by(2).find(|name| !legal.contains(&name.as_str())) {
            Some(name) => bail!("{name}: this bench has no such option"),
            None => Ok(()),
        }
    }

    /// The parts of a bench that `--only` names, or all; `names` are those of a part, comma between.
    pub(super) fn chosen<'a, T>(
        &self,
        parts: &'a [T],
        names: impl Fn(&T) -> &'static str,
    ) -> Result<Vec<&'a T>> {
        let asked = self.own.chunks(2).filter(|pair| pair[0] == "--only");
        let asked: Vec<&str> = asked.filter_map(|pair| pair.get(1)).map(String::as_str).collect();
        let has = |part: &T, name: &str| names(part).split(',').any(|own| own == name);
        if let Some(wrong) = asked.iter().find(|name| !parts.iter().any(|part| has(part, name))) {
            let all: Vec<_> = parts.iter().map(&names).collect();
            bail!("--only {wrong}: no such part; write {}", all.join(", "));
        }
        let wanted = |part: &&T| asked.is_empty() || asked.iter().any(|name| has(part, name));
        Ok(parts.iter().filter(wanted).collect())
    }

    /// The arguments that give these options again.
    pub(super) fn to_args(&self) -> Vec<String> {
        let sizes: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        let pairs = [
            ("--blocks", self.blocks.to_string()),
            ("--seconds", self.seconds.to_string()),
            ("--sizes", sizes.join(",")),
            ("--seed", self.seed.to_string()),
        ];
        let mut args: Vec<String> =
            pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect();
        args.extend(self.own.iter().cloned());
        if self.inside {
            args.push("--inside".into());
        }
        args
    }
}

fn number(name: &str, text: Option<&String>) -> Result<u64> {
    let text = text.with_context(|| format!("{name}: missing value"))?;
    text.parse().with_context(|| format!("{name} {text}"))
}

fn numbers(name: &str, text: Option<&String>) -> Result<Vec<u64>> {
    let text = text.with_context(|| format!("{name}: missing value"))?;
    text.split(',').map(|part| number(name, Some(&part.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_way_through_a_command_line() {
        let args = ["--sizes", "100,4096", "--blocks", "3", "--only", "rate", "--inside"]
            .map(String::from);
        let options = Options::parse(&args).unwrap();
        assert_eq!((options.blocks, options.sizes.as_slice()), (3, [100, 4096].as_slice()));
        assert_eq!(Options::parse(&options.to_args()).unwrap(), options);
        assert!(Options::parse(&["--size".into()]).is_err());
    }

    #[test]
    fn an_option_that_a_bench_does_not_take_is_refused() {
        let options = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            Options::parse(&args).unwrap()
        };
        let kept = options(&["--only", "rate", "--keep", "folder"]);
        assert!(options(&["--blocks", "3"]).refuse_all_but(&[]).is_ok());
        assert!(kept.refuse_all_but(&["--only", "--keep"]).is_ok());
        let error = kept.refuse_all_but(&["--only"]).unwrap_err().to_string();
        assert_eq!(error, "--keep: this bench has no such option");
    }

    #[test]
    fn parts_are_chosen_by_any_of_their_names_and_a_wrong_one_is_told_the_legal_ones() {
        let parts = ["rate", "T5,T6"];
        let chosen = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let chosen = Options::parse(&args).unwrap().chosen(&parts, |part| part);
            chosen.map(|parts| parts.into_iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(chosen(&[]).unwrap(), parts);
        assert_eq!(chosen(&["--only", "T6"]).unwrap(), ["T5,T6"]);
        assert_eq!(chosen(&["--only", "T6", "--only", "rate"]).unwrap(), parts);
        let error = chosen(&["--only", "rate", "--only", "T7"]).unwrap_err().to_string();
        assert_eq!(error, "--only T7: no such part; write rate, T5,T6");
    }
}
