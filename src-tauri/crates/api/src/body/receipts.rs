//! What was done, as proven.

pub(crate) use super::undo::{plan, rollback};
use crate::convert::{ask, opt, page, plain, text};
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, fold, not_found};
use acts::items::{LEFT_AS_IT_IS, PART_APPROVED, is_folder_that_stays};
use model::ReceiptId;
use model::body::KeyPurpose;
use model::receipt::ResultCode;
use projections::{Query, rows};
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

/// A receipt as it was recorded.
struct Recorded {
    /// The envelope that holds it.
    envelope: Vec<u8>,
    /// What it tells; without its changes where it is brief.
    told: Value,
    as_chosen: bool,
}

fn recorded(host: &dyn Host, found: &rows::ReceiptRow, brief: bool) -> Result<Recorded, Error> {
    let artifact = host.query()?.artifact(found.envelope_ref).wire()?;
    let artifact = artifact.ok_or_else(|| not_found("artifact", &found.envelope_ref.to_string()))?;
    let envelope = host.artifacts()?.read(&artifact.content_hash).wire()?;
    let payload = kernel::command::rollback::payload_of(&envelope).wire()?;
    if seal::Digest::of(&payload) != found.statement_sha256 {
        return Err(Error::new(
            Code::Damaged,
            format!("receipt `{}` is not the one that was recorded", found.receipt_id),
        ));
    }
    let reader = host.reader()?;
    let mut statement: Value = seal::canon::parse_canonical(&payload).wire()?;
    let mut predicate = statement.get_mut("predicate").map(Value::take).unwrap_or(Value::Null);
    let not_done = not_done(&predicate);
    if brief && let Some(fields) = predicate.as_object_mut() {
        fields.remove("changes");
    }
    let told = plain(fold::revealed(&reader, predicate, "/predicate")?);
    let is_in_part = found.result_code == ResultCode::Partial;
    let as_chosen = is_in_part && not_done.is_some_and(|many| all_chosen_done(&told, many));
    Ok(Recorded { envelope, told, as_chosen })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Receipt, Error> {
    let found = found(host, &p.receipt)?;
    let Recorded { envelope, told, as_chosen } = recorded(host, &found, p.brief)?;
    let (signed_by, signature) = signature(host, &envelope)?;
    let query = host.query()?;
    let act = found.action_request_id.map(|id| query.action(id).wire()).transpose()?.flatten();
    let attempt = act.and_then(|act| act.attempt_id);
    let asker = super::asker::Askers::default().of(host, &query, (found.task_id, attempt))?;
    Ok(Receipt {
        row: row(&found),
        receipt: told,
        statement_sha256: found.statement_sha256.to_string(),
        envelope_ref: found.envelope_ref.to_string(),
        signed_by,
        signature,
        as_chosen,
        part_of: asker.part_of,
        agent: asker.agent,
    })
}

/// Whether a receipt tells of a part that a person chose, all of which was done; false of one that cannot be read: who opens it is told
/// so. Receipts are read only of parts that are undone in part.
pub(crate) fn is_as_chosen(host: &dyn Host, query: &Query, id: ReceiptId) -> Result<bool, Error> {
    let Some(row) = query.receipt(id).wire()? else { return Ok(false) };
    let act = row.action_request_id.map(|id| query.action(id).wire()).transpose()?.flatten();
    let is_part = act.is_some_and(|act| act.instead_of.is_some());
    Ok(is_part && recorded(host, &row, true).is_ok_and(|receipt| receipt.as_chosen))
}

/// How many changes of a receipt were not done; none where nobody knows it of one of them.
fn not_done(predicate: &Value) -> Option<usize> {
    let mut many = 0;
    for change in predicate.get("changes").and_then(Value::as_array)? {
        match change.get("outcome").and_then(Value::as_str) {
            Some("done") => {}
            Some("not_done") => many += 1,
            _ => return None,
        }
    }
    Some(many)
}

/// Whether a person chose a part, and each of so many changes that were not done is a place that was to stay, or a folder in which
/// something was by then.
fn all_chosen_done(receipt: &Value, not_done: usize) -> bool {
    let observed = receipt.get("observed").and_then(Value::as_array);
    let told: Vec<&str> = observed.into_iter().flatten().filter_map(Value::as_str).collect();
    let is_part = told.iter().any(|line| line.starts_with(PART_APPROVED));
    let stays = |line: &&&str| {
        let left = line.strip_prefix(LEFT_AS_IT_IS).is_some_and(|place| place.starts_with("`file:"));
        left || is_folder_that_stays(line)
    };
    is_part && not_done == told.iter().filter(stays).count()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(changes: &[&str], observed: &[&str]) -> bool {
        let changes: Vec<Value> = changes.iter().map(|outcome| json!({ "outcome": outcome })).collect();
        let receipt = json!({ "changes": changes, "observed": observed });
        not_done(&receipt).is_some_and(|many| all_chosen_done(&receipt, many))
    }

    #[test]
    fn a_part_is_as_chosen_where_all_that_was_not_done_was_to_stay() {
        let part = "a part of it was approved, by a person's choice at apr_1: 1 of 3; the rest was denied";
        let left = "left as it is: `file:wsp_1/a.txt`: you left it out";
        assert!(told(&["done", "not_done"], &[part, left]));
        assert!(told(&["not_done", "not_done"], &[part, left, &acts::items::folder_stays(&"Images")]));
        assert!(!told(&["done", "not_done", "not_done"], &[part, left]), "one of them failed");
        assert!(!told(&["done", "unknown", "not_done"], &[part, left]));
        assert!(!told(&["done", "not_done"], &[left]), "nobody chose it");
        assert!(!told(&["done", "not_done"], &[part, "left as it is: `receipt:rcp_1`: it cannot be undone"]));
    }
}
