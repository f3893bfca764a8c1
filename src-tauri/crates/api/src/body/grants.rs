//! Authority: minted, used, taken back. It is never made here; what a person signed elsewhere is handed on.

use crate::convert::{ask, from_base64, opt, page, word};
use crate::files::absolute;
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, backtest, fold, not_found, usage};
use acts::ApprovalPacket;
use acts::{Action, ActionRequest};
use governance::standing::{in_words, sound};
use governance::{PolicyEngine, hypothetical};
use kernel::Kernel;
use kernel::command::standing::StandingRecord;
use model::approval::Surface;
use model::body::KeyPurpose;
use model::policy::RiskBand;
use model::principal::PrincipalType;
use model::standing::{Cover, GivenAt, STANDING_FORMAT, StandingGrant, StandingScope};
use model::{Digest, GrantId, RelPath, UnixMs, WorkspaceId};
use projections::GrantState;
use projections::rows::GrantRow;
use wire::Error;
use wire::grants::{
    Allow, Allowed, Draft, Grant, Grants, List, Proposal, Proposals, Propose, Revoke, Revoked, Standing,
    StandingGrant as Row, StandingList,
};
use words::policy::{GrantStatus, RuleScope, StandingState};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// How often, unless a person says otherwise.
const USES: u32 = 50;
/// Questions of the past that are shown of those it would have answered.
const PAST_ROWS: usize = 20;

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Grants, Error> {
    let now = host.now();
    let ask = ask(p.after.as_deref(), p.limit)?;
    let query = host.query()?;
    let found = match find_opt(host, p.task.as_deref())? {
        Some(task) => query.grants(task, ask),
        None => query.active_grants(now, ask),
    };
    Ok(page(found.wire()?, |r| row(r, now)))
}

fn row(r: &GrantRow, now: UnixMs) -> Grant {
    let state = match r.state {
        GrantState::Active if r.expires_at < now => GrantStatus::Expired,
        GrantState::Active => GrantStatus::Active,
        GrantState::Consumed => GrantStatus::Consumed,
        GrantState::Revoked => GrantStatus::Revoked,
    };
    Grant {
        grant_id: r.grant_id.to_string(),
        task_id: r.task_id.to_string(),
        action_request_id: r.action_request_id.to_string(),
        action_class: r.action_class,
        state,
        issued_at: r.issued_at.0,
        expires_at: r.expires_at.0,
        max_uses: r.max_uses,
        uses: r.uses,
        approval_id: opt(r.approval_id),
        reason: r.reason.clone(),
        consumed_at: r.consumed_at.map(|at| at.0),
        revoked_at: r.revoked_at.map(|at| at.0),
    }
}

pub(crate) fn revoke(host: &dyn Host, p: Revoke) -> Result<Revoked, Error> {
    let kernel = host.kernel()?;
    let reason = p.reason.as_deref().unwrap_or("revoked by a person");
    if let Some(id) = standing_like(host, &p.grant)? {
        kernel.revoke_standing(id, reason).wire()?;
        return Ok(Revoked { grant_id: id.to_string(), task_id: None });
    }
    let id: GrantId = find(host, &p.grant)?;
    let grant = host.query()?.grant(id).wire()?.ok_or_else(|| not_found("grant", &p.grant))?;
    kernel.revoke_grant(grant.task_id, id, reason).wire()?;
    host.drive(grant.task_id)?;
    Ok(Revoked { grant_id: id.to_string(), task_id: Some(grant.task_id.to_string()) })
}

/// The standing grant of this identifier, or the only one that begins or ends so.
fn standing_like(host: &dyn Host, named: &str) -> Result<Option<GrantId>, Error> {
    const DIGITS_MIN: usize = 4;
    let named = named.trim().to_ascii_lowercase();
    let digits = named.strip_prefix("grt_").unwrap_or(&named);
    if digits.len() < DIGITS_MIN {
        return Ok(None);
    }
    let state = fold::store_state(&host.reader()?)?;
    let fits = |id: &&GrantId| {
        let text = id.to_string();
        let own = text.strip_prefix("grt_").unwrap_or(&text);
        own.starts_with(digits) || (digits.len() == named.len() && own.ends_with(digits))
    };
    let mut all = state.standing.keys().filter(fits);
    match (all.next(), all.next()) {
        (Some(_), Some(_)) => {
            Err(usage(format!("`{named}` fits more than one standing grant; give more digits")))
        }
        (found, _) => Ok(found.copied()),
    }
}

pub(crate) fn standing(host: &dyn Host, p: Standing) -> Result<StandingList, Error> {
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let in_force = store.keys.get(&KeyPurpose::Approval).map(|(keyid, _)| *keyid);
    let now = host.now();
    let mut rows = Vec::new();
    for (id, record) in &store.standing {
        let uses = reader.grant_uses(*id).wire()?;
        let state = state_of(record, uses, now, in_force);
        if p.all || state == StandingState::Active {
            let place = match &record.scope {
                StandingScope::User => None,
                StandingScope::Schedule { name, version } => Some(format!("{name}, version {version}")),
                StandingScope::Project { workspace_id } => {
                    let root = store.workspaces.get(workspace_id).cloned().flatten();
                    Some(root.unwrap_or_else(|| workspace_id.to_string()))
                }
                StandingScope::Task { task_id } => Some(task_id.to_string()),
            };
            rows.push(listed(*id, record, uses, state, place));
        }
    }
    rows.reverse();
    Ok(StandingList { rows })
}

fn state_of(record: &StandingRecord, uses: u32, now: UnixMs, in_force: Option<Digest>) -> StandingState {
    if record.revoked.is_some() {
        StandingState::Revoked
    } else if uses >= record.max_uses {
        StandingState::UsedUp
    } else if now >= record.expires_at {
        StandingState::Expired
    } else if Some(record.keyid) != in_force {
        StandingState::Void
    } else {
        StandingState::Active
    }
}

fn listed(
    id: GrantId,
    record: &StandingRecord,
    uses: u32,
    state: StandingState,
    place: Option<String>,
) -> Row {
    let scope = match record.scope {
        StandingScope::User => RuleScope::User,
        StandingScope::Schedule { .. } => RuleScope::Schedule,
        StandingScope::Project { .. } => RuleScope::Project,
        StandingScope::Task { .. } => RuleScope::Task,
    };
    Row {
        grant_id: id.to_string(),
        words: record.words.clone(),
        scope,
        place,
        state,
        expires_at: record.expires_at.0,
        max_uses: record.max_uses,
        uses,
        surface: record.surface,
        decided_by: record.decided_by.to_string(),
        reason: record.revoked.clone(),
    }
}

pub(crate) fn propose(host: &dyn Host, p: Propose) -> Result<Proposals, Error> {
    let row = host.query()?.approval(find(host, &p.approval)?).wire()?;
    let row = row.ok_or_else(|| not_found("approval", &p.approval))?;
    let bytes = host.artifacts()?.read(&row.packet_sha256).wire()?;
    let packet: ApprovalPacket = seal::canon::from_canonical(&bytes).wire()?;
    // What is critical is asked about each time, whatever anybody allowed.
    if packet.risk_band == RiskBand::Critical {
        return Ok(Proposals { rows: Vec::new() });
    }
    let request = &packet.action_request;
    let project = request.workspace().map(|workspace_id| StandingScope::Project { workspace_id });
    let task = StandingScope::Task { task_id: request.task_id };
    let scope = match (p.scope.as_deref(), schedule_of(host, request)?) {
        // Each message, and each asking of a clock, is a task of its own: what covers further ones names the chat or the clock.
        _ if matches!(request.action, Action::Message(_) | Action::Anchor(_)) => StandingScope::User,
        (None | Some("schedule"), Some(schedule)) => schedule,
        (Some(_), Some(_)) => {
            return Err(usage("in a run of a schedule a standing grant holds for its runs: say `schedule`"));
        }
        (Some("schedule"), None) => return Err(usage("no schedule began this task")),
        (None, None) => project.unwrap_or(task),
        (Some("task"), None) => task,
        (Some("project"), None) => project.ok_or_else(|| usage("this action belongs to no project"))?,
        (Some("user"), None) => StandingScope::User,
        (Some(other), None) => {
            let scopes = "`task`, `project`, `user` or, in a run of a schedule, `schedule`";
            return Err(usage(format!("`{other}` is no scope; say {scopes}")));
        }
    };
    let frame = StandingGrant {
        // Whoever acts has listed a folder or read a file before: one that does not say so would never answer.
        after_untrusted: true,
        given_at: Some(GivenAt { approval_id: packet.approval_id, packet_sha256: row.packet_sha256 }),
        ..frame(host, scope)?
    };
    let rehearsal = Rehearsal::new(host)?;
    let made = governance::standing::propose(request, &frame);
    Ok(Proposals { rows: made.iter().map(|grant| rehearsal.of(host, grant)).collect::<Result<_, _>>()? })
}

/// The schedule in whose run an act was asked about.
fn schedule_of(host: &dyn Host, request: &ActionRequest) -> Result<Option<StandingScope>, Error> {
    let by = fold::task_state(&host.reader()?, request.task_id)?.task.scheduled_by;
    Ok(by.map(|by| StandingScope::Schedule { name: by.name, version: by.version }))
}

/// Everything of a draft but what it covers.
pub(crate) fn frame(host: &dyn Host, scope: StandingScope) -> Result<StandingGrant, Error> {
    let reader = host.reader()?;
    Ok(StandingGrant {
        format: STANDING_FORMAT.to_owned(),
        log_id: reader.log_id().to_owned(),
        grant_id: hypothetical_id(),
        cover: Cover::Paths { glob: String::new(), acts: Vec::new() },
        scope,
        after_untrusted: false,
        // A draft has no time but how long it is to hold; whoever signs it says from when.
        issued_at: UnixMs(0),
        expires_at: UnixMs(7 * DAY_MS),
        max_uses: USES,
        given_at: None,
        override_reason: None,
        surface: Surface::Terminal,
        decided_by: fold::store_state(&reader)?.principal(PrincipalType::User).wire()?,
    })
}

/// The identifier of what nobody has given.
fn hypothetical_id() -> GrantId {
    GrantId::new(hypothetical(Action::Observe(acts::Observe { items: Vec::new() })).action_request_id.uuid())
}

/// What the past is asked with.
struct Rehearsal {
    engine: PolicyEngine,
    history: backtest::History,
}

impl Rehearsal {
    fn new(host: &dyn Host) -> Result<Self, Error> {
        let engine = PolicyEngine::shipped().map_err(crate::failed)?;
        Ok(Self { engine, history: backtest::History::read(host, &host.reader()?)? })
    }

    fn of(&self, host: &dyn Host, grant: &StandingGrant) -> Result<Proposal, Error> {
        let Self { engine, history } = self;
        let rehearsed = backtest::rehearse(history, host.artifacts()?, engine, grant, PAST_ROWS);
        let draft = serde_json::to_value(grant).map_err(crate::failed)?;
        Ok(Proposal { words: in_words(grant), draft, rehearsed })
    }
}

pub(crate) fn draft(host: &dyn Host, p: Draft) -> Result<Proposal, Error> {
    let kernel = host.kernel()?;
    let scope = match (&p.workspace, &p.task, &p.schedule) {
        (Some(folder), None, None) => StandingScope::Project { workspace_id: project(host, kernel, folder)? },
        (None, Some(task), None) => StandingScope::Task { task_id: find(host, task)? },
        (None, None, Some(name)) => {
            let registry = kernel.schedule_registry();
            let record = registry.standing(name).ok_or_else(|| not_found("schedule", name))?;
            StandingScope::Schedule { name: name.clone(), version: record.version }
        }
        (None, None, None) => StandingScope::User,
        _ => return Err(usage("name a project, a task or a schedule, and no two of them")),
    };
    let frame = frame(host, scope)?;
    let lives = p.days.map_or(7 * DAY_MS, |days| i64::from(days).saturating_mul(DAY_MS));
    let grant = StandingGrant {
        expires_at: frame.issued_at.plus_ms(lives),
        max_uses: p.uses.unwrap_or(USES),
        after_untrusted: p.after_untrusted,
        cover: cover(p)?,
        ..frame
    };
    sound(&grant).map_err(|refusal| usage(refusal.reason))?;
    Rehearsal::new(host)?.of(host, &grant)
}

fn cover(p: Draft) -> Result<Cover, Error> {
    match (p.command, p.paths, p.host) {
        (Some(words), None, None) => {
            let cwd = p.cwd.unwrap_or_default();
            let cwd = RelPath::from_bytes(cwd.as_bytes()).map_err(|e| usage(e.to_string()))?;
            // Which programs are meant is looked up when it is used: they lie outside of the project.
            let programs = Vec::new();
            Ok(Cover::Command {
                words,
                whole: p.whole,
                cwd,
                network: p.network,
                changes: p.changes,
                programs,
            })
        }
        (None, Some(glob), None) => {
            let mut acts = p.acts.iter().map(|act| word(act)).collect::<Result<Vec<_>, Error>>()?;
            acts.sort_unstable();
            acts.dedup();
            Ok(Cover::Paths { glob, acts })
        }
        (None, None, Some(name)) => Ok(Cover::Host { name, port: p.port.unwrap_or(443), write: p.write }),
        _ => Err(usage("name one of a command, a place, a host")),
    }
}

/// The project of a folder, known from now on if no task has worked there yet.
fn project(host: &dyn Host, kernel: &Kernel, folder: &str) -> Result<WorkspaceId, Error> {
    let root = host.workspace(&absolute("workspace", folder)?)?;
    kernel.workspace(&root).wire()
}

pub(crate) fn allow(host: &dyn Host, p: Allow) -> Result<Allowed, Error> {
    let kernel = host.kernel()?;
    let grant_id = kernel.allow_standing(&from_base64("envelope", &p.envelope)?).wire()?;
    Ok(Allowed { grant_id: grant_id.to_string() })
}
