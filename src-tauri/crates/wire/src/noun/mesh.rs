//! The mesh: one's own machines, what they say to each other, and what of it waits where (mesh.md 4, 5).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use crate::{PersonSigned, Text};
use std::collections::BTreeMap;
use words::mesh::{DeliveryState, MeshAlert, MeshPairingState, NeverReason};

params! {
    /// How the mesh stands on this machine.
    Show {}
    /// What this machine is in the mesh. What is not said stays as it is.
    Set {
        /// Whether it is on; turned off, nothing is sent and nothing heard.
        on: Option<bool>,
        /// Whether it leaves, which turns it off: what waits for other machines is let go of. Turned on again it speaks with the key
        /// that the instance has then; with another one than before it is paired anew.
        #[serde(default)]
        leave: bool,
        /// As its person calls it.
        name: Option<String>,
        /// Addresses of relays at which it reads, `wss://…`.
        relays: Option<Vec<String>>,
        /// The address and port at which paired machines of the same network reach it, such as `192.168.1.5:7447`; an empty one for
        /// none.
        listen: Option<String>,
        /// Folders that other machines may send goals to: alias and absolute path. All that are not named are taken away.
        folders: Option<BTreeMap<String, String>>,
        /// Who proposes in goals of other machines: a model, as for a task; none is the standard model.
        model: Option<String>,
        /// Whether everybody who reads its relays may see that it is here: its key, how busy it is, and how many tools and models it has,
        /// and the newest signed head of its log; no names.
        public: Option<bool>,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// A code for another machine is shown.
    Invite {
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// The code that another machine shows.
    Join {
        code: String,
        /// Where both meet: addresses of relays, or `address:port` of the other machine; one's own relays when it is not said.
        #[serde(default)]
        at: Vec<String>,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// How a pairing stands that was begun.
    Pairing {}
    /// Every machine that is or was paired.
    Nodes {}
    /// A machine that is not to be believed from now on, by its name or key.
    Withdraw {
        node: String,
        reason: Option<String>,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// A goal for another machine, which works on it where its folder is.
    Send {
        /// The machine, by its name or key.
        to: String,
        /// The folder there, by its alias; the only one that it tells when it is not said.
        folder: Option<String>,
        /// The conversation that it goes on with; a new one when it is not said.
        conversation: Option<String>,
        text: String,
        idempotency_key: Option<String>,
    }
    /// What was sent to other machines and came from them, the newest first.
    Messages { before: Option<u64>, limit: Option<u32> }
    /// A conversation passes to another machine.
    HandOver {
        conversation: String,
        to: String,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// A conversation is taken from a machine that does not answer.
    Take {
        conversation: String,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// The receipts of all machines, the newest first.
    Receipts { before: Option<u64>, limit: Option<u32> }
    /// What other machines ask a person here.
    Questions {}
    /// The approval key of another machine may say yes here from now on, or no more.
    Approver {
        /// The machine, by its name or key.
        node: String,
        /// Whether it may.
        allow: bool,
        /// What this machine's approval key signed of that key, base64 of the DSSE envelope; nothing to take it away.
        signed: Option<String>,
    }
    /// An answer to what another machine asks.
    Answer {
        approval: String,
        allow: bool,
        /// What was shown: another packet is not answered.
        packet_sha256: Option<String>,
        /// The word that the question names, where a yes needs it.
        word: Option<String>,
        /// What the approval key of this machine signed for it, base64.
        signed: Option<String>,
    }
    /// Which machines may hold a schedule, the first one first; none takes it out of the mesh.
    Hold {
        schedule: String,
        nodes: Vec<String>,
        term_minutes: Option<u32>,
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// Everything that waits for a machine, or for any, is written to a file that a person carries.
    Export { path: String, node: Option<String> }
    /// A file that a person carried here.
    Import { path: String }
}

answers! {
    /// How the mesh stands on this machine.
    Mesh {
        on: bool,
        name: Option<String>,
        /// The public key that this machine speaks with, in hex; none before it was on.
        node: Option<String>,
        /// The key by which it signs that it has seen heads of the logs of the others, as a reader of their proofs names it.
        cosign_key: Option<String>,
        relays: Vec<String>,
        listen: Option<String>,
        /// Folders by alias.
        folders: BTreeMap<String, String>,
        model: Option<String>,
        /// Whether everybody who reads its relays may see that it is here.
        public: bool,
        /// Ways that are open or were tried, as the process that holds the store knows them.
        ways: Vec<Way>,
        /// Messages that no other machine opened yet.
        waiting: u64,
        /// What a person has to know, the newest first.
        alerts: Vec<Alert>,
    }
    /// A relay, or a machine that is reached directly.
    Way {
        /// The address of the relay, or the name of the machine.
        at: String,
        is_direct: bool,
        is_open: bool,
        /// What it said last, or why it is not open.
        says: Option<String>,
    }
    /// Something that a person has to know.
    Alert { kind: MeshAlert, node: Option<String>, name: Option<String>, says: String, at: i64 }
    /// A code, until when it counts, and where both meet.
    Code { code: String, until: i64, at: Vec<String> }
    /// How a pairing stands.
    PairingState {
        state: MeshPairingState,
        /// The code that is shown, for a person who is there; a program gets none.
        code: Option<String>,
        until: Option<i64>,
        node: Option<String>,
        name: Option<String>,
        /// How often the code may be typed wrong still, where it was.
        tries_left: Option<u32>,
        /// Who refused it and why, or what is waited for.
        says: Option<String>,
    }
    /// Machines.
    NodeList { nodes: Vec<Node> }
    /// A machine.
    Node {
        /// Its public key, in hex.
        node: String,
        name: Text,
        relays: Vec<String>,
        /// Until when what it told last counts; none where nothing is heard of it.
        here_until: Option<i64>,
        tools: Vec<String>,
        models: Vec<String>,
        folders: Vec<String>,
        /// How busy it is, in per cent.
        load: Option<u8>,
        /// Messages for it that wait here, and of those the ones that a relay has.
        queued: u64,
        accepted: u64,
        /// The fingerprint of its approval key, where it showed one.
        approval_key: Option<String>,
        /// Whether that key may say yes here.
        is_approver: bool,
        /// The key by which it signed a head of this log last: whoever reads a proof names it as that of a witness.
        cosign_key: Option<String>,
        is_withdrawn: bool,
        /// Whether it tells everybody at relays that it is here.
        is_public: bool,
    }
    /// What was sent.
    Sent { message: String, conversation: String, state: DeliveryState }
    /// Messages.
    MessageList { messages: Vec<Message>, before: Option<u64> }
    /// A message to or from another machine.
    Message {
        place: u64,
        /// By what it is known on both machines.
        message: String,
        at: i64,
        is_outgoing: bool,
        node: String,
        name: Text,
        conversation: String,
        text: Option<Text>,
        state: DeliveryState,
        /// Which relay has it.
        accepted_by: Option<String>,
        never: Option<NeverReason>,
        /// The task that it began here.
        task_id: Option<String>,
        /// What was answered.
        answer: Option<Text>,
        answered_at: Option<i64>,
        /// Since when it is known here that it waits for the person of the other machine; none while it does not.
        waits_since: Option<i64>,
    }
    /// A conversation and who owns it.
    Owned { conversation: String, node: String, name: String, epoch: u64 }
    /// Receipts of all machines.
    ReceiptList { receipts: Vec<Receipt>, before: Option<u64> }
    /// A receipt of a machine.
    Receipt {
        place: u64,
        node: String,
        name: Text,
        /// Its number in the log of that machine.
        number: u64,
        sha256: String,
        at: i64,
        /// Its id, where it is one of this machine.
        receipt_id: Option<String>,
    }
    /// What other machines ask.
    QuestionList { questions: Vec<Question> }
    /// What another machine asks a person here.
    Question {
        approval: String,
        node: String,
        name: Text,
        expires_at: i64,
        /// The packet that is signed, base64; its lines say what would be done.
        packet: String,
        packet_sha256: String,
        title: Text,
        lines: Vec<Text>,
        /// The word that a person types for a yes: the risk, where it is high or critical.
        word: Option<String>,
        /// What an answer needs beside the packet, base64 of its canonical JSON.
        to_sign: String,
    }
    /// A file that was written or read.
    Carried {
        path: String,
        /// Messages that were written, or that were new here. What machines tell each other by themselves is none.
        messages: u64,
        /// Messages that found no room; of a file that was read, lines that nobody can read.
        left_out: u64,
    }
    /// A schedule and who holds it.
    Held { schedule: String, nodes: Vec<String>, holder: Option<String>, epoch: u64 }
}
