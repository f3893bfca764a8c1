//! What policy allows only in a lesser form: looked at, fetched, or kept as a draft, and not done (HK-11.4).
//!
//! The lesser form is a request of its own that says what it stands in for and by which rules. It goes the way of any
//! request: policy is asked about it, a person where policy says so, a grant is minted, it is dispatched, and its receipt
//! tells what was asked, what was done instead, and why. A lesser form has none of its own: what policy does not allow of
//! it is a no.

use super::Then;
use super::judge::Judged;
use crate::command::partial_approval::is_part;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use crate::{Error, redaction};
use acts::{Action, ActionRequest};
use effects::Outcome;
use governance::{DRAFT, READONLY};
use model::action::{ChangeItem, InsteadOf, Prior};
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::attempt::AttemptStatus;
use model::body::{ActionDowngraded, ActionRequested};
use model::policy::Verdict;
use model::principal::PrincipalType;
use model::receipt::Receipt;
use model::witness::Found;
use model::{ArtifactId, PolicyResultId, RelPath, ResourceId, Sensitive};
use seal::Digest;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Bytes of a draft that the proposer is shown; the whole is an artifact.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// A lesser request, not on record yet.
struct Lesser {
    request: ActionRequest,
    draft: String,
}

/// What a request stands in for: what was asked, what policy said of that, and what is not done.
pub(crate) struct StandsIn<'a> {
    pub(crate) asked: (&'a ActionRequest, &'a ArtifactRef),
    pub(crate) policy: (PolicyResultId, &'a ArtifactRef),
    pub(crate) draft: &'a ArtifactRef,
    pub(crate) mode: String,
    pub(crate) rules: Vec<String>,
}

impl StandsIn<'_> {
    /// Puts the request that stands in on record, with `summary` of what it then is.
    pub(crate) fn record(
        self,
        tx: &mut Tx<'_>,
        mut request: ActionRequest,
        summary: impl FnOnce(&ActionRequest) -> String,
    ) -> Result<(), Error> {
        let ((asked, asked_at), (policy_result_id, policy_at)) = (self.asked, self.policy);
        request.instead_of = Some(InsteadOf {
            action_request_id: asked.action_request_id,
            request_sha256: asked_at.sha256,
            asked: asked.action.as_tool().one_line(),
            mode: self.mode.clone(),
            rules: self.rules.clone(),
            policy_result_sha256: policy_at.sha256,
            draft_sha256: self.draft.sha256,
        });
        let bytes = seal::canon::to_canonical(&request)?;
        let from = [asked_at.artifact_id, policy_at.artifact_id, self.draft.artifact_id];
        let at = tx.artifact(&bytes, NewArtifact::audit(ArtifactKind::ActionRequest).from(from))?;
        tx.push(ActionRequested {
            action_request_id: request.action_request_id,
            request: at,
            action_class: request.action_class,
            tool: request.action.tool().to_owned(),
            summary: Sensitive::from(summary(&request)),
        });
        tx.push(ActionDowngraded {
            action_request_id: asked.action_request_id,
            policy_result_id,
            instead: request.action_request_id,
            mode: self.mode,
            rules: self.rules,
        });
        Ok(())
    }
}

/// Keeps the text of what is not done, out of the request that asked for it: of files it is a change that a person could apply.
pub(crate) fn keep_draft(
    tx: &mut Tx<'_>,
    text: &[u8],
    (of, asked): (ArtifactId, &ActionRequest),
    alias: String,
) -> Result<ArtifactRef, Error> {
    let kind = match asked.action {
        Action::Change(_) => ArtifactKind::Patch,
        _ => ArtifactKind::Diff,
    };
    let mut new = NewArtifact::audit(kind)
        .class(ArtifactClass::Deliverable)
        .of_act(asked)
        .media("text/plain; charset=utf-8")
        .trust(TrustTier::Untrusted)
        .from([of]);
    new.alias = Some(alias);
    tx.artifact(text, new)
}

impl Kernel {
    /// What policy allows only in a lesser form: that becomes the request in hand, to be judged like any other. Where there
    /// is none, or policy denies that too, the answer is no.
    pub(super) fn downgrade(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let Some(judged) = tx.hand.judged.take() else { return self.judge(tx) };
        let Some(Lesser { request, draft }) = self.lesser(tx, &judged)? else {
            return self.forbid_judged(tx, &judged);
        };
        tx.pass(&judged.ask(judged.policy.verdict, None))?;
        let alias = format!("draft of {}", judged.request.action.as_tool().one_line());
        let of = (judged.request_ref.artifact_id, &judged.request);
        let draft = keep_draft(tx, draft.as_bytes(), of, alias)?;
        let instead = StandsIn {
            asked: (&judged.request, &judged.request_ref),
            policy: (judged.policy.policy_result_id, &judged.policy_ref),
            draft: &draft,
            mode: judged.policy.downgrade.clone().unwrap_or_default(),
            rules: judged.policy.determining_rules.clone(),
        };
        instead.record(tx, request, done_in_words)?;
        tx.set_attempt(AttemptStatus::AwaitingPolicy, "policy allows a lesser form of it")?;
        Ok(Then::Commit)
    }

    /// The lesser form of a request that policy downgraded. Nothing is recorded by asking.
    fn lesser(&self, tx: &Tx<'_>, judged: &Judged) -> Result<Option<Lesser>, Error> {
        let executors = self.executors(tx)?;
        let (asked, mode) = (&judged.request, judged.policy.downgrade.as_deref().unwrap_or_default());
        let there = |folder: &RelPath| is_there(&*executors, asked, folder);
        let Some(action) = lesser_action(mode, &asked.action, &there).filter(|_| asked.instead_of.is_none())
        else {
            return Ok(None);
        };
        let reason = format!("policy allows `{}` only as `{mode}`", asked.action_request_id);
        let mut request = self.request_of(tx, &*executors, action, &reason)?.request;
        request.proposed_by = self.actor(PrincipalType::PolicyEngine)?.actor_id;
        let bytes = seal::canon::to_canonical(&request)?;
        let id = PolicyResultId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let policy = self.ask_policy(tx, &request, Digest::of(&bytes), id, tx.now())?;
        if !matches!(policy.verdict, Verdict::Allow | Verdict::RequireApproval) {
            return Ok(None);
        }
        let draft = match &asked.action {
            Action::Change(acts::Change { items }) => self.draft_of(tx, &*executors, items)?,
            other => other.as_tool().draft().unwrap_or_else(|| asked.in_words().join("\n")),
        };
        Ok(Some(Lesser { request, draft }))
    }

    /// What the proposer is told: what it asked, what was done instead and why, and what that found.
    pub(super) fn told_instead(
        &self,
        tx: &mut Tx<'_>,
        (request, instead): (&ActionRequest, &InsteadOf),
        outcome: &Outcome,
        outputs: &[ArtifactRef],
    ) -> Result<ArtifactRef, Error> {
        let draft = String::from_utf8_lossy(&self.artifacts.read(&instead.draft_sha256)?).into_owned();
        let end = (0..=SHOWN_BYTES_MAX.min(draft.len())).rev().find(|at| draft.is_char_boundary(*at));
        let shown = draft.get(..end.unwrap_or(0)).unwrap_or_default();
        let seen = outcome.outputs.first().and_then(|output| {
            let clean = redaction::clean(tx.redactor(), &output.bytes, true).ok()?;
            serde_json::from_slice::<Value>(&clean.rest).ok()
        });
        let told = json!({
            "result_code": "downgraded",
            "summary": format!("not done: policy allows it only as `{}`; {}", instead.mode, done_in_words(request)),
            "asked": instead.asked,
            "mode": instead.mode,
            "rules": instead.rules,
            "done": outcome.result_code.as_str(),
            "error": outcome.error,
            "observed": outcome.observed,
            "seen": seen,
            "draft": draft_in(tx, instead).map(|draft| draft.artifact_id),
            "draft_sha256": instead.draft_sha256,
            "diff": shown,
            "diff_left_out": draft.len().saturating_sub(shown.len()),
        });
        let new = NewArtifact::audit(ArtifactKind::ActionResult)
            .class(ArtifactClass::Evidence)
            .of_act(request)
            .trust(TrustTier::Untrusted)
            .from(outputs.iter().map(|o| o.artifact_id));
        tx.object(&told, new)
    }

    /// The change as lines that a person reads, item by item.
    fn draft_of(
        &self,
        tx: &Tx<'_>,
        executors: &dyn Executors,
        items: &[ChangeItem],
    ) -> Result<String, Error> {
        let paths: Vec<RelPath> = items.iter().flat_map(acts::changed_paths).cloned().collect();
        let there = executors.texts(&paths);
        let before = |path: &RelPath, prior: &Prior| match prior {
            // Lines of a key are read by nobody who has not asked to read it.
            Prior::Sha256(_) if acts::sensitive_paths::is_secret(path, false) => None,
            Prior::Sha256(sha256) => there.get(sha256).cloned(),
            Prior::Absent | Prior::EmptyFolder | Prior::Link(_) => Some(Vec::new()),
        };
        let mut draft = String::new();
        for item in items {
            let (head, before, after) = match item {
                ChangeItem::Write { path, content_sha256, prior, .. } => {
                    let after = tx.read(content_sha256)?;
                    let verb = if matches!(prior, Prior::Absent) { "create" } else { "replace" };
                    (format!("{verb} {path}"), before(path, prior), Some(after))
                }
                ChangeItem::Delete { path, prior } => {
                    (format!("delete {path}"), before(path, prior), Some(Vec::new()))
                }
                ChangeItem::Move { from, to, .. } => (format!("move {from} to {to}"), None, None),
                ChangeItem::Folder { path, .. } => (format!("make the folder {path}"), None, None),
                ChangeItem::Link { path, target, .. } => {
                    (format!("put {path} as a link to {target}"), None, None)
                }
            };
            let lines = before.zip(after).and_then(|(before, after)| effects::difference(&before, &after));
            // Writing into a string cannot fail.
            let _ = writeln!(draft, "{head}\n{}", lines.unwrap_or_default());
        }
        Ok(draft)
    }
}

/// The action of the lesser form; none where there is none.
fn lesser_action(mode: &str, asked: &Action, there: &dyn Fn(&RelPath) -> bool) -> Option<Action> {
    let tool = asked.as_tool();
    match mode {
        READONLY => tool.look_instead(there),
        DRAFT => tool.can_be_draft().then(|| Action::Observe(acts::Observe { items: Vec::new() })),
        _ => None,
    }
}

/// Whether a folder is there, in the workspace that the request is about.
fn is_there(executors: &dyn Executors, asked: &ActionRequest, folder: &RelPath) -> bool {
    let workspace = asked.target_resources.iter().find_map(|resource| match resource {
        ResourceId::File(workspace, _) => Some(*workspace),
        _ => None,
    });
    workspace.is_some_and(|workspace| {
        let found = executors.observe(&[ResourceId::File(workspace, folder.clone())]);
        found.iter().any(|print| matches!(print.state, Found::Folder { .. }))
    })
}

/// The draft that a lesser request names.
fn draft_in(state: &TaskState, instead: &InsteadOf) -> Option<ArtifactRef> {
    let named = state.artifacts.values().find(|a| a.content_hash == instead.draft_sha256)?;
    Some(ArtifactRef { artifact_id: named.artifact_id, sha256: named.content_hash })
}

/// What is done instead, in one line.
fn done_in_words(request: &ActionRequest) -> String {
    match &request.action {
        Action::Observe(acts::Observe { items }) if items.is_empty() => "kept as a draft".to_owned(),
        Action::Observe(acts::Observe { items }) => {
            let places = if items.len() == 1 { "the place" } else { "the places" };
            format!("looked at {places} instead, and kept as a draft")
        }
        _ => format!("instead: {}; and kept as a draft", request.action.as_tool().one_line()),
    }
}

/// What the receipt of a lesser form says beside what ran: what was asked, what was done instead, and by which rules.
pub(super) fn receipted(state: &TaskState, request: &ActionRequest, receipt: &mut Receipt) {
    let Some(instead) = &request.instead_of else { return };
    let rules = instead.rules.join(", ");
    if is_part(request) {
        let said = [
            format!(
                "asked: {} ({}, sha256 {})",
                instead.asked, instead.action_request_id, instead.request_sha256
            ),
            format!("{}{rules}; the rest was denied", acts::items::PART_APPROVED),
            format!("what was left out, sha256 {}", instead.draft_sha256),
        ];
        receipt.observed.splice(0..0, said.map(Sensitive::from));
        receipt.output_refs.extend(draft_in(state, instead));
        let came = receipt.result_summary.shown().cloned().unwrap_or_default();
        receipt.result_summary =
            Sensitive::from(format!("{came}; a part of what was asked, the rest was denied"));
        return;
    }
    let said = [
        format!(
            "asked: {} ({}, sha256 {})",
            instead.asked, instead.action_request_id, instead.request_sha256
        ),
        format!("done instead: {}", done_in_words(request)),
        format!("by {rules}, which allows it only as `{}`", instead.mode),
        format!(
            "policy result sha256 {}, draft sha256 {}",
            instead.policy_result_sha256, instead.draft_sha256
        ),
    ];
    receipt.observed.splice(0..0, said.map(Sensitive::from));
    receipt.output_refs.extend(draft_in(state, instead));
    let came = receipt.result_summary.shown().cloned().unwrap_or_default();
    receipt.result_summary = Sensitive::from(format!(
        "not done: {}; {} ({came}), by {rules}",
        instead.asked,
        done_in_words(request)
    ));
}
