//! The hosts of a scenario between real machines: which is this one, which are played by agents, and which
//! of them has an end in every connection.

mod centre;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use btu_core::role::Role;
use btu_core::traffic::Cluster;
use btu_core::traffic::Scenario;
use btu_core::traffic::Test;

use self::centre::Centre;
use self::centre::waits;
use super::distant::ASKED_HERE;
use super::peers::NO_THIRD;
use crate::conductor::NamedAgent;
use crate::conductor::shown;
use crate::exit::Failure;
use crate::state::StateDir;
use crate::traffic::options::FarArgs;
use crate::traffic::scenario;

/// Agents by the part that they play, by the names that this host has for them.
pub(in crate::traffic) type Agents = BTreeMap<Role, String>;

/// What the user says of hosts.
pub(in crate::traffic) struct Wishes<'a> {
    pub(in crate::traffic) file: &'a Path,
    /// `HOST=AGENT`.
    pub(in crate::traffic) hosts: &'a [String],
    /// `HOST=ROLE`, for the local testbed.
    pub(in crate::traffic) maps: &'a [String],
    pub(in crate::traffic) far: &'a FarArgs,
    /// The agent that is to have an end in every connection.
    pub(in crate::traffic) test: Option<&'a str>,
}

/// Gives every host of a scenario its part, where one of them is an agent or is called `here`; nothing
/// where the scenario is for the local testbed. Tells what was chosen.
pub(in crate::traffic) fn apart(
    scenario: &mut Scenario,
    wishes: &Wishes<'_>,
) -> Result<Option<(Agents, Vec<String>)>, Failure> {
    let played = wishes.agents(scenario)?;
    let is_here = |host: &String| host == HERE;
    if played.is_empty() && !scenario.hosts.iter().any(is_here) && wishes.test.is_none() {
        return Ok(None);
    }
    if let Some(map) = wishes.maps.first() {
        let cause = anyhow!("--map {map}: roles are those of the local testbed, not of agents");
        return Err(Failure::usage(cause).hint("write --host HOST=AGENT"));
    }
    let known = |host: &&String| !played.contains_key(*host) && !is_this(host);
    if let Some(host) = scenario.hosts.iter().find(known) {
        return Err(wishes.unknown(host));
    }
    let centre = Centre { file: wishes.file, scenario, played: &played }.of(wishes.test)?;
    let (mut agents, mut roles) = (Agents::new(), BTreeMap::new());
    agents.extend(centre.map(|name| (Role::Test, name)));
    let mut told = Vec::new();
    for host in &scenario.hosts {
        let role = match played.get(host) {
            Some(agent) => part_of(&mut agents, agent)?,
            None => Role::Test,
        };
        if let Some(agent) = agents.get(&role) {
            told.push(format!("{host} is agent {agent}, in the part \"{role}\""));
        }
        roles.insert(host.clone(), role);
    }
    for cluster in scenario.clusters() {
        for test in &cluster.tests {
            wishes.check(cluster, test, &roles)?;
        }
    }
    let name = |host: &str| roles.get(host).map_or_else(|| host.to_owned(), Role::to_string);
    scenario.rename_hosts(&name);
    Ok(Some((agents, told)))
}

/// The part of an agent: that which it has, or the next free one.
fn part_of(agents: &mut Agents, agent: &NamedAgent) -> Result<Role, Failure> {
    if let Some((role, _)) = agents.iter().find(|(_, name)| **name == agent.name) {
        return Ok(*role);
    }
    let free = [Role::Active, Role::Passive].into_iter().find(|role| !agents.contains_key(role));
    let third = || {
        let known = agents.iter().filter(|(role, _)| **role != Role::Test);
        let known: Vec<&str> = known.map(|(_, name)| name.as_str()).collect();
        let known = known.join(" and ");
        let cause = anyhow!("{}: a third agent beside {known}; two at the most", agent.name);
        Failure::usage(cause)
            .hint("write the connections of each two agents in a scenario of its own")
    };
    let role = free.ok_or_else(third)?;
    agents.insert(role, agent.name.clone());
    Ok(role)
}

impl Wishes<'_> {
    /// The hosts that are played by agents: as the options say, else by the same name.
    fn agents(&self, scenario: &Scenario) -> Result<BTreeMap<String, NamedAgent>, Failure> {
        let mut played = BTreeMap::new();
        for wish in self.hosts {
            let (host, agent) = wish.split_once('=').ok_or_else(|| {
                Failure::usage(anyhow!("--host {}: write HOST=AGENT", shown(wish)))
            })?;
            let host = host.to_lowercase();
            if !scenario.hosts.contains(&host) {
                let hosts = scenario.hosts.join(", ");
                let cause = anyhow!("--host {host}: no host of the scenario; it has {hosts}");
                return Err(Failure::usage(cause));
            }
            let state = StateDir::open(&self.far.state)?;
            played.insert(host, NamedAgent::find(&state, "--host", agent)?);
        }
        let Some(state) = StateDir::existing(&self.far.state) else { return Ok(played) };
        for name in state.agents()?.keys() {
            let host = name.to_lowercase();
            let is_role = scenario::role_of(&host).is_some();
            let is_mapped = self.maps.iter().any(|map| map.starts_with(&format!("{host}=")));
            if !is_role && !is_mapped && scenario.hosts.contains(&host) {
                let agent = NamedAgent::find(&state, "--host", name)?;
                played.entry(host).or_insert(agent);
            }
        }
        Ok(played)
    }

    fn unknown(&self, host: &str) -> Failure {
        let known = StateDir::existing(&self.far.state).and_then(|state| state.agents().ok());
        let known = known.unwrap_or_default().into_keys().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".to_owned() } else { known };
        let cause = anyhow!(
            "{}{}: host {host} is neither this one (write {HERE}) nor paired with it; paired \
             hosts: {known}",
            self.file.display(),
            place_of(self.file, host),
        );
        Failure::usage(cause).hint(format!(
            "on {host}: btu agent invite; here: btu pair INVITE --name {host}, or --host \
             {host}=AGENT"
        ))
    }

    /// Whether a connection can be made between these hosts.
    fn check(
        &self,
        cluster: &Cluster,
        test: &Test,
        roles: &BTreeMap<String, Role>,
    ) -> Result<(), Failure> {
        let (from, to) = (&test.from.host, &test.to.host);
        let role = |host: &String| roles.get(host).copied().unwrap_or(Role::Test);
        let refuse = |why: &str, hint: &str| {
            let file = self.file.display();
            let cause = anyhow!("{file}: {}: {from} -> {to}: {why}", test.name);
            Err(Failure::usage(cause).hint(hint))
        };
        match (role(from), role(to)) {
            (one, other) if one == other => {
                refuse("both ends are on one host", "the local testbed joins hosts of its own")
            }
            (Role::Test, _) => Ok(()),
            (_, Role::Test) if waits(cluster, test) => refuse(ASKED_HERE, "turn the path round"),
            (_, Role::Test) => Ok(()),
            _ => refuse(NO_THIRD, "write the connections of each host in a scenario of its own"),
        }
    }
}

/// No agent has this part: a plan that was changed by hand.
pub(in crate::traffic) fn nobody(name: &str) -> Failure {
    Failure::usage(anyhow!("plan.toml: agents: test = \"{name}\": no agent of this name"))
}

/// Two parts of a plan are those of one host.
pub(in crate::traffic) fn one_host(name: &str) -> Failure {
    let cause = anyhow!("agent {name} has two parts: both ends would be on one host");
    Failure::usage(cause).hint("name two agents")
}

/// Whether a host of a scenario is this machine.
fn is_this(host: &str) -> bool {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    [HERE, "test", own.trim().to_lowercase().as_str()].contains(&host)
}

/// `:LINE:COLUMN` of the first place where a file names a host, beside comments.
fn place_of(file: &Path, host: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default().to_lowercase();
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split('#').next().unwrap_or_default();
        let code = code.split("//").next().unwrap_or_default();
        let found = code.match_indices(host).find(|(at, _)| {
            let before = code[..*at].chars().next_back();
            let after = code[at + host.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        });
        if let Some((at, _)) = found {
            return format!(":{number}:{}", code[..at].chars().count() + 1);
        }
    }
    String::new()
}

/// This host in a scenario.
const HERE: &str = "here";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_host_is_its_first_word_beside_comments() {
        let folder = std::env::temp_dir().join(format!("btu-casting-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.toml");
        std::fs::write(&file, "# lab1\nname = \"lab10\"\npath = \"here -> LAB1:42\"\n").unwrap();
        assert_eq!(place_of(&file, "lab1"), ":3:17");
        assert_eq!(place_of(&file, "lab2"), "");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
