//! A black box was the limit: the figure is a lower bound for the host under test.

use super::retransmissions::Drops;
use crate::role::Role;
use crate::run::analysis::CountedRun;
use crate::run::anomaly::Rule;
use crate::run::anomaly::Weight;
use crate::run::anomaly::evidence::percent;
use crate::run::verdict::Verdict;
use crate::sample::ConnectionSample;
use crate::sample::DirectionSample;
use crate::sample::EndSample;
use crate::units::Nanos;
use crate::words::beyond;

pub(super) const RULE: Rule = Rule {
    name: "blackbox-limited",
    about: "a data thread of a black box, or a session of its FTP server, above 90 % of a CPU, retransmissions \
            of a black box beyond its drop pattern, or an emulator that was late or at its limit",
    weight: Weight::Remark,
    find: |evidence| evidence.each_run(judge),
};

pub(super) fn judge(run: &CountedRun<'_>) -> Option<String> {
    let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
    let of_activity = connections.clone().find_map(serving).into_iter().collect();
    let of_comm = connections.filter_map(busy).chain(beside_threads(run)).collect();
    let told = |figure: &str, causes: Vec<String>| {
        (!causes.is_empty()).then(|| format!("{figure}: {}", causes.join("; ")))
    };
    let held_back = told("the activity was held back, its slowdown is too high", of_activity);
    let told = [told("a lower bound", of_comm), held_back].into_iter().flatten();
    told.reduce(|one, other| format!("{one}; {other}"))
}

/// What else than its data threads kept a black box from more.
pub(in crate::run::anomaly) fn beside_threads(run: &CountedRun<'_>) -> Vec<String> {
    let connections = run.sample.comm.iter().flat_map(|comm| &comm.connections);
    let resent = connections.filter_map(|one| resends(one, &run.sample.emulation));
    let limits = if let Verdict::Limited(limits) = &run.verdict { &limits[..] } else { &[] };
    resent.chain(limits.iter().cloned()).collect()
}

fn busy(one: &ConnectionSample) -> Option<String> {
    let end = far_end(one)?;
    let busy = too_busy(end.cpu_ns?, one.elapsed_ns)?;
    Some(format!("the data thread of {} used {busy} of a CPU", end.role))
}

/// A session that can serve no faster holds back the activity, whose rate is then no figure of the host under test.
fn serving(one: &ConnectionSample) -> Option<String> {
    let end = far_end(one)?;
    let used = end.ftp_session?;
    let busy = too_busy(used.cpu_ns, used.elapsed_ns)?;
    Some(format!("a session of the FTP server of {} used {busy} of a CPU", end.role))
}

fn far_end(one: &ConnectionSample) -> Option<&EndSample> {
    [&one.sender, &one.receiver].into_iter().find(|end| end.role != Role::Test)
}

fn too_busy(used: Nanos, elapsed: Nanos) -> Option<String> {
    let busy = percent(used, elapsed).filter(|busy| *busy > MOST_BUSY)?;
    Some(beyond(busy, '>', MOST_BUSY, 0, " %"))
}

fn resends(one: &ConnectionSample, emulation: &[DirectionSample]) -> Option<String> {
    let info = one.sender.tcp_info.as_ref().filter(|_| one.sender.role != Role::Test)?;
    let link = format!("test-{}", one.peer);
    let drops = Drops::of(emulation.iter().filter(|each| each.link == link));
    let most = drops.explain(info.data_segs_out.unwrap_or(0));
    let again = info.total_retrans.filter(|again| *again > most)?;
    Some(format!("{} sent {again} segments again, {drops}", one.sender.role))
}

const MOST_BUSY: f64 = 90.0;
