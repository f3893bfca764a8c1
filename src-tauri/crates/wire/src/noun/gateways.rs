//! Gateways: chat services that a person connected, the senders that they paired, and what came in and went out. Nothing here
//! connects one, or pairs anybody: each is a card that a person answers.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use crate::task::{Budget, Reasoner};
use crate::{PersonSigned, Text};
use std::collections::BTreeMap;
use words::chat::{
    GatewayState, MessageAbout, MessageRefusal, MessageState, MessageUse, SenderProfile, Service,
};
use words::policy::Profile;
use words::task::TaskStatus;

params! {
    /// Nothing to say.
    List {}
    /// Nothing to say.
    Services {}
    /// One gateway.
    Show { name: String }
    /// The gateway that a person is asked about.
    Add {
        /// Its name; one that stands is changed.
        name: String,
        /// The chat service, by its name, as `gateways.services` lists it.
        service: String,
        /// The server: a base URL, or a host, or relays with blanks between; that of the service itself when absent.
        address: Option<String>,
        /// The name of the bot or the mail address, where the token does not say it.
        user: Option<String>,
        /// What else the service needs, by name; never a token.
        #[serde(default)]
        settings: BTreeMap<String, String>,
        /// The handle of the secret that opens it.
        secret: String,
        /// The folder that tasks of its senders work in, absolute.
        workspace: String,
        /// Who proposes in them: a model or a playbook.
        #[serde(default)]
        reasoner: Reasoner,
        /// The policy profile of tasks of senders who may give goals; `local_edit_allowed` when absent.
        profile: Option<String>,
        /// What each of them may spend.
        #[serde(default)]
        budget: Budget,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The gateway that neither listens nor sends from now on.
    Pause { name: String, reason: Option<String> }
    /// The gateway that listens and sends again.
    Resume {
        name: String,
        /// What a person signed; not needed in the process that holds the store.
        #[serde(default)]
        signed: Option<PersonSigned>,
    }
    /// The gateway that is removed, with everybody who is paired with it.
    Remove { name: String, reason: Option<String> }
    /// The pairing that a person is asked about.
    Pair {
        name: String,
        /// What the sender may do; `ask` when absent.
        profile: Option<SenderProfile>,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// The gateway whose senders are listed.
    Senders { name: String }
    /// The sender who is not paired any more.
    Unpair {
        name: String,
        /// As the list of senders names them.
        sender: String,
        reason: Option<String>,
    }
    /// What came in and went out, the newest first.
    Messages {
        name: String,
        /// Only what is older than this place, as a message before tells it.
        before: Option<u64>,
        /// How many at most.
        limit: Option<u32>,
    }
}

answers! {
    /// Every chat service that a gateway can speak with.
    ServiceList { services: Vec<ServiceNeeds> }
    /// A chat service, and what it needs.
    ServiceNeeds {
        service: Service,
        /// Its name, as it stands within a sentence.
        name: String,
        /// Where a newcomer gets the token.
        how: String,
        /// The tokens, in the order in which the secret holds them, with a blank between.
        tokens: Vec<String>,
        /// What else it needs.
        fields: Vec<ServiceField>,
        /// The hosts that it is spoken with at where no address is given, as `name:port`.
        hosts: Vec<String>,
        /// Where a code is sent: what follows the words "Send this".
        send_to: String,
    }
    /// What a person says of an account beside the token.
    ServiceField {
        /// Where it belongs: `address`, `user`, or the name of a setting.
        at: String,
        /// What it is.
        label: String,
        /// One that could be meant.
        example: String,
        /// What else a newcomer should know.
        hint: Option<String>,
        /// Whether nothing works without it.
        is_needed: bool,
        /// The protocol of an address that is said without one; none where it is no address.
        protocol: Option<String>,
    }
    /// Every gateway that stands, by name.
    Gateways { gateways: Vec<Gateway> }
    /// A gateway as it stands.
    Gateway {
        name: String,
        version: u32,
        service: Service,
        /// The server; none where it is that of the service itself.
        address: Option<String>,
        user: Option<String>,
        settings: BTreeMap<String, String>,
        /// The handle of the secret that opens it.
        secret: String,
        /// Every host that it speaks with, as `name:port`.
        hosts: Vec<String>,
        state: GatewayState,
        /// Why, where it is paused or removed.
        why: Option<String>,
        /// Whether it paused itself, where it is paused: it waits for a person.
        by_itself: bool,
        /// Why the service does not answer just now, as the process that holds the store knows it.
        away: Option<String>,
        folder: String,
        /// The playbook, or the model with its address.
        worker: String,
        /// The policy profile of tasks of senders who may give goals.
        profile: Profile,
        /// Senders who are paired.
        senders: u32,
        /// Messages that wait to be sent.
        queued: u32,
        since: i64,
        artifact_id: String,
    }
    /// A code that pairs its sender, once a person has allowed it. It is told here and nowhere else.
    PairingCode {
        /// The task that asks the person.
        task_id: String,
        name: String,
        code: String,
        profile: SenderProfile,
        /// For how many minutes it can be sent from the person's yes on.
        minutes: u32,
    }
    /// The senders of a gateway who are or were paired.
    SenderList { name: String, senders: Vec<PairedSender> }
    /// A sender who is or was paired.
    PairedSender {
        /// As the service names them.
        sender: String,
        /// As they call themselves there; nobody has checked it.
        sender_name: Text,
        /// The chat in which they were paired, as the service names it.
        chat: String,
        profile: SenderProfile,
        /// The conversation of their tasks.
        conversation_id: String,
        since: i64,
        /// Why they are not paired any more.
        unpaired: Option<String>,
    }
    /// What came in and went out.
    MessageList {
        name: String,
        messages: Vec<Message>,
        /// Where the next page begins, if there is one.
        before: Option<u64>,
    }
    /// A message, or several that were refused for one reason.
    Message {
        /// Its place.
        place: u64,
        at: i64,
        /// Whether it goes out.
        is_outgoing: bool,
        /// The chat, as the service names it.
        chat: Option<String>,
        /// Who sent it, as the service names them.
        sender: Option<String>,
        text: Option<Text>,
        /// What it was used as, where it came in and was heard.
        used_as: Option<MessageUse>,
        /// Why it was refused, where it was.
        refused: Option<MessageRefusal>,
        /// Of those that were refused for this reason: how many there were, at least.
        times: Option<u64>,
        /// What it tells, where it goes out.
        about: Option<MessageAbout>,
        /// How it stands, where it goes out.
        state: Option<MessageState>,
        /// Why, in words.
        why: Option<String>,
        /// The task that it is about.
        task_id: Option<String>,
        /// How that stands.
        task_status: Option<TaskStatus>,
        /// The task that sends it, with its receipt.
        sent_by: Option<String>,
    }
}
