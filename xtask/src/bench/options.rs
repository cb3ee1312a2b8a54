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
    /// Options of planted causes, as they were given: which of them, and where trials are kept.
    pub(super) planted: Vec<String>,
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
            planted: Vec::new(),
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
                    options.planted.extend([name.clone(), value.clone()]);
                }
                _ => bail!("{name}: unknown option; {USAGE}"),
            }
        }
        Ok(options)
    }

    /// What `--only` names: a part of the bench.
    pub(super) fn only(&self) -> Option<&str> {
        let mut given = self.planted.iter().skip_while(|word| *word != "--only").skip(1);
        given.next().map(String::as_str)
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
        args.extend(self.planted.iter().cloned());
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
        assert_eq!(options.only(), Some("rate"));
        assert!(Options::parse(&["--size".into()]).is_err());
    }
}
