//! Structure and ambiguity: what the gate denies before it asks policy (KS-3.6, KS-6.1 steps 3 and 4).
//!
//! Decided here, because KS leaves the heuristics open. Denied is
//! - an empty `request_id`, `actor`, `intent`, tool name or evidence; any of them longer than
//!   [`model::limits::GATE_FIELD_BYTES_MAX`] (evidence: [`model::limits::GATE_EVIDENCE_BYTES_MAX`]) or with a
//!   control character in it;
//! - a `request_id` that is not a plain token, or is that of the request just before;
//! - an `actor` that is not a principal identifier;
//! - an `intent` that is free text instead of a code: what a person wants in words is settled before the gate (C8);
//! - a `ts_ms` that is negative, or more than [`model::limits::GATE_CLOCK_BACK_MS_MAX`] behind the latest request:
//!   a clock set back that far makes expiries meaningless;
//! - a tool that was not declared at boot;
//! - parameters that are not an object, have no canonical form, or are larger than
//!   [`model::limits::GATE_PARAMS_BYTES_MAX`]: what cannot be hashed cannot be audited;
//! - evidence that is not a list of identifiers and digests.

use crate::machine::Note;
use crate::request::{Code, KernelConfig, KernelRequest};
use model::audit::GateDecision;
use model::{Digest, PrincipalId, UnixMs, limits};
use serde_json::Value;

/// What stands in an entry for a field that may not enter the log (invariant 7).
pub const MALFORMED: &str = "malformed";

/// What the checks know of the session so far.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// Names of the tools that exist.
    pub tools: &'a [String],
    /// The latest time any request gave.
    pub latest: UnixMs,
    /// The request just before.
    pub last_request_id: Option<&'a str>,
}

/// The first thing wrong with a request, in the order of its fields.
///
/// # Errors
/// The code of what is wrong; the request is denied.
pub fn structure(request: &KernelRequest, session: &Session<'_>) -> Result<(), Code> {
    token(&request.request_id)?;
    if session.last_request_id == Some(request.request_id.as_str()) {
        return Err(Code::RequestRepeated);
    }
    time(request.ts_ms)?;
    if request.ts_ms.plus_ms(limits::GATE_CLOCK_BACK_MS_MAX) < session.latest {
        return Err(Code::TimeBackwards);
    }
    principal(&request.actor)?;
    code(&request.intent)?;
    if let Some(call) = &request.tool_call {
        plain(&call.name, limits::GATE_FIELD_BYTES_MAX)?;
        if !session.tools.contains(&call.name) {
            return Err(Code::ToolUnknown);
        }
        params(call.params.as_ref())?;
    }
    params(request.params.as_ref())?;
    request.evidence.as_deref().map_or(Ok(()), evidence)
}

/// Whether a configuration can begin a session.
///
/// # Errors
/// The first field that cannot, and why.
pub fn config(config: &KernelConfig) -> Result<(), (&'static str, Code)> {
    token(&config.kernel_id).map_err(|c| ("kernel_id", c))?;
    token(&config.session).map_err(|c| ("session", c))?;
    principal(&config.actor).map_err(|c| ("actor", c))?;
    config.tools.iter().try_for_each(|t| code(t)).map_err(|c| ("tools", c))?;
    time(config.ts_ms).map_err(|c| ("ts_ms", c))
}

fn plain(text: &str, bytes_max: usize) -> Result<(), Code> {
    if text.trim().is_empty() {
        return Err(Code::FieldEmpty);
    }
    if text.len() > bytes_max {
        return Err(Code::FieldOversize);
    }
    if text.chars().any(char::is_control) {
        return Err(Code::ControlCharacter);
    }
    Ok(())
}

fn token(text: &str) -> Result<(), Code> {
    plain(text, limits::GATE_FIELD_BYTES_MAX)?;
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_.:-".contains(&b);
    if text.bytes().all(fits) { Ok(()) } else { Err(Code::RequestIdMalformed) }
}

/// Whether a text is a code: lower-case letters, digits, `_` and `.`, a letter first.
///
/// # Errors
/// What is wrong with it.
pub fn code(text: &str) -> Result<(), Code> {
    plain(text, limits::GATE_FIELD_BYTES_MAX)?;
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.".contains(&b);
    let begins = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    if begins && text.bytes().all(fits) { Ok(()) } else { Err(Code::IntentNotACode) }
}

fn principal(text: &str) -> Result<(), Code> {
    plain(text, limits::GATE_FIELD_BYTES_MAX)?;
    text.parse::<PrincipalId>().map(|_| ()).map_err(|_| Code::ActorMalformed)
}

fn time(ts_ms: UnixMs) -> Result<(), Code> {
    if (0..=limits::JSON_INTEGER_MAX).contains(&ts_ms.0) { Ok(()) } else { Err(Code::TimeMalformed) }
}

fn params(params: Option<&Value>) -> Result<(), Code> {
    let Some(params) = params else { return Ok(()) };
    if !params.is_object() {
        return Err(Code::ParamsNotObject);
    }
    let bytes = seal::canon::canonical_value(params).map_err(|_| Code::ParamsUnsealable)?;
    if bytes.len() > limits::GATE_PARAMS_BYTES_MAX { Err(Code::FieldOversize) } else { Ok(()) }
}

fn evidence(text: &str) -> Result<(), Code> {
    plain(text, limits::GATE_EVIDENCE_BYTES_MAX)?;
    if text.split(' ').all(is_reference) { Ok(()) } else { Err(Code::EvidenceMalformed) }
}

/// `prefix_` and 32 hexadecimal digits, or 64 hexadecimal digits.
fn is_reference(text: &str) -> bool {
    let hex = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    match text.split_once('_') {
        None => text.len() == 64 && hex(text),
        Some((prefix, id)) => {
            !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_lowercase()) && id.len() == 32 && hex(id)
        }
    }
}

/// What the entries of a request say, with `DENY` as long as nothing else is decided.
///
/// A field that would carry free text into the log is replaced by [`MALFORMED`]; the receipt names the code.
pub(crate) fn note(request: &KernelRequest) -> Note {
    let safe = |text: &str, fits: bool| if fits { text.to_owned() } else { MALFORMED.to_owned() };
    let call = request.tool_call.as_ref();
    Note {
        ts_ms: if time(request.ts_ms).is_ok() { request.ts_ms } else { UnixMs(0) },
        request_id: safe(&request.request_id, token(&request.request_id).is_ok()),
        actor: safe(&request.actor, principal(&request.actor).is_ok()),
        intent: safe(&request.intent, code(&request.intent).is_ok()),
        decision: GateDecision::Deny,
        tool_name: call.map(|c| safe(&c.name, code(&c.name).is_ok())),
        params_hash: params_hash(request),
        evidence_hash: request.evidence.as_ref().map(|e| Digest::of(e.as_bytes())),
        error: None,
    }
}

/// SHA-256 of the canonical bytes of the tool's parameters, of the request's own where the tool has none, and of
/// the array of both, request first, where there are both. `None` without any, or when they have no such bytes.
fn params_hash(request: &KernelRequest) -> Option<Digest> {
    let tool = request.tool_call.as_ref().and_then(|c| c.params.as_ref());
    let bytes = match (request.params.as_ref(), tool) {
        (None, None) => return None,
        (Some(one), None) | (None, Some(one)) => seal::canon::canonical_value(one),
        (Some(own), Some(tool)) => seal::canon::to_canonical(&[own, tool]),
    };
    bytes.ok().map(|b| Digest::of(&b))
}
