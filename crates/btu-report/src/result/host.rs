//! The host under test in one line.

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::disclosure::cpus_in;
use btu_core::words::several;
use serde_json::Value;

use crate::number;

/// Processor, number of CPUs, memory, kernel; what is not known is left out.
pub(crate) fn host_line(hosts: &Disclosure) -> String {
    let find = |group: &str, name: &str| fact_text(hosts.hosts.get("test")?.get(group)?.get(name));
    let parts = [
        find("cpu", "model"),
        find("cpu", "online").and_then(|list| cpus(&list)),
        find("memory", "total").and_then(|total| memory(&total)),
        find("system", "kernel").map(|kernel| format!("Linux {kernel}")),
    ];
    let line = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if line.is_empty() { "host not disclosed".to_owned() } else { line }
}

/// The value as one would write it.
pub(super) fn fact_text(fact: Option<&Fact>) -> Option<String> {
    match fact?.value.as_ref()? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// `0-3,6` is `5 CPUs`.
fn cpus(list: &str) -> Option<String> {
    cpus_in(list).map(|count| several(count, "CPU"))
}

/// `24684092 kB` is `23.5 GiB` (the kernel's kB are 1024 bytes).
fn memory(total: &str) -> Option<String> {
    let kibibytes: f64 = total.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(format!("{} GiB", number::fixed(kibibytes / 1024.0 / 1024.0, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lists_become_words() {
        assert_eq!(cpus("0-3,6\n").as_deref(), Some("5 CPUs"));
        assert_eq!(cpus("0").as_deref(), Some("1 CPU"));
        assert_eq!([cpus("3-0"), cpus("all"), cpus("0-18446744073709551615")], [None, None, None]);
        assert_eq!(memory("24684092 kB").as_deref(), Some("23.5 GiB"));
        assert_eq!(memory("much"), None);
    }

    #[test]
    fn a_host_without_facts_says_so() {
        assert_eq!(host_line(&Disclosure::default()), "host not disclosed");
    }
}
