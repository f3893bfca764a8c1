//! How a call stands, as a result of the protocol: in words for the agent, and structured for its program.

use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::json;
use wire::agent::Called;
use words::task::CallStatus;

/// The address of a receipt.
pub fn receipt_uri(id: &str) -> String {
    format!("hermit://receipt/{id}")
}

/// The address of a receipt's proof.
pub fn proof_uri(id: &str) -> String {
    format!("hermit://proof/{id}")
}

/// Whether the call is not over, and making it again goes on with it.
pub const fn waits(status: CallStatus) -> bool {
    match status {
        CallStatus::Working
        | CallStatus::AwaitingApproval
        | CallStatus::AwaitingAnswer
        | CallStatus::UnknownOutcome
        | CallStatus::Paused
        | CallStatus::KeyLocked
        | CallStatus::Halted => true,
        CallStatus::Done
        | CallStatus::Refused
        | CallStatus::Denied
        | CallStatus::Behind
        | CallStatus::Ended => false,
    }
}

/// A call as its agent and its program read it.
pub fn result(called: &Called) -> CallToolResult {
    let mut content: Vec<ContentBlock> = called.text.iter().map(ContentBlock::text).collect();
    for words in &called.said {
        content.push(ContentBlock::text(format!("a person has said since your last call: {words}")));
    }
    let mut structured = json!({
        "status": called.status,
        "key": called.key,
        "summary": called.summary,
        "approval_id": called.approval_id,
        "clarification_id": called.clarification_id,
        "receipt_id": called.receipt_id,
    });
    if let Some(id) = &called.receipt_id {
        let uri = receipt_uri(id);
        let link = Resource::new(uri.clone(), format!("receipt {id}"))
            .with_title(called.summary.clone())
            .with_mime_type("application/json");
        content.push(ContentBlock::resource_link(link));
        if let Some(members) = structured.as_object_mut() {
            members.insert("receipt".to_owned(), json!(uri));
        }
    }
    if let Some(members) = structured.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    let mut result = match called.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(structured);
    result
}

/// Words alone, of something that was not done.
pub fn failed(words: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words.into())])
}

/// An error of Hermit, with what to do about it.
pub fn error(error: &wire::Error) -> String {
    if error.hint.is_empty() { error.message.clone() } else { format!("{}; {}", error.message, error.hint) }
}
