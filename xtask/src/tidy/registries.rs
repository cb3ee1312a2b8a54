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
}

static REGISTRIES: &[Registry] = &[
    Registry {
        folder: "crates/btu-core/src/link/element",
        listed_in: "crates/btu-core/src/link/element.rs",
        slice: "ELEMENTS",
        shared: &[],
        page: "docs/link-elements.md",
    },
    Registry {
        folder: "crates/btu-core/src/app/kernel",
        listed_in: "crates/btu-core/src/app/kernel.rs",
        slice: "KERNELS",
        shared: &["flow"],
        page: "docs/kernels.md",
    },
    Registry {
        folder: "crates/btu-core/src/run/anomaly/rule",
        listed_in: "crates/btu-core/src/run/anomaly/rule.rs",
        slice: "RULES",
        shared: &[],
        page: "docs/anomaly-rules.md",
    },
    Registry {
        folder: "crates/btu-core/src/diagnosis/cause",
        listed_in: "crates/btu-core/src/diagnosis/cause.rs",
        slice: "CAUSES",
        shared: &[],
        page: "docs/diagnoses.md",
    },
    Registry {
        folder: "crates/btu-core/src/file/experiment",
        listed_in: "crates/btu-core/src/file/experiment.rs",
        slice: "EXPERIMENTS",
        shared: &[],
        page: "docs/file-experiments.md",
    },
    Registry {
        folder: "crates/btu-core/src/pingpong/import",
        listed_in: "crates/btu-core/src/pingpong/import.rs",
        slice: "FORMATS",
        shared: &["row"],
        page: "docs/imports.md",
    },
    Registry {
        folder: "crates/btu-core/src/traffic/method",
        listed_in: "crates/btu-core/src/traffic/method.rs",
        slice: "METHODS",
        shared: &["frames"],
        page: "docs/traffic-methods.md",
    },
    Registry {
        folder: "crates/btu-core/src/traffic/model",
        listed_in: "crates/btu-core/src/traffic/model.rs",
        slice: "MODELS",
        shared: &["frames", "library", "pages", "tcplib", "vectors", "workloads"],
        page: "docs/models.md",
    },
    Registry {
        folder: "crates/btu/src/agent/service",
        listed_in: "crates/btu/src/agent/service.rs",
        slice: "SERVICES",
        shared: &[],
        page: "docs/services.md",
    },
    Registry {
        folder: "crates/btu-engine/src/activity",
        listed_in: "crates/btu-engine/src/activity.rs",
        slice: "ACTIVITIES",
        shared: &["calibrated", "running", "trail"],
        page: "docs/activities.md",
    },
    Registry {
        folder: "crates/btu-engine/src/disclosure",
        listed_in: "crates/btu-engine/src/disclosure.rs",
        slice: "GROUPS",
        shared: &[],
        page: "docs/disclosure.md",
    },
    Registry {
        folder: "crates/btu-engine/src/file",
        listed_in: "crates/btu-engine/src/file.rs",
        slice: "FILE_PROTOCOLS",
        shared: &[
            "account",
            "disk",
            "hypertext",
            "no_hypertext",
            "order",
            "reception",
            "rx",
            "scratch",
            "service",
            "site",
            "sockets",
        ],
        page: "docs/file-protocols.md",
    },
    Registry {
        folder: "crates/btu-engine/src/math",
        listed_in: "crates/btu-engine/src/math.rs",
        slice: "MATH_LIBRARIES",
        shared: &["called", "compare", "lap"],
        page: "docs/math-libraries.md",
    },
    Registry {
        folder: "crates/btu-engine/src/message",
        listed_in: "crates/btu-engine/src/message.rs",
        slice: "MESSAGE_LAYERS",
        shared: &["incoming", "mesh", "mpi", "pause", "process", "socket"],
        page: "docs/message-layers.md",
    },
    Registry {
        folder: "crates/btu-engine/src/probe",
        listed_in: "crates/btu-engine/src/probe.rs",
        slice: "PROBES",
        shared: &[],
        page: "docs/probes.md",
    },
    Registry {
        folder: "crates/btu-engine/src/pingpong/transport",
        listed_in: "crates/btu-engine/src/pingpong/transport.rs",
        slice: "TRANSPORTS",
        shared: &["frames", "left_out", "socket"],
        page: "docs/pingpong-transports.md",
    },
    Registry {
        folder: "crates/btu-engine/src/transport",
        listed_in: "crates/btu-engine/src/transport.rs",
        slice: "TRANSPORTS",
        shared: &[],
        page: "docs/transports.md",
    },
    Registry {
        folder: "crates/btu-report/src/format",
        listed_in: "crates/btu-report/src/format.rs",
        slice: "FORMATS",
        shared: &[],
        page: "docs/formats.md",
    },
    Registry {
        folder: "crates/btu-report/src/section",
        listed_in: "crates/btu-report/src/section.rs",
        slice: "SECTIONS",
        shared: &[],
        page: "docs/report-sections.md",
    },
    Registry {
        folder: "crates/btu-testbed/src/backend",
        listed_in: "crates/btu-testbed/src/backend.rs",
        slice: "BACKENDS",
        shared: &[],
        page: "docs/backends.md",
    },
];

pub(super) fn check(workspace: &Workspace<'_>) -> Vec<String> {
    REGISTRIES.iter().flat_map(|registry| check_one(workspace, registry)).collect()
}

fn check_one(workspace: &Workspace<'_>, registry: &Registry) -> Vec<String> {
    entries(&workspace.repo.path(registry.folder))
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
        return Ok(vec![format!("{}: no slice {}", registry.listed_in, registry.slice)]);
    };
    let page = workspace.repo.read(registry.page)?;
    Ok(missing(registry, slice, &page, entries))
}

/// What the slice does not name, and what the page does not explain.
fn missing(registry: &Registry, slice: &str, page: &str, entries: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| !registry.shared.contains(&entry.as_str())) {
        if !names(slice, entry) {
            let Registry { folder, slice: name, .. } = registry;
            found.push(format!("{folder}/{entry}.rs: {name} does not name it"));
        }
        match sections(page, entry) {
            1 => {}
            0 => found.push(format!("{}: no section `{entry}`", registry.page)),
            more => found.push(format!("{}: {more} sections `{entry}`", registry.page)),
        }
    }
    let gone = registry.shared.iter().filter(|name| !entries.iter().any(|entry| entry == *name));
    found.extend(gone.map(|name| format!("{}: no file of the shared {name}", registry.folder)));
    found
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
    fn an_entry_without_its_line_or_its_section_is_named() {
        let (folder, listed_in, page) = ("f", "f.rs", "p.md");
        let registry = Registry { folder, listed_in, slice: "ALL", shared: &["row"], page };
        let entries = ["row", "tcp", "udp"].map(str::to_owned);
        let found = |slice, page| missing(&registry, slice, page, &entries);
        assert_eq!(found("&[&tcp::Tcp, &udp::Udp]", "## tcp\n## udp\n"), Vec::<String>::new());
        let lacking = ["f/udp.rs: ALL does not name it", "p.md: no section `udp`"];
        assert_eq!(found("&[&tcp::Tcp]", "## tcp\n"), lacking);
        let gone = missing(&registry, "&[Tcp, Udp]", "## tcp\n## udp\n", &entries[1..]);
        assert_eq!(gone, ["f: no file of the shared row"]);
    }

    /// Each of them is listed in the table of the page that tells how to add one.
    #[test]
    fn the_table_of_the_architecture_names_every_registry() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let table = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        for Registry { folder, slice, page, .. } in REGISTRIES {
            let file = format!("`{}/NAME.rs`", folder.trim_start_matches("crates/"));
            let row = table.lines().find(|line| line.contains(&file));
            let row = row.unwrap_or_else(|| panic!("no row of {file}"));
            assert!(row.contains(slice) && row.contains(page), "{row}");
        }
    }

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
