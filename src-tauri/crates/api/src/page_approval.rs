//! A yes that a person gives on a page of this host, with the approval passphrase in the same request.
//!
//! It stands in no table and no `/v1` path leads to it: a transport calls it for a request that it knows to come from
//! a browser's session, and for nothing else. The key is opened for this one signature and closed again; what the
//! kernel is handed is the same signed envelope that a terminal makes, and it believes the signature alone.

use crate::convert::to_base64;
use crate::ids::find;
use crate::{Host, Wire as _, body, fold, not_found, usage};
use governance::standing::in_words;
use kernel::command::approve::Answered;
use kernel::command::halt::boot_subject;
use kernel::command::person::{Matter, Signed, mesh_subject};
use kernel::command::resolve::settle_subject;
use model::approval::{ApprovalStatus, Surface};
use model::ingress::Channel;
use model::policy::RiskBand;
use model::principal::PrincipalType;
use model::receipt::ResultCode;
use model::standing::StandingGrant;
use model::{ApprovalId, TaskId};
use projections::rows::ApprovalRow;
use serde_json::{Value, json};
use wire::approvals::Decided;
use wire::grants::{Propose, Rehearsed};
use wire::policy::{DraftOverride, Judged, OverrideAllowed};
use wire::{Code, Error};

/// What a person has in front of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The approval.
    pub approval_id: String,
    /// Digest of the bytes that were shown.
    pub packet_sha256: String,
    /// The word that a yes must say at this risk, when it must say one.
    pub word: Option<String>,
}

/// The card as it stands: it waits, and this is what it is about.
///
/// # Errors
/// [`Code::NotFound`], and [`Code::Conflict`] when it was answered or has lapsed.
pub fn shown(host: &dyn Host, named: &str) -> Result<Shown, Error> {
    let row = waiting(host, named)?;
    let word = word_at(row.risk_band);
    Ok(Shown { approval_id: row.approval_id.to_string(), packet_sha256: row.packet_sha256.to_string(), word })
}

/// The word that a yes must say at a risk, when it must say one.
pub(crate) fn word_at(risk: RiskBand) -> Option<String> {
    matches!(risk, RiskBand::High | RiskBand::Critical).then(|| risk.to_string())
}

/// A standing grant that could be given at a card, with the days and uses that were asked for.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Offer {
    /// What would be signed, in a sentence.
    pub words: String,
    /// For how long.
    pub days: i64,
    /// How often.
    pub uses: u32,
    /// What it would have meant so far.
    pub rehearsed: Rehearsed,
}

impl Offer {
    /// The offer that a grant is, and what it would have meant so far.
    pub fn of(grant: &StandingGrant, rehearsed: Rehearsed) -> Self {
        Self { words: in_words(grant), days: grant.days(), uses: grant.max_uses, rehearsed }
    }
}

/// What a person chose of the offers.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasting {
    /// Where it is to hold: `task`, `project`, `user`.
    pub scope: Option<String>,
    /// Of the offers, from nought.
    pub number: usize,
    /// For how long.
    pub days: u16,
    /// How often.
    pub uses: u32,
    /// The sentence that was read.
    pub words: String,
}

impl Lasting {
    /// What would be signed of the offered draft.
    ///
    /// # Errors
    /// [`Code::Conflict`] when its sentence is not the one that was read.
    pub fn of(&self, draft: StandingGrant) -> Result<StandingGrant, Error> {
        let grant = draft.bounded(Some(self.days), Some(self.uses));
        if in_words(&grant) == self.words { Ok(grant) } else { Err(not_shown()) }
    }
}

/// What could be allowed from now on at a card, the narrowest first.
///
/// # Errors
/// As [`shown`]; [`Code::Usage`] for a scope that there is not.
pub fn offers(
    host: &dyn Host,
    named: &str,
    scope: Option<String>,
    days: Option<u16>,
    uses: Option<u32>,
) -> Result<Vec<Offer>, Error> {
    let row = waiting(host, named)?;
    let found = body::grants::propose(host, Propose { approval: row.approval_id.to_string(), scope })?;
    let offer =
        |one: wire::grants::Proposal| Ok(Offer::of(&draft(one.draft)?.bounded(days, uses), one.rehearsed));
    found.rows.into_iter().map(offer).collect()
}

fn draft(value: serde_json::Value) -> Result<StandingGrant, Error> {
    serde_json::from_value(value).map_err(crate::failed)
}

/// What would be signed for a choice, when its sentence is the one that was read.
fn chosen(host: &dyn Host, row: &ApprovalRow, choice: &Lasting) -> Result<StandingGrant, Error> {
    let asked = Propose { approval: row.approval_id.to_string(), scope: choice.scope.clone() };
    let one =
        body::grants::propose(host, asked)?.rows.into_iter().nth(choice.number).ok_or_else(not_shown)?;
    choice.of(draft(one.draft)?)
}

/// Something else would be signed than a person has read.
pub fn not_shown() -> Error {
    Error::new(Code::Conflict, "what would be signed is not what was shown")
        .hint("choose again, and read the sentence; nothing was decided")
}

/// An override as it would be signed: its sentence, and what policy said.
#[derive(Debug, Clone)]
pub struct PreparedOverride {
    /// What would be signed, in a sentence.
    pub words: String,
    /// What policy said.
    pub denied: Judged,
}

/// What a person who does not share a denial would sign, to be asked about the act all the same.
///
/// # Errors
/// [`Code::NotFound`], [`Code::Conflict`] when policy has not denied it, [`Code::Usage`] for bounds or a reason that no
/// override has.
pub fn prepare_override(host: &dyn Host, draft_override: DraftOverride) -> Result<PreparedOverride, Error> {
    let found = body::policy::draft_override(host, draft_override)?;
    Ok(PreparedOverride { words: in_words(&draft(found.draft)?), denied: found.denied })
}

/// Signs exactly the override that was read, and hands it in. Nothing is allowed by it: a person is asked instead.
///
/// # Errors
/// As [`prepare_override`]; [`Code::Conflict`] when the sentence is another by now, [`Code::KeyLocked`] for a wrong passphrase.
pub fn allow_override(
    host: &dyn Host,
    draft_override: DraftOverride,
    words: &str,
    passphrase: &[u8],
) -> Result<OverrideAllowed, Error> {
    let act = draft_override.act.clone();
    let grant = draft(body::policy::draft_override(host, draft_override)?.draft)?;
    if in_words(&grant) != words {
        return Err(not_shown());
    }
    body::policy::overridden(host, &act, &host.sign_standing(&grant, passphrase)?)
}

/// A yes to exactly the bytes that were shown; with it what lasts, when the person chose that.
///
/// # Errors
/// As [`shown`]; [`Code::Conflict`] when something else is asked by now, or what would last is not what was read;
/// [`Code::KeyLocked`] for a wrong passphrase.
pub fn allow(
    host: &dyn Host,
    named: &str,
    packet_sha256: &str,
    lasting: Option<&Lasting>,
    passphrase: &[u8],
) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let row = as_shown(host, named, packet_sha256)?;
    let packet = host.artifacts()?.read(&row.packet_sha256).wire()?;
    let person = fold::store_state(&host.reader()?)?.principal(PrincipalType::User).wire()?;
    let draft = lasting.map(|choice| chosen(host, &row, choice)).transpose()?;
    let envelope = host.sign_yes(&packet, &person.to_string(), passphrase)?;
    let standing = draft.map(|draft| host.sign_standing(&draft, passphrase)).transpose()?;
    let came = kernel
        .decide_approval_for_good(row.task_id, row.approval_id, &envelope, standing.as_deref())
        .wire()?;
    answered(host, &row, came)
}

/// The card as it stands, when it waits and its bytes are those that were shown.
pub(crate) fn as_shown(host: &dyn Host, named: &str, packet_sha256: &str) -> Result<ApprovalRow, Error> {
    let row = waiting(host, named)?;
    if row.packet_sha256.to_string() == packet_sha256 {
        return Ok(row);
    }
    Err(Error::new(Code::Conflict, "what is asked is not what was shown")
        .hint("look at the card again; nothing was decided"))
}

/// What became of an answer; its task is driven on.
pub(crate) fn answered(host: &dyn Host, row: &ApprovalRow, came: Answered) -> Result<Decided, Error> {
    let (accepted, status, task) = match came {
        Answered::Accepted { status, task_id } => (true, status, task_id),
        Answered::NotActive { status, task_id } => (false, status, task_id),
    };
    host.drive(task)?;
    Ok(Decided { approval_id: row.approval_id.to_string(), task_id: task.to_string(), accepted, status })
}

/// Lets Hermit work again, signed by the person who gave the passphrase.
///
/// # Errors
/// [`Code::KeyLocked`] for a wrong passphrase; [`Code::Conflict`] when nothing is halted.
pub fn boot(host: &dyn Host, passphrase: &[u8]) -> Result<wire::gate::GateState, Error> {
    let subject = boot_subject(&host.reader()?).wire()?;
    let signed = host.sign_decision(Matter::Boot, subject, passphrase)?;
    host.kernel()?.boot_signed(Some(&signed)).wire()?;
    host.drive_all()?;
    body::gate::state(host, wire::gate::State {})
}

/// Settles an outcome that nobody knows, likewise.
///
/// # Errors
/// As [`boot`]; [`Code::Conflict`] when no outcome is open.
pub fn settle(
    host: &dyn Host,
    found: &wire::task::Settle,
    passphrase: &[u8],
) -> Result<wire::task::Done, Error> {
    let kernel = host.kernel()?;
    let task: TaskId = find(host, &found.task)?;
    let result: ResultCode = crate::convert::word(&found.result)?;
    let signed = host.sign_decision(Matter::Settle, settle_subject(task, result, &found.note), passphrase)?;
    kernel.resolve_signed(task, result, &found.note, Some(&signed)).wire()?;
    host.drive(task)?;
    let status = kernel.task(task).wire()?.task.status;
    Ok(wire::task::Done { task_id: task.to_string(), status })
}

/// What of a person's own is paused and goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paused {
    /// A schedule.
    Schedule,
    /// A gateway.
    Gateway,
}

/// Resumes what is paused, likewise.
///
/// # Errors
/// As [`boot`]; [`Code::NotFound`] without it, [`Code::Conflict`] when it is not paused.
pub fn resume(host: &dyn Host, (paused, name): (Paused, &str), passphrase: &[u8]) -> Result<(), Error> {
    let kernel = host.kernel()?;
    let by = Channel::App;
    match paused {
        Paused::Schedule => {
            let registry = kernel.schedule_registry();
            let record = registry.standing(name).ok_or_else(|| not_found("schedule", name))?;
            let signed = host.sign_decision(Matter::Resume, record.resume_subject(), passphrase)?;
            kernel.resume_schedule_signed(name, by, Some(&signed)).wire()?;
            host.rouse();
        }
        Paused::Gateway => {
            let registry = kernel.gateway_registry();
            let record = registry.standing(name).ok_or_else(|| not_found("gateway", name))?;
            let signed = host.sign_decision(Matter::Resume, record.resume_subject(), passphrase)?;
            kernel.resume_gateway_signed(name, by, Some(&signed)).wire()?;
        }
    }
    Ok(())
}

/// Gives a command of the mesh that a person gives, likewise; its folders are named as a page names folders.
///
/// # Errors
/// As [`boot`]; [`Code::Usage`] for a command that no person signs, and what the command says.
pub fn mesh(host: &dyn Host, command: &str, params: Value, passphrase: &[u8]) -> Result<Value, Error> {
    let mut params = body::mesh::to_sign(command, params)?;
    // Whoever gave the passphrase is there.
    let there = crate::Through::new(host, crate::Asker::page(true));
    let signed = match command {
        "mesh.answer" => {
            let given: wire::mesh::Answer = serde_json::from_value(params).map_err(crate::failed)?;
            let left = body::mesh_answers::answer_at_page(&there, &given, passphrase)?;
            return serde_json::to_value(left).map_err(crate::failed);
        }
        "mesh.approver" => {
            if params.get("allow") != Some(&Value::Bool(true)) {
                return Err(usage("a yes is taken from a machine without the passphrase"));
            }
            let machine = params.get("node").and_then(Value::as_str).unwrap_or_default();
            let draft = body::mesh_answers::to_enrol(host, machine, Surface::Browser)?;
            Value::from(to_base64(&host.sign_passkey(&draft, passphrase)?))
        }
        _ => {
            let subject = mesh_subject(command, &params).wire()?;
            let Signed { text, signature, .. } = host.sign_decision(Matter::Mesh, subject, passphrase)?;
            let text = String::from_utf8(text).map_err(crate::failed)?;
            json!({ "text": text, "signature": signature.to_string() })
        }
    };
    if let Some(fields) = params.as_object_mut() {
        fields.insert("signed".to_owned(), signed);
    }
    // The passphrase was right: what is locked now is another key, and whoever counts wrong ones counts none.
    crate::call(&there, command, params).map_err(|error| match error.code {
        Code::KeyLocked => Error { code: Code::Conflict, ..error },
        _ => error,
    })
}

fn waiting(host: &dyn Host, named: &str) -> Result<ApprovalRow, Error> {
    let id: ApprovalId = find(host, named)?;
    let row = host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", named))?;
    match row.status {
        ApprovalStatus::Pending if row.expires_at <= host.now() => {
            Err(Error::new(Code::Conflict, "the approval has expired"))
        }
        ApprovalStatus::Pending => Ok(row),
        other => Err(Error::new(Code::Conflict, format!("the approval is {other} already"))),
    }
}
