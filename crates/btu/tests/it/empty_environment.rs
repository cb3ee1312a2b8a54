//! The program where no variable of the environment is set, and `PATH` finds nothing: it starts none but itself.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::commands::needs;
use crate::link::users;
use crate::link::users::User;
use crate::link::users::btu;
use crate::link::users::expect_status;
use crate::program::Cells;
use crate::program::of_kind;
use crate::program::plan_file;

/// The whole local testbed, its emulator included.
#[test]
fn the_local_testbed_starts_in_an_empty_environment() {
    needs!();
    for user in users::users() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let plan = plan_file(folder.path(), Cells { cases: &["SEND", "SEND+DL"], ..Cells::SHORT });
        let result = folder.path().join("result");
        let mut run = emptied(user);
        run.args(["run", "--quiet", "--plan"]).arg(&plan).arg("--out").arg(&result);
        let output = run.current_dir(folder.path()).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 6)), "{user:?}: {output:?}");
        let cells = of_kind(&result, "cell");
        let is_measured = |case: &str| cells.iter().any(|cell| cell["case"] == case);
        assert!(is_measured("SEND") && is_measured("SEND+DL"), "{user:?}: {cells:#?}");
    }
}

#[test]
fn a_link_and_the_doctor_work_in_an_empty_environment() {
    needs!();
    for user in users::users() {
        expect_status(emptied(user).args(["link", "--delay", "1ms", "--", "/bin/true"]), 0);
        let told = expect_status(emptied(user).args(["doctor", "--json"]), 0);
        let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!(told["able"], true, "{user:?}: {told:#}");
    }
}

fn emptied(user: User) -> std::process::Command {
    let mut command = btu(user);
    command.env_clear().env("PATH", "");
    command
}
