//! Commands that get only the CPU time that nobody else wants.

use std::process::Command;

use crate::program::installed;

/// The same command at the lowest priority that there is: as `SCHED_IDLE` (sched(7)) it gives way to whoever wants
/// its CPU, at once. Where `chrt` of util-linux is not installed it is as nice as a process can be.
pub(crate) fn spare(command: &Command) -> Command {
    let words = if installed("chrt").is_some() { IDLE } else { NICE };
    let mut spare = Command::new(words[0]);
    spare.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => spare.env(name, value),
            None => spare.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        spare.current_dir(folder);
    }
    spare
}

const IDLE: &[&str] = &["chrt", "--idle", "0"];
const NICE: &[&str] = &["nice", "-n", "19"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Field 41 of `/proc/PID/stat` is the policy, 5 of them `SCHED_IDLE`; field 19 is the nice value (proc(5)).
    #[test]
    fn a_spare_command_is_the_same_one_and_gives_way_to_all_others() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $OURS; pwd; cat /proc/self/stat"]);
        command.env("OURS", "kept").env_remove("PWD").current_dir("/");
        let said = spare(&command).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..2], ["kept", "/"]);
        let fields: Vec<&str> = lines[2].rsplit_once(") ").unwrap().1.split(' ').collect();
        assert!(fields[41 - 3] == "5" || fields[19 - 3] == "19", "{fields:?}");
    }
}
