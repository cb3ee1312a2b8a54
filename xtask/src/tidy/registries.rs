//! Each extension is one file, one line in its slice, and one section of a page.

use std::fs;
use std::path::Path;

use anyhow::Context;
use anyhow::Result;

use super::Workspace;

/// A folder of entries, the file and slice that list them, and the page that explains them.
struct Registry {
    folder: &'static str,
    listed_in: &'static str,
    slice: &'static str,
    /// Files of the folder that are no entries but serve several of them.
    shared: &'static [&'static str],
    page: &'static str,
    since: Since,
}

/// Whether the folder and its slice exist already.
#[derive(PartialEq, Eq)]
enum Since {
    Later,
    Now,
}

static REGISTRIES: &[Registry] = &[
    Registry {
        folder: "crates/btu-core/src/link/element",
        listed_in: "crates/btu-core/src/link/element.rs",
        slice: "ELEMENTS",
        shared: &[],
        page: "docs/link-elements.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-core/src/anomaly",
        listed_in: "crates/btu-core/src/anomaly.rs",
        slice: "RULES",
        shared: &["evidence"],
        page: "docs/anomaly-rules.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-core/src/diagnosis",
        listed_in: "crates/btu-core/src/diagnosis.rs",
        slice: "CAUSES",
        shared: &["evidence", "repeats", "seen", "worked"],
        page: "docs/diagnoses.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-core/src/traffic/method",
        listed_in: "crates/btu-core/src/traffic/method.rs",
        slice: "METHODS",
        shared: &["frames"],
        page: "docs/traffic-methods.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-core/src/traffic/model",
        listed_in: "crates/btu-core/src/traffic/model.rs",
        slice: "MODELS",
        shared: &["frames", "pages"],
        page: "docs/models.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu/src/agent/service",
        listed_in: "crates/btu/src/agent/service.rs",
        slice: "SERVICES",
        shared: &[],
        page: "docs/services.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-engine/src/activity",
        listed_in: "crates/btu-engine/src/activity.rs",
        slice: "ACTIVITIES",
        shared: &["calibrated", "running", "trail"],
        page: "docs/activities.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-engine/src/file",
        listed_in: "crates/btu-engine/src/file.rs",
        slice: "FILE_PROTOCOLS",
        shared: &[],
        page: "docs/file-protocols.md",
        since: Since::Later,
    },
    Registry {
        folder: "crates/btu-engine/src/message",
        listed_in: "crates/btu-engine/src/message.rs",
        slice: "MESSAGE_LAYERS",
        shared: &[],
        page: "docs/message-layers.md",
        since: Since::Later,
    },
    Registry {
        folder: "crates/btu-engine/src/probe",
        listed_in: "crates/btu-engine/src/probe.rs",
        slice: "PROBES",
        shared: &[],
        page: "docs/probes.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-engine/src/pingpong/transport",
        listed_in: "crates/btu-engine/src/pingpong/transport.rs",
        slice: "TRANSPORTS",
        shared: &["frames", "left_out", "pinned", "socket"],
        page: "docs/pingpong-transports.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-engine/src/transport",
        listed_in: "crates/btu-engine/src/transport.rs",
        slice: "TRANSPORTS",
        shared: &[],
        page: "docs/transports.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-report/src/format",
        listed_in: "crates/btu-report/src/format.rs",
        slice: "FORMATS",
        shared: &[],
        page: "docs/formats.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-report/src/section",
        listed_in: "crates/btu-report/src/section.rs",
        slice: "SECTIONS",
        shared: &["flags"],
        page: "docs/report-sections.md",
        since: Since::Now,
    },
    Registry {
        folder: "crates/btu-testbed/src/backend",
        listed_in: "crates/btu-testbed/src/backend.rs",
        slice: "BACKENDS",
        shared: &[],
        page: "docs/backends.md",
        since: Since::Now,
    },
];

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    REGISTRIES.iter().flat_map(|registry| check_one(workspace, registry)).collect()
}

fn check_one(workspace: &Workspace<'_>, registry: &Registry) -> Vec<String> {
    let folder = workspace.repo.path(registry.folder);
    if !folder.is_dir() {
        let missing = format!("{}: missing folder", registry.folder);
        return if registry.since == Since::Later { vec![] } else { vec![missing] };
    }
    entries(&folder)
        .and_then(|entries| violations(workspace, registry, &entries))
        .unwrap_or_else(|error| vec![format!("{error:#}")])
}

fn violations(
    workspace: &Workspace<'_>,
    registry: &Registry,
    entries: &[String],
) -> Result<Vec<String>> {
    let file = workspace.sources.iter().find(|s| s.path == registry.listed_in);
    let Some(slice) = file.and_then(|f| slice(&f.code, registry.slice)) else {
        if registry.since == Since::Later {
            return Ok(vec![]);
        }
        return Ok(vec![format!("{}: no slice {}", registry.listed_in, registry.slice)]);
    };
    let page = workspace.repo.read(registry.page)?;
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| !registry.shared.contains(&entry.as_str())) {
        if !names(slice, entry) {
            let Registry { folder, slice, .. } = registry;
            found.push(format!("{folder}/{entry}.rs: {slice} does not name it"));
        }
        match sections(&page, entry) {
            1 => {}
            0 => found.push(format!("{}: no section `{entry}`", registry.page)),
            more => found.push(format!("{}: {more} sections `{entry}`", registry.page)),
        }
    }
    Ok(found)
}

/// The names of the entries: one file each.
fn entries(folder: &Path) -> Result<Vec<String>> {
    let listed = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in listed {
        let path = entry?.path();
        if let Some(stem) = path.file_stem().and_then(|s| s.to_str())
            && path.extension().is_some_and(|e| e == "rs")
            && stem != "tests"
        {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The text between the brackets of `static NAME: ... = &[ ... ];`.
fn slice<'a>(code: &'a str, name: &str) -> Option<&'a str> {
    let after = code.split(&format!("static {name}:")).nth(1)?;
    let (_, list) = after.split_once('=')?;
    list.split_once(';').map(|(list, _)| list)
}

/// By its module, or by its type where the module re-exports one: `tcp::Tcp`, `Tcp`.
fn names(slice: &str, entry: &str) -> bool {
    let mut words = slice.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == entry || word == camel(entry))
}

fn camel(entry: &str) -> String {
    let parts = entry.split('_').filter_map(|part| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    });
    parts.collect()
}

/// Users write the name of `drop_ge` as `drop ge`, that of `few_units` as `few-units`.
fn sections(page: &str, entry: &str) -> usize {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let titles = headings.map(|line| line.trim_start_matches('#').trim());
    titles.filter(|title| title.replace([' ', '-'], "_") == entry).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_named_by_its_module_or_by_its_type() {
        assert!(names("&[&drop_ge::KIND]", "drop_ge"));
        assert!(names("&[&Tcp, &UnixStream]", "unix_stream"));
        assert!(!names("&[&udp_fast::Fast]", "udp"));
    }

    #[test]
    fn a_slice_ends_at_its_semicolon() {
        let code = "pub static A: &[&dyn T] = &[&tcp::Tcp, &unix::Unix];\nuse udp::Udp;";
        let list = slice(code, "A").unwrap();
        assert!(list.contains("tcp::") && list.contains("unix::") && !list.contains("udp::"));
        assert!(slice(code, "B").is_none());
    }

    #[test]
    fn a_section_is_a_heading_with_the_name_of_the_entry() {
        let page = "# Activities\n\n## few-units\n\ncpu\n";
        assert_eq!((sections(page, "few_units"), sections(page, "cpu")), (1, 0));
        assert_eq!(sections(&page.repeat(2), "few_units"), 2);
    }
}
