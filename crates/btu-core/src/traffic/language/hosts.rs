//! The hosts of a scenario: each once, in order, and under other names.

use super::scenario::Block;
use super::scenario::Scenario;

impl Scenario {
    /// Gives every host another name. Hosts that get the same one are one host.
    pub fn rename_hosts(&mut self, name: &dyn Fn(&str) -> String) {
        self.run.each_cluster(&mut |cluster| {
            for test in &mut cluster.tests {
                test.from.host = name(&test.from.host);
                test.to.host = name(&test.to.host);
            }
        });
        self.hosts = once(self.hosts.iter().map(|host| name(host)));
    }
}

impl Block {
    /// The hosts in the order of the paths.
    pub fn hosts(&self) -> Vec<String> {
        let tests = self.clusters().into_iter().flat_map(|cluster| &cluster.tests);
        once(tests.flat_map(|test| [&test.from.host, &test.to.host]).cloned())
    }
}

fn once(hosts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for host in hosts {
        if !seen.contains(&host) {
            seen.push(host);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use crate::traffic::Vocabulary;
    use crate::traffic::read_toml;
    use crate::traffic::to_toml;

    const RING: &str = r#"
        run = "ring"
        [[cluster]]
        name = "ring"
        test = [
            { path = "a -> b", type = "full(duration=2 s)" },
            { path = "b -> c", type = "full(duration=2 s)" },
        ]
    "#;

    #[test]
    fn hosts_that_get_the_same_name_are_one_host_wherever_they_stand() {
        let mut ring = read_toml(
            "ring.toml",
            RING,
            &Vocabulary { files: &|name| Err(format!("no file {name}")) },
        )
        .unwrap()
        .scenario;
        assert_eq!(ring.hosts, ["a", "b", "c"]);
        assert_eq!(ring.run.hosts(), ring.hosts);
        ring.rename_hosts(&|host| if host == "b" { "active" } else { "test" }.to_owned());
        assert_eq!(ring.hosts, ["test", "active"]);
        assert_eq!(ring.run.hosts(), ring.hosts);
        assert!(!to_toml(&ring).contains("hosts ="), "no order but that of the paths");
    }
}
