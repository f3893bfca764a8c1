//! What a person at a terminal says to and of their other machines: signed here with the approval key, carried out by the process
//! that holds the store.

use crate::{ApprovalSession, Error, Session};
use acts::ApprovalPacket;
use api::Host as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use governance::approval::{card, machine_of};
use mesh::NodeId;
use model::approval::Surface;
use seal::Digest;
use wire::Text;
use wire::mesh::{Answer, Approver, NodeList, Question, QuestionList, Questions};

impl Session {
    /// Answers what another machine asks and `shown` was of it, by the word of whoever knows the approval passphrase of this one; at
    /// high and critical risk a yes says the risk in `word`.
    ///
    /// # Errors
    /// [`wire::Code::KeyLocked`] for a wrong passphrase; [`wire::Code::NotFound`] when it asks that no more; [`wire::Code::Conflict`]
    /// when something else would be signed than was shown; what the host says.
    pub fn answer_machine_by(
        &self,
        shown: &Question,
        (allow, word): (bool, Option<String>),
        passphrase: &[u8],
    ) -> Result<QuestionList, wire::Error> {
        // What the answer is to count to may be more by now.
        let open = self.call(&Questions {})?;
        let is_shown = |one: &&Question| {
            (&one.node, &one.approval, &one.packet_sha256, &one.packet)
                == (&shown.node, &shown.approval, &shown.packet_sha256, &shown.packet)
        };
        let gone = || api::not_found("question", &shown.approval);
        let asked = open.questions.iter().find(is_shown).ok_or_else(gone)?;
        let packet = STANDARD.decode(&asked.packet).map_err(api::failed)?;
        let question = api::question_of(&asked.to_sign)?;
        // Whoever answers as the host has not to be believed: what was read is what these bytes say.
        if question.from.to_string() != shown.node || !is_as_shown(shown, &packet) {
            return Err(api::page_approval::not_shown());
        }
        let signed = self.seat(passphrase)?.sign_answer(&question, &packet, allow).map_err(Error::to_wire)?;
        let signed = seal::canon::to_canonical(&signed).map_err(api::failed)?;
        self.call(&Answer {
            approval: asked.approval.clone(),
            allow,
            packet_sha256: Some(asked.packet_sha256.clone()),
            word,
            signed: Some(STANDARD.encode(signed)),
        })
    }

    /// The machine that is meant, by its whole key, and the fingerprint of its approval key: what [`Self::allow_machine_by`] lets.
    ///
    /// # Errors
    /// As [`Self::allow_machine_by`].
    pub fn machine_meant(&self, named: &str) -> Result<(String, String), wire::Error> {
        let reading = self.reading()?;
        let draft = api::to_enrol(&*reading, named, Surface::Terminal)?;
        let store = api::store_state(&reading.reader()?)?;
        let node = machine_of(&draft.credential_id).map(NodeId);
        let mut peers = store.mesh.state().into_iter().flat_map(|state| state.peers());
        let peer = peers.find(|peer| Some(peer.node) == node);
        let peer = peer.ok_or_else(|| api::not_found("machine", named))?;
        let key = peer.approval_key.ok_or_else(|| api::not_found("approval key", named))?;
        Ok((peer.node.to_string(), seal::sshsig::fingerprint(&key)))
    }

    /// Lets the approval key of another machine say yes here, likewise.
    ///
    /// # Errors
    /// As [`Self::answer_machine_by`]; [`wire::Code::NotFound`] for a machine that is not paired, [`wire::Code::Conflict`] for one
    /// that showed no approval key.
    pub fn allow_machine_by(&self, node: &str, passphrase: &[u8]) -> Result<NodeList, wire::Error> {
        let draft = api::to_enrol(&*self.reading()?, node, Surface::Terminal)?;
        let envelope = self.seat(passphrase)?.sign_passkey(&draft).map_err(Error::to_wire)?;
        let signed = Some(STANDARD.encode(envelope));
        self.call(&Approver { node: node.to_owned(), allow: true, signed })
    }

    /// A seat at this terminal whose key is open until it falls.
    fn seat(&self, passphrase: &[u8]) -> Result<ApprovalSession, wire::Error> {
        let mut seat = ApprovalSession::at_terminal(self.home().clone());
        seat.unlock(passphrase).map_err(Error::to_wire)?;
        Ok(seat)
    }
}

/// Whether these are the bytes of which `shown` tells every line.
fn is_as_shown(shown: &Question, packet: &[u8]) -> bool {
    let Ok(read) = seal::canon::from_canonical::<ApprovalPacket>(packet) else { return false };
    let card = card(&read);
    let lines = card.lines.iter().map(|line| Some(line.text.as_str()));
    Digest::of(packet).to_string() == shown.packet_sha256
        && read.approval_id.to_string() == shown.approval
        && shown.title.shown() == Some(card.title.as_str())
        && shown.lines.iter().map(Text::shown).eq(lines)
}
