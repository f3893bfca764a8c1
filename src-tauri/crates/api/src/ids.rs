//! What a person means by a part of an identifier.

use crate::{Host, Wire as _, usage};
use model::{ApprovalId, ArtifactId, BeliefId, ClarificationId, GrantId, MemoryId, ReceiptId, TaskId};
use projections::query::Named;
use serde_json::json;
use std::str::FromStr;
use wire::{Code, Error};

/// Fewer digits of an identifier name too much by accident.
const DIGITS_MIN: usize = 4;
/// Candidates named in an error.
const CANDIDATES_MAX: usize = 10;
/// Candidates that are counted; more are said to be more.
const COUNTED_MAX: u8 = 100;

/// An identifier that may be shortened.
pub(crate) trait Short: FromStr<Err = model::Error> {
    const NAMED: Named;
    const KIND: &'static str;
    const START: &'static str;
}

macro_rules! short {
    ($($id:ident $named:ident $kind:literal;)+) => { $(
        impl Short for $id {
            const NAMED: Named = Named::$named;
            const KIND: &'static str = $kind;
            const START: &'static str = $id::PREFIX;
        }
    )+ };
}

short! {
    TaskId Task "task";
    ApprovalId Approval "approval";
    ReceiptId Receipt "receipt";
    ArtifactId Artifact "artifact";
    GrantId Grant "grant";
    BeliefId Belief "belief";
    MemoryId Memory "memory record";
    ClarificationId Question "question";
}

/// The digits of an identifier in the short form of pages, its letters small: `r-1a2b` for a receipt, `task_…1a2b3c` for
/// anything. They are its last ones.
fn shown_end<'a, T: Short>(lower: &'a str, start: &str) -> Option<&'a str> {
    let receipt = if T::START == ReceiptId::PREFIX { lower.strip_prefix("r-") } else { None };
    receipt.or_else(|| lower.strip_prefix(start)?.strip_prefix('…'))
}

/// The identifier meant: itself, or the one that begins or ends so, also as pages write it.
pub(crate) fn find<T: Short>(host: &dyn Host, text: &str) -> Result<T, Error> {
    let text = text.trim();
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let lower = text.to_ascii_lowercase();
    let start = format!("{}_", T::START);
    let shown = shown_end::<T>(&lower, &start);
    let digits = shown.or_else(|| lower.strip_prefix(&start)).unwrap_or(&lower);
    if digits.len() < DIGITS_MIN || digits.len() > 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(usage(format!(
            "`{text}` names no {}; give its identifier `{start}…`, or {DIGITS_MIN} or more digits from its beginning or end",
            T::KIND
        )));
    }
    let end = if shown.is_some() || digits.len() == lower.len() { digits } else { "" };
    let begin = if shown.is_some() { String::new() } else { format!("{start}{digits}") };
    let found = host.query()?.ids_like(T::NAMED, &begin, end, COUNTED_MAX.into()).wire()?;
    match found.as_slice() {
        [] => Err(crate::not_found(T::KIND, text)),
        [one] => one.parse::<T>().wire(),
        several => {
            let more = if several.len() < usize::from(COUNTED_MAX) { "" } else { "or more " };
            let named: Vec<&str> = several.iter().take(CANDIDATES_MAX).map(String::as_str).collect();
            let are = if named.len() == several.len() { "there are" } else { "among them are" };
            let says = format!("`{text}` fits {} {more}{}s", several.len(), T::KIND);
            Err(Error::new(Code::Ambiguous, says)
                .hint(format!("give more digits; {are} `{}`", named.join("`, `")))
                .details(json!({ "candidates": named })))
        }
    }
}

/// As [`find()`], where nothing may be named.
pub(crate) fn find_opt<T: Short>(host: &dyn Host, text: Option<&str>) -> Result<Option<T>, Error> {
    text.map(|text| find(host, text)).transpose()
}
