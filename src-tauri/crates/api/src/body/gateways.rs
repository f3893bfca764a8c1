//! Gateways: proposals to a person, what narrows, how each stands, and what came in and went out.

use super::schedules::proposer;
use super::task::{budget, channel, of_submitted};
use super::task_control::signed;
use crate::caller::{sender, speaker};
use crate::convert::{opt_word, text, word};
use crate::files::absolute;
use crate::host::ChatAccount;
use crate::{Host, Wire as _, fold, not_found};
use kernel::gateway_registry::{GatewayRecord, GatewayRegistry};
use ledger::Reader;
use model::artifact::ArtifactRef;
use model::body::{MessageQueued, MessageReceived, MessageSending, MessageSettled};
use model::envelope::Envelope;
use model::gateway::{CODE_OPEN, Gateway as Kept, MessageState, MessageText, SenderProfile, Service};
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::ScheduleProposer;
use model::{Body, Sensitive};
use projections::rows::TaskRow;
use std::collections::BTreeMap;
use wire::gateways::{
    Add, Gateway, Gateways, List, Message, MessageList, Messages, Pair, PairedSender, PairingCode, Pause,
    Remove, Resume, SenderList, Senders, ServiceField, ServiceList, ServiceNeeds, Services, Show, Unpair,
};
use wire::task::{ChatSender, Submitted};
use wire::{Caller, Code, Error, Text};

/// Messages that are told at once.
const MESSAGES_USUAL: usize = 50;
/// And at most.
const MESSAGES_MAX: usize = 200;
/// Events that are read at once for that, the newest first.
const STRIDE: u64 = 500;
/// And at most, for one page: where nothing is said for long, a page is short.
const LOOKED_MAX: u64 = 20_000;

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Gateways, Error> {
    let registry = registry(host)?;
    let gateways = registry.all_standing().map(|one| row(host, one)).collect::<Result<_, _>>()?;
    Ok(Gateways { gateways })
}

pub(crate) fn services(_: &dyn Host, _: Services) -> Result<ServiceList, Error> {
    let field = |one: &words::services::Field| ServiceField {
        at: one.part.as_str().to_owned(),
        label: one.label.to_owned(),
        example: one.example.to_owned(),
        hint: one.hint.map(str::to_owned),
        is_needed: one.is_needed,
        protocol: one.protocol.map(str::to_owned),
    };
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let needs = |one: &words::services::ServiceWords| ServiceNeeds {
        service: one.service,
        name: one.name.to_owned(),
        how: one.how.to_owned(),
        tokens: owned(one.tokens),
        fields: one.fields.iter().map(field).collect(),
        hosts: owned(one.hosts),
        send_to: one.send_to.to_owned(),
    };
    Ok(ServiceList { services: words::services::SERVICES.iter().map(needs).collect() })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Gateway, Error> {
    shown(host, &p.name)
}

pub(crate) fn add(host: &dyn Host, p: Add) -> Result<Submitted, Error> {
    if host.caller() == Caller::Page && p.address.is_some() {
        return Err(Error::new(Code::Forbidden, "a page names no address of a server")
            .hint("run `hermit gateway add` at a terminal"));
    }
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let kernel = host.kernel()?;
    let service = word::<Service>(&p.service)?;
    let (address, user) = (p.address.unwrap_or_default(), p.user.unwrap_or_default());
    let account =
        ChatAccount { service, address: &address, user: &user, settings: &p.settings, secret: &p.secret };
    let chats = host.chats().ok_or_else(|| {
        Error::new(Code::Failed, "this process speaks with no chat service")
            .hint("ask the one that holds the store")
    })?;
    let hosts = chats.hosts(&account)?;
    let gateway = Kept {
        name: p.name,
        service,
        hosts,
        workspace_id: kernel.workspace(&root).wire()?,
        folder: root.display().to_string(),
        proposer: proposer(host.reasoning(&p.reasoner)?)?,
        profile: opt_word(p.profile.as_deref())?.unwrap_or(Profile::LocalEditAllowed),
        budget: budget(p.budget)?,
        settings: p.settings.clone(),
        secret: p.secret.clone(),
        address: address.clone(),
        user: user.clone(),
    };
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let submitted = kernel.propose_gateway(gateway, (channel(p.channel.as_deref())?, key)).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn pause(host: &dyn Host, p: Pause) -> Result<Gateway, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("paused by a {}", by.by));
    host.kernel()?.pause_gateway(&p.name, &reason, by).wire()?;
    shown(host, &p.name)
}

pub(crate) fn resume(host: &dyn Host, p: Resume) -> Result<Gateway, Error> {
    let kernel = host.kernel()?;
    let signed = signed(kernel, p.signed.as_ref())?;
    kernel.resume_gateway_signed(&p.name, speaker(host, Channel::Cli), signed.as_ref()).wire()?;
    shown(host, &p.name)
}

pub(crate) fn remove(host: &dyn Host, p: Remove) -> Result<Gateway, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("removed by a {}", by.by));
    host.kernel()?.remove_gateway(&p.name, &reason, by).wire()?;
    shown(host, &p.name)
}

pub(crate) fn pair(host: &dyn Host, p: Pair) -> Result<PairingCode, Error> {
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let profile = p.profile.unwrap_or(SenderProfile::Ask);
    let by = (channel(p.channel.as_deref())?, key);
    let pairing = host.kernel()?.propose_pairing(&p.name, profile, by).wire()?;
    host.drive(pairing.submitted.task_id)?;
    Ok(PairingCode {
        task_id: pairing.submitted.task_id.to_string(),
        name: p.name,
        code: pairing.code,
        profile,
        minutes: u32::try_from(CODE_OPEN.as_secs() / 60).unwrap_or(u32::MAX),
    })
}

pub(crate) fn senders(host: &dyn Host, p: Senders) -> Result<SenderList, Error> {
    senders_of(host, &p.name)
}

pub(crate) fn unpair(host: &dyn Host, p: Unpair) -> Result<SenderList, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("unpaired by a {}", by.by));
    host.kernel()?.unpair(&p.name, &p.sender, &reason, by).wire()?;
    senders_of(host, &p.name)
}

fn senders_of(host: &dyn Host, name: &str) -> Result<SenderList, Error> {
    let registry = registry(host)?;
    let record = known(&registry, name)?;
    let erased = || "(erased)".to_owned();
    let senders = record.senders.iter().map(|one| PairedSender {
        // An erased sender is still taken off by their principal.
        sender: one.sender.clone().unwrap_or_else(|| one.principal_id.to_string()),
        sender_name: Text::Shown(one.called().map_or_else(erased, str::to_owned)),
        chat: one.chat.clone().unwrap_or_else(erased),
        profile: one.profile,
        conversation_id: one.conversation_id.to_string(),
        since: one.since.0,
        unpaired: one.unpaired.clone(),
    });
    Ok(SenderList { name: name.to_owned(), senders: senders.collect() })
}

pub(crate) fn messages(host: &dyn Host, p: Messages) -> Result<MessageList, Error> {
    let most = p.limit.map_or(MESSAGES_USUAL, |limit| usize::try_from(limit).unwrap_or(MESSAGES_MAX));
    let most = most.clamp(1, MESSAGES_MAX);
    let registry = registry(host)?;
    let record = known(&registry, &p.name)?;
    let (shown, before) = told(host, record, p.before, most)?;
    let query = host.query()?;
    let mut rows = Vec::new();
    for (mut row, at) in shown {
        row.text = at.map(|at| said(host, row.is_outgoing, &at)).transpose()?;
        let task = row.task_id.as_deref().map(word).transpose()?;
        let found = task.map(|task| query.task(task).wire()).transpose()?.flatten();
        row.task_status = found.map(|found| found.status);
        rows.push(row);
    }
    Ok(MessageList { name: p.name, messages: rows, before })
}

/// A message, and where its words are kept.
type Row = (Message, Option<ArtifactRef>);

/// What became of a message, from the newest event that says so.
#[derive(Default)]
struct Became {
    state: Option<MessageState>,
    why: Option<Option<String>>,
    sent_by: Option<String>,
}

impl Became {
    /// Takes an event in that is older than those before.
    fn older(&mut self, body: &Body) {
        match body {
            Body::MessageSending(b) => {
                self.state.get_or_insert(MessageState::Sending);
                self.sent_by.get_or_insert_with(|| b.sent_by.to_string());
            }
            Body::MessageSettled(b) => {
                self.state.get_or_insert(b.state);
                self.why.get_or_insert_with(|| b.why.shown().cloned());
            }
            _ => {}
        }
    }

    /// Of a message whose events lie before the place that was asked for: found by their keys, however far they are.
    fn by_key(reader: &Reader, gateway: &str, repeat_key: &str) -> Result<Self, Error> {
        let mut events = Vec::new();
        for attempt in 0_u32.. {
            let sending =
                reader.by_idempotency_key(&format!("sending:{gateway}:{repeat_key}:{attempt}")).wire()?;
            let is_end = attempt > 0 && sending.is_none();
            events.extend(sending);
            for state in MessageState::ALL {
                let key = format!("settled:{gateway}:{repeat_key}:{attempt}:{state}");
                events.extend(reader.by_idempotency_key(&key).wire()?);
            }
            if is_end {
                break;
            }
        }
        events.sort_unstable_by_key(|stored| std::cmp::Reverse(stored.task_seq));
        let mut became = Self::default();
        for stored in events {
            became.older(&fold::body(reader, &stored.event().wire()?)?);
        }
        Ok(became)
    }

    fn tell(self, row: &mut Message) {
        row.state = self.state.or(row.state);
        row.why = self.why.flatten();
        row.sent_by = self.sent_by;
    }
}

/// Messages that a gateway's stream tells of before a place, the newest first, each with where its words are kept; and where the
/// next page begins, if there is one. So many events are looked at for that at most.
fn told(
    host: &dyn Host,
    record: &GatewayRecord,
    before: Option<u64>,
    most: usize,
) -> Result<(Vec<Row>, Option<u64>), Error> {
    let (reader, stream) = (host.reader()?, record.messages_task_id);
    let head = reader.task_head(stream).wire()?.map_or(0, |(seq, _)| seq);
    let mut end = before.map_or(head, |before| before.saturating_sub(1).min(head));
    let lowest = end.saturating_sub(LOOKED_MAX);
    let mut rows: Vec<Row> = Vec::new();
    let mut became: BTreeMap<String, Became> = BTreeMap::new();
    while end > lowest {
        let start = end.saturating_sub(STRIDE).max(lowest);
        let page = reader.events(stream, start, usize::try_from(STRIDE).unwrap_or(usize::MAX)).wire()?;
        for stored in page.iter().rev().filter(|stored| stored.task_seq <= end) {
            let event = stored.event().wire()?;
            let body = fold::body(&reader, &event)?;
            if let Body::MessageSending(MessageSending { repeat_key, .. })
            | Body::MessageSettled(MessageSettled { repeat_key, .. }) = &body
            {
                became.entry(repeat_key.clone()).or_default().older(&body);
                continue;
            }
            let Some((mut row, at)) = told_by(record, (stored.task_seq, event.occurred_at.0), &body) else {
                continue;
            };
            if rows.len() == most {
                let last = rows.last().map(|(row, _)| row.place);
                return Ok((rows, last));
            }
            if let Body::MessageQueued(b) = &body {
                let known = became.remove(&b.repeat_key);
                let by_key = || Became::by_key(&reader, &record.name, &b.repeat_key);
                let known = if before.is_some() { by_key()? } else { known.unwrap_or_default() };
                known.tell(&mut row);
            }
            rows.push((row, at));
        }
        end = start;
    }
    Ok((rows, Some(end.saturating_add(1)).filter(|_| end > 0)))
}

/// What an event tells of a message, where it begins one.
fn told_by(record: &GatewayRecord, (place, at): (u64, i64), body: &Body) -> Option<Row> {
    let blank = Message {
        place,
        at,
        is_outgoing: false,
        chat: None,
        sender: None,
        text: None,
        used_as: None,
        refused: None,
        times: None,
        about: None,
        state: None,
        why: None,
        task_id: None,
        task_status: None,
        sent_by: None,
    };
    let of = |principal: model::PrincipalId| {
        let sender = record.senders.iter().find(|one| one.principal_id == principal);
        (sender.and_then(|one| one.chat.clone()), sender.and_then(|one| one.sender.clone()))
    };
    match body {
        Body::MessageReceived(b) => Some((received(b, of(b.principal_id), blank), Some(b.envelope.clone()))),
        Body::MessageRefused(b) => {
            Some((Message { refused: Some(b.refusal), times: Some(b.times), ..blank }, None))
        }
        Body::MessageQueued(b) => Some((queued(b, of(b.principal_id), blank), Some(b.body.clone()))),
        _ => None,
    }
}

type ChatAndSender = (Option<String>, Option<String>);

fn received(b: &MessageReceived, (chat, sender): ChatAndSender, blank: Message) -> Message {
    Message {
        chat,
        sender,
        used_as: Some(b.used_as),
        task_id: b.about_task_id.map(|task| task.to_string()),
        ..blank
    }
}

fn queued(b: &MessageQueued, (chat, sender): ChatAndSender, blank: Message) -> Message {
    Message {
        is_outgoing: true,
        chat,
        sender,
        about: Some(b.about),
        state: Some(MessageState::Queued),
        task_id: b.about_task_id.map(|task| task.to_string()),
        ..blank
    }
}

/// The words of a message that came in or goes out.
fn said(host: &dyn Host, is_outgoing: bool, at: &ArtifactRef) -> Result<Text, Error> {
    let words = kept(host, at)?.and_then(|bytes| match is_outgoing {
        true => serde_json::from_slice::<MessageText>(&bytes).ok().map(|said| said.text),
        false => Envelope::from_bytes(&bytes).ok().map(|envelope| envelope.payload.body),
    });
    Ok(shown_text(words, at))
}

fn kept(host: &dyn Host, at: &ArtifactRef) -> Result<Option<Vec<u8>>, Error> {
    crate::error::if_kept(host.artifacts()?.read(&at.sha256))
}

/// Words that are kept, or the digest of those that were erased.
fn shown_text(said: Option<String>, at: &ArtifactRef) -> Text {
    match said {
        Some(said) => text(&Sensitive::from(said)),
        None => Text::Erased { erased: at.sha256.to_string() },
    }
}

fn shown(host: &dyn Host, name: &str) -> Result<Gateway, Error> {
    let registry = registry(host)?;
    row(host, known(&registry, name)?)
}

/// The sender in whose conversation a task is that a chat began; only who holds the store knows it without reading all of it.
pub(crate) fn chat_sender(host: &dyn Host, r: &TaskRow) -> Option<ChatSender> {
    if r.channel != Channel::Chat {
        return None;
    }
    let registry = host.kernel().ok()?.gateway_registry();
    let (gateway, sender) = registry.whose(r.conversation_id)?;
    let name = sender.called().unwrap_or("(erased)").to_owned();
    Some(ChatSender {
        sender_name: Text::Shown(name),
        service: gateway.service,
        gateway: gateway.name.clone(),
    })
}

/// Gateways with what came in and goes out.
fn registry(host: &dyn Host) -> Result<GatewayRegistry, Error> {
    let reader = host.reader()?;
    let mut registry = GatewayRegistry::clone(&fold::store_state(&reader)?.gateways);
    registry.read_traffic(&reader).wire()?;
    Ok(registry)
}

/// The gateway of a name, also one that is removed.
fn known<'r>(registry: &'r GatewayRegistry, name: &str) -> Result<&'r GatewayRecord, Error> {
    let record = registry.0.get(name);
    record.ok_or_else(|| not_found("gateway", name).hint("`hermit gateway list` lists them"))
}

fn row(host: &dyn Host, record: &GatewayRecord) -> Result<Gateway, Error> {
    let bytes = kept(host, &record.gateway)?;
    let all = bytes.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    let number = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let erased = || "(erased)".to_owned();
    Ok(Gateway {
        name: record.name.clone(),
        version: record.version,
        service: record.service,
        address: all.as_ref().and_then(|all| given(&all.address)),
        user: all.as_ref().and_then(|all| given(&all.user)),
        settings: all.as_ref().map(|all| all.settings.clone()).unwrap_or_default(),
        secret: all.as_ref().map_or_else(erased, |all| all.secret.clone()),
        hosts: all.as_ref().map(|all| all.hosts.clone()).unwrap_or_default(),
        state: record.state,
        why: record.why.clone(),
        by_itself: record.by_itself,
        away: host.chats().and_then(|chats| chats.away(&record.name)),
        folder: all.as_ref().map_or_else(erased, |all| all.folder.clone()),
        worker: all.as_ref().map_or_else(erased, |all| match &all.proposer {
            ScheduleProposer::Playbook { name, .. } => format!("playbook:{name}"),
            ScheduleProposer::Model { base_url, model, .. } => format!("{base_url}#{model}"),
        }),
        profile: all.as_ref().map_or(Profile::ReadonlyAnalysis, |all| all.profile),
        senders: number(record.all_paired().count()),
        queued: number(record.traffic.queue.len()),
        since: record.since.0,
        artifact_id: record.gateway.artifact_id.to_string(),
    })
}
