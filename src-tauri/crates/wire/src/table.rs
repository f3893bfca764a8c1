//! The table. Every command stands here once; whoever needs something of all of them hands a macro to
//! [`with_commands!`](crate::with_commands).
//!
//! A row reads: `noun.verb (Params) -> Answer, access [topics];` where both structs live in the module of the noun.
//! TypeScript bindings will be made from this table by the desktop issue.

use crate::Topic;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types, reason = "the table spells classes as it reads")]
pub enum Access {
    /// A store, open for reading: it never locks, boots or resumes.
    read,
    /// The process that holds the store, this one or another one reached over the gateway.
    write,
    /// The process that holds the store, and no machine surface: the gateway refuses it.
    owner,
    /// As `owner`; or, from anywhere else, with what a person signed for exactly that, in `signed`.
    person,
    /// As `person`; or from a page whose link a person read at a terminal: it lets something run by itself again, or says whom
    /// what is said and remembered here is given to from now on.
    surface,
    /// No open store at all.
    free,
}

/// A parameter struct, which is the request itself.
pub trait Command: Serialize + DeserializeOwned {
    /// `noun.verb`.
    const NAME: &'static str;
    /// What it needs.
    const ACCESS: Access;
    /// What comes back.
    type Answer: Serialize + DeserializeOwned;
}

/// A row of the table, for listings.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// `noun.verb`.
    pub name: &'static str,
    /// What it needs.
    pub access: Access,
    /// The topics that make its answer stale.
    pub topics: &'static [Topic],
    /// What it does, in a sentence.
    pub about: &'static str,
}

impl Info {
    /// Whether it changes something.
    pub const fn changes(&self) -> bool {
        !matches!(self.access, Access::read | Access::free)
    }
}

/// Who asks, as far as whoever passes it on can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Somebody at the process that holds the store: its terminal, its windows.
    Owner,
    /// Whoever has the store's bearer token: programs, and terminals and windows that are attached.
    Program,
    /// A page in a browser, by its session. It names no place of this machine but a folder to work in.
    Page,
}

/// What a parameter that names a place of this machine is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// A file that is read.
    Reads,
    /// A file or folder that is made.
    Makes,
    /// A folder that a task works in.
    Works,
}

/// Every parameter that names a place of this machine: its command, its name, what for.
pub const PLACES: &[(&str, &str, Use)] = &[
    ("task.submit", "workspace", Use::Works),
    ("task.submit", "attachments", Use::Reads),
    ("conversations.open", "folder", Use::Works),
    ("conversations.say", "workspace", Use::Works),
    ("agent.open", "workspace", Use::Works),
    ("agent.tools", "workspace", Use::Works),
    ("workspaces.files", "folder", Use::Works),
    ("workspaces.moved", "from", Use::Works),
    ("workspaces.moved", "to", Use::Works),
    ("grants.draft", "workspace", Use::Works),
    ("tools.add", "workspace", Use::Reads),
    ("tools.add", "reads", Use::Reads),
    ("tools.classify", "workspace", Use::Works),
    ("tools.sampling", "workspace", Use::Works),
    ("tools.pass_on", "workspace", Use::Works),
    ("tools.login", "workspace", Use::Works),
    ("tools.call", "workspace", Use::Works),
    ("knowledge.memories", "folder", Use::Works),
    ("knowledge.memory_then", "folder", Use::Works),
    ("knowledge.remember", "workspace", Use::Works),
    ("tools.prompt", "workspace", Use::Works),
    ("schedules.keep", "workspace", Use::Works),
    ("gateways.add", "workspace", Use::Works),
    ("mesh.set", "folders", Use::Works),
    ("mesh.export", "path", Use::Makes),
    ("mesh.import", "path", Use::Reads),
    ("training.private", "folder", Use::Works),
    ("skills.list", "folder", Use::Works),
    ("skills.show", "folder", Use::Works),
    ("skills.trust", "folder", Use::Works),
    ("skills.drafts", "folder", Use::Works),
    ("skills.adopt", "folder", Use::Works),
    ("artifacts.ingest", "path", Use::Reads),
    ("receipts.rollback", "workspace", Use::Works),
    ("changes.export", "path", Use::Makes),
    ("gate.export", "path", Use::Makes),
    ("gate.verify", "path", Use::Reads),
    ("proof.export", "path", Use::Makes),
    ("proof.verify", "path", Use::Reads),
    ("proof.verify", "authorities", Use::Reads),
    ("proof.verify", "bitcoin_headers", Use::Reads),
    ("anchors.set_clocks", "bitcoin_cookie", Use::Reads),
    ("anchors.set_clocks", "headers_file", Use::Reads),
    ("identity.verify", "path", Use::Reads),
    ("identity.export", "path", Use::Makes),
    ("store.backup", "to", Use::Makes),
    ("store.restore", "from", Use::Reads),
    ("store.restore", "to", Use::Makes),
];

/// Places that a command's parameters name.
pub fn places(command: &str) -> impl Iterator<Item = (&'static str, Use)> {
    PLACES.iter().filter(move |(name, ..)| *name == command).map(|(_, field, what)| (*field, *what))
}

/// The row of a command.
pub fn find(name: &str) -> Option<&'static Info> {
    COMMANDS.iter().find(|info| info.name == name)
}

/// Hands the whole table to the macro `$then`, which must be in scope as a name.
#[macro_export]
macro_rules! with_commands {
    ($then:ident) => { $then! {
        "takes a goal or playbook in and makes its task" task.submit(Submit) -> Submitted, write [];
        "lists tasks" task.list(List) -> Tasks, read [tasks];
        "counts tasks by how they stand" task.count(Count) -> TaskCounts, read [tasks];
        "shows one task with its steps, attempts, actions and what it waits for" task.show(Show) -> Task, read [tasks];
        "asks a task to pause" task.pause(Pause) -> Done, write [];
        "lets a paused task go on" task.resume(Resume) -> Done, write [];
        "asks a task to end" task.cancel(Cancel) -> Done, write [];
        "tries again: a new attempt, or a follow-up of an ended task" task.retry(Retry) -> Submitted, write [];
        "adds words to a task" task.note(Note) -> Noted, write [];
        "answers a question of a task" task.answer(Answer) -> Done, write [];
        "lists questions that were put to a person" task.questions(Questions) -> QuestionList, read [tasks];
        "settles an outcome that nobody knows" task.settle(Settle) -> Done, person [];
        "shows working state" task.working_state(WorkingState) -> WorkingStates, read [knowledge];
        "lists the folders that were worked in, and the project of each" workspaces.list(List) -> Workspaces, read [tasks];
        "finds names of files in a folder, for somebody who is naming one" workspaces.files(Files) -> FolderFiles, read [];
        "says that a folder was moved: it continues as the project that it was" workspaces.moved(Moved) -> MovedTo, write [];
        "reads the events of a task in order" task_events.list(List) -> Events, read [tasks];
        "lists approvals" approvals.list(List) -> Approvals, read [approvals];
        "shows an approval as its card and as the exact bytes to sign" approvals.show(Show) -> Approval, read [approvals, receipts];
        "reads the exact bytes to sign, piece by piece" approvals.packet(Packet) -> Piece, read [approvals];
        "reads every line of a card, or every value that is signed, part by part" approvals.lines(Lines) -> LinePage, read [approvals];
        "hands in a decision that a person signed" approvals.decide(Decide) -> Decided, write [];
        "refuses, which any surface may" approvals.deny(Deny) -> Decided, write [];
        "denies all but a part, which is asked about by itself" approvals.part(Part) -> Decided, write [];
        "lists receipts" receipts.list(List) -> Receipts, read [receipts];
        "shows a receipt and whether its signature holds" receipts.show(Show) -> Receipt, read [receipts];
        "tells what undoing a receipt, a task, or everything since a time would do" receipts.plan(Plan) -> UndoPlans, write [];
        "makes the task that undoes a receipt, a task, or everything since a time" receipts.rollback(Rollback) -> Submitted, write [];
        "takes a file in" artifacts.ingest(Ingest) -> Ingested, write [];
        "lists artifacts" artifacts.list(List) -> Artifacts, read [artifacts];
        "shows an artifact" artifacts.show(Show) -> Artifact, read [artifacts];
        "reads the bytes of an artifact" artifacts.content(Content) -> Bytes, read [artifacts];
        "answers where an artifact came from and what came of it" artifacts.lineage(Lineage) -> Lineages, read [artifacts];
        "tells how much room content takes, and how much is saved by keeping the same parts once" artifacts.weigh(Weigh) -> Weighed, read [artifacts];
        "tells what a collection would take: content that no receipt leads to" artifacts.garbage(Garbage) -> Collected, read [artifacts];
        "makes room as it was shown, also while tasks are at work" artifacts.collect(Collect) -> Collected, write [];
        "keeps an artifact, whatever a collection would say" artifacts.keep(Keep) -> Artifact, write [];
        "shows what an approval would change, or a receipt has changed, part by part, with both sides" changes.show(Show) -> Changes, read [approvals, receipts];
        "writes the bytes of a file that an approval or a receipt shows" changes.export(Export) -> Exported, read [];
        "draws what came from what" lineage.draw(Draw) -> Drawing, read [artifacts, receipts, knowledge];
        "shows exactly what was sent to a model and what came back" context.show(Show) -> Context, read [tasks];
        "shows the summary that stands in a context in the place of its oldest turns" context.summary(Summary) -> ContextSummary, read [tasks];
        "sums up the oldest turns of a task's context now" context.compact(Compact) -> Compacted, write [];
        "lists conversations and the task in focus of each" conversations.list(List) -> Conversations, read [tasks];
        "shows one conversation" conversations.show(Show) -> Conversation, read [tasks];
        "reads what was said and done in a conversation, across its tasks" conversations.lines(Lines) -> LineList, read [tasks, approvals, receipts];
        "opens a conversation, in a folder or in none" conversations.open(Open) -> Opened, write [];
        "says something in a conversation; it is bound to what it is about, or waits for a person to say" conversations.say(Say) -> Said, write [];
        "lists messages of which nobody can tell yet what they are about" conversations.undecided(Undecided) -> Messages, read [tasks];
        "says what an open message is about" conversations.bind(Bind) -> Said, write [];
        "lists the commands that may be written behind a slash" conversations.commands(Commands) -> CommandList, free [];
        "lists files that came with messages of a conversation" conversations.files(Files) -> FileList, read [tasks];
        "turns to a task, or to none" conversations.focus(Focus) -> Focused, write [];
        "says how urgent a task is: those that are wait less for a free place" task.set_priority(SetPriority) -> Done, write [];
        "lists steps by how they stand, over all tasks or of one" task.steps(Steps) -> StepList, read [tasks];
        "edits the goal of a task at work" task.edit_goal(EditGoal) -> Done, write [];
        "lists grants" grants.list(List) -> Grants, read [grants];
        "takes an unused grant or a standing grant back" grants.revoke(Revoke) -> Revoked, write [];
        "lists standing grants" grants.standing(Standing) -> StandingList, read [grants];
        "tells the narrowest standing grants that would have answered a question" grants.propose(Propose) -> Proposals, read [approvals];
        "drafts a standing grant and tells which questions of the past it would have answered" grants.draft(Draft) -> Proposal, write [];
        "hands in a standing grant that a person signed" grants.allow(Allow) -> Allowed, write [];
        "lists decisions" knowledge.decisions(Decisions) -> DecisionList, read [knowledge];
        "lists beliefs" knowledge.beliefs(Beliefs) -> BeliefList, read [knowledge];
        "lists what a belief was from revision to revision" knowledge.history(History) -> RevisionList, read [knowledge];
        "takes a belief back" knowledge.revoke(Revoke) -> Revoked, write [];
        "corrects a belief by what a person says of it" knowledge.correct(Correct) -> Corrected, write [];
        "lists durable memory" knowledge.memories(Memories) -> MemoryList, read [knowledge];
        "lists the contexts that a memory record was sent in" knowledge.memory_contexts(MemoryContexts) -> MemoryContextList, read [knowledge];
        "shows what was remembered at a point of the past, and how far that is proven" knowledge.memory_then(MemoryThen) -> MemoryThenList, read [knowledge, store];
        "lists the points of the past at which a root of memory was stated" knowledge.memory_points(MemoryPoints) -> MemoryPointList, read [knowledge, store];
        "makes the task that asks a person whether to remember something" knowledge.remember(Remember) -> Submitted, write [];
        "takes a memory record back" knowledge.forget(Forget) -> Forgotten, write [];
        "marks a memory record as wrong" knowledge.invalidate(Invalidate) -> Invalidated, write [];
        "lists what the historian proposes to remember" knowledge.suggestions(Suggestions) -> SuggestionList, read [approvals, knowledge];
        "looks at tasks that ended for what to remember, and asks a person" knowledge.review(Review) -> Reviewed, write [];
        "searches everything that was said and done" knowledge.search(Search) -> Hits, read [store];
        "checks the whole ledger" ledger.verify(Verify) -> Report, read [store];
        "folds every list anew from the log" ledger.rebuild(Rebuild) -> Rebuilt, owner [];
        "signs the trees of tasks, gate and log" ledger.checkpoint(Checkpoint) -> Checkpoints, write [];
        "shows the newest signed head of the whole log" ledger.head(Head) -> Signed, read [store];
        "compares the store with a head that somebody kept" ledger.compare(Compare) -> Compared, read [store];
        "counts what is there" ledger.stats(Stats) -> Counts, read [store];
        "shows what was severed from the log" ledger.severed(Severed) -> Cuts, read [store];
        "tells whether the gate works or is halted" gate.state(State) -> GateState, read [gate];
        "stops everything until a person boots" gate.halt(Halt) -> GateState, write [];
        "lets Hermit work again" gate.boot(Boot) -> GateState, person [];
        "writes the gate's evidence bundle" gate.export(Export) -> Exported, read [];
        "checks an evidence bundle" gate.verify(Verify) -> Verified, free [];
        "writes the proof of a task or receipt" proof.export(Export) -> Exported, write [];
        "tells what a proof would hand out" proof.preview(Preview) -> Previewed, read [];
        "checks a proof" proof.verify(Verify) -> Report, free [];
        "lists the public keys in force" keys.list(List) -> Keys, read [keys];
        "makes public keys known to the store" keys.register(Register) -> Keys, owner [];
        "lists changes of Hermit itself that were adopted" adoptions.list(List) -> AdoptionList, read [store];
        "makes the task that asks a person whether a tried change of Hermit itself is adopted" adoptions.propose(Propose) -> Submitted, write [];
        "makes the task that asks a person whether what was before an adopted change is at work again" adoptions.back(Back) -> Submitted, write [];
        "shows who this instance is: SOUL.md, its key, and the chain of what it said of itself" identity.show(Show) -> Identity, read [store, keys, approvals];
        "makes the task that asks a person whether SOUL.md is this text from now on" identity.write(Write) -> Submitted, write [];
        "signs an attestation of SOUL.md with the key of this instance" identity.attest(Attest) -> Attested, owner [];
        "makes the task that asks a person whether the chain of this instance is published at relays" identity.publish(Publish) -> Submitted, write [];
        "follows a chain of attestations and hand-overs back to genesis" identity.verify(Verify) -> TrustGraph, free [];
        "writes the chain of this instance to a file" identity.export(Export) -> Exported, read [];
        "lists anchors: heads of the log that clocks elsewhere have stamped" anchors.list(List) -> Anchors, read [store];
        "shows an anchor" anchors.show(Show) -> Anchor, read [store];
        "makes the task that asks a person whether clocks stamp the newest head of the log" anchors.stamp(Stamp) -> Submitted, write [];
        "makes the task that asks clocks how what is pending stands" anchors.complete(Complete) -> Submitted, write [];
        "lists the clocks that are asked" anchors.clocks(Clocks) -> ClockSettings, read [store];
        "sets which clocks are asked" anchors.set_clocks(SetClocks) -> ClockSettings, write [];
        "tells what the wallet of this instance holds and what an anchor would cost" anchors.wallet(Wallet) -> WalletState, write [];
        "shows how the mesh of one's own machines stands here" mesh.show(Show) -> Mesh, read [store];
        "sets what this machine is in the mesh, and whether it is on" mesh.set(Set) -> Mesh, surface [];
        "shows a code with which another machine is paired" mesh.invite(Invite) -> Code, surface [];
        "pairs this machine with the one that shows a code" mesh.join(Join) -> PairingState, surface [];
        "tells how a pairing stands" mesh.pairing(Pairing) -> PairingState, write [];
        "lists the machines of the mesh, and how each stands" mesh.nodes(Nodes) -> NodeList, write [];
        "ends that a machine is believed" mesh.withdraw(Withdraw) -> NodeList, surface [];
        "sends a goal to another machine" mesh.send(Send) -> Sent, write [];
        "lists messages to and from other machines, and how far each came" mesh.messages(Messages) -> MessageList, read [store];
        "hands a conversation over to another machine" mesh.hand_over(HandOver) -> Owned, surface [];
        "takes a conversation from a machine that does not answer" mesh.take(Take) -> Owned, surface [];
        "lists the receipts of all machines" mesh.receipts(Receipts) -> ReceiptList, read [store];
        "lists what other machines ask a person here" mesh.questions(Questions) -> QuestionList, read [store];
        "sets whether the approval key of another machine may say yes here" mesh.approver(Approver) -> NodeList, surface [];
        "answers what another machine asks" mesh.answer(Answer) -> QuestionList, write [];
        "sets which machines may hold a schedule" mesh.hold(Hold) -> Held, surface [];
        "writes what waits for other machines to a file that a person carries" mesh.export(Export) -> Carried, write [];
        "takes in a file that a person carried from another machine" mesh.import(Import) -> Carried, write [];
        "tries changes of Hermit itself on the person's own past work, and applies none" successor.try_change(Try) -> TrialList, write [];
        "tells what changes of Hermit itself are, and what each clone might use up, and begins nothing" successor.preview(Preview) -> Previewed, free [];
        "lists trials of changes of Hermit itself" successor.list(List) -> TrialList, read [store];
        "shows what a trial of a change ran, what differed, and its verdict" successor.show(Show) -> Trial, read [store];
        "stops a trial of a change" successor.stop(Stop) -> Trial, write [];
        "lists secrets by handle, without their values" secrets.list(List) -> Secrets, read [store];
        "starts a server of tools behind walls, and makes the task that asks a person whether to register it" tools.add(Add) -> Submitted, write [];
        "makes the task that asks a person what a tool of a server may do" tools.classify(Classify) -> Submitted, write [];
        "makes the task that asks a person how much a server of tools may ask of a model" tools.sampling(Sampling) -> Submitted, write [];
        "makes the task that asks a person whether the tools of a server are passed on to agents of other programs" tools.pass_on(PassOn) -> Submitted, write [];
        "ends that the tools of a server are passed on" tools.pass_off(PassOff) -> Servers, write [];
        "finds out who gives tokens for a server of tools, and makes the task that asks a person whether to log in" tools.login(Login) -> Submitted, write [];
        "begins a log-in that a person has allowed, and waits for their browser" tools.login_begin(LoginBegin) -> LoginAt, write [];
        "gives up a log-in that waits for a person" tools.login_cancel(LoginCancel) -> LoginAt, write [];
        "tells how a log-in stands, as the process that holds the store knows it" tools.login_stands(LoginStands) -> LoginAt, write [];
        "forgets the tokens of a log-in, and asks whoever gave them to take them back" tools.logout(Logout) -> LoggedOut, write [];
        "lists log-ins at servers of tools, and where a person goes for one that waits" tools.logins(LoginList) -> Logins, read [store];
        "makes the task that calls a tool of a server once, as an agent would" tools.call(Call) -> Submitted, write [];
        "makes the task that gets the text of a prompt of a server" tools.prompt(Prompt) -> Submitted, write [];
        "lists servers of tools and their tools" tools.list(List) -> Servers, read [store];
        "shows a server of tools with every word that it says" tools.show(Show) -> Shown, read [store];
        "stops the use of a server of tools until it is registered again" tools.disable(Disable) -> Servers, write [];
        "forgets a server of tools" tools.remove(Remove) -> Servers, write [];
        "lists skills of a project and the person's own, and how each stands" skills.list(List) -> SkillList, read [store];
        "shows a skill with every word of it" skills.show(Show) -> SkillShown, read [store];
        "makes the task that asks a person whether a skill is trusted" skills.trust(Trust) -> Submitted, write [];
        "lists skills that what recurs in a project would make" skills.drafts(Drafts) -> SkillDrafts, read [store, knowledge];
        "makes the task that asks a person whether a drafted skill is written into its project" skills.adopt(Adopt) -> Submitted, write [];
        "trusts a skill no more" skills.untrust(Untrust) -> Untrusted, write [];
        "lists schedules, and how each stands" schedules.list(List) -> Schedules, read [store, tasks];
        "shows a schedule with what it did and does next" schedules.show(Show) -> Schedule, read [store, tasks];
        "tells how a time is read, and its next times" schedules.preview(Preview) -> Previewed, free [];
        "makes the task that asks a person whether a schedule is kept" schedules.keep(Keep) -> Submitted, write [];
        "pauses a schedule" schedules.pause(Pause) -> Schedule, write [];
        "resumes a schedule that is paused" schedules.resume(Resume) -> Schedule, surface [];
        "removes a schedule" schedules.remove(Remove) -> Schedule, write [];
        "begins the task of a schedule now" schedules.run(Run) -> Submitted, write [];
        "judges what the last runs of a schedule did by the policy of today: what it would ask" schedules.rehearse(Rehearse) -> Rehearsal, read [store, tasks];
        "tells what became of the times of schedules in a month, and which are to come" schedules.calendar(Calendar) -> Times, read [store, tasks];
        "lists gateways to chat services, and how each stands" gateways.list(List) -> Gateways, read [store, tasks];
        "lists the chat services that a gateway can speak with, and what each needs" gateways.services(Services) -> ServiceList, free [];
        "shows a gateway" gateways.show(Show) -> Gateway, read [store, tasks];
        "makes the task that asks a person whether a gateway is connected" gateways.add(Add) -> Submitted, write [];
        "pauses a gateway" gateways.pause(Pause) -> Gateway, write [];
        "resumes a gateway that is paused" gateways.resume(Resume) -> Gateway, surface [];
        "removes a gateway, and with it who is paired there" gateways.remove(Remove) -> Gateway, write [];
        "makes a code, and the task that asks a person whether it pairs who sends it" gateways.pair(Pair) -> PairingCode, write [];
        "lists who is or was paired with a gateway" gateways.senders(Senders) -> SenderList, read [store];
        "ends that a sender is heard through a gateway" gateways.unpair(Unpair) -> SenderList, write [];
        "lists messages of a gateway that came in and went out" gateways.messages(Messages) -> MessageList, read [store, tasks];
        "lists skins, and the one that a conversation has" skins.list(List) -> SkinList, read [store, tasks];
        "shows a skin with every word of it" skins.show(Show) -> SkinShown, read [store];
        "tells whether the file of a skin can be one, and what a person should know of it" skins.check(Check) -> SkinRow, free [];
        "makes a skin to begin with" skins.draft(Draft) -> SkinDraft, free [];
        "makes the task that asks a person whether a skin is trusted" skins.trust(Trust) -> Submitted, write [];
        "trusts a skin no more" skins.untrust(Untrust) -> SkinUntrusted, write [];
        "gives a conversation a skin, or none, from its next context on" skins.choose(Choose) -> SkinChosen, write [];
        "lists passkeys, which say yes for a person" passkeys.list(List) -> Passkeys, read [store, keys];
        "hands in the enrolment of a security key that a person signed" passkeys.enrol(Enrol) -> Passkey, write [];
        "revokes a passkey: it says yes no more" passkeys.revoke(Revoke) -> Passkey, write [];
        "lists agents of other programs that can work as guests, and which of them are here" guests.list(List) -> Agents, read [store];
        "lists the playbooks at hand" playbooks.list(List) -> Playbooks, free [];
        "tells what a playbook of one's own does and takes, or where it is wrong" playbooks.read(Read) -> Playbook, free [];
        "lists playbooks that were drafted from what recurs, and how each stands" playbooks.drafts(Drafts) -> DraftList, read [store, approvals];
        "tries a drafted playbook anew on the tasks that it was made from" playbooks.try_draft(Try) -> Draft, write [];
        "makes the task that asks a person whether to adopt a drafted playbook" playbooks.adopt(Adopt) -> Submitted, write [];
        "stops the use of an adopted playbook" playbooks.turn_off(TurnOff) -> TurnedOff, write [];
        "looks for models that run on this machine, and lists the servers that have a key" models.find(Find) -> Found, free [];
        "says who proposes when a task names nobody" models.standard(Standard) -> Chosen, surface [];
        "tells which embedding model finds memory by meaning, and how far its vectors are made" models.embedded(Embedded) -> Embeddings, read [knowledge];
        "names the embedding model by which memory is found by meaning" models.embed(Embed) -> Embeddings, surface [];
        "sets what a model takes and how it is asked" models.set(Set) -> Asked, write [];
        "tells what models have cost, by day and by model, and what they may cost in a day" models.costs(Costs) -> CostsBy, read [tasks];
        "sets what models may cost in a day" models.ceiling(Ceiling) -> CeilingSet, write [];
        "tells how many reads of one answer of a model run at the same time" models.reads(Reads) -> ReadsAtOnce, read [];
        "sets how many reads of one answer of a model run at the same time" models.set_reads(SetReads) -> ReadsAtOnce, write [];
        "lists models in the box, those that are here and those that can be had, and how far a fetch is" models.in_box(InBox) -> BoxModels, read [];
        "begins to fetch the weights of a model in the box, or goes on where it stopped" models.get(Get) -> BoxModels, write [];
        "stops a fetch of weights, and keeps what has come" models.stop_get(StopGet) -> BoxModels, write [];
        "takes away the weights of a model in the box" models.remove(Remove) -> BoxModels, write [];
        "asks a server of models which it offers, with the key for it, and tells what is wrong" models.test(Test) -> Server, write [];
        "lists the policy profiles" policy.profiles(Profiles) -> ProfileList, free [];
        "lists the rules of a profile" policy.rules(Rules) -> RuleList, free [];
        "tells what policy would say to an act" policy.test(Test) -> Judged, free [];
        "judges all of history again under other rules" policy.backtest(Backtest) -> Backtested, read [tasks, approvals];
        "tells why policy said what it said" policy.explain(Explain) -> Judged, read [tasks];
        "finds the narrowest standing grants that would have given the answers a person gave" policy.suggest(Suggest) -> Suggestions, read [approvals];
        "checks permission rules and shows what they compile to" policy.check(Check) -> Checked, free [];
        "lists a person's own rules of policy" policy.own_rules(OwnRules) -> OwnRuleList, read [store, tasks];
        "tells what a change of a person's own rules would change" policy.draft_rules(DraftRules) -> RulesDraft, read [store, tasks];
        "makes the task that asks a person whether their own rules of policy change" policy.change_rules(ChangeRules) -> Submitted, write [];
        "drafts the override of a denial" policy.draft_override(DraftOverride) -> OverrideDraft, read [tasks];
        "hands in the override of a denial that a person signed" policy.allow_override(AllowOverride) -> OverrideAllowed, write [];
        "tells the chain behind a receipt, an artifact, a file or a line of it" trace.explain(Explain) -> Explained, read [receipts];
        "lists what derives from a source and drafts the plan to take it back" trace.recall(Recall) -> Recalled, read [artifacts];
        "shows what a dataset of finished work would hold, and what is left out and why" training.preview(Preview) -> Curation, write [];
        "keeps a dataset as it was shown" training.curate(Curate) -> DatasetRow, surface [];
        "lists datasets, runs of training and recalls" training.list(List) -> Trainings, read [store];
        "begins a run of training, or goes on with one" training.run(Run) -> RunStands, write [];
        "begins a run that machines of the mesh learn together" training.together(Together) -> RunStands, surface [];
        "takes up the invitation of another machine to learn together" training.join(Join) -> RunStands, surface [];
        "tells how the run of training in hand stands" training.stands(Stands) -> RunStands, write [];
        "pauses the run of training in hand" training.pause(Pause) -> RunStands, write [];
        "stops the run of training in hand, behind a checkpoint" training.stop(Stop) -> RunStands, write [];
        "measures what a run has learned, before and after" training.prove(Prove) -> RunStands, write [];
        "writes a model with the adapter of a run, and takes it among the models in the box" training.export(Export) -> RunStands, write [];
        "takes a source out of datasets, and marks the adapters that saw it" training.recall(Recall) -> Recalled, write [];
        "sets whether work in a folder is left out of datasets" training.private(Private) -> PrivateFolders, write [];
        "shows what erasing a value, an artifact or a task would take" erasure.plan(Plan) -> Planned, read [];
        "copies the store while it is in use" store.backup(Backup) -> BackedUp, read [];
        "puts a copy back into an empty folder" store.restore(Restore) -> Restored, free [];
        "tells who holds the store and what waits for a person" host.status(Status) -> HostStatus, read [tasks, approvals, gate, store];
        "tells facts about machine, store and keys" host.doctor(Doctor) -> Facts, read [store];
        "tells the running version and the digest of its source" version.show(Show) -> Version, free [];
        "tells rooms, doors, commands, limits, requirements and tests of the running version" version.introspect(Introspect) -> ToldList, free [];
        "goes on with everything that can go on" host.resume(Resume) -> Resumed, write [];
        "opens the task of another program's agent, or finds it again" agent.open(Open) -> Opened, write [];
        "lists the tools that such an agent may call" agent.tools(Tools) -> ToolList, write [];
        "takes a call of such an agent, and tells how it stands; the same call again never doubles" agent.call(Call) -> Called, write [];
        "stops what of such a call is at work; one that waits for a person goes on waiting" agent.stop(Stop) -> Called, write [];
        "waits a moment for a task to come to rest, and tells how it stands" host.wait(Wait) -> Stood, write [];
    } };
}

macro_rules! rows {
    ($($about:literal $noun:ident . $verb:ident ( $params:ident ) -> $answer:ident , $access:ident [ $($topic:ident),* ];)+) => {
        /// Every command, in the order of the table.
        pub const COMMANDS: &[Info] = &[$(Info {
            name: concat!(stringify!($noun), ".", stringify!($verb)),
            access: Access::$access,
            topics: &[$(Topic::$topic),*],
            about: $about,
        }),+];

        $(impl Command for crate::$noun::$params {
            const NAME: &'static str = concat!(stringify!($noun), ".", stringify!($verb));
            const ACCESS: Access = Access::$access;
            type Answer = crate::$noun::$answer;
        })+
    };
}

with_commands!(rows);

/// Declares parameter structs: unknown fields are refused, absent optional fields are left out.
macro_rules! params {
    ($($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident : $ty:ty),* $(,)? })+) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$fmeta])* pub $field: $ty,)* }
    )+ };
}

/// Declares answer structs.
macro_rules! answers {
    ($($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident : $ty:ty),* $(,)? })+) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[$fmeta])* pub $field: $ty,)* }
    )+ };
}

pub(crate) use {answers, params};
