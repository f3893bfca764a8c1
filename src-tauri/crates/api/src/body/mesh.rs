//! The mesh of one's own machines: what this one is in it, pairing, goals at other machines, whose a conversation is, and files that
//! a person carries. Lists stand in [`super::mesh_lists`], what is asked of other machines in [`super::mesh_answers`].

pub(crate) use super::mesh_answers::{answer, approver, questions};
pub(crate) use super::mesh_lists::{messages, nodes, receipts};
use super::mesh_names::Names;
use super::mesh_settings::{fit, fit_code};
pub(crate) use super::mesh_slots::hold;
use super::task_control::signed;
use crate::caller::speaker;
use crate::files::absolute;
use crate::{Host, MeshShown, Presence, Wire as _, failed, fold, no_host, usage};
use kernel::command::mesh::MeshGoal;
use kernel::command::person::mesh_subject;
use kernel::mesh_registry::{MeshMessage, MeshRegistry};
use kernel::sender::Sender;
use ledger::CheckpointKind;
use mesh::Command;
use model::ingress::Channel;
use seal::Digest;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::mesh::{
    Alert, Answer, Approver, Carried, Export, HandOver, Hold, Import, Invite, Join, Mesh, NodeList, Owned,
    Pairing, PairingState, Sent, Set, Show, Take, Way, Withdraw,
};
use wire::training::Together;
use wire::{Code, Error, PersonSigned};
use words::mesh::DeliveryState;

/// Fewer letters of a conversation's identifier name too much by accident.
const LETTERS_MIN: usize = 4;
/// Conversations that are named in an error.
const CANDIDATES_MAX: usize = 10;

pub(crate) fn show(host: &dyn Host, _: Show) -> Result<Mesh, Error> {
    let set = host.mesh().map_or_else(|| Ok(MeshShown::default()), |mesh| mesh.settings())?;
    let live = host.mesh().and_then(|mesh| mesh.live()).unwrap_or_default();
    let registry = registry(host)?;
    let names = Names::of(&registry);
    let way = |way: &crate::MeshWay| Way {
        at: way.node.map_or_else(|| way.at.clone(), |node| names.shown(node)),
        is_direct: way.node.is_some(),
        is_open: way.is_open,
        says: way.says.clone(),
    };
    let alert = |one: &kernel::mesh_registry::MeshAlerted| Alert {
        kind: one.kind,
        node: one.node.map(|node| node.to_string()),
        name: one.node.map(|node| names.shown(node)),
        says: one.says.clone(),
        at: one.at.0,
    };
    Ok(Mesh {
        on: set.on,
        name: set.name.or_else(|| registry.name().map(str::to_owned)),
        node: registry.node().map(|node| node.to_string()),
        cosign_key: host.kernel().ok().and_then(kernel::Kernel::mesh_cosign_key),
        relays: set.relays,
        listen: set.listen,
        folders: set.folders.into_iter().map(|(alias, at)| (alias, at.display().to_string())).collect(),
        model: set.model,
        public: set.public,
        ways: live.ways.iter().map(way).collect(),
        waiting: registry.state().map_or(0, super::mesh_lists::waiting_for_all),
        alerts: registry.alerts().rev().map(alert).collect(),
    })
}

pub(crate) fn set(host: &dyn Host, p: Set) -> Result<Mesh, Error> {
    said(host, &p, p.signed.as_ref(), "set what this machine is in the mesh")?;
    let wanted = fit(host, p)?;
    host.mesh().ok_or_else(no_host)?.set(&wanted)?;
    show(host, Show {})
}

pub(crate) fn invite(host: &dyn Host, p: Invite) -> Result<wire::mesh::Code, Error> {
    said(host, &p, p.signed.as_ref(), "pair machines")?;
    running(host)?.invite()
}

pub(crate) fn join(host: &dyn Host, p: Join) -> Result<PairingState, Error> {
    said(host, &p, p.signed.as_ref(), "pair machines")?;
    fit_code(&p.code)?;
    running(host)?.join(&p.code, &p.at)
}

pub(crate) fn pairing(host: &dyn Host, _: Pairing) -> Result<PairingState, Error> {
    host.kernel()?;
    let stands = host.mesh().ok_or_else(no_host)?.pairing();
    // Whoever knows the code can be paired: it was told to the person who asked for it, and is told to no program.
    let code = stands.code.filter(|_| host.has_person());
    Ok(PairingState { code, ..stands })
}

pub(crate) fn withdraw(host: &dyn Host, p: Withdraw) -> Result<NodeList, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let names = Names::of(&kernel.mesh_registry());
    let node = names.find(&p.node)?;
    said(host, &p, p.signed.as_ref(), "withdraw a machine")?;
    mesh.say(vec![Command::Withdraw(node)])?;
    let by = Sender::from(Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("withdrawn by a {}", by.by));
    kernel.record_withdrawal(&names.shown(node), &reason, by).wire()?;
    super::mesh_lists::listed(host)
}

pub(crate) fn send(host: &dyn Host, p: wire::mesh::Send) -> Result<Sent, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    if p.text.trim().is_empty() {
        return Err(usage("say what is to be done there"));
    }
    let registry = kernel.mesh_registry();
    let names = Names::of(&registry);
    let to = names.find(&p.to)?;
    let conversation = p.conversation.map(|named| known_conversation(&registry, &named)).transpose()?;
    let live = mesh.live().unwrap_or_default();
    let folder =
        folder_there(live.here.get(&to), &names.shown(to), p.folder.as_deref(), conversation.is_some())?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    // Whoever records what is said would copy what somebody else holds.
    drop(registry);
    let sent = kernel.mesh_goal(&MeshGoal { to, folder, conversation, text: p.text, key }).wire()?;
    mesh.say(sent.say)?;
    let registry = kernel.mesh_registry();
    let stands = registry.messages().rev().find(|one| one.id == sent.id);
    Ok(Sent {
        message: sent.id.to_string(),
        conversation: sent.conversation,
        state: stands.map_or(DeliveryState::Queued, |one| one.state),
    })
}

/// The folder that a goal works in there, by its alias. Of a machine that nothing is heard of nobody knows which it has: it says so
/// itself when it opens the goal.
fn folder_there(
    there: Option<&Presence>,
    name: &str,
    wanted: Option<&str>,
    goes_on: bool,
) -> Result<Option<String>, Error> {
    let wanted = wanted.map(str::trim).filter(|alias| !alias.is_empty());
    let Some(there) = there else { return Ok(wanted.map(str::to_owned)) };
    let folders = &there.can.folders;
    let all = || format!("there are `{}`", folders.iter().cloned().collect::<Vec<_>>().join("`, `"));
    let mut some = folders.iter();
    match (wanted, some.next(), some.next()) {
        (None, ..) if goes_on => Ok(None),
        (Some(alias), ..) if folders.contains(alias) => Ok(Some(alias.to_owned())),
        (_, None, _) => {
            Err(Error::new(Code::Conflict, format!("`{name}` has no folder for goals of other machines"))
                .hint("name one there: `hermit mesh on --folder alias=/path`"))
        }
        (Some(alias), ..) => Err(usage(format!("`{name}` has no folder `{alias}`")).hint(all())),
        (None, Some(only), None) => Ok(Some(only.clone())),
        (None, ..) => Err(usage(format!("`{name}` has several folders; say which one")).hint(all())),
    }
}

pub(crate) fn hand_over(host: &dyn Host, p: HandOver) -> Result<Owned, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let registry = kernel.mesh_registry();
    let names = Names::of(&registry);
    let to = names.find(&p.to)?;
    let conversation = conversation(host, &registry, &p.conversation)?;
    let owner = registry.state().and_then(|state| state.owner(&conversation));
    let mut say = Vec::new();
    match (owner, registry.state().and_then(|state| state.handed_to(&conversation))) {
        (_, Some(other)) => {
            let says = format!("this conversation is on its way to `{}` already", names.shown(other));
            return Err(Error::new(Code::Conflict, says));
        }
        (None, None) => say.push(Command::Own { conversation: conversation.clone() }),
        (Some((_, by)), None) if Some(by) != registry.node() => {
            return Err(Error::new(Code::Conflict, format!("this conversation is on `{}`", names.shown(by)))
                .hint(
                    "give it away there; `hermit mesh take` takes it from a machine that does not answer",
                ));
        }
        (Some(_), None) => {}
    }
    drop(registry);
    said(host, &p, p.signed.as_ref(), "hand a conversation over to another machine")?;
    say.push(Command::HandOver { conversation: conversation.clone(), to, head: head(host)? });
    mesh.say(say)?;
    let epoch = owner.map_or(1, |(epoch, _)| epoch).saturating_add(1);
    Ok(Owned { conversation, node: to.to_string(), name: names.shown(to), epoch })
}

/// The newest head of this machine's log, signed now.
fn head(host: &dyn Host) -> Result<Digest, Error> {
    host.kernel()?.checkpoint(&[]).wire()?;
    let head = host.reader()?.last_checkpoint(CheckpointKind::Global, None).wire()?;
    head.map(|head| head.root).ok_or_else(|| failed("the log has no signed head"))
}

pub(crate) fn take(host: &dyn Host, p: Take) -> Result<Owned, Error> {
    said(host, &p, p.signed.as_ref(), "take a conversation from another machine")?;
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let registry = kernel.mesh_registry();
    let conversation = known_conversation(&registry, &p.conversation)?;
    if registry.state().is_some_and(|state| state.may_write(&conversation)) {
        return Err(Error::new(Code::Conflict, "this conversation is on this machine"));
    }
    drop(registry);
    mesh.say(vec![Command::Take { conversation: conversation.clone() }])?;
    let registry = kernel.mesh_registry();
    let owner = registry.state().and_then(|state| state.owner(&conversation));
    let (epoch, by) = owner.ok_or_else(|| failed("nobody has the conversation that was taken"))?;
    Ok(Owned { conversation, node: by.to_string(), name: Names::of(&registry).shown(by), epoch })
}

pub(crate) fn export(host: &dyn Host, p: Export) -> Result<Carried, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let only = p.node.map(|named| Names::of(&kernel.mesh_registry()).find(&named)).transpose()?;
    mesh.export(&absolute("path", &p.path)?, only)
}

pub(crate) fn import(host: &dyn Host, p: Import) -> Result<Carried, Error> {
    host.kernel()?;
    running(host)?.import(&absolute("path", &p.path)?)
}

/// The conversation that is meant: one of the mesh, or one of this machine that the mesh does not know yet.
fn conversation(host: &dyn Host, registry: &MeshRegistry, named: &str) -> Result<String, Error> {
    match known_conversation(registry, named) {
        Err(error) if error.code == Code::NotFound => {
            let own = super::conversations::conversation(host, named).map_err(|_| error)?;
            Ok(own.to_string())
        }
        known => known,
    }
}

/// A conversation that the mesh knows: by its identifier, or the beginning or end of it.
fn known_conversation(registry: &MeshRegistry, named: &str) -> Result<String, Error> {
    let text = named.trim();
    let told: BTreeSet<&str> =
        registry.messages().map(|one: &MeshMessage| one.conversation.as_str()).collect();
    if told.contains(text) || registry.state().is_some_and(|state| state.owner(text).is_some()) {
        return Ok(text.to_owned());
    }
    let is_like = |one: &&str| text.len() >= LETTERS_MIN && (one.starts_with(text) || one.ends_with(text));
    let like: Vec<&str> = told.into_iter().filter(is_like).take(CANDIDATES_MAX).collect();
    match like.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(Error::new(Code::NotFound, format!("the mesh knows no conversation `{text}`"))
            .hint("`hermit mesh messages` names the conversation of each message")),
        several => Err(Error::new(Code::Ambiguous, format!("`{text}` fits more than one conversation"))
            .hint(format!("give more of it; there are `{}`", several.join("`, `")))
            .details(json!({ "candidates": several }))),
    }
}

/// This machine in the mesh, as the store says; also in a process that only reads.
pub(super) fn registry(host: &dyn Host) -> Result<Arc<MeshRegistry>, Error> {
    match host.kernel() {
        Ok(kernel) => Ok(kernel.mesh_registry()),
        Err(_) => Ok(fold::store_state(&host.reader()?)?.mesh),
    }
}

/// The mesh, where it runs in this process.
pub(super) fn running(host: &dyn Host) -> Result<&dyn crate::Mesh, Error> {
    host.kernel()?;
    let mesh = host.mesh().ok_or_else(no_host)?;
    if mesh.live().is_some() {
        return Ok(mesh);
    }
    match mesh.settings()?.on {
        true => Err(Error::new(Code::NoHost, "the mesh runs only while Hermit is open")
            .hint("open the app, or start `hermit serve`")),
        false => Err(Error::new(Code::Conflict, "the mesh is off").hint("turn it on with `hermit mesh on`")),
    }
}

/// That a person says this: one who is there, or who signed exactly this command.
pub(super) fn said<P: wire::Command>(
    host: &dyn Host,
    p: &P,
    given: Option<&PersonSigned>,
    what: &str,
) -> Result<(), Error> {
    let kernel = host.kernel()?;
    let params = serde_json::to_value(p).map_err(failed)?;
    let subject = mesh_subject(P::NAME, &params).wire()?;
    let signed = signed(kernel, given)?;
    kernel.person_changes_mesh((speaker(host, Channel::Cli), what), subject, signed.as_ref()).wire()
}

/// Parameters as a command of the mesh has them that a person signs, with all that was left out; so that whoever signs and whoever
/// checks mean the same text.
pub(crate) fn to_sign(command: &str, params: Value) -> Result<Value, Error> {
    fn whole<P: wire::Command>(params: Value) -> Result<Value, Error> {
        let params: P = serde_json::from_value(params).map_err(|e| crate::misfit(P::NAME, &e.to_string()))?;
        serde_json::to_value(params).map_err(failed)
    }
    match command {
        "mesh.set" => whole::<Set>(params),
        "mesh.invite" => whole::<Invite>(params),
        "mesh.join" => whole::<Join>(params),
        "mesh.withdraw" => whole::<Withdraw>(params),
        "mesh.hand_over" => whole::<HandOver>(params),
        "mesh.take" => whole::<Take>(params),
        "mesh.hold" => whole::<Hold>(params),
        "mesh.approver" => whole::<Approver>(params),
        "mesh.answer" => whole::<Answer>(params),
        "training.together" => whole::<Together>(params),
        "training.join" => whole::<wire::training::Join>(params),
        _ => Err(usage(format!("`{command}` is no command about other machines that a person signs"))),
    }
}
