//! Who is heard through a gateway: a person allows a code by a card, and whoever sends it first in a chat of their own is paired
//! (schedule.md 2). The code is told once, to who asked for it; only its digest is kept.

use super::gateways::{in_messages, push_principal};
use super::submit::Submitted;
use crate::Error;
use crate::gateway_registry::{GatewayRecord, OpenCode};
use crate::kernel::{Kernel, lock};
use crate::sender::Sender;
use crate::writeup::Writeup;
use acts::Register;
use model::body::{ConversationOpened, PairingAllowed, SenderPaired, SenderSilenced, SenderUnpaired};
use model::envelope::EnvelopeSender;
use model::gateway::{
    CODE_LETTERS, CODE_OPEN, GatewayState, PairSender, SenderProfile, code_digest, code_in, code_of,
};
use model::ingress::Channel;
use model::{ActionRequestId, ConversationId, PrincipalId, Sensitive, TaskId, UnixMs};

/// Wrong codes of one sender after which they are not heard for a while.
const WRONG_MAX: u32 = 5;
/// For how long, in milliseconds.
const SILENT_MS: i64 = 3_600_000;
/// Senders whose wrong codes are counted at the same time.
pub(crate) const WRONG_SENDERS_MAX: usize = 1_000;
/// Letters of a sender's name in the title of their conversation.
const TITLE_LETTERS: usize = 60;

/// A code, and the task that asks a person about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// The task.
    pub submitted: Submitted,
    /// The code, which is told nowhere else.
    pub code: String,
}

impl Kernel {
    /// Makes a code, and the task that asks a person whether it pairs who sends it. Until they say yes it is worth nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the gateway, [`Error::Conflict`] when it is not listened to.
    pub fn propose_pairing(
        &self,
        name: &str,
        profile: SenderProfile,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Pairing, Error> {
        let record = self.standing_gateway(name)?;
        if record.state != GatewayState::Active {
            return Err(Error::Conflict(format!(
                "the gateway `{name}` is {}; resume it first",
                record.state
            )));
        }
        let gateway = self.gateway_of(&record)?;
        let mut random = [0_u8; CODE_LETTERS];
        self.ports.entropy.fill(&mut random);
        let code = code_of(&random);
        let pair = PairSender {
            gateway: name.to_owned(),
            version: record.version,
            service: record.service,
            profile,
            tasks_profile: gateway.profile,
            folder: gateway.folder,
            code_sha256: code_digest(name, &code),
        };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        let change = Register::Pairing { pair };
        let submitted = self.propose_change(&change, workspace_id, channel, idempotency_key)?;
        Ok(Pairing { submitted, code })
    }

    /// Why a code cannot be allowed any more, if it cannot.
    pub(super) fn pairing_outdated(&self, pair: &PairSender) -> Option<String> {
        let registry = self.gateway_registry();
        let stands = registry
            .standing(&pair.gateway)
            .is_some_and(|record| record.version == pair.version && record.state == GatewayState::Active);
        (!stands).then(|| format!("the gateway `{}` is another by now, or paused; ask again", pair.gateway))
    }

    /// A sender is not heard any more. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no such sender is paired.
    pub fn unpair(&self, name: &str, sender: &str, reason: &str, by: impl Into<Sender>) -> Result<(), Error> {
        let record = self.standing_gateway(name)?;
        let named = |one: &&crate::gateway_registry::PairedSender| {
            one.sender.as_deref() == Some(sender) || one.principal_id.to_string() == sender
        };
        let gone: Vec<PrincipalId> = record.all_paired().filter(named).map(|one| one.principal_id).collect();
        if gone.is_empty() {
            return Err(Error::NotFound { kind: "paired sender", id: sender.to_owned() });
        }
        let mut w = self.gateway_writeup(by.into(), name)?;
        for principal_id in gone {
            let reason = Sensitive::from(reason.to_owned());
            w.push(SenderUnpaired { name: name.to_owned(), principal_id, reason });
        }
        self.commit(w).map(drop)
    }

    /// The code that somebody sent, if it can be sent now.
    pub(super) fn open_code(&self, record: &GatewayRecord, text: &str, now: UnixMs) -> Option<OpenCode> {
        let sha256 = code_digest(&record.name, &code_in(text)?);
        record.codes.iter().find(|code| code.sha256 == sha256 && now < code.expires_at).copied()
    }

    /// Whoever sent a code is paired: they have a principal and a conversation of their own from now on.
    pub(super) fn push_paired(
        &self,
        w: &mut Writeup<'_>,
        sender: &EnvelopeSender,
        code: OpenCode,
    ) -> Result<(PrincipalId, ConversationId), Error> {
        let (clock, entropy) = (&*self.ports.clock, &*self.ports.entropy);
        let registry = self.gateway_registry();
        let known = registry.0.get(&sender.gateway).into_iter().flat_map(|record| &record.senders);
        // Who was paired before in this chat goes on in the conversation that they had.
        let known = known.filter(|one| {
            one.sender.as_ref() == Some(&sender.sender) && one.chat.as_ref() == Some(&sender.chat)
        });
        let known = known.map(|one| one.conversation_id).next_back();
        let principal_id = PrincipalId::fresh(clock, entropy);
        let shown: String = sender.name.chars().take(TITLE_LETTERS).collect();
        push_principal(w, principal_id, shown.clone(), format!("sender:{}", sender.gateway));
        let conversation_id = match known {
            Some(known) => known,
            None => {
                let conversation_id = ConversationId::fresh(clock, entropy);
                w.push(ConversationOpened {
                    conversation_id,
                    inbox_task_id: TaskId::fresh(clock, entropy),
                    title: Sensitive::from(format!("{shown}, through {}", sender.gateway)),
                    workspace_id: None,
                });
                conversation_id
            }
        };
        let paired_at = w.now;
        w.push(SenderPaired {
            name: sender.gateway.clone(),
            principal_id,
            sender: Sensitive::from(sender.sender.clone()),
            sender_name: Sensitive::from(sender.name.clone()),
            chat: Sensitive::from(sender.chat.clone()),
            profile: code.profile,
            conversation_id,
            code_sha256: code.sha256,
            paired_at,
        });
        Ok((principal_id, conversation_id))
    }

    /// Counts a wrong code; the fifth of a sender silences them. `wrong`: how often each has sent one since this host began.
    pub(super) fn count_wrong_code(
        &self,
        record: &GatewayRecord,
        sender: &str,
        wrong: &mut std::collections::BTreeMap<(String, String), u32>,
    ) -> Result<(), Error> {
        let key = (record.name.clone(), sender.to_owned());
        if wrong.len() >= WRONG_SENDERS_MAX && !wrong.contains_key(&key) {
            wrong.clear();
        }
        let times = wrong.entry(key.clone()).or_insert(0);
        *times = times.saturating_add(1);
        let now = self.ports.clock.now();
        if *times < WRONG_MAX || !record.traffic.may_silence(now) {
            return Ok(());
        }
        wrong.remove(&key);
        let mut w = self.gateway_writeup(Sender::from(Channel::System), &record.name)?;
        let (name, until) = (record.name.clone(), now.plus_ms(SILENT_MS));
        let sender = Sensitive::from(sender.to_owned());
        in_messages(&mut w, record, |w| w.push(SenderSilenced { name, sender, until }));
        self.commit(w).map(drop)
    }

    /// Whether somebody is paired there, so that what comes with their message is fetched.
    pub fn hears(&self, gateway: &str, sender: &str, chat: &str) -> bool {
        let store = lock(&self.store);
        store.gateways.standing(gateway).is_some_and(|record| record.paired(sender, chat).is_some())
    }
}

/// A person allowed that a code is sent.
pub(super) fn push_allowed(w: &mut Writeup<'_>, pair: &PairSender, action_request_id: ActionRequestId) {
    let open = i64::try_from(CODE_OPEN.as_millis()).unwrap_or(i64::MAX);
    let (allowed_at, expires_at) = (w.now, w.now.plus_ms(open));
    w.push(PairingAllowed {
        name: pair.gateway.clone(),
        code_sha256: pair.code_sha256,
        profile: pair.profile,
        action_request_id,
        allowed_at,
        expires_at,
    });
}
