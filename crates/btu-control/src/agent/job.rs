//! What is done for one conductor: commands in, answers out, each command done once, under a lease.

mod lease;

use btu_core::role::Role;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Action;
use super::Agent;
use super::ConnId;
use super::WorkerId;
use super::connection::Phase;
use super::looks::Looks;
use crate::frame::Chunk;
use crate::message::Answer;
use crate::message::Request;
use crate::message::Reservation;
use crate::message::RunOf;
use crate::message::Which;
use crate::policy::Grant;

use lease::Cell;
use lease::lasting;

pub use lease::LEASE_MARGIN;

/// One reservation that has its turn.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) conn: ConnId,
    pub(super) grant: Grant,
    /// When all of it ends, whatever the conductor does.
    pub(super) deadline: Nanos,
    silence: Nanos,
    /// Host activities that were reserved.
    activities: Vec<String>,
    /// Services that were reserved.
    services: Vec<String>,
    /// Of a test: how long it goes on without a word of its conductor.
    lease: Option<Nanos>,
    /// Whether a step of it was told that its conductor has not yet answered.
    stepped: bool,
    /// The run that is prepared.
    cell: Option<Cell>,
    /// Whether something was begun that goes on by itself: its lease holds until it is over, and no other
    /// command makes it longer.
    begun: bool,
    /// Whether it has an FTP server, which sends without a run.
    serving: bool,
    /// The run that was prepared last.
    which: Which,
    /// What its account will be signed as, and this host's part in it.
    of: Option<(Role, RunOf)>,
    /// The test that its last run is of, by this host's part in it and its seed: its account is not forgotten.
    pub(super) test: Option<(Role, u64)>,
    /// The last command, and its answer once there is one.
    last: Option<(Request, Option<Answer>)>,
    /// What its worker told between two accounts.
    looks: Looks,
}

/// What a command is, beside the last one.
enum Standing {
    /// The next one.
    New,
    /// Of an older attempt, or an older command.
    Old,
    /// The last one again, which was answered.
    Repeated(Answer),
    /// The last one again, which is being done.
    Running,
    /// A command that nobody may send now.
    Wrong(&'static str),
}

impl Job {
    pub(super) fn new(conn: ConnId, wanted: &Reservation, grant: Grant, now: Nanos) -> Self {
        let silence = wanted.silence_ns.min(grant.max_run);
        let (activities, services) = (wanted.activities.clone(), wanted.services.clone());
        let mut job = Self {
            conn,
            grant,
            deadline: now,
            silence,
            activities,
            services,
            lease: None,
            stepped: false,
            cell: None,
            begun: false,
            serving: false,
            which: Which::default(),
            of: None,
            test: None,
            last: None,
            looks: Looks::default(),
        };
        job.renew(now);
        job
    }

    /// Why a command is not what the policy allows, or not what was reserved.
    fn refuses(&self, request: &Request, spent: Bytes, wall_clock_s: u64) -> Option<String> {
        match request {
            Request::Prepare(order) => {
                let closed = || self.grant.refuses_time(wall_clock_s, lasting(order));
                self.grant.refuses_run(order, spent).or_else(closed)
            }
            Request::Packets { .. } => self.grant.refuses_packets(),
            Request::Serve { .. } if !self.activities.iter().any(|name| name == "ftp") => {
                Some("policy: the activity ftp was not reserved".to_owned())
            }
            Request::Serve { .. } => {
                let closed = || self.grant.refuses_time(wall_clock_s, Nanos::ZERO);
                self.grant.is_spent(spent).or_else(closed)
            }
            Request::Service(order) if !self.services.contains(&order.service) => {
                Some(format!("policy: the service {} was not reserved", order.service))
            }
            Request::Test(order) => {
                let service = order.service.as_ref()?;
                let unreserved = || format!("policy: the service {service} was not reserved");
                let lasting = order.lease_ns.min(self.grant.max_run);
                let limits = self.grant.limits(spent);
                let refused = (!self.services.contains(service)).then(unreserved);
                refused.or_else(|| limits.refuses(lasting, 0, Bytes::ZERO, wall_clock_s))
            }
            Request::Service(order) => self
                .grant
                .refuses_service(order, spent)
                .or_else(|| self.grant.refuses_time(wall_clock_s, order.lease_ns)),
            Request::Word(word) => self
                .grant
                .refuses_silence(word.lease_ns, spent)
                .or_else(|| self.grant.refuses_time(wall_clock_s, word.lease_ns)),
            _ => None,
        }
    }

    fn standing(&self, request: &Request) -> Standing {
        let Some(seq) = request.seq() else {
            return Standing::Wrong("no command of a reservation");
        };
        let last = self.last.as_ref().and_then(|(last, answer)| Some((last, last.seq()?, answer)));
        if let Some((last, number, answer)) = last {
            match (seq.cmp(&number), answer) {
                (std::cmp::Ordering::Less, _) => return Standing::Old,
                (std::cmp::Ordering::Equal, _) if request != last => {
                    return Standing::Wrong("two commands with one number");
                }
                // A document is told again, a test would be done again.
                (std::cmp::Ordering::Equal, Some(Answer::Document { .. }))
                    if matches!(request, Request::Test(_)) =>
                {
                    return Standing::Wrong("a test is done once for each order");
                }
                (std::cmp::Ordering::Equal, Some(answer)) => {
                    return Standing::Repeated(answer.clone());
                }
                (std::cmp::Ordering::Equal, None) => return Standing::Running,
                (std::cmp::Ordering::Greater, None) => {
                    return Standing::Wrong("a command before the last one was answered");
                }
                (std::cmp::Ordering::Greater, Some(_)) => {}
            }
        }
        self.standing_of_run(request)
    }

    /// A run may be prepared, or a service begun, once; only the last one can be told something, ended
    /// or asked for.
    fn standing_of_run(&self, request: &Request) -> Standing {
        let Some(which) = request.which() else { return Standing::New };
        let (named, last) = ((which.run, which.attempt), (self.which.run, self.which.attempt));
        let is_next = match request {
            Request::Prepare(_) | Request::Service(_) => named > last,
            _ => named == last,
        };
        if is_next { Standing::New } else { Standing::Old }
    }

    /// The last command is done, with this answer.
    fn done(&mut self, now: Nanos, answer: &Answer) {
        let Some((request, kept)) = &mut self.last else { return };
        // All that was done for it is over and told.
        if let (Request::Test(_), _) | (Request::Collect(_), Answer::Document { .. }) =
            (&*request, answer)
        {
            self.looks = Looks::default();
        }
        *kept = Some(answer.clone());
        self.lease = None;
        self.told(now, answer);
    }
}

impl Agent {
    /// A command of the conductor whose turn it is.
    pub(super) fn work(&mut self, now: Nanos, conn: ConnId, worker: WorkerId, request: Request) {
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        let seq = request.seq().unwrap_or_default();
        match job.standing(&request) {
            Standing::New => self.begin_command(now, conn, worker, request),
            Standing::Old => self.send(conn, Answer::Stale { seq }),
            Standing::Repeated(Answer::Document { .. }) => {
                self.actions.push(Action::Order { worker, request });
            }
            Standing::Repeated(answer) => self.send(conn, answer),
            Standing::Running => {}
            Standing::Wrong(reason) => self.bye(now, conn, reason),
        }
    }

    fn begin_command(&mut self, now: Nanos, conn: ConnId, worker: WorkerId, mut request: Request) {
        if let Request::Release { seq } = request {
            return self.release(now, conn, worker, seq);
        }
        if let Some(reason) = self.unwelcome_now(conn) {
            return self.bye(now, conn, &reason);
        }
        let (spent, wall_clock_s) = (self.spent_of_day(now), self.wall_clock_s);
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        job.last = Some((request.clone(), None));
        job.renew(now);
        if let Some(reason) = job.refuses(&request, spent, wall_clock_s) {
            let seq = request.seq().unwrap_or_default();
            let answer = Answer::Failed { seq, reason: reason.clone() };
            job.last = Some((request, Some(answer.clone())));
            self.note_refusal(&reason);
            self.audit_of("refused", conn, &reason);
            return self.send(conn, answer);
        }
        job.allows(now, &mut request, spent);
        match request {
            Request::Sign(wanted) => self.sign(now, conn, worker, &wanted),
            request => self.actions.push(Action::Order { worker, request }),
        }
    }

    fn release(&mut self, now: Nanos, conn: ConnId, worker: WorkerId, seq: u64) {
        self.close_job(now, worker);
        self.audit_of("released", conn, "");
        if let Some(found) = self.connections.get_mut(&conn) {
            found.enter(Phase::Idle, now);
        }
        self.send(conn, Answer::Released { seq });
        self.advance(now);
    }

    /// A worker's answer; one that nobody waits for has no effect.
    pub(super) fn answered(&mut self, now: Nanos, worker: WorkerId, answer: Answer) {
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        match answer {
            Answer::Connected { which, .. } => return job.connected(now, which),
            Answer::Moved { moved_bytes } => return self.moved(now, worker, moved_bytes),
            _ => {}
        }
        let Some((request, kept)) = &job.last else { return };
        if answer.seq().is_none() || answer.seq() != request.seq() {
            return;
        }
        let (conn, is_first) = (job.conn, kept.is_none());
        if matches!(answer, Answer::Progress { .. }) {
            return self.stepped(now, worker, answer);
        }
        job.done(now, &answer);
        if is_first {
            self.charge(now, worker, &answer);
        }
        self.send(conn, answer);
    }

    /// Payload that a worker tells of between two accounts.
    fn moved(&mut self, now: Nanos, worker: WorkerId, bytes: Bytes) {
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        job.looks.heard(now, bytes);
        self.spend(now, bytes);
        self.cut_off_where_spent(now, worker);
    }

    /// A step of a test that is not over. Only the conductor's own words make its lease longer.
    fn stepped(&mut self, now: Nanos, worker: WorkerId, step: Answer) {
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        job.stepped = true;
        if let Some((_, None)) = job.last {
            let conn = job.conn;
            self.spend(now, step.moved_bytes());
            self.send(conn, step);
        }
    }

    /// The payload of an answer is spent, and what can be signed of it is kept.
    fn charge(&mut self, now: Nanos, worker: WorkerId, answer: &Answer) {
        self.spend(now, answer.moved_bytes());
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        if let Answer::Document { account, .. } = answer
            && let Some((of, hash)) = job.of.take().zip(*account)
        {
            let conn = job.conn;
            self.keep_account(conn, of, hash);
        }
    }

    /// A day's payload is moved: the end of the run that moved the last of it is not waited for.
    fn cut_off_where_spent(&mut self, now: Nanos, worker: WorkerId) {
        let spent = self.spent_of_day(now);
        let Some(job) = self.jobs.get(&worker) else { return };
        if let Some(reason) = job.grant.is_spent(spent) {
            let conn = job.conn;
            self.note_refusal(&reason);
            self.bye(now, conn, &reason);
        }
    }

    /// A server sends between runs, too: it ends with the hours of its policy, and does not wait for a command.
    pub(super) fn close_servers(&mut self, now: Nanos) {
        let closed = |job: &Job| {
            let reason = job.grant.refuses_time(self.wall_clock_s, Nanos::ZERO)?;
            job.serving.then_some((job.conn, reason))
        };
        let closed: Vec<_> = self.jobs.values().filter_map(closed).collect();
        for (conn, reason) in closed {
            self.note_refusal(&reason);
            self.bye(now, conn, &reason);
        }
    }

    /// Nothing more is done for a conductor. What its worker moved after it told that last nobody knows: it
    /// counts as much as it could have been.
    pub(super) fn close_job(&mut self, now: Nanos, worker: WorkerId) {
        if let Some(job) = self.jobs.remove(&worker) {
            self.spend(now, job.looks.untold(now));
        }
        self.actions.push(Action::Kill { worker });
    }

    /// Payload was moved. What comes within a minute is one entry: a day has so many of them, however
    /// often a conductor asks.
    pub(super) fn spend(&mut self, now: Nanos, bytes: Bytes) {
        match self.spent.back_mut() {
            Some((since, sum)) if now.since(*since) < MINUTE => *sum = sum.saturating_add(bytes),
            _ if !bytes.is_empty() => self.spent.push_back((now, bytes)),
            _ => {}
        }
    }

    /// A piece of a document goes to the one that asked for it.
    pub(super) fn piece(&mut self, now: Nanos, worker: WorkerId, chunk: Chunk) {
        let Some(job) = self.jobs.get_mut(&worker) else { return };
        let asked = job.last.as_ref().and_then(|(request, _)| request.seq());
        if asked == Some(chunk.document) {
            // What a test adds to its result makes no lease longer: only its conductor's words do.
            if job.lease.is_none() {
                job.renew(now);
            }
            let conn = job.conn;
            self.actions.push(Action::Pass { conn, chunk });
        }
    }

    /// A worker that ended by itself takes its reservation with it.
    pub(super) fn worker_ended(&mut self, now: Nanos, worker: WorkerId, how: &str) {
        if let Some(job) = self.jobs.get(&worker) {
            let conn = job.conn;
            self.bye(now, conn, &format!("the agent's worker ended: {how}"));
        }
    }

    /// Payload of the last 24 hours.
    pub(super) fn spent_of_day(&mut self, now: Nanos) -> Bytes {
        // Of an entry the newest part is a minute younger.
        let is_old = |at: Nanos| now.since(at) >= DAY.saturating_add(MINUTE);
        while self.spent.front().is_some_and(|(at, _)| is_old(*at)) {
            self.spent.pop_front();
        }
        self.spent.iter().map(|(_, bytes)| *bytes).fold(Bytes::ZERO, Bytes::saturating_add)
    }
}

const DAY: Nanos = Nanos::from_secs(86_400);
const MINUTE: Nanos = Nanos::from_secs(60);
