//! The names of the files of a result.

/// What was asked for, in full.
pub const PLAN: &str = "plan.toml";

/// The plan as the user wrote it, where it was read from a file.
pub const PLAN_GIVEN: &str = "plan.given.toml";

/// The disclosure of the hosts.
pub const HOSTS: &str = "hosts.json";

/// One line per run.
pub const SAMPLES: &str = "samples.jsonl";

/// One line per event.
pub const EVENTS: &str = "events.jsonl";

/// The figures, for programs.
pub const RESULT: &str = "result.json";

/// The same for people.
pub const REPORT: &str = "report.html";
