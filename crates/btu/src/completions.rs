//! The verb `completions`: what a shell has to know to complete the words of a command line.

use clap::Command;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_complete::generate;
use serde_json::json;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::man::shown;
use crate::output;

/// Options of `btu completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell: bash, zsh or fish
    #[arg(value_parser = shell)]
    shell: Shell,
    /// Write exactly one JSON document to stdout
    #[arg(long)]
    json: bool,
}

/// Prints the script.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut visible(&Cli::command()), "btu", &mut script);
    if args.json {
        let script = String::from_utf8_lossy(&script);
        output::json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        output::bytes(&script)?;
    }
    Ok(Exit::Done)
}

/// The command without what only the program itself calls: completions know nothing of hidden verbs.
fn visible(command: &Command) -> Command {
    // A name has to live as long as the program, and this is done once.
    let name: &'static str = String::leak(command.get_name().to_owned());
    let about = command.get_about().cloned().unwrap_or_default();
    let arguments = command.get_arguments().cloned();
    Command::new(name).about(about).args(arguments).subcommands(shown(command).map(visible))
}

fn shell(name: &str) -> Result<Shell, String> {
    match name {
        "bash" => Ok(Shell::Bash),
        "fish" => Ok(Shell::Fish),
        "zsh" => Ok(Shell::Zsh),
        _ => Err("write bash, zsh or fish".to_owned()),
    }
}
