//! Goals of other machines, and goals for them. A person said them at a machine that a person paired with this one, and the key of
//! that machine's log signed them: so they are words of that person (decision 307). They begin work and allow none of its acts.

use super::super::enclose::Encloses;
use super::super::firing::OWN_KEYS;
use super::super::submit::Submission;
use super::{MeshDone, MeshGoal, MeshSent, MeshTerms, not_joined};
use crate::kernel::{Kernel, lock};
use crate::mesh_registry::{MeshRegistry, Unanswered};
use crate::{Error, redaction};
use mesh::{Answer, Command, FIELD_BYTES_MAX, FORMAT, Input, Letter, NodeId, Says, State};
use model::body::{ConversationOpened, KeyPurpose, MeshTaken};
use model::envelope::{ENVELOPE_VERSION, Envelope, EnvelopeKind, EnvelopePayload, EnvelopeSender};
use model::fault::Point;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::{ConversationId, Digest, Sensitive, TaskId, WorkspaceId};
use seal::{PublicKey, canon};

/// What an envelope of the mesh names as its gateway.
const GATEWAY: &str = "mesh";
/// No key that is known of the machine which took a message in signed it.
const UNSIGNED: &str =
    "The signature of the machine that took the message in does not hold where it came; send it again.";
/// For how long a message waits for the notice of the key that signed it, in milliseconds.
const KEY_WAIT_MS: i64 = 10 * 60_000;
/// Messages of one machine that wait for it at once.
const KEY_WAIT_MAX: usize = 64;
/// Goals of one machine that are at work here at once.
const AT_WORK_MAX: usize = 64;
/// Bytes of the alias of a folder.
const ALIAS_BYTES_MAX: usize = 128;

/// What is known of the machine that took a message in, and of that message.
struct Afar {
    /// As this machine's person calls it.
    name: String,
    /// How many of its goals are at work here.
    at_work: usize,
    /// Whether it is on record which task the message is about.
    is_taken: bool,
}

/// The envelope of a message, where the machine that took it in signed it for this conversation. `own`: the keys of this
/// machine's log, now and before, for messages of its own that come back.
///
/// # Errors
/// Why it is none, in words.
pub(crate) fn opened(state: &State, input: &Input, own: &[PublicKey]) -> Result<Envelope, &'static str> {
    let envelope = Envelope::from_bytes(input.envelope.as_bytes())
        .map_err(|_| "The machine that has the conversation cannot read the message.")?;
    let (payload, origin) = (&envelope.payload, input.origin);
    let is_read = payload.version == ENVELOPE_VERSION
        && payload.kind == EnvelopeKind::Words
        && payload.attachments.is_empty()
        && payload.sender.gateway == GATEWAY;
    if !is_read {
        return Err("The machine that has the conversation cannot use a message of this form.");
    }
    let names = |id: Option<ConversationId>| id.is_some_and(|id| id.to_string() == input.conversation);
    if payload.sender.sender != origin.to_string() || !names(envelope.conversation_id) {
        return Err("The message is of another machine, or for another conversation, than it came as.");
    }
    let theirs = state.log_key(origin).filter(|_| state.is_peer(origin));
    let keys = if origin == state.me() { own } else { theirs.map(std::slice::from_ref).unwrap_or_default() };
    if !keys.iter().any(|key| envelope.is_signed_by(key)) {
        return Err(UNSIGNED);
    }
    Ok(envelope)
}

impl Kernel {
    /// A goal that is ready to be sent: signed, with what the node is to be told so that it goes to that machine. Nothing is on
    /// record by it.
    ///
    /// # Errors
    /// [`Error::Conflict`] where this machine is no node, or the conversation is elsewhere; [`Error::NotFound`] without the machine;
    /// [`Error::Input`] and [`Error::Secret`] for words that cannot be sent.
    pub fn mesh_goal(&self, goal: &MeshGoal) -> Result<MeshSent, Error> {
        let registry = self.mesh_registry();
        let (Some(node), Some(state)) = (registry.node(), registry.state()) else {
            return Err(not_joined());
        };
        // What the key holds is nobody's to see.
        let message_id = Digest::of(format!("{node}\n{}", goal.key).as_bytes()).to_string();
        if let Some(first) = registry.sent_as(&message_id) {
            let conversation = first.conversation.clone();
            return Ok(MeshSent { say: Vec::new(), id: first.id, conversation });
        }
        if !state.is_peer(goal.to) {
            return Err(Error::NotFound { kind: "machine of the mesh", id: goal.to.to_string() });
        }
        let folder = goal.folder.clone().unwrap_or_default();
        if goal.text.trim().is_empty() {
            return Err(Error::Input("the goal is empty; say what is to be done".to_owned()));
        }
        if folder.len() > ALIAS_BYTES_MAX || folder.chars().any(model::visible::is_hidden) {
            return Err(Error::Input(format!("the alias of a folder has at most {ALIAS_BYTES_MAX} bytes")));
        }
        redaction::exact(&self.ports.redactor.now(), format!("{folder}\n{}", goal.text).as_bytes())?;
        let mut say = self.news_of_log_key(&registry);
        let id = match &goal.conversation {
            Some(named) => going_on(&registry, state, goal.to, named)?,
            None => {
                let id = ConversationId::fresh(&*self.ports.clock, &*self.ports.entropy);
                let (conversation, to) = (id.to_string(), goal.to);
                let head = self.signed_head()?.root;
                say.push(Command::Own { conversation: conversation.clone() });
                say.push(Command::HandOver { conversation, to, head });
                id
            }
        };
        let envelope = self.envelope_of(&registry, (node, id), (folder, message_id), &goal.text)?;
        let conversation = id.to_string();
        let input =
            Input { conversation: conversation.clone(), origin: node, envelope: envelope.clone(), hops: 0 };
        if !is_sendable(node, goal.to, &input)? {
            return Err(Error::Input(format!(
                "the goal has {} bytes, which is more than a message to another machine holds; put the text into a file \
                 there, and say in the goal what to do with it",
                goal.text.len()
            )));
        }
        say.push(Command::Route { conversation: conversation.clone(), envelope });
        Ok(MeshSent { say, id: input.id(), conversation })
    }

    fn envelope_of(
        &self,
        registry: &MeshRegistry,
        (node, conversation): (NodeId, ConversationId),
        (chat, message_id): (String, String),
        text: &str,
    ) -> Result<String, Error> {
        let payload = EnvelopePayload {
            version: ENVELOPE_VERSION,
            kind: EnvelopeKind::Words,
            seq: 1,
            sent_at: self.ports.clock.now(),
            sender: EnvelopeSender {
                gateway: GATEWAY.to_owned(),
                chat,
                is_group: false,
                sender: node.to_string(),
                name: registry.name().unwrap_or_default().to_owned(),
                message_id,
            },
            body: text.to_owned(),
            attachments: Vec::new(),
            in_reply_to: None,
        };
        let signer = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let node_id = self.reader.log_id().to_owned();
        let envelope = Envelope::sign(Some(conversation), node_id, payload, &*signer)?;
        String::from_utf8(envelope.to_bytes()?).map_err(|e| Error::Broken(e.to_string()))
    }

    /// A message of another machine begins a task, or is words to one that is at work in its conversation; where it cannot be used,
    /// the machine that took it in is told why.
    pub(super) fn deliver_input(&self, input: &Input, terms: &MeshTerms) -> Result<MeshDone, Error> {
        // What is recorded meanwhile copies no registry: of that, only what was read of it is held.
        let Some((opened, from)) = self.open_input(input) else { return Ok(MeshDone::default()) };
        let taken = match opened {
            Ok(envelope) => self.take_in_goal(&from, input, &envelope, terms),
            Err(UNSIGNED) if self.may_be_signed(&self.mesh_registry(), &input.id()) => {
                return Ok(MeshDone { waits: true, ..MeshDone::default() });
            }
            Err(why) => Err(Error::Input(why.to_owned())),
        };
        let why = match taken {
            Ok((task, is_begun)) => {
                let answer = (!is_begun).then(|| self.is_added(task)).transpose()?;
                let say = answer.and_then(|body| self.reply(input, body, false));
                let (say, drive) = (say.into_iter().collect(), vec![task]);
                return Ok(MeshDone { say, drive, ..MeshDone::default() });
            }
            Err(Error::Input(why) | Error::Conflict(why) | Error::Reasoning(why)) => why,
            Err(Error::Refused(refusal)) => refusal.reason,
            Err(error @ (Error::NotFound { .. } | Error::Severed { .. })) => error.to_string(),
            Err(Error::Secret(_)) => SECRET.to_owned(),
            Err(error) => return Err(error),
        };
        let say = self.reply(input, why, true).into_iter().collect();
        Ok(MeshDone { say, ..MeshDone::default() })
    }

    /// Whether a key may have signed a message that is not known yet: the message may be faster than the notice of the key.
    fn may_be_signed(&self, registry: &MeshRegistry, id: &Digest) -> bool {
        let now = self.ports.clock.now();
        let is_young = |one: &Unanswered| {
            one.task_id.is_none() && (0..KEY_WAIT_MS).contains(&now.0.saturating_sub(one.at.0))
        };
        // Of a machine that is not paired no notice is taken, and whoever sends may name as many such machines as there are.
        let may_tell = |node: NodeId| registry.state().is_some_and(|state| state.is_peer(node));
        let is_its = |one: &&Unanswered| is_young(one) && may_tell(one.node);
        let Some(waits) = registry.unanswered().get(id).filter(is_its) else { return false };
        let all = registry.unanswered().values().filter(|one| one.node == waits.node && is_young(one));
        all.count() <= KEY_WAIT_MAX
    }

    /// What is in a message that waits for its end here, or why it cannot be used, and what is known of where it comes from.
    fn open_input(&self, input: &Input) -> Option<(Result<Envelope, &'static str>, Afar)> {
        let (registry, id) = (self.mesh_registry(), input.id());
        let state = registry.state()?;
        if input.origin != state.me() && !registry.unanswered().contains_key(&id) {
            return None;
        }
        let mut own = self.ports.keys.log_keys();
        own.extend(lock(&self.store).keys.get(&KeyPurpose::Log).map(|(_, key)| *key));
        let of_it = registry.unanswered().values().filter(|one| one.node == input.origin);
        let from = Afar {
            name: registry.name_of(input.origin),
            at_work: of_it.filter(|one| one.task_id.is_some()).count(),
            is_taken: registry.task_of(&id).is_some(),
        };
        Some((opened(state, input, &own), from))
    }

    /// An answer to a message, where the machine that took it in may be written to.
    fn reply(&self, input: &Input, body: String, refused: bool) -> Option<Command> {
        let (conversation, answers) = (input.conversation.clone(), input.id());
        let registry = self.mesh_registry();
        reply_to(registry.state()?, input.origin, Answer { conversation, answers, body, refused })
    }

    /// A message that holds a secret of this machine is not kept, and begins nothing.
    pub(super) fn deliver_secret(&self, input: Digest, origin: NodeId, conversation: &str) -> MeshDone {
        let registry = self.mesh_registry();
        let waits = registry.state().filter(|_| registry.unanswered().contains_key(&input));
        let answer = Answer {
            conversation: conversation.to_owned(),
            answers: input,
            body: SECRET.to_owned(),
            refused: true,
        };
        let say = waits.and_then(|state| reply_to(state, origin, answer));
        MeshDone { say: say.into_iter().collect(), ..MeshDone::default() }
    }

    /// Takes a message in once; `true` where it began its task.
    fn take_in_goal(
        &self,
        from: &Afar,
        input: &Input,
        envelope: &Envelope,
        terms: &MeshTerms,
    ) -> Result<(TaskId, bool), Error> {
        let id = input.id();
        let key = format!("{OWN_KEYS}mesh:{id}");
        let taken = match self.taken_before(&key)? {
            Some(taken) => taken,
            None => self.take_words(from, envelope, (terms, key.as_str()))?,
        };
        if !from.is_taken {
            let mut w = self.mesh_writeup(input.origin)?;
            let taken_at = w.now;
            let body = MeshTaken { input: id, about_task_id: taken.0, taken_at };
            w.push_keyed(Some(format!("mesh:taken:{id}")), body);
            self.commit_once(w)?;
        }
        Ok(taken)
    }

    /// The task that these words began, or that heard them, where they came before.
    fn taken_before(&self, key: &str) -> Result<Option<(TaskId, bool)>, Error> {
        let Some(first) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? else { return Ok(None) };
        let record = self.received(&first, key)?;
        match record.explicit_task_ref {
            Some(task) => Ok(Some((task, false))),
            None => Ok(self.bound_task(record.ingress_id)?.map(|task| (task, true))),
        }
    }

    fn take_words(
        &self,
        from: &Afar,
        envelope: &Envelope,
        (terms, key): (&MeshTerms, &str),
    ) -> Result<(TaskId, bool), Error> {
        let nameless = || Error::Input("The message names no conversation.".to_owned());
        let conversation = envelope.conversation_id.ok_or_else(nameless)?;
        let body = envelope.payload.body.as_str();
        let is_open = lock(&self.store).conversations.iter().any(|one| one.conversation_id == conversation);
        let is_begun = self.reader.by_idempotency_key(&format!("ingress:{key}"))?.is_some();
        if is_open && !is_begun {
            let open = self.open_in(&self.query()?, conversation)?;
            let own: Vec<TaskId> =
                open.iter().filter(|row| row.channel == Channel::Mesh).map(|row| row.task_id).collect();
            match own.as_slice() {
                [] => {}
                [one] => {
                    let words = self.hear_for(*one, body, (Channel::Mesh, key), &Encloses::default());
                    return words.map(|task| (task, false));
                }
                _ => {
                    return Err(Error::Conflict(
                        "Several tasks of this conversation are at work there: send it as a goal of its own, without the \
                         conversation."
                            .to_owned(),
                    ));
                }
            }
        }
        if from.at_work >= AT_WORK_MAX {
            return Err(Error::Conflict(format!(
                "{} goals of this machine are at work there already: send it again when some of them are done.",
                from.at_work
            )));
        }
        let workspace_id = self.folder_of(&envelope.payload.sender.chat, terms)?;
        if !is_open {
            let title = format!("From {}: {body}", from.name);
            self.open_from_afar(conversation, &title, workspace_id)?;
        }
        let (goal, reasoning) = (body.to_owned(), terms.reasoning.clone());
        let made = self.submit(&Submission {
            profile: terms.profile,
            conversation_id: Some(conversation),
            ..Submission::of(goal, workspace_id, reasoning, Channel::Mesh, key.to_owned())
        })?;
        Ok((made.task_id, true))
    }

    /// The folder of a goal, by the alias that a person gave it here. No path is told.
    fn folder_of(&self, alias: &str, terms: &MeshTerms) -> Result<WorkspaceId, Error> {
        let known = || terms.folders.keys().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ");
        let path = match (alias, terms.folders.len()) {
            (_, 0) => {
                return Err(Error::Input(
                    "That machine takes no goals: it has no folder for them.".to_owned(),
                ));
            }
            ("", 1) => terms.folders.values().next(),
            ("", _) => {
                return Err(Error::Input(format!("Say in which folder; that machine has {}.", known())));
            }
            (alias, _) => terms.folders.get(alias),
        };
        let unknown = || Error::Input(format!("That machine has no folder `{alias}`; it has {}.", known()));
        let path = path.ok_or_else(unknown)?;
        let away = || Error::Input(format!("The folder `{alias}` is not there on that machine just now."));
        let workspace_id = self.workspace(path)?;
        self.executors_at(path, workspace_id).map_err(|_| away())?;
        Ok(workspace_id)
    }

    /// Opens the conversation of a goal under the id that all machines know it by.
    fn open_from_afar(
        &self,
        conversation_id: ConversationId,
        title: &str,
        workspace_id: WorkspaceId,
    ) -> Result<(), Error> {
        let title: String = title.lines().next().unwrap_or_default().chars().take(120).collect();
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::IngressBind, actor, conversation_id.to_string(), None)?;
        let inbox_task_id = TaskId::fresh(&*self.ports.clock, &*self.ports.entropy);
        let (title, workspace_id) = (Sensitive::from(title), Some(workspace_id));
        let opened = ConversationOpened { conversation_id, inbox_task_id, title, workspace_id };
        w.push_keyed(Some(format!("mesh:conversation:{conversation_id}")), opened);
        self.commit_once(w)
    }

    fn is_added(&self, task: TaskId) -> Result<String, Error> {
        let title = match self.task(task) {
            Ok(state) => state.task.title.shown().cloned(),
            Err(Error::NotFound { .. } | Error::Severed { .. }) => None,
            Err(error) => return Err(error),
        };
        let title = title.unwrap_or_else(|| "(erased)".to_owned());
        Ok(format!("It was added to what is at work there: {title}"))
    }

    /// Refuses what would begin in a conversation that another machine of the mesh has: it is said there, or the conversation is
    /// taken back.
    ///
    /// # Errors
    /// [`Error::Conflict`], in words.
    pub(crate) fn takes_goals(
        &self,
        conversation: Option<ConversationId>,
        (channel, key): (Channel, &str),
    ) -> Result<(), Error> {
        // What Hermit does by itself for a conversation goes on here.
        let (Some(conversation), false) =
            (conversation, matches!(channel, Channel::Scheduler | Channel::System))
        else {
            return Ok(());
        };
        let registry = self.mesh_registry();
        let Some(owner) = registry.owner_elsewhere(&conversation.to_string()) else { return Ok(()) };
        // What began here before is what it was.
        if self.reader.by_idempotency_key(&format!("ingress:{key}"))?.is_some() {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "the conversation is on `{}`, another machine of yours: send the goal there (`hermit mesh send`), or take the \
             conversation back (`hermit mesh take`)",
            registry.name_of(owner)
        )))
    }
}

/// What is told of a message that holds a secret.
const SECRET: &str = "It holds the value of a secret of that machine, so nothing of it was kept and nothing was done: name the \
                      secret by its handle.";

/// The conversation that a goal goes on with, where the machine that it is for has it.
fn going_on(
    registry: &MeshRegistry,
    state: &State,
    to: NodeId,
    named: &str,
) -> Result<ConversationId, Error> {
    let unknown = || Error::NotFound { kind: "conversation in the mesh", id: named.to_owned() };
    let conversation: ConversationId = named.parse().map_err(|_| unknown())?;
    let owner = state.handed_to(named).or_else(|| state.owner(named).map(|(_, by)| by));
    match owner.ok_or_else(unknown)? {
        owner if owner == to => Ok(conversation),
        owner if owner == state.me() => Err(Error::Conflict(
            "the conversation is on this machine: say it here, or hand the conversation over first"
                .to_owned(),
        )),
        owner => Err(Error::Conflict(format!(
            "the conversation is on `{}`: send the goal there, or begin a new conversation",
            registry.name_of(owner)
        ))),
    }
}

/// Whether a message fits into a letter.
fn is_sendable(from: NodeId, to: NodeId, input: &Input) -> Result<bool, Error> {
    let letter = Letter {
        format: FORMAT.to_owned(),
        from,
        to,
        number: u64::from(u32::MAX),
        says: Says::Input(Input { hops: 1, ..input.clone() }),
        before: Digest::ZERO,
        chain: Digest::ZERO,
    };
    let text = String::from_utf8(canon::to_canonical(&letter)?).map_err(|e| Error::Broken(e.to_string()))?;
    Ok(input.envelope.len() <= FIELD_BYTES_MAX && mesh::sealed::fits(&text))
}

/// An answer, where the machine that it is for may be written to.
pub(super) fn reply_to(state: &State, to: NodeId, answer: Answer) -> Option<Command> {
    state.is_peer(to).then(|| Command::Reply { to, answer: super::replies::bounded(answer) })
}
