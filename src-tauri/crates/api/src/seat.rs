//! A yes that a person gives on a page of this host, with the approval passphrase in the same request.
//!
//! It stands in no table and no `/v1` path leads to it: a transport calls it for a request that it knows to come from
//! a browser's session, and for nothing else. The key is opened for this one signature and closed again; what the
//! kernel is handed is the same signed envelope that a terminal makes, and it believes the signature alone.

use crate::ids::find;
use crate::{Host, Wire as _, fold, not_found};
use kernel::command::approve::Answered;
use model::ApprovalId;
use model::approval::ApprovalStatus;
use model::policy::RiskBand;
use model::principal::PrincipalType;
use projections::rows::ApprovalRow;
use wire::approvals::Decided;
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
    let word =
        matches!(row.risk_band, RiskBand::High | RiskBand::Critical).then(|| row.risk_band.to_string());
    Ok(Shown { approval_id: row.approval_id.to_string(), packet_sha256: row.packet_sha256.to_string(), word })
}

/// A yes to exactly the bytes that were shown.
///
/// # Errors
/// As [`shown`]; [`Code::Conflict`] when something else is asked by now, [`Code::KeyLocked`] for a wrong passphrase.
pub fn allow(host: &dyn Host, named: &str, packet_sha256: &str, passphrase: &[u8]) -> Result<Decided, Error> {
    let kernel = host.kernel()?;
    let row = waiting(host, named)?;
    if row.packet_sha256.to_string() != packet_sha256 {
        return Err(Error::new(Code::Conflict, "what is asked is not what was shown")
            .hint("look at the card again; nothing was decided"));
    }
    let packet = host.artifacts()?.read(&row.packet_sha256).wire()?;
    let person = fold::store_state(&host.reader()?)?.principal(PrincipalType::User).wire()?;
    let envelope = host.sign_yes(&packet, &person.to_string(), passphrase)?;
    let answered = kernel.decide_approval(row.task_id, row.approval_id, &envelope).wire()?;
    let (accepted, status, task) = match answered {
        Answered::Accepted { status, task_id } => (true, status, task_id),
        Answered::NotActive { status, task_id } => (false, status, task_id),
    };
    host.drive(task)?;
    Ok(Decided {
        approval_id: row.approval_id.to_string(),
        task_id: task.to_string(),
        accepted,
        status: status.to_string(),
    })
}

fn waiting(host: &dyn Host, named: &str) -> Result<ApprovalRow, Error> {
    let id: ApprovalId = find(host, named)?;
    let row = host.query()?.approval(id).wire()?.ok_or_else(|| not_found("approval", named))?;
    match row.status {
        ApprovalStatus::Pending if row.expires_at <= host.now() => {
            Err(Error::new(Code::Conflict, "the approval has lapsed"))
        }
        ApprovalStatus::Pending => Ok(row),
        other => Err(Error::new(Code::Conflict, format!("the approval is {other} already"))),
    }
}
