//! The verb `man`: the manual pages, made of the same words as `--help`.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use anyhow::anyhow;
use clap::Arg;
use clap::Command;
use clap::CommandFactory;
use clap_mangen::Man;
use serde_json::Map;
use serde_json::Value;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;

/// Options of `btu man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The verb, and its own verb if it has some: `btu man agent invite` [default: btu itself]
    #[arg(value_name = "VERB", conflicts_with = "out")]
    verbs: Vec<String>,
    /// Write every page into this directory, such as /usr/local/share/man/man1
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write exactly one JSON document to stdout: pages by name
    #[arg(long)]
    json: bool,
}

/// A page: the name of its file, and its text.
type Page = (String, Vec<u8>);

/// Prints a page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let pages = match &args.out {
        Some(directory) => {
            let pages = with_all_below(&whole);
            write(directory, &pages)?;
            pages
        }
        None => vec![page(named(&whole, &args.verbs)?)],
    };
    if args.json {
        let text = |text: &[u8]| Value::from(String::from_utf8_lossy(text).into_owned());
        let pages = pages.iter().map(|(name, roff)| (name.clone(), text(roff)));
        let pages = pages.collect::<Map<_, _>>();
        output::json(&serde_json::json!({ "schema_version": "2.0.0", "pages": pages }))?;
    } else if args.out.is_none() {
        pages.iter().try_for_each(|(_, roff)| output::bytes(roff))?;
    }
    Ok(Exit::Done)
}

/// The command that these words lead to.
fn named<'c>(whole: &'c Command, verbs: &[String]) -> Result<&'c Command, Failure> {
    verbs.iter().try_fold(whole, |command, verb| {
        command.find_subcommand(verb).filter(|found| !found.is_hide_set()).ok_or_else(|| {
            let known: Vec<&str> = shown(command).map(Command::get_name).collect();
            let name = command.get_name();
            Failure::usage(match known[..] {
                [] => anyhow!("{name} has no verbs of its own, and \"{verb}\" is none"),
                _ => anyhow!("{name} has no verb \"{verb}\"; write {}", known.join(", ")),
            })
        })
    })
}

/// The pages of a command and of all verbs below it.
fn with_all_below(command: &Command) -> Vec<Page> {
    let below = shown(command).flat_map(with_all_below);
    std::iter::once(page(command)).chain(below).collect()
}

/// What is not hidden below a command.
pub(crate) fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

fn page(command: &Command) -> Page {
    // The program, not the verb, is where a page comes from.
    let usage = synopsis(command);
    let man = Man::new(command.clone().override_usage(usage))
        .source(concat!("btu ", env!("CARGO_PKG_VERSION")));
    let (name, mut roff) = (man.get_filename(), Vec::new());
    // Writing to memory does not fail.
    drop(man.render(&mut roff));
    (name, roff)
}

/// As `--help` would say it, with every option: `btu man [--out <DIR>] [--json] [VERB]...`
fn synopsis(command: &Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let (operands, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !arg.is_hide_set()).partition(|a| a.is_positional());
    let verbs = shown(command)
        .next()
        .map(|_| if command.is_subcommand_required_set() { "<VERB>" } else { "[VERB]" }.to_owned());
    let words = options.into_iter().map(option).chain(operands.into_iter().map(operand));
    std::iter::once(name).chain(words).chain(verbs).collect::<Vec<_>>().join(" ")
}

/// `[-q|--quiet]`, `--scenario <FILE>`
fn option(option: &Arg) -> String {
    let short = option.get_short().filter(|_| option.get_long().is_some());
    let written =
        short.map_or_else(String::new, |short| format!("-{short}|")) + &option.to_string();
    if option.is_required_set() { written } else { format!("[{written}]") }
}

/// `[VERB]...`, `-- [CMD]...`
fn operand(operand: &Arg) -> String {
    if operand.is_last_set() { format!("-- {operand}") } else { operand.to_string() }
}

fn write(directory: &Path, pages: &[Page]) -> Result<(), Failure> {
    if directory.exists() && !directory.is_dir() {
        let cause = anyhow!("--out {}: not a directory", directory.display());
        return Err(Failure::usage(cause).hint("name a directory for all pages"));
    }
    let make = std::fs::create_dir_all(directory);
    make.with_context(|| format!("create {}", directory.display()))
        .map_err(Failure::environment)?;
    for (name, roff) in pages {
        let path = directory.join(name);
        let written = std::fs::write(&path, roff);
        written
            .with_context(|| format!("write {}", path.display()))
            .map_err(Failure::environment)?;
    }
    Ok(())
}
