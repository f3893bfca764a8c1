//! Policy: its profiles and rules, an act put before them, and all of history put before others.

use super::own_rules;
use crate::convert::{opt_word, rows, word};
use crate::ids::find;
use crate::{Host, Wire as _, backtest, suggest, usage};
use acts::{Action, ActionRequest};
use governance::{Permissions, PolicyEngine, Question, RuleEffect, RuleScope, RuleText, hypothetical};
use model::action::{ChangeItem, Prior, ReadItem};
use model::policy::{PolicyResult, Profile, Verdict};
use model::receipt::SandboxLevel;
use model::standing::{Cover, StandingGrant, StandingScope};
use model::web::Fetch;
use model::{ActionRequestId, Digest, ReceiptId, RelPath};
use serde_json::json;
use wire::policy::{
    Act, AllowOverride, Backtest, Backtested, Check, Checked, DraftOverride, Explain, Judged,
    OverrideAllowed, OverrideDraft, ProfileList, ProfileRow, Profiles, RuleList, RuleRow, Rules, Suggest,
    Suggestions, Test, Trial,
};
use wire::{Code, Error};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

fn engine(trial: &Trial) -> Result<PolicyEngine, Error> {
    let trial = governance::Trial { rules: trial.rules.as_deref(), without: &trial.without };
    PolicyEngine::on_trial(&trial).map_err(|e| {
        Error::new(Code::Usage, e.to_string())
            .hint("`hermit policy rules PROFILE` shows rules that are accepted, to begin from")
    })
}

pub(crate) fn profiles(_: &dyn Host, _: Profiles) -> Result<ProfileList, Error> {
    let engine = engine(&Trial::default())?;
    let row = |profile: &Profile| ProfileRow {
        profile: *profile,
        about: about(*profile).to_owned(),
        rules: u32::try_from(engine.rules(*profile).len()).unwrap_or(u32::MAX),
        policy_set_sha256: engine.policy_set_sha256(*profile).to_string(),
    };
    Ok(ProfileList { rows: Profile::ALL.iter().map(row).collect() })
}

const fn about(profile: Profile) -> &'static str {
    match profile {
        Profile::ReadonlyAnalysis => "reads files, and changes nothing",
        Profile::LocalEditAllowed => {
            "edits files and runs commands in a sandbox; asks you before each change"
        }
        Profile::NetworkReadAllowed => {
            "edits files, runs commands in a sandbox and reads from the network; asks you before each of these"
        }
        Profile::RepoMutationGated => "edits, commands and version control; asks you before each change",
        Profile::ExternalPublishGated => "everything up to publishing; asks you before each change",
        Profile::DestructiveDenied => "creates files when you approve them; deletes and overwrites nothing",
        Profile::Service => "work in the background: reads files, and proposes changes that wait for you",
    }
}

pub(crate) fn rules(_: &dyn Host, p: Rules) -> Result<RuleList, Error> {
    let profile: Profile = word(&p.profile)?;
    let rows = engine(&p.trial)?.rules(profile).iter().map(rule).collect();
    Ok(RuleList { profile, rows })
}

fn rule(r: &RuleText) -> RuleRow {
    RuleRow { name: r.name.clone(), effect: r.effect, reason: r.reason.clone(), text: r.text.clone() }
}

pub(crate) fn test(host: &dyn Host, p: Test) -> Result<Judged, Error> {
    let profile = opt_word(p.profile.as_deref())?.unwrap_or(Profile::LocalEditAllowed);
    let sandbox = opt_word(p.walls.as_deref())?.unwrap_or(SandboxLevel::NamespacesLandlock);
    let engine = match p.trial == Trial::default() {
        true => own_rules::in_force(host)?,
        false => engine(&p.trial)?,
    };
    let request = hypothetical(action(p.act)?);
    let bytes = seal::canon::to_canonical(&request).map_err(crate::failed)?;
    let result = engine.evaluate(&Question {
        request: &request,
        request_sha256: Digest::of(&bytes),
        profile,
        sandbox,
        allow_unconfined: false,
        approved_packet: None,
        packet: None,
        untrusted_in_context: p.untrusted,
        steps_allowed: &[],
        standing: &[],
        policy_result_id: model::PolicyResultId::new(request.action_request_id.uuid()),
        now: host.now(),
    });
    Ok(judged(&engine, &result))
}

fn action(act: Act) -> Result<Action, Error> {
    let path = |text: &str| -> Result<RelPath, Error> {
        RelPath::from_bytes(text.as_bytes()).map_err(|e| usage(format!("`{text}`: {e}")))
    };
    let something = Digest::of(b"");
    let change = |item| Ok(Action::Change(acts::Change { items: vec![item] }));
    match act {
        Act::Read { path: at } => {
            Ok(Action::Observe(acts::Observe { items: vec![ReadItem::Read { path: path(&at)? }] }))
        }
        Act::Write { path: at, replaces } => change(ChangeItem::Write {
            path: path(&at)?,
            content_sha256: something,
            byte_size: 0,
            prior: if replaces { Prior::Sha256(something) } else { Prior::Absent },
            mode: None,
        }),
        Act::Delete { path: at } => {
            change(ChangeItem::Delete { path: path(&at)?, prior: Prior::Sha256(something) })
        }
        Act::Move { from, to } => {
            change(ChangeItem::Move { from: path(&from)?, to: path(&to)?, prior: Prior::Sha256(something) })
        }
        Act::Command { argv, .. } if argv.is_empty() => Err(usage("a command needs a program")),
        Act::Command { argv, network } => {
            let (hosts, secrets) = (Vec::new(), Vec::new());
            Ok(Action::Command(acts::Command {
                argv,
                cwd: RelPath::ROOT,
                network,
                timeout_ms: 60_000,
                hosts,
                secrets,
            }))
        }
        Act::Fetch { url, method } => {
            let asked = json!({ "url": url, "method": method.as_deref().unwrap_or("GET") });
            let fetch: Fetch = serde_json::from_value(asked).map_err(|e| usage(format!("`{url}`: {e}")))?;
            fetch.check().map_err(usage)?;
            Ok(Action::Fetch(fetch))
        }
    }
}

fn judged(engine: &PolicyEngine, result: &PolicyResult) -> Judged {
    let all = engine.rules(result.policy_profile);
    // What is no rule (the default deny, a failed evaluation) stands there by its name alone. A rule of a person that
    // spares them a question is none of the profile's, and permits.
    let spares = |name: &str| result.verdict == Verdict::Allow && !own_rules::whose(name).is_empty();
    let named = |name: &String| match all.iter().find(|rule| rule.name == *name) {
        Some(known) => rule(known),
        None => RuleRow {
            name: name.clone(),
            effect: if spares(name) { RuleEffect::Permit } else { RuleEffect::Forbid },
            reason: own_rules::whose(name).to_owned(),
            text: String::new(),
        },
    };
    Judged {
        profile: result.policy_profile,
        verdict: result.verdict,
        downgrade: result.downgrade.clone(),
        instead_of: None,
        risk: result.risk_band,
        classes: result.action_classes.clone(),
        summary: result.action_summary.clone(),
        risk_summary: result.risk_summary.clone(),
        reasons: result.reasoning_summary.clone(),
        rules: result.determining_rules.iter().map(named).collect(),
        need: result.need,
    }
}

/// The time so many days back.
pub(super) fn since(host: &dyn Host, days: Option<u32>) -> Option<i64> {
    days.map(|days| host.now().0.saturating_sub(i64::from(days).saturating_mul(DAY_MS)))
}

pub(crate) fn backtest(host: &dyn Host, p: Backtest) -> Result<Backtested, Error> {
    let profile: Option<Profile> = opt_word(p.profile.as_deref())?;
    let rows_max = usize::try_from(rows(p.limit)?).unwrap_or(usize::MAX);
    let engine = engine(&p.trial)?;
    let since = since(host, p.days);
    let history = backtest::History::read(host, &host.reader()?)?;
    let before = backtest::Before { now: None, engine: &engine, profile, since };
    Ok(backtest::count(&history, host.artifacts()?, &before, rows_max))
}

pub(crate) fn suggest(host: &dyn Host, p: Suggest) -> Result<Suggestions, Error> {
    let since = since(host, p.days);
    let history = backtest::History::read(host, &host.reader()?)?;
    let frame = crate::body::grants::frame(host, StandingScope::User)?;
    Ok(suggest::suggest(&history, host.artifacts()?, &frame, since))
}

pub(crate) fn check(_: &dyn Host, p: Check) -> Result<Checked, Error> {
    let scope: RuleScope = opt_word(p.scope.as_deref())?.unwrap_or(RuleScope::User);
    let refused = |e: governance::Error| {
        Error::new(Code::Usage, e.to_string())
            .hint("a rule is a line such as `ask Bash(git push:*)` or `deny FileDelete(**)`")
    };
    let read = Permissions::read(scope, &p.text).map_err(refused)?;
    let (rules, cedar) = (u32::try_from(read.len()).unwrap_or(u32::MAX), read.cedar());
    PolicyEngine::with_permissions(vec![read]).map_err(refused)?;
    Ok(Checked { scope, rules, cedar })
}

pub(crate) use own_rules::{change_rules, draft_rules, own_rules};

pub(crate) fn draft_override(host: &dyn Host, p: DraftOverride) -> Result<OverrideDraft, Error> {
    let about = asked(host, &p.act)?;
    let row = host.query()?.action(about).wire()?;
    let row = row.ok_or_else(|| crate::not_found("action request", &p.act))?;
    let policy =
        row.policy_ref.ok_or_else(|| Error::new(Code::Conflict, "policy has not judged this yet"))?;
    let read = |id| -> Result<Digest, Error> {
        let kept = host.query()?.artifact(id).wire()?;
        Ok(kept.ok_or_else(|| crate::not_found("artifact", &id.to_string()))?.content_hash)
    };
    let result: PolicyResult = backtest::object(host.artifacts()?, read(policy)?)?;
    let request: ActionRequest = backtest::object(host.artifacts()?, read(row.request_ref)?)?;
    if result.verdict != Verdict::Deny {
        return Err(Error::new(
            Code::Conflict,
            format!("policy has not denied this; it said {}", result.verdict),
        ));
    }
    // A task that has ended is tried again as another task: there the act belongs to its project.
    let ended = host.query()?.task(row.task_id).wire()?.is_some_and(|task| task.ended_at.is_some());
    let scope = match request.workspace().filter(|_| ended) {
        Some(workspace_id) => StandingScope::Project { workspace_id },
        None => StandingScope::Task { task_id: row.task_id },
    };
    let frame = crate::body::grants::frame(host, scope)?;
    let hours = i64::from(p.hours.unwrap_or(1));
    let grant = StandingGrant {
        cover: Cover::Act {
            action_sha256: Digest::of(&seal::canon::to_canonical(&request.action).map_err(crate::failed)?),
            summary: request.action.as_tool().title(),
        },
        expires_at: frame.issued_at.plus_ms(hours.saturating_mul(HOUR_MS)),
        max_uses: p.uses.unwrap_or(1),
        override_reason: Some(p.reason),
        ..frame
    };
    governance::standing::sound(&grant).map_err(|refusal| usage(refusal.reason))?;
    Ok(OverrideDraft {
        task_id: row.task_id.to_string(),
        action_request_id: about.to_string(),
        words: governance::standing::in_words(&grant),
        draft: serde_json::to_value(&grant).map_err(crate::failed)?,
        denied: judged(&engine(&Trial::default())?, &result),
    })
}

pub(crate) fn allow_override(host: &dyn Host, p: AllowOverride) -> Result<OverrideAllowed, Error> {
    overridden(host, &p.act, &crate::convert::from_base64("envelope", &p.envelope)?)
}

/// Hands in an override that a person signed.
pub(crate) fn overridden(host: &dyn Host, act: &str, envelope: &[u8]) -> Result<OverrideAllowed, Error> {
    let kernel = host.kernel()?;
    let about = asked(host, act)?;
    let row = host.query()?.action(about).wire()?;
    let row = row.ok_or_else(|| crate::not_found("action request", act))?;
    let grant_id = kernel.override_policy(row.task_id, about, envelope).wire()?;
    Ok(OverrideAllowed { grant_id: grant_id.to_string(), task_id: row.task_id.to_string() })
}

pub(crate) fn explain(host: &dyn Host, p: Explain) -> Result<Judged, Error> {
    let query = host.query()?;
    let row = query.action(asked(host, &p.about)?).wire()?;
    let row = row.ok_or_else(|| crate::not_found("action request", &p.about))?;
    let policy = row.policy_ref.ok_or_else(|| {
        Error::new(Code::Conflict, "policy has not judged this request yet")
            .hint("`hermit resume` continues it")
    })?;
    let kept = query.artifact(policy).wire()?;
    let kept = kept.ok_or_else(|| crate::not_found("artifact", &policy.to_string()))?;
    let result: PolicyResult = backtest::object(host.artifacts()?, kept.content_hash)?;
    let mut said = judged(&engine(&Trial::default())?, &result);
    if let (Some(asked), Some(rules)) = (row.instead_of, &row.instead_rules) {
        let asked = query.action(asked).wire()?.and_then(|asked| asked.summary.shown().cloned());
        let asked = asked.unwrap_or_else(|| "what was asked".to_owned());
        said.instead_of = Some(match rules.contains("a person's choice") {
            true => format!("{asked}, of which this is a part, by {rules}"),
            false => format!("{asked}, which {rules} allows in no other form"),
        });
    }
    Ok(said)
}

/// The request behind an approval or a receipt, or the one named outright.
fn asked(host: &dyn Host, about: &str) -> Result<ActionRequestId, Error> {
    let about = about.trim();
    if about.starts_with(ActionRequestId::PREFIX) {
        return about.parse::<ActionRequestId>().wire();
    }
    let query = host.query()?;
    if about.starts_with(ReceiptId::PREFIX) {
        let row = query.receipt(find(host, about)?).wire()?;
        let request = row.and_then(|row| row.action_request_id);
        return request.ok_or_else(|| crate::not_found("receipt of an act", about));
    }
    let row = query.approval(find(host, about)?).wire()?;
    row.map(|row| row.action_request_id).ok_or_else(|| crate::not_found("approval", about))
}
