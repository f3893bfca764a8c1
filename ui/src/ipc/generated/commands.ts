// Made from the room `wire`; do not edit. Its test `bindings` says how to make it again.
import type * as adoptions from "./adoptions";
import type * as agent from "./agent";
import type * as anchors from "./anchors";
import type * as approvals from "./approvals";
import type * as artifacts from "./artifacts";
import type * as changes from "./changes";
import type * as context from "./context";
import type * as conversations from "./conversations";
import type * as erasure from "./erasure";
import type * as gate from "./gate";
import type * as gateways from "./gateways";
import type * as grants from "./grants";
import type * as guests from "./guests";
import type * as host from "./host";
import type * as identity from "./identity";
import type * as keys from "./keys";
import type * as knowledge from "./knowledge";
import type * as ledger from "./ledger";
import type * as lineage from "./lineage";
import type * as mesh from "./mesh";
import type * as models from "./models";
import type * as passkeys from "./passkeys";
import type * as playbooks from "./playbooks";
import type * as policy from "./policy";
import type * as proof from "./proof";
import type * as receipts from "./receipts";
import type * as schedules from "./schedules";
import type * as secrets from "./secrets";
import type * as skills from "./skills";
import type * as skins from "./skins";
import type * as store from "./store";
import type * as successor from "./successor";
import type * as task from "./task";
import type * as task_events from "./task_events";
import type * as tools from "./tools";
import type * as trace from "./trace";
import type * as training from "./training";
import type * as version from "./version";
import type * as workspaces from "./workspaces";
import type { Topic } from "./shared";

export interface Commands {
  /** takes a goal or playbook in and makes its task */
  "task.submit": { params: task.Submit; answer: task.Submitted };
  /** lists tasks */
  "task.list": { params: task.List; answer: task.Tasks };
  /** counts tasks by how they stand */
  "task.count": { params: task.Count; answer: task.TaskCounts };
  /** shows one task with its steps, attempts, actions and what it waits for */
  "task.show": { params: task.Show; answer: task.Task };
  /** asks a task to pause */
  "task.pause": { params: task.Pause; answer: task.Done };
  /** lets a paused task go on */
  "task.resume": { params: task.Resume; answer: task.Done };
  /** asks a task to end */
  "task.cancel": { params: task.Cancel; answer: task.Done };
  /** tries again: a new attempt, or a follow-up of an ended task */
  "task.retry": { params: task.Retry; answer: task.Submitted };
  /** adds words to a task */
  "task.note": { params: task.Note; answer: task.Noted };
  /** answers a question of a task */
  "task.answer": { params: task.Answer; answer: task.Done };
  /** lists questions that were put to a person */
  "task.questions": { params: task.Questions; answer: task.QuestionList };
  /** settles an outcome that nobody knows */
  "task.settle": { params: task.Settle; answer: task.Done };
  /** shows working state */
  "task.working_state": { params: task.WorkingState; answer: task.WorkingStates };
  /** lists the folders that were worked in, and the project of each */
  "workspaces.list": { params: workspaces.List; answer: workspaces.Workspaces };
  /** finds names of files in a folder, for somebody who is naming one */
  "workspaces.files": { params: workspaces.Files; answer: workspaces.FolderFiles };
  /** says that a folder was moved: it continues as the project that it was */
  "workspaces.moved": { params: workspaces.Moved; answer: workspaces.MovedTo };
  /** reads the events of a task in order */
  "task_events.list": { params: task_events.List; answer: task_events.Events };
  /** lists approvals */
  "approvals.list": { params: approvals.List; answer: approvals.Approvals };
  /** shows an approval as its card and as the exact bytes to sign */
  "approvals.show": { params: approvals.Show; answer: approvals.Approval };
  /** reads the exact bytes to sign, piece by piece */
  "approvals.packet": { params: approvals.Packet; answer: approvals.Piece };
  /** reads every line of a card, or every value that is signed, part by part */
  "approvals.lines": { params: approvals.Lines; answer: approvals.LinePage };
  /** hands in a decision that a person signed */
  "approvals.decide": { params: approvals.Decide; answer: approvals.Decided };
  /** refuses, which any surface may */
  "approvals.deny": { params: approvals.Deny; answer: approvals.Decided };
  /** denies all but a part, which is asked about by itself */
  "approvals.part": { params: approvals.Part; answer: approvals.Decided };
  /** lists receipts */
  "receipts.list": { params: receipts.List; answer: receipts.Receipts };
  /** shows a receipt and whether its signature holds */
  "receipts.show": { params: receipts.Show; answer: receipts.Receipt };
  /** tells what undoing a receipt, a task, or everything since a time would do */
  "receipts.plan": { params: receipts.Plan; answer: receipts.UndoPlans };
  /** makes the task that undoes a receipt, a task, or everything since a time */
  "receipts.rollback": { params: receipts.Rollback; answer: receipts.Submitted };
  /** takes a file in */
  "artifacts.ingest": { params: artifacts.Ingest; answer: artifacts.Ingested };
  /** lists artifacts */
  "artifacts.list": { params: artifacts.List; answer: artifacts.Artifacts };
  /** shows an artifact */
  "artifacts.show": { params: artifacts.Show; answer: artifacts.Artifact };
  /** reads the bytes of an artifact */
  "artifacts.content": { params: artifacts.Content; answer: artifacts.Bytes };
  /** answers where an artifact came from and what came of it */
  "artifacts.lineage": { params: artifacts.Lineage; answer: artifacts.Lineages };
  /** tells how much room content takes, and how much is saved by keeping the same parts once */
  "artifacts.weigh": { params: artifacts.Weigh; answer: artifacts.Weighed };
  /** tells what a collection would take: content that no receipt leads to */
  "artifacts.garbage": { params: artifacts.Garbage; answer: artifacts.Collected };
  /** makes room as it was shown, also while tasks are at work */
  "artifacts.collect": { params: artifacts.Collect; answer: artifacts.Collected };
  /** keeps an artifact, whatever a collection would say */
  "artifacts.keep": { params: artifacts.Keep; answer: artifacts.Artifact };
  /** shows what an approval would change, or a receipt has changed, part by part, with both sides */
  "changes.show": { params: changes.Show; answer: changes.Changes };
  /** writes the bytes of a file that an approval or a receipt shows */
  "changes.export": { params: changes.Export; answer: changes.Exported };
  /** draws what came from what */
  "lineage.draw": { params: lineage.Draw; answer: lineage.Drawing };
  /** shows exactly what was sent to a model and what came back */
  "context.show": { params: context.Show; answer: context.Context };
  /** shows the summary that stands in a context in the place of its oldest turns */
  "context.summary": { params: context.Summary; answer: context.ContextSummary };
  /** sums up the oldest turns of a task's context now */
  "context.compact": { params: context.Compact; answer: context.Compacted };
  /** lists conversations and the task in focus of each */
  "conversations.list": { params: conversations.List; answer: conversations.Conversations };
  /** shows one conversation */
  "conversations.show": { params: conversations.Show; answer: conversations.Conversation };
  /** reads what was said and done in a conversation, across its tasks */
  "conversations.lines": { params: conversations.Lines; answer: conversations.LineList };
  /** opens a conversation, in a folder or in none */
  "conversations.open": { params: conversations.Open; answer: conversations.Opened };
  /** says something in a conversation; it is bound to what it is about, or waits for a person to say */
  "conversations.say": { params: conversations.Say; answer: conversations.Said };
  /** lists messages of which nobody can tell yet what they are about */
  "conversations.undecided": { params: conversations.Undecided; answer: conversations.Messages };
  /** says what an open message is about */
  "conversations.bind": { params: conversations.Bind; answer: conversations.Said };
  /** lists the commands that may be written behind a slash */
  "conversations.commands": { params: conversations.Commands; answer: conversations.CommandList };
  /** lists files that came with messages of a conversation */
  "conversations.files": { params: conversations.Files; answer: conversations.FileList };
  /** turns to a task, or to none */
  "conversations.focus": { params: conversations.Focus; answer: conversations.Focused };
  /** says how urgent a task is: those that are wait less for a free place */
  "task.set_priority": { params: task.SetPriority; answer: task.Done };
  /** lists steps by how they stand, over all tasks or of one */
  "task.steps": { params: task.Steps; answer: task.StepList };
  /** edits the goal of a task at work */
  "task.edit_goal": { params: task.EditGoal; answer: task.Done };
  /** lists grants */
  "grants.list": { params: grants.List; answer: grants.Grants };
  /** takes an unused grant or a standing grant back */
  "grants.revoke": { params: grants.Revoke; answer: grants.Revoked };
  /** lists standing grants */
  "grants.standing": { params: grants.Standing; answer: grants.StandingList };
  /** tells the narrowest standing grants that would have answered a question */
  "grants.propose": { params: grants.Propose; answer: grants.Proposals };
  /** drafts a standing grant and tells which questions of the past it would have answered */
  "grants.draft": { params: grants.Draft; answer: grants.Proposal };
  /** hands in a standing grant that a person signed */
  "grants.allow": { params: grants.Allow; answer: grants.Allowed };
  /** lists decisions */
  "knowledge.decisions": { params: knowledge.Decisions; answer: knowledge.DecisionList };
  /** lists beliefs */
  "knowledge.beliefs": { params: knowledge.Beliefs; answer: knowledge.BeliefList };
  /** lists what a belief was from revision to revision */
  "knowledge.history": { params: knowledge.History; answer: knowledge.RevisionList };
  /** takes a belief back */
  "knowledge.revoke": { params: knowledge.Revoke; answer: knowledge.Revoked };
  /** corrects a belief by what a person says of it */
  "knowledge.correct": { params: knowledge.Correct; answer: knowledge.Corrected };
  /** lists durable memory */
  "knowledge.memories": { params: knowledge.Memories; answer: knowledge.MemoryList };
  /** lists the contexts that a memory record was sent in */
  "knowledge.memory_contexts": { params: knowledge.MemoryContexts; answer: knowledge.MemoryContextList };
  /** shows what was remembered at a point of the past, and how far that is proven */
  "knowledge.memory_then": { params: knowledge.MemoryThen; answer: knowledge.MemoryThenList };
  /** lists the points of the past at which a root of memory was stated */
  "knowledge.memory_points": { params: knowledge.MemoryPoints; answer: knowledge.MemoryPointList };
  /** makes the task that asks a person whether to remember something */
  "knowledge.remember": { params: knowledge.Remember; answer: knowledge.Submitted };
  /** takes a memory record back */
  "knowledge.forget": { params: knowledge.Forget; answer: knowledge.Forgotten };
  /** marks a memory record as wrong */
  "knowledge.invalidate": { params: knowledge.Invalidate; answer: knowledge.Invalidated };
  /** lists what the historian proposes to remember */
  "knowledge.suggestions": { params: knowledge.Suggestions; answer: knowledge.SuggestionList };
  /** looks at tasks that ended for what to remember, and asks a person */
  "knowledge.review": { params: knowledge.Review; answer: knowledge.Reviewed };
  /** searches everything that was said and done */
  "knowledge.search": { params: knowledge.Search; answer: knowledge.Hits };
  /** checks the whole ledger */
  "ledger.verify": { params: ledger.Verify; answer: ledger.Report };
  /** folds every list anew from the log */
  "ledger.rebuild": { params: ledger.Rebuild; answer: ledger.Rebuilt };
  /** signs the trees of tasks, gate and log */
  "ledger.checkpoint": { params: ledger.Checkpoint; answer: ledger.Checkpoints };
  /** shows the newest signed head of the whole log */
  "ledger.head": { params: ledger.Head; answer: ledger.Signed };
  /** compares the store with a head that somebody kept */
  "ledger.compare": { params: ledger.Compare; answer: ledger.Compared };
  /** counts what is there */
  "ledger.stats": { params: ledger.Stats; answer: ledger.Counts };
  /** shows what was severed from the log */
  "ledger.severed": { params: ledger.Severed; answer: ledger.Cuts };
  /** tells whether the gate works or is halted */
  "gate.state": { params: gate.State; answer: gate.GateState };
  /** stops everything until a person boots */
  "gate.halt": { params: gate.Halt; answer: gate.GateState };
  /** lets Hermit work again */
  "gate.boot": { params: gate.Boot; answer: gate.GateState };
  /** writes the gate's evidence bundle */
  "gate.export": { params: gate.Export; answer: gate.Exported };
  /** checks an evidence bundle */
  "gate.verify": { params: gate.Verify; answer: gate.Verified };
  /** writes the proof of a task or receipt */
  "proof.export": { params: proof.Export; answer: proof.Exported };
  /** tells what a proof would hand out */
  "proof.preview": { params: proof.Preview; answer: proof.Previewed };
  /** checks a proof */
  "proof.verify": { params: proof.Verify; answer: proof.Report };
  /** lists the public keys in force */
  "keys.list": { params: keys.List; answer: keys.Keys };
  /** makes public keys known to the store */
  "keys.register": { params: keys.Register; answer: keys.Keys };
  /** lists changes of Hermit itself that were adopted */
  "adoptions.list": { params: adoptions.List; answer: adoptions.AdoptionList };
  /** makes the task that asks a person whether a tried change of Hermit itself is adopted */
  "adoptions.propose": { params: adoptions.Propose; answer: adoptions.Submitted };
  /** makes the task that asks a person whether what was before an adopted change is at work again */
  "adoptions.back": { params: adoptions.Back; answer: adoptions.Submitted };
  /** shows who this instance is: SOUL.md, its key, and the chain of what it said of itself */
  "identity.show": { params: identity.Show; answer: identity.Identity };
  /** makes the task that asks a person whether SOUL.md is this text from now on */
  "identity.write": { params: identity.Write; answer: identity.Submitted };
  /** signs an attestation of SOUL.md with the key of this instance */
  "identity.attest": { params: identity.Attest; answer: identity.Attested };
  /** makes the task that asks a person whether the chain of this instance is published at relays */
  "identity.publish": { params: identity.Publish; answer: identity.Submitted };
  /** follows a chain of attestations and hand-overs back to genesis */
  "identity.verify": { params: identity.Verify; answer: identity.TrustGraph };
  /** writes the chain of this instance to a file */
  "identity.export": { params: identity.Export; answer: identity.Exported };
  /** lists anchors: heads of the log that clocks elsewhere have stamped */
  "anchors.list": { params: anchors.List; answer: anchors.Anchors };
  /** shows an anchor */
  "anchors.show": { params: anchors.Show; answer: anchors.Anchor };
  /** makes the task that asks a person whether clocks stamp the newest head of the log */
  "anchors.stamp": { params: anchors.Stamp; answer: anchors.Submitted };
  /** makes the task that asks clocks how what is pending stands */
  "anchors.complete": { params: anchors.Complete; answer: anchors.Submitted };
  /** lists the clocks that are asked */
  "anchors.clocks": { params: anchors.Clocks; answer: anchors.ClockSettings };
  /** sets which clocks are asked */
  "anchors.set_clocks": { params: anchors.SetClocks; answer: anchors.ClockSettings };
  /** tells what the wallet of this instance holds and what an anchor would cost */
  "anchors.wallet": { params: anchors.Wallet; answer: anchors.WalletState };
  /** shows how the mesh of one's own machines stands here */
  "mesh.show": { params: mesh.Show; answer: mesh.Mesh };
  /** sets what this machine is in the mesh, and whether it is on */
  "mesh.set": { params: mesh.Set; answer: mesh.Mesh };
  /** shows a code with which another machine is paired */
  "mesh.invite": { params: mesh.Invite; answer: mesh.Code };
  /** pairs this machine with the one that shows a code */
  "mesh.join": { params: mesh.Join; answer: mesh.PairingState };
  /** tells how a pairing stands */
  "mesh.pairing": { params: mesh.Pairing; answer: mesh.PairingState };
  /** lists the machines of the mesh, and how each stands */
  "mesh.nodes": { params: mesh.Nodes; answer: mesh.NodeList };
  /** ends that a machine is believed */
  "mesh.withdraw": { params: mesh.Withdraw; answer: mesh.NodeList };
  /** sends a goal to another machine */
  "mesh.send": { params: mesh.Send; answer: mesh.Sent };
  /** lists messages to and from other machines, and how far each came */
  "mesh.messages": { params: mesh.Messages; answer: mesh.MessageList };
  /** hands a conversation over to another machine */
  "mesh.hand_over": { params: mesh.HandOver; answer: mesh.Owned };
  /** takes a conversation from a machine that does not answer */
  "mesh.take": { params: mesh.Take; answer: mesh.Owned };
  /** lists the receipts of all machines */
  "mesh.receipts": { params: mesh.Receipts; answer: mesh.ReceiptList };
  /** lists what other machines ask a person here */
  "mesh.questions": { params: mesh.Questions; answer: mesh.QuestionList };
  /** sets whether the approval key of another machine may say yes here */
  "mesh.approver": { params: mesh.Approver; answer: mesh.NodeList };
  /** answers what another machine asks */
  "mesh.answer": { params: mesh.Answer; answer: mesh.QuestionList };
  /** sets which machines may hold a schedule */
  "mesh.hold": { params: mesh.Hold; answer: mesh.Held };
  /** writes what waits for other machines to a file that a person carries */
  "mesh.export": { params: mesh.Export; answer: mesh.Carried };
  /** takes in a file that a person carried from another machine */
  "mesh.import": { params: mesh.Import; answer: mesh.Carried };
  /** tries changes of Hermit itself on the person's own past work, and applies none */
  "successor.try_change": { params: successor.Try; answer: successor.TrialList };
  /** tells what changes of Hermit itself are, and what each clone might use up, and begins nothing */
  "successor.preview": { params: successor.Preview; answer: successor.Previewed };
  /** lists trials of changes of Hermit itself */
  "successor.list": { params: successor.List; answer: successor.TrialList };
  /** shows what a trial of a change ran, what differed, and its verdict */
  "successor.show": { params: successor.Show; answer: successor.Trial };
  /** stops a trial of a change */
  "successor.stop": { params: successor.Stop; answer: successor.Trial };
  /** lists secrets by handle, without their values */
  "secrets.list": { params: secrets.List; answer: secrets.Secrets };
  /** starts a server of tools behind walls, and makes the task that asks a person whether to register it */
  "tools.add": { params: tools.Add; answer: tools.Submitted };
  /** makes the task that asks a person what a tool of a server may do */
  "tools.classify": { params: tools.Classify; answer: tools.Submitted };
  /** makes the task that asks a person how much a server of tools may ask of a model */
  "tools.sampling": { params: tools.Sampling; answer: tools.Submitted };
  /** makes the task that asks a person whether the tools of a server are passed on to agents of other programs */
  "tools.pass_on": { params: tools.PassOn; answer: tools.Submitted };
  /** ends that the tools of a server are passed on */
  "tools.pass_off": { params: tools.PassOff; answer: tools.Servers };
  /** finds out who gives tokens for a server of tools, and makes the task that asks a person whether to log in */
  "tools.login": { params: tools.Login; answer: tools.Submitted };
  /** begins a log-in that a person has allowed, and waits for their browser */
  "tools.login_begin": { params: tools.LoginBegin; answer: tools.LoginAt };
  /** gives up a log-in that waits for a person */
  "tools.login_cancel": { params: tools.LoginCancel; answer: tools.LoginAt };
  /** tells how a log-in stands, as the process that holds the store knows it */
  "tools.login_stands": { params: tools.LoginStands; answer: tools.LoginAt };
  /** forgets the tokens of a log-in, and asks whoever gave them to take them back */
  "tools.logout": { params: tools.Logout; answer: tools.LoggedOut };
  /** lists log-ins at servers of tools, and where a person goes for one that waits */
  "tools.logins": { params: tools.LoginList; answer: tools.Logins };
  /** makes the task that calls a tool of a server once, as an agent would */
  "tools.call": { params: tools.Call; answer: tools.Submitted };
  /** makes the task that gets the text of a prompt of a server */
  "tools.prompt": { params: tools.Prompt; answer: tools.Submitted };
  /** lists servers of tools and their tools */
  "tools.list": { params: tools.List; answer: tools.Servers };
  /** shows a server of tools with every word that it says */
  "tools.show": { params: tools.Show; answer: tools.Shown };
  /** stops the use of a server of tools until it is registered again */
  "tools.disable": { params: tools.Disable; answer: tools.Servers };
  /** forgets a server of tools */
  "tools.remove": { params: tools.Remove; answer: tools.Servers };
  /** lists skills of a project and the person's own, and how each stands */
  "skills.list": { params: skills.List; answer: skills.SkillList };
  /** shows a skill with every word of it */
  "skills.show": { params: skills.Show; answer: skills.SkillShown };
  /** makes the task that asks a person whether a skill is trusted */
  "skills.trust": { params: skills.Trust; answer: skills.Submitted };
  /** lists skills that what recurs in a project would make */
  "skills.drafts": { params: skills.Drafts; answer: skills.SkillDrafts };
  /** makes the task that asks a person whether a drafted skill is written into its project */
  "skills.adopt": { params: skills.Adopt; answer: skills.Submitted };
  /** trusts a skill no more */
  "skills.untrust": { params: skills.Untrust; answer: skills.Untrusted };
  /** lists schedules, and how each stands */
  "schedules.list": { params: schedules.List; answer: schedules.Schedules };
  /** shows a schedule with what it did and does next */
  "schedules.show": { params: schedules.Show; answer: schedules.Schedule };
  /** tells how a time is read, and its next times */
  "schedules.preview": { params: schedules.Preview; answer: schedules.Previewed };
  /** makes the task that asks a person whether a schedule is kept */
  "schedules.keep": { params: schedules.Keep; answer: schedules.Submitted };
  /** pauses a schedule */
  "schedules.pause": { params: schedules.Pause; answer: schedules.Schedule };
  /** resumes a schedule that is paused */
  "schedules.resume": { params: schedules.Resume; answer: schedules.Schedule };
  /** removes a schedule */
  "schedules.remove": { params: schedules.Remove; answer: schedules.Schedule };
  /** begins the task of a schedule now */
  "schedules.run": { params: schedules.Run; answer: schedules.Submitted };
  /** judges what the last runs of a schedule did by the policy of today: what it would ask */
  "schedules.rehearse": { params: schedules.Rehearse; answer: schedules.Rehearsal };
  /** tells what became of the times of schedules in a month, and which are to come */
  "schedules.calendar": { params: schedules.Calendar; answer: schedules.Times };
  /** lists gateways to chat services, and how each stands */
  "gateways.list": { params: gateways.List; answer: gateways.Gateways };
  /** lists the chat services that a gateway can speak with, and what each needs */
  "gateways.services": { params: gateways.Services; answer: gateways.ServiceList };
  /** shows a gateway */
  "gateways.show": { params: gateways.Show; answer: gateways.Gateway };
  /** makes the task that asks a person whether a gateway is connected */
  "gateways.add": { params: gateways.Add; answer: gateways.Submitted };
  /** pauses a gateway */
  "gateways.pause": { params: gateways.Pause; answer: gateways.Gateway };
  /** resumes a gateway that is paused */
  "gateways.resume": { params: gateways.Resume; answer: gateways.Gateway };
  /** removes a gateway, and with it who is paired there */
  "gateways.remove": { params: gateways.Remove; answer: gateways.Gateway };
  /** makes a code, and the task that asks a person whether it pairs who sends it */
  "gateways.pair": { params: gateways.Pair; answer: gateways.PairingCode };
  /** lists who is or was paired with a gateway */
  "gateways.senders": { params: gateways.Senders; answer: gateways.SenderList };
  /** ends that a sender is heard through a gateway */
  "gateways.unpair": { params: gateways.Unpair; answer: gateways.SenderList };
  /** lists messages of a gateway that came in and went out */
  "gateways.messages": { params: gateways.Messages; answer: gateways.MessageList };
  /** lists skins, and the one that a conversation has */
  "skins.list": { params: skins.List; answer: skins.SkinList };
  /** shows a skin with every word of it */
  "skins.show": { params: skins.Show; answer: skins.SkinShown };
  /** tells whether the file of a skin can be one, and what a person should know of it */
  "skins.check": { params: skins.Check; answer: skins.SkinRow };
  /** makes a skin to begin with */
  "skins.draft": { params: skins.Draft; answer: skins.SkinDraft };
  /** makes the task that asks a person whether a skin is trusted */
  "skins.trust": { params: skins.Trust; answer: skins.Submitted };
  /** trusts a skin no more */
  "skins.untrust": { params: skins.Untrust; answer: skins.SkinUntrusted };
  /** gives a conversation a skin, or none, from its next context on */
  "skins.choose": { params: skins.Choose; answer: skins.SkinChosen };
  /** lists passkeys, which say yes for a person */
  "passkeys.list": { params: passkeys.List; answer: passkeys.Passkeys };
  /** hands in the enrolment of a security key that a person signed */
  "passkeys.enrol": { params: passkeys.Enrol; answer: passkeys.Passkey };
  /** revokes a passkey: it says yes no more */
  "passkeys.revoke": { params: passkeys.Revoke; answer: passkeys.Passkey };
  /** lists agents of other programs that can work as guests, and which of them are here */
  "guests.list": { params: guests.List; answer: guests.Agents };
  /** lists the playbooks at hand */
  "playbooks.list": { params: playbooks.List; answer: playbooks.Playbooks };
  /** tells what a playbook of one's own does and takes, or where it is wrong */
  "playbooks.read": { params: playbooks.Read; answer: playbooks.Playbook };
  /** lists playbooks that were drafted from what recurs, and how each stands */
  "playbooks.drafts": { params: playbooks.Drafts; answer: playbooks.DraftList };
  /** tries a drafted playbook anew on the tasks that it was made from */
  "playbooks.try_draft": { params: playbooks.Try; answer: playbooks.Draft };
  /** makes the task that asks a person whether to adopt a drafted playbook */
  "playbooks.adopt": { params: playbooks.Adopt; answer: playbooks.Submitted };
  /** stops the use of an adopted playbook */
  "playbooks.turn_off": { params: playbooks.TurnOff; answer: playbooks.TurnedOff };
  /** looks for models that run on this machine, and lists the servers that have a key */
  "models.find": { params: models.Find; answer: models.Found };
  /** says who proposes when a task names nobody */
  "models.standard": { params: models.Standard; answer: models.Chosen };
  /** tells which embedding model finds memory by meaning, and how far its vectors are made */
  "models.embedded": { params: models.Embedded; answer: models.Embeddings };
  /** names the embedding model by which memory is found by meaning */
  "models.embed": { params: models.Embed; answer: models.Embeddings };
  /** sets what a model takes and how it is asked */
  "models.set": { params: models.Set; answer: models.Asked };
  /** tells what models have cost, by day and by model, and what they may cost in a day */
  "models.costs": { params: models.Costs; answer: models.CostsBy };
  /** sets what models may cost in a day */
  "models.ceiling": { params: models.Ceiling; answer: models.CeilingSet };
  /** tells how many reads of one answer of a model run at the same time */
  "models.reads": { params: models.Reads; answer: models.ReadsAtOnce };
  /** sets how many reads of one answer of a model run at the same time */
  "models.set_reads": { params: models.SetReads; answer: models.ReadsAtOnce };
  /** lists models in the box, those that are here and those that can be had, and how far a fetch is */
  "models.in_box": { params: models.InBox; answer: models.BoxModels };
  /** begins to fetch the weights of a model in the box, or goes on where it stopped */
  "models.get": { params: models.Get; answer: models.BoxModels };
  /** stops a fetch of weights, and keeps what has come */
  "models.stop_get": { params: models.StopGet; answer: models.BoxModels };
  /** takes away the weights of a model in the box */
  "models.remove": { params: models.Remove; answer: models.BoxModels };
  /** asks a server of models which it offers, with the key for it, and tells what is wrong */
  "models.test": { params: models.Test; answer: models.Server };
  /** lists the policy profiles */
  "policy.profiles": { params: policy.Profiles; answer: policy.ProfileList };
  /** lists the rules of a profile */
  "policy.rules": { params: policy.Rules; answer: policy.RuleList };
  /** tells what policy would say to an act */
  "policy.test": { params: policy.Test; answer: policy.Judged };
  /** judges all of history again under other rules */
  "policy.backtest": { params: policy.Backtest; answer: policy.Backtested };
  /** tells why policy said what it said */
  "policy.explain": { params: policy.Explain; answer: policy.Judged };
  /** finds the narrowest standing grants that would have given the answers a person gave */
  "policy.suggest": { params: policy.Suggest; answer: policy.Suggestions };
  /** checks permission rules and shows what they compile to */
  "policy.check": { params: policy.Check; answer: policy.Checked };
  /** lists a person's own rules of policy */
  "policy.own_rules": { params: policy.OwnRules; answer: policy.OwnRuleList };
  /** tells what a change of a person's own rules would change */
  "policy.draft_rules": { params: policy.DraftRules; answer: policy.RulesDraft };
  /** makes the task that asks a person whether their own rules of policy change */
  "policy.change_rules": { params: policy.ChangeRules; answer: policy.Submitted };
  /** drafts the override of a denial */
  "policy.draft_override": { params: policy.DraftOverride; answer: policy.OverrideDraft };
  /** hands in the override of a denial that a person signed */
  "policy.allow_override": { params: policy.AllowOverride; answer: policy.OverrideAllowed };
  /** tells the chain behind a receipt, an artifact, a file or a line of it */
  "trace.explain": { params: trace.Explain; answer: trace.Explained };
  /** lists what derives from a source and drafts the plan to take it back */
  "trace.recall": { params: trace.Recall; answer: trace.Recalled };
  /** shows what a dataset of finished work would hold, and what is left out and why */
  "training.preview": { params: training.Preview; answer: training.Curation };
  /** keeps a dataset as it was shown */
  "training.curate": { params: training.Curate; answer: training.DatasetRow };
  /** lists datasets, runs of training and recalls */
  "training.list": { params: training.List; answer: training.Trainings };
  /** begins a run of training, or goes on with one */
  "training.run": { params: training.Run; answer: training.RunStands };
  /** begins a run that machines of the mesh learn together */
  "training.together": { params: training.Together; answer: training.RunStands };
  /** takes up the invitation of another machine to learn together */
  "training.join": { params: training.Join; answer: training.RunStands };
  /** tells how the run of training in hand stands */
  "training.stands": { params: training.Stands; answer: training.RunStands };
  /** pauses the run of training in hand */
  "training.pause": { params: training.Pause; answer: training.RunStands };
  /** stops the run of training in hand, behind a checkpoint */
  "training.stop": { params: training.Stop; answer: training.RunStands };
  /** measures what a run has learned, before and after */
  "training.prove": { params: training.Prove; answer: training.RunStands };
  /** writes a model with the adapter of a run, and takes it among the models in the box */
  "training.export": { params: training.Export; answer: training.RunStands };
  /** takes a source out of datasets, and marks the adapters that saw it */
  "training.recall": { params: training.Recall; answer: training.Recalled };
  /** sets whether work in a folder is left out of datasets */
  "training.private": { params: training.Private; answer: training.PrivateFolders };
  /** shows what erasing a value, an artifact or a task would take */
  "erasure.plan": { params: erasure.Plan; answer: erasure.Planned };
  /** copies the store while it is in use */
  "store.backup": { params: store.Backup; answer: store.BackedUp };
  /** puts a copy back into an empty folder */
  "store.restore": { params: store.Restore; answer: store.Restored };
  /** tells who holds the store and what waits for a person */
  "host.status": { params: host.Status; answer: host.HostStatus };
  /** tells facts about machine, store and keys */
  "host.doctor": { params: host.Doctor; answer: host.Facts };
  /** tells the running version and the digest of its source */
  "version.show": { params: version.Show; answer: version.Version };
  /** tells rooms, doors, commands, limits, requirements and tests of the running version */
  "version.introspect": { params: version.Introspect; answer: version.ToldList };
  /** goes on with everything that can go on */
  "host.resume": { params: host.Resume; answer: host.Resumed };
  /** opens the task of another program's agent, or finds it again */
  "agent.open": { params: agent.Open; answer: agent.Opened };
  /** lists the tools that such an agent may call */
  "agent.tools": { params: agent.Tools; answer: agent.ToolList };
  /** takes a call of such an agent, and tells how it stands; the same call again never doubles */
  "agent.call": { params: agent.Call; answer: agent.Called };
  /** stops what of such a call is at work; one that waits for a person goes on waiting */
  "agent.stop": { params: agent.Stop; answer: agent.Called };
  /** waits a moment for a task to come to rest, and tells how it stands */
  "host.wait": { params: host.Wait; answer: host.Stood };
}

export type CommandName = keyof Commands;

export type Access = "read" | "write" | "owner" | "person" | "surface" | "free";

/** What a command needs, and the topics that make its answer stale. */
export const COMMANDS: Readonly<Record<CommandName, { access: Access; topics: readonly Topic[] }>> = {
  "task.submit": { access: "write", topics: [] },
  "task.list": { access: "read", topics: ["tasks"] },
  "task.count": { access: "read", topics: ["tasks"] },
  "task.show": { access: "read", topics: ["tasks"] },
  "task.pause": { access: "write", topics: [] },
  "task.resume": { access: "write", topics: [] },
  "task.cancel": { access: "write", topics: [] },
  "task.retry": { access: "write", topics: [] },
  "task.note": { access: "write", topics: [] },
  "task.answer": { access: "write", topics: [] },
  "task.questions": { access: "read", topics: ["tasks"] },
  "task.settle": { access: "person", topics: [] },
  "task.working_state": { access: "read", topics: ["knowledge"] },
  "workspaces.list": { access: "read", topics: ["tasks"] },
  "workspaces.files": { access: "read", topics: [] },
  "workspaces.moved": { access: "write", topics: [] },
  "task_events.list": { access: "read", topics: ["tasks"] },
  "approvals.list": { access: "read", topics: ["approvals"] },
  "approvals.show": { access: "read", topics: ["approvals", "receipts"] },
  "approvals.packet": { access: "read", topics: ["approvals"] },
  "approvals.lines": { access: "read", topics: ["approvals"] },
  "approvals.decide": { access: "write", topics: [] },
  "approvals.deny": { access: "write", topics: [] },
  "approvals.part": { access: "write", topics: [] },
  "receipts.list": { access: "read", topics: ["receipts"] },
  "receipts.show": { access: "read", topics: ["receipts"] },
  "receipts.plan": { access: "write", topics: [] },
  "receipts.rollback": { access: "write", topics: [] },
  "artifacts.ingest": { access: "write", topics: [] },
  "artifacts.list": { access: "read", topics: ["artifacts"] },
  "artifacts.show": { access: "read", topics: ["artifacts"] },
  "artifacts.content": { access: "read", topics: ["artifacts"] },
  "artifacts.lineage": { access: "read", topics: ["artifacts"] },
  "artifacts.weigh": { access: "read", topics: ["artifacts"] },
  "artifacts.garbage": { access: "read", topics: ["artifacts"] },
  "artifacts.collect": { access: "write", topics: [] },
  "artifacts.keep": { access: "write", topics: [] },
  "changes.show": { access: "read", topics: ["approvals", "receipts"] },
  "changes.export": { access: "read", topics: [] },
  "lineage.draw": { access: "read", topics: ["artifacts", "receipts", "knowledge"] },
  "context.show": { access: "read", topics: ["tasks"] },
  "context.summary": { access: "read", topics: ["tasks"] },
  "context.compact": { access: "write", topics: [] },
  "conversations.list": { access: "read", topics: ["tasks"] },
  "conversations.show": { access: "read", topics: ["tasks"] },
  "conversations.lines": { access: "read", topics: ["tasks", "approvals", "receipts"] },
  "conversations.open": { access: "write", topics: [] },
  "conversations.say": { access: "write", topics: [] },
  "conversations.undecided": { access: "read", topics: ["tasks"] },
  "conversations.bind": { access: "write", topics: [] },
  "conversations.commands": { access: "free", topics: [] },
  "conversations.files": { access: "read", topics: ["tasks"] },
  "conversations.focus": { access: "write", topics: [] },
  "task.set_priority": { access: "write", topics: [] },
  "task.steps": { access: "read", topics: ["tasks"] },
  "task.edit_goal": { access: "write", topics: [] },
  "grants.list": { access: "read", topics: ["grants"] },
  "grants.revoke": { access: "write", topics: [] },
  "grants.standing": { access: "read", topics: ["grants"] },
  "grants.propose": { access: "read", topics: ["approvals"] },
  "grants.draft": { access: "write", topics: [] },
  "grants.allow": { access: "write", topics: [] },
  "knowledge.decisions": { access: "read", topics: ["knowledge"] },
  "knowledge.beliefs": { access: "read", topics: ["knowledge"] },
  "knowledge.history": { access: "read", topics: ["knowledge"] },
  "knowledge.revoke": { access: "write", topics: [] },
  "knowledge.correct": { access: "write", topics: [] },
  "knowledge.memories": { access: "read", topics: ["knowledge"] },
  "knowledge.memory_contexts": { access: "read", topics: ["knowledge"] },
  "knowledge.memory_then": { access: "read", topics: ["knowledge", "store"] },
  "knowledge.memory_points": { access: "read", topics: ["knowledge", "store"] },
  "knowledge.remember": { access: "write", topics: [] },
  "knowledge.forget": { access: "write", topics: [] },
  "knowledge.invalidate": { access: "write", topics: [] },
  "knowledge.suggestions": { access: "read", topics: ["approvals", "knowledge"] },
  "knowledge.review": { access: "write", topics: [] },
  "knowledge.search": { access: "read", topics: ["store"] },
  "ledger.verify": { access: "read", topics: ["store"] },
  "ledger.rebuild": { access: "owner", topics: [] },
  "ledger.checkpoint": { access: "write", topics: [] },
  "ledger.head": { access: "read", topics: ["store"] },
  "ledger.compare": { access: "read", topics: ["store"] },
  "ledger.stats": { access: "read", topics: ["store"] },
  "ledger.severed": { access: "read", topics: ["store"] },
  "gate.state": { access: "read", topics: ["gate"] },
  "gate.halt": { access: "write", topics: [] },
  "gate.boot": { access: "person", topics: [] },
  "gate.export": { access: "read", topics: [] },
  "gate.verify": { access: "free", topics: [] },
  "proof.export": { access: "write", topics: [] },
  "proof.preview": { access: "read", topics: [] },
  "proof.verify": { access: "free", topics: [] },
  "keys.list": { access: "read", topics: ["keys"] },
  "keys.register": { access: "owner", topics: [] },
  "adoptions.list": { access: "read", topics: ["store"] },
  "adoptions.propose": { access: "write", topics: [] },
  "adoptions.back": { access: "write", topics: [] },
  "identity.show": { access: "read", topics: ["store", "keys", "approvals"] },
  "identity.write": { access: "write", topics: [] },
  "identity.attest": { access: "owner", topics: [] },
  "identity.publish": { access: "write", topics: [] },
  "identity.verify": { access: "free", topics: [] },
  "identity.export": { access: "read", topics: [] },
  "anchors.list": { access: "read", topics: ["store"] },
  "anchors.show": { access: "read", topics: ["store"] },
  "anchors.stamp": { access: "write", topics: [] },
  "anchors.complete": { access: "write", topics: [] },
  "anchors.clocks": { access: "read", topics: ["store"] },
  "anchors.set_clocks": { access: "write", topics: [] },
  "anchors.wallet": { access: "write", topics: [] },
  "mesh.show": { access: "read", topics: ["store"] },
  "mesh.set": { access: "surface", topics: [] },
  "mesh.invite": { access: "surface", topics: [] },
  "mesh.join": { access: "surface", topics: [] },
  "mesh.pairing": { access: "write", topics: [] },
  "mesh.nodes": { access: "write", topics: [] },
  "mesh.withdraw": { access: "surface", topics: [] },
  "mesh.send": { access: "write", topics: [] },
  "mesh.messages": { access: "read", topics: ["store"] },
  "mesh.hand_over": { access: "surface", topics: [] },
  "mesh.take": { access: "surface", topics: [] },
  "mesh.receipts": { access: "read", topics: ["store"] },
  "mesh.questions": { access: "read", topics: ["store"] },
  "mesh.approver": { access: "surface", topics: [] },
  "mesh.answer": { access: "write", topics: [] },
  "mesh.hold": { access: "surface", topics: [] },
  "mesh.export": { access: "write", topics: [] },
  "mesh.import": { access: "write", topics: [] },
  "successor.try_change": { access: "write", topics: [] },
  "successor.preview": { access: "free", topics: [] },
  "successor.list": { access: "read", topics: ["store"] },
  "successor.show": { access: "read", topics: ["store"] },
  "successor.stop": { access: "write", topics: [] },
  "secrets.list": { access: "read", topics: ["store"] },
  "tools.add": { access: "write", topics: [] },
  "tools.classify": { access: "write", topics: [] },
  "tools.sampling": { access: "write", topics: [] },
  "tools.pass_on": { access: "write", topics: [] },
  "tools.pass_off": { access: "write", topics: [] },
  "tools.login": { access: "write", topics: [] },
  "tools.login_begin": { access: "write", topics: [] },
  "tools.login_cancel": { access: "write", topics: [] },
  "tools.login_stands": { access: "write", topics: [] },
  "tools.logout": { access: "write", topics: [] },
  "tools.logins": { access: "read", topics: ["store"] },
  "tools.call": { access: "write", topics: [] },
  "tools.prompt": { access: "write", topics: [] },
  "tools.list": { access: "read", topics: ["store"] },
  "tools.show": { access: "read", topics: ["store"] },
  "tools.disable": { access: "write", topics: [] },
  "tools.remove": { access: "write", topics: [] },
  "skills.list": { access: "read", topics: ["store"] },
  "skills.show": { access: "read", topics: ["store"] },
  "skills.trust": { access: "write", topics: [] },
  "skills.drafts": { access: "read", topics: ["store", "knowledge"] },
  "skills.adopt": { access: "write", topics: [] },
  "skills.untrust": { access: "write", topics: [] },
  "schedules.list": { access: "read", topics: ["store", "tasks"] },
  "schedules.show": { access: "read", topics: ["store", "tasks"] },
  "schedules.preview": { access: "free", topics: [] },
  "schedules.keep": { access: "write", topics: [] },
  "schedules.pause": { access: "write", topics: [] },
  "schedules.resume": { access: "surface", topics: [] },
  "schedules.remove": { access: "write", topics: [] },
  "schedules.run": { access: "write", topics: [] },
  "schedules.rehearse": { access: "read", topics: ["store", "tasks"] },
  "schedules.calendar": { access: "read", topics: ["store", "tasks"] },
  "gateways.list": { access: "read", topics: ["store", "tasks"] },
  "gateways.services": { access: "free", topics: [] },
  "gateways.show": { access: "read", topics: ["store", "tasks"] },
  "gateways.add": { access: "write", topics: [] },
  "gateways.pause": { access: "write", topics: [] },
  "gateways.resume": { access: "surface", topics: [] },
  "gateways.remove": { access: "write", topics: [] },
  "gateways.pair": { access: "write", topics: [] },
  "gateways.senders": { access: "read", topics: ["store"] },
  "gateways.unpair": { access: "write", topics: [] },
  "gateways.messages": { access: "read", topics: ["store", "tasks"] },
  "skins.list": { access: "read", topics: ["store", "tasks"] },
  "skins.show": { access: "read", topics: ["store"] },
  "skins.check": { access: "free", topics: [] },
  "skins.draft": { access: "free", topics: [] },
  "skins.trust": { access: "write", topics: [] },
  "skins.untrust": { access: "write", topics: [] },
  "skins.choose": { access: "write", topics: [] },
  "passkeys.list": { access: "read", topics: ["store", "keys"] },
  "passkeys.enrol": { access: "write", topics: [] },
  "passkeys.revoke": { access: "write", topics: [] },
  "guests.list": { access: "read", topics: ["store"] },
  "playbooks.list": { access: "free", topics: [] },
  "playbooks.read": { access: "free", topics: [] },
  "playbooks.drafts": { access: "read", topics: ["store", "approvals"] },
  "playbooks.try_draft": { access: "write", topics: [] },
  "playbooks.adopt": { access: "write", topics: [] },
  "playbooks.turn_off": { access: "write", topics: [] },
  "models.find": { access: "free", topics: [] },
  "models.standard": { access: "surface", topics: [] },
  "models.embedded": { access: "read", topics: ["knowledge"] },
  "models.embed": { access: "surface", topics: [] },
  "models.set": { access: "write", topics: [] },
  "models.costs": { access: "read", topics: ["tasks"] },
  "models.ceiling": { access: "write", topics: [] },
  "models.reads": { access: "read", topics: [] },
  "models.set_reads": { access: "write", topics: [] },
  "models.in_box": { access: "read", topics: [] },
  "models.get": { access: "write", topics: [] },
  "models.stop_get": { access: "write", topics: [] },
  "models.remove": { access: "write", topics: [] },
  "models.test": { access: "write", topics: [] },
  "policy.profiles": { access: "free", topics: [] },
  "policy.rules": { access: "free", topics: [] },
  "policy.test": { access: "free", topics: [] },
  "policy.backtest": { access: "read", topics: ["tasks", "approvals"] },
  "policy.explain": { access: "read", topics: ["tasks"] },
  "policy.suggest": { access: "read", topics: ["approvals"] },
  "policy.check": { access: "free", topics: [] },
  "policy.own_rules": { access: "read", topics: ["store", "tasks"] },
  "policy.draft_rules": { access: "read", topics: ["store", "tasks"] },
  "policy.change_rules": { access: "write", topics: [] },
  "policy.draft_override": { access: "read", topics: ["tasks"] },
  "policy.allow_override": { access: "write", topics: [] },
  "trace.explain": { access: "read", topics: ["receipts"] },
  "trace.recall": { access: "read", topics: ["artifacts"] },
  "training.preview": { access: "write", topics: [] },
  "training.curate": { access: "surface", topics: [] },
  "training.list": { access: "read", topics: ["store"] },
  "training.run": { access: "write", topics: [] },
  "training.together": { access: "surface", topics: [] },
  "training.join": { access: "surface", topics: [] },
  "training.stands": { access: "write", topics: [] },
  "training.pause": { access: "write", topics: [] },
  "training.stop": { access: "write", topics: [] },
  "training.prove": { access: "write", topics: [] },
  "training.export": { access: "write", topics: [] },
  "training.recall": { access: "write", topics: [] },
  "training.private": { access: "write", topics: [] },
  "erasure.plan": { access: "read", topics: [] },
  "store.backup": { access: "read", topics: [] },
  "store.restore": { access: "free", topics: [] },
  "host.status": { access: "read", topics: ["tasks", "approvals", "gate", "store"] },
  "host.doctor": { access: "read", topics: ["store"] },
  "version.show": { access: "free", topics: [] },
  "version.introspect": { access: "free", topics: [] },
  "host.resume": { access: "write", topics: [] },
  "agent.open": { access: "write", topics: [] },
  "agent.tools": { access: "write", topics: [] },
  "agent.call": { access: "write", topics: [] },
  "agent.stop": { access: "write", topics: [] },
  "host.wait": { access: "write", topics: [] },
};
