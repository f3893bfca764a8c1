//! What was done, as proven.

pub(crate) use super::undo::{plan, rollback};
use crate::convert::{ask, opt, page, plain, text};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, fold, not_found};
use model::ReceiptId;
use model::body::KeyPurpose;
use projections::rows;
use seal::dsse::{self, Envelope};
use serde_json::Value;
use wire::receipts::{List, Receipt, ReceiptRow, Receipts, Show, Signature};
use wire::{Code, Error};

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Receipts, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let found = host.query()?.receipts(task, None, ask(p.after.as_deref(), p.limit)?).wire()?;
    Ok(page(found, row))
}

pub(crate) fn row(r: &rows::ReceiptRow) -> ReceiptRow {
    ReceiptRow {
        receipt_id: r.receipt_id.to_string(),
        task_id: r.task_id.to_string(),
        class: r.class,
        action_class: r.action_class,
        result: r.result_code,
        resolved: r.resolved_code,
        reversibility: r.reversibility,
        rolls_back: opt(r.rolls_back),
        undone_by: opt(r.undone_by),
        summary: text(&r.summary),
        issued_at: r.issued_at.0,
    }
}

pub(crate) fn found(host: &dyn Host, named: &str) -> Result<rows::ReceiptRow, Error> {
    let id: ReceiptId = find(host, named)?;
    host.query()?.receipt(id).wire()?.ok_or_else(|| not_found("receipt", named))
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Receipt, Error> {
    let found = found(host, &p.receipt)?;
    let artifact = host.query()?.artifact(found.envelope_ref).wire()?;
    let artifact = artifact.ok_or_else(|| not_found("artifact", &found.envelope_ref.to_string()))?;
    let bytes = host.artifacts()?.read(&artifact.content_hash).wire()?;
    let payload = kernel::command::rollback::payload_of(&bytes).wire()?;
    if seal::Digest::of(&payload) != found.statement_sha256 {
        return Err(Error::new(
            Code::Damaged,
            format!("receipt `{}` is not the one that was recorded", found.receipt_id),
        ));
    }
    let reader = host.reader()?;
    let mut statement: Value = seal::canon::parse_canonical(&payload).wire()?;
    let mut predicate = statement.get_mut("predicate").map(Value::take).unwrap_or(Value::Null);
    if p.brief
        && let Some(fields) = predicate.as_object_mut()
    {
        fields.remove("changes");
    }
    let predicate = fold::revealed(&reader, predicate, "/predicate")?;
    let (signed_by, signature) = signature(host, &bytes)?;
    let query = host.query()?;
    let act = found.action_request_id.map(|id| query.action(id).wire()).transpose()?.flatten();
    let attempt = act.and_then(|act| act.attempt_id);
    let asker = super::asker::Askers::default().of(host, &query, (found.task_id, attempt))?;
    Ok(Receipt {
        row: row(&found),
        receipt: plain(predicate),
        statement_sha256: found.statement_sha256.to_string(),
        envelope_ref: found.envelope_ref.to_string(),
        signed_by,
        signature,
        part_of: asker.part_of,
        agent: asker.agent,
    })
}

/// Who signed, and whether the key in force verifies it.
fn signature(host: &dyn Host, bytes: &[u8]) -> Result<(Vec<String>, Signature), Error> {
    let Ok(envelope) = Envelope::parse(bytes) else { return Ok((Vec::new(), Signature::None)) };
    let signed_by = envelope.signatures.iter().map(|signature| signature.keyid.to_string()).collect();
    // A receipt is older than the key that followed its own.
    let keys = fold::key_history(&host.reader()?)?.of(KeyPurpose::Receipt);
    let signature = match keys.as_slice() {
        [] => Signature::UnknownKey,
        keys if keys.iter().any(|key| dsse::verify(&envelope, key).is_ok()) => Signature::Holds,
        _ => Signature::Fails,
    };
    Ok((signed_by, signature))
}
