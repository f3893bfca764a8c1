//! A call that waits, on the wire without conversations (2026-07-28): it is answered that something is wanted first, and the
//! client makes it again with the state that it was given.

use crate::told::{self, waits};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ClientCapabilities, InputRequest, InputRequiredResult, InputResponses, MetaObject,
    RequestStateCodec, RequestStateError, SealOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wire::agent::Called;
use words::task::CallStatus;

/// How often a call is answered like this before it is answered as one that waits: clients end one that takes more rounds, and
/// no call fails because a person is slow.
const ROUNDS_MAX: u32 = 6;
/// Bytes of a state that comes back.
const STATE_BYTES_MAX: usize = 1024;
/// The name of what is asked of the person at the client.
const ASKED: &str = "hermit";
/// What the check of a state is made with. It is no secret, and a state gives nothing: it names a call, as its client may by
/// itself, and the kernel knows whose call that is and what it says. A state that was spoilt, or belongs to another
/// client, folder or tool, is told from one that was not.
const CHECK: &[u8] = b"hermit mcp: the state of a call that waits";

/// Which call goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Going {
    /// Its key.
    pub key: String,
    /// How often it was answered that something is wanted.
    pub round: u32,
}

/// Who makes which call of which session: a state of another one is refused.
pub struct Caller<'c> {
    pub task: &'c str,
    pub client: &'c str,
    pub version: &'c str,
    pub workspace: &'c str,
    pub profile: Option<&'c str>,
    pub tool: &'c str,
}

impl Caller<'_> {
    fn bytes(&self) -> Vec<u8> {
        json!([self.task, self.client, self.version, self.workspace, self.profile, self.tool])
            .to_string()
            .into_bytes()
    }
}

fn codec() -> Result<RequestStateCodec, RequestStateError> {
    RequestStateCodec::try_new(CHECK)
}

/// The call that a state names.
///
/// # Errors
/// When it is none of Hermit's, or of another call.
pub fn open(state: &str, caller: &Caller<'_>) -> Result<Going, ErrorData> {
    let opened = (state.len() <= STATE_BYTES_MAX)
        .then(|| codec().and_then(|codec| codec.open_with(state, &caller.bytes())).ok())
        .flatten();
    opened.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| {
        ErrorData::invalid_params(
            "this `requestState` is none that Hermit gave for this call, or its session has ended; see with `hermit_receipts` what was \
             done, and make the call again without it where it was not",
            None,
        )
    })
}

/// Whether the person at the client said that nobody waits for the call any more. Saying yes there allows nothing.
pub fn is_given_up(responses: Option<&InputResponses>) -> bool {
    let action = responses.and_then(|all| all.get(ASKED)).and_then(|one| one.get("action"));
    action.and_then(Value::as_str).is_some_and(|action| matches!(action, "decline" | "cancel"))
}

/// A call that waits, as a client of this wire is told: what is wanted, and the state to come back with. One that was told so
/// often enough, and one that is over, is answered as on the older wires.
pub fn answer(
    called: &Called,
    round: u32,
    caller: &Caller<'_>,
    can: Option<&ClientCapabilities>,
) -> CallToolResponse {
    let result = told::result(called);
    if !waits(called.status) || round >= ROUNDS_MAX {
        return result.into();
    }
    let going = Going { key: called.key.clone(), round: round + 1 };
    let sealed = serde_json::to_vec(&going).ok().and_then(|bytes| {
        let options = caller.bytes();
        codec().ok().map(|codec| codec.seal_with(&bytes, &SealOptions::new().associated_data(&options)))
    });
    let Some(state) = sealed else { return result.into() };
    let can_ask = |can: &ClientCapabilities| {
        can.elicitation.as_ref().is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none())
    };
    let asks = needs_person(called.status) && can.is_some_and(can_ask);
    let asked = asks.then(|| question(&called.text.join("\n"))).flatten();
    let meta = json!({ "hermit/call": result.structured_content });
    let meta = serde_json::from_value::<MetaObject>(meta).unwrap_or_default();
    let asked = asked.map(|one| BTreeMap::from([(ASKED.to_owned(), one)]));
    InputRequiredResult::new(asked, Some(state)).with_meta(meta).into()
}

/// Whether the call goes on only when a person does something in Hermit.
const fn needs_person(status: CallStatus) -> bool {
    waits(status) && !matches!(status, CallStatus::Working)
}

/// What the client shows to the person who sits there: it has no fields, for what is to be decided is decided in Hermit.
fn question(words: &str) -> Option<InputRequest> {
    let message = format!("{words}\nGo on when you have done that in Hermit.");
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    serde_json::from_value(json!({ "method": "elicitation/create", "params": params })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(tool: &str) -> Caller<'_> {
        Caller { task: "task_1", client: "an agent", version: "1", workspace: "/w", profile: None, tool }
    }

    fn called(status: CallStatus) -> Called {
        Called {
            status,
            key: "k-1".to_owned(),
            text: vec!["a person is asked".to_owned()],
            said: Vec::new(),
            is_error: false,
            summary: String::new(),
            receipt_id: None,
            approval_id: Some("appr_1".to_owned()),
            clarification_id: None,
        }
    }

    fn state(answer: CallToolResponse) -> Option<String> {
        match answer {
            CallToolResponse::InputRequired(wanted) => wanted.request_state,
            _ => None,
        }
    }

    #[test]
    fn a_state_names_its_call_to_its_client_alone() {
        let waits = called(CallStatus::AwaitingApproval);
        let given = state(answer(&waits, 0, &caller("write"), None)).expect("a state");
        let going = open(&given, &caller("write")).expect("its own");
        assert_eq!((going.key.as_str(), going.round), ("k-1", 1));
        let spoilt = given.replace(given.chars().last().expect("some"), "");
        let long = "x".repeat(STATE_BYTES_MAX + 1);
        for (other, who) in
            [(given.as_str(), caller("edit")), (&spoilt, caller("write")), (&long, caller("write"))]
        {
            assert!(open(other, &who).is_err());
        }
        let stranger = Caller { client: "another", ..caller("write") };
        let later = Caller { task: "task_2", ..caller("write") };
        assert!(open(&given, &stranger).is_err() && open(&given, &later).is_err());
    }

    #[test]
    fn a_slow_person_fails_no_call_and_what_only_takes_time_asks_nobody() {
        let asked_by = |can: Value, status, round| {
            let can: ClientCapabilities = serde_json::from_value(can).expect("it reads");
            match answer(&called(status), round, &caller("write"), Some(&can)) {
                CallToolResponse::InputRequired(wanted) => Some(wanted.input_requests.is_some()),
                _ => None,
            }
        };
        let asked = |status, round| asked_by(json!({ "elicitation": {} }), status, round);
        let by_address = json!({ "elicitation": { "url": {} } });
        assert_eq!(asked_by(by_address, CallStatus::AwaitingApproval, 0), Some(false), "it shows no forms");
        assert_eq!(asked(CallStatus::AwaitingApproval, 0), Some(true));
        assert_eq!(asked(CallStatus::Working, 0), Some(false));
        assert_eq!(asked(CallStatus::AwaitingApproval, ROUNDS_MAX), None);
        assert_eq!(asked(CallStatus::Done, 0), None);
    }

    #[test]
    fn giving_up_is_heard_and_a_yes_there_allows_nothing() {
        let said = |action: &str| InputResponses::from([(ASKED.to_owned(), json!({ "action": action }))]);
        assert!(is_given_up(Some(&said("decline"))) && is_given_up(Some(&said("cancel"))));
        assert!(!is_given_up(Some(&said("accept"))) && !is_given_up(None));
    }
}
