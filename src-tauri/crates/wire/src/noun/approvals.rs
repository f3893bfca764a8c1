//! What waits for a person.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use crate::{Page, PartOf, Text};
use serde_json::Value;
use words::act::ActionClass;
use words::policy::{ApprovalStatus, CardLine, RiskBand, Surface};
use words::task::Origin;

params! {
    /// Which approvals; without a status those that wait.
    List {
        task: Option<String>,
        /// `pending`, `granted`, `denied`, `expired`, `cancelled`, `invalidated`, or `any`.
        status: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }
    /// One approval by identifier, or by its beginning or end.
    Show { approval: String }

    /// The exact bytes to sign, from the given one on.
    Packet {
        approval: String,
        from: Option<u64>,
    }

    /// Lines of the card, or of what is signed, that hold `find`, from the given one on.
    Lines {
        approval: String,
        /// `card`, every line of the card; `signed`, every value of the packet as `pointer = value`.
        of: String,
        /// Only those that hold these words, whatever the case.
        find: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }

    /// A decision as signed.
    Decide {
        approval: String,
        /// Base64 of the DSSE envelope, or of what a security key signed; exact bytes.
        envelope: String,
        /// With a yes: base64 of the envelope of a standing grant for the like of it, signed at the same question.
        standing: Option<String>,
    }

    /// A part of what was asked: the rest is denied, and the part is asked about by itself. It allows nothing.
    Part {
        approval: String,
        /// Files and folders, as paths below the workspace; `path#1,3-5` is these hunks of a file.
        #[serde(default)]
        only: Vec<String>,
        /// Rows as `changes.show` counts them.
        #[serde(default)]
        rows: Vec<Rows>,
        /// Files of which some hunks alone are taken, also where they are among the rows or in a folder above.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hunks: Vec<Hunks>,
        /// Words for the model, about the rest.
        feedback: Option<String>,
        /// Where it was chosen, as with a no.
        surface: Option<String>,
    }

    /// Rows that follow each other.
    Rows { from: u32, rows: u32 }

    /// Hunks of one file, by their numbers in `changes.show`; with none the file is left out.
    Hunks { path: String, hunks: Vec<u32> }

    /// A no.
    Deny {
        approval: String,
        /// Words for the model.
        feedback: Option<String>,
        /// Whether the task is to end with it.
        #[serde(default)]
        stop: bool,
        /// Where it was given: `terminal`, `approval_window`, `browser`, `run_api`, `mcp`, `script`,
        /// `main_window`, `notification`.
        surface: Option<String>,
    }
}

answers! {
    /// One line of the list.
    ApprovalRow {
        approval_id: String,
        task_id: String,
        action_class: ActionClass,
        risk: RiskBand,
        summary: Text,
        status: ApprovalStatus,
        requested_at: i64,
        expires_at: i64,
        resolved_at: Option<i64>,
        surface: Option<Surface>,
        feedback: Option<Text>,
        reason: String,
        /// Who began the task that asks; what Hermit itself began interrupts nobody.
        origin: Origin,
        /// The task whose agent gave this one away, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part_of: Option<PartOf>,
        /// The model or the agent of another program that asks; absent where it is none, such as a playbook.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The path of the folder that its task works in; absent where it works in none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<Text>,
    }

    /// Everything a person reads, and everything a signer needs.
    Approval {
        row: ApprovalRow,
        /// What is asked, in a line.
        title: String,
        /// The card, the gravest first. Of a large one the beginning of each part; `approvals.lines` has every line.
        lines: Vec<Line>,
        /// How many of `lines`, from the second on, tell of the act itself.
        act_lines: u32,
        /// Lines that are not here.
        lines_left: u64,
        /// Why the like of it is asked about each time, where no standing approval can cover it.
        asked_each_time: Option<String>,
        /// The packet without its long lists, which `changes.show` and `approvals.lines` give in parts.
        outline: Value,
        /// Places of the folder that it touches.
        resources: u64,
        /// Hosts that it may reach, or lets tasks reach from now on, as `name:port`; `*:0` is any public one.
        hosts: Vec<String>,
        /// Places that were looked at, and are looked at again before anything runs.
        checked: u64,
        /// SHA-256 of the packet: what is approved.
        packet_sha256: String,
        /// Bytes of the packet.
        packet_bytes: u64,
        /// Base64 of the packet's canonical bytes; of a large one `approvals.packet` gives them in pieces.
        packet: Option<String>,
        nonce: String,
        /// The person who would answer.
        person_id: String,
        /// Key id of the approval key in force; absent when none is registered.
        approval_keyid: Option<String>,
        receipt_id: Option<String>,
        /// Where two different keys have to say yes: what is known of them while it waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        two_keys: Option<TwoKeys>,
    }

    /// Two different keys have to say yes.
    TwoKeys {
        /// How many have.
        given: u32,
        /// Keys that may say yes here.
        able: u32,
        /// All of it in a sentence.
        says: String,
    }

    /// A piece of the bytes to sign.
    Piece {
        /// Base64.
        bytes: String,
        /// Where the next piece begins; absent at the end.
        next: Option<u64>,
    }

    /// One line of the card.
    Line {
        kind: CardLine,
        text: String,
    }

    /// What became of an answer.
    Decided {
        approval_id: String,
        task_id: String,
        /// Whether it counts; not when it was answered before, expired or withdrawn.
        accepted: bool,
        /// The approval's status now.
        status: ApprovalStatus,
    }
}

/// A part of the list.
pub type Approvals = Page<ApprovalRow>;
/// A part of the lines.
pub type LinePage = Page<Line>;
