//! What other machines ask a person here, their answer, and whose approval keys may answer what this machine asks.

use super::mesh::{registry, running};
use super::mesh_names::Names;
use crate::convert::{from_base64, to_base64};
use crate::page_approval::word_at;
use crate::{Host, Wire as _, failed, fold, not_found, usage};
use acts::ApprovalPacket;
use kernel::command::mesh::approvals::{MeshQuestion, approvers as enrolled, enrolment, questions as asked};
use mesh::NodeId;
use model::approval::Surface;
use serde_json::json;
use std::collections::BTreeSet;
use wire::mesh::{Answer, Approver, NodeList, Question, QuestionList, Questions};
use wire::{Code, Error, Text};

/// Bytes of packets that one list has; what does not fit comes when others are answered.
const PACKETS_BYTES: usize = 512 * 1024;

pub(crate) fn questions(host: &dyn Host, _: Questions) -> Result<QuestionList, Error> {
    let registry = registry(host)?;
    let names = Names::of(&registry);
    let mut open = asked(&registry, host.now());
    open.sort_by_key(|(one, _)| (one.came_at, one.from));
    let (mut questions, mut bytes) = (Vec::new(), 0);
    for (one, packet) in open {
        // What is no card cannot be read, and so not answered; it takes no room from what can.
        let Some(question) = question(&names, &one, &packet)? else { continue };
        bytes += packet.len();
        if bytes > PACKETS_BYTES {
            break;
        }
        questions.push(question);
    }
    Ok(QuestionList { questions })
}

/// The card of a question, with exactly the lines of its packet; none of what is no packet.
fn question(names: &Names, one: &MeshQuestion, packet: &[u8]) -> Result<Option<Question>, Error> {
    let Ok(read) = seal::canon::from_canonical::<ApprovalPacket>(packet) else { return Ok(None) };
    if read.approval_id.to_string() != one.card.approval {
        return Ok(None);
    }
    let card = governance::approval::card(&read);
    let to_sign = seal::canon::to_canonical(one).wire()?;
    Ok(Some(Question {
        approval: one.card.approval.clone(),
        node: one.from.to_string(),
        name: Text::Shown(names.shown(one.from)),
        expires_at: one.card.expires_at.0,
        packet: to_base64(packet),
        packet_sha256: one.card.packet.to_string(),
        title: Text::Shown(card.title),
        lines: card.lines.into_iter().map(|line| Text::Shown(line.text)).collect(),
        word: word_at(read.risk_band),
        to_sign: to_base64(&to_sign),
    }))
}

pub(crate) fn answer(host: &dyn Host, p: Answer) -> Result<QuestionList, Error> {
    host.kernel()?;
    let Some(signed) = p.signed.as_deref() else {
        return Err(usage("an answer is signed with the approval key of this machine")
            .hint("answer at a terminal: `hermit mesh answer`"));
    };
    let signed = from_base64("signed", signed)?;
    answered(host, &p, |_, _| Ok(signed))
}

/// The answer of a person on a page of this host, who gave the passphrase with it and says what they were shown.
pub(crate) fn answer_at_page(host: &dyn Host, p: &Answer, passphrase: &[u8]) -> Result<QuestionList, Error> {
    if p.packet_sha256.is_none() {
        return Err(usage("say in `packet_sha256` what was shown"));
    }
    answered(host, p, |one, packet| {
        let signed = host.sign_answer(one, packet, p.allow, passphrase)?;
        seal::canon::to_canonical(&signed).wire()
    })
}

fn answered(
    host: &dyn Host,
    p: &Answer,
    signed: impl FnOnce(&MeshQuestion, &[u8]) -> Result<Vec<u8>, Error>,
) -> Result<QuestionList, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let open = kernel.mesh_questions();
    let mut found = open.iter().filter(|(one, _)| one.card.approval == p.approval);
    let (one, packet) = found.next().ok_or_else(|| not_found("question", &p.approval))?;
    if found.next().is_some() {
        return Err(Error::new(Code::Ambiguous, "several machines ask under this name; answer there"));
    }
    if p.packet_sha256.as_ref().is_some_and(|shown| *shown != one.card.packet.to_string()) {
        return Err(Error::new(Code::Conflict, "what is asked is not what was shown")
            .hint("look at the question again; nothing was decided"));
    }
    if p.allow {
        has_said(p.word.as_deref(), packet)?;
    }
    let signed = signed(one, packet)?;
    mesh.say(kernel.mesh_decide(&p.approval, p.allow, &signed).wire()?)?;
    questions(host, Questions {})
}

/// At high and critical risk a yes says the risk, as at a card of this machine; whoever signs it cannot leave that out.
fn has_said(word: Option<&str>, packet: &[u8]) -> Result<(), Error> {
    let read: ApprovalPacket = seal::canon::from_canonical(packet).map_err(failed)?;
    match word_at(read.risk_band) {
        Some(needed) if word.is_none_or(|word| word.trim() != needed) => {
            Err(usage(format!("this needs the word `{needed}`")).details(json!({ "word": needed })))
        }
        _ => Ok(()),
    }
}

pub(crate) fn approver(host: &dyn Host, p: Approver) -> Result<NodeList, Error> {
    let kernel = host.kernel()?;
    let mesh = running(host)?;
    let node = Names::of(&kernel.mesh_registry()).find(&p.node)?;
    let envelope = p.signed.as_deref().map(|text| from_base64("signed", text)).transpose()?;
    let say = kernel.mesh_approver(node, p.allow, envelope.as_deref()).wire()?;
    mesh.say(say)?;
    super::mesh_lists::listed(host)
}

/// What the approval key signs so that the approval key of a machine can say yes here.
///
/// # Errors
/// [`Code::NotFound`] for a machine that is not paired; [`Code::Conflict`] for one that showed no approval key.
pub fn to_enrol(
    host: &dyn Host,
    named: &str,
    surface: Surface,
) -> Result<model::passkey::PasskeyEnrolment, Error> {
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let node = Names::of(&store.mesh).find(named)?;
    enrolment(&store, reader.log_id(), node, (surface, host.now())).wire()
}

/// The question that bytes of [`Question::to_sign`] are.
///
/// # Errors
/// When they are none.
pub fn question_of(to_sign: &str) -> Result<MeshQuestion, Error> {
    seal::canon::from_canonical(&from_base64("to_sign", to_sign)?).map_err(failed)
}

/// Machines whose approval keys may answer what this machine asks.
pub(super) fn approvers(host: &dyn Host) -> Result<BTreeSet<NodeId>, Error> {
    Ok(enrolled(&fold::store_state(&host.reader()?)?).into_keys().collect())
}
