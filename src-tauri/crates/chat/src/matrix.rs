//! Matrix, as a client of a homeserver. The cursor is where the next sync begins; where one sync has more messages than a
//! poll gives, it also says how far each room was given, and the same sync is asked for again.

mod events;

use crate::http::{self, Ask, Way};
use crate::render::{Dialect, render};
use crate::{
    Account, Adapter, Attachment, Fault, Limits, Outgoing, POLL_MESSAGES_MAX, Polled, clean, now_ms, setting,
    short_key,
};
use events::{Event, of_event};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Length of a message: an event has 64 KiB at most, and an edit holds its words four times.
const TEXT_CHARS: usize = 4000;
/// Bytes of an event beside which its form in HTML is left out.
const EVENT_BYTES: usize = 60_000;
/// Bytes of a file that is sent.
const FILE_BYTES_MAX: usize = 50 * 1024 * 1024;
/// Events of each room that a sync gives at most.
const SYNC_EVENTS: usize = 50;
/// Pages of messages that are asked for where a sync leaves some out, and events of each.
const PAGES_MAX: usize = 20;
const PAGE_EVENTS: usize = 100;
/// How much earlier than whoever waits the service ends a wait.
const EARLIER: Duration = Duration::from_secs(2);
/// Who may invite the account: `all`, or users with a blank between.
const ACCEPT_INVITES: &str = "accept_invites";
/// Rooms that are remembered as having more than two members, or not.
const ROOMS_MAX: usize = 1000;

pub(crate) struct Matrix {
    way: Way,
    token: Zeroizing<String>,
    invites: String,
    /// The account's own id, once it was asked for.
    user: Option<String>,
    /// Whether rooms are groups: asked for again when somebody comes or goes.
    groups: BTreeMap<String, bool>,
    /// Rooms of which a person was told that they cannot be read.
    unreadable: BTreeSet<String>,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    since: String,
    /// When it was made: after a break, nothing that was sent earlier counts as new.
    at: i64,
    /// The last event of each room that was given, where a sync had more than one poll gives.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    given: BTreeMap<String, String>,
}

/// Where reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// Nothing was read before.
    Nowhere,
    /// Where the cursor says.
    Cursor,
    /// With what was sent since a time, because the cursor says nothing any more.
    Time(i64),
}

#[derive(Deserialize)]
struct Sync {
    next_batch: String,
    #[serde(default)]
    rooms: Rooms,
}

#[derive(Default, Deserialize)]
struct Rooms {
    #[serde(default)]
    join: BTreeMap<String, Value>,
    #[serde(default)]
    invite: BTreeMap<String, Value>,
}

#[derive(Default, Deserialize)]
struct Timeline {
    #[serde(default)]
    events: Vec<Value>,
    #[serde(default)]
    limited: bool,
    #[serde(default)]
    prev_batch: String,
}

impl Matrix {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        http::fits_a_header(&token)?;
        if account.address.is_empty() {
            return Err("name the homeserver, such as `https://matrix.example.org`".to_owned());
        }
        Ok(Self {
            way: Way::open(account, "", vec![token.clone()])?,
            token,
            invites: setting(account, ACCEPT_INVITES).unwrap_or_default().to_owned(),
            user: None,
            groups: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            notes: Vec::new(),
        })
    }

    /// Makes a call with the token; its answer where it is one.
    fn call(&self, ask: Ask<'_>) -> Result<Value, Fault> {
        let changes = ask.changes;
        let answer = self.way.ask(&ask.with("Authorization", &format!("Bearer {}", self.token.as_str())))?;
        let said = answer.json();
        if (200..300).contains(&answer.status) {
            let unread = "the homeserver's answer cannot be read";
            return said
                .filter(Value::is_object)
                .ok_or_else(|| if changes { Fault::unknown(unread) } else { Fault::away(unread) });
        }
        let part = |name: &str| said.as_ref().and_then(|said| said.get(name));
        let code = part("errcode").and_then(Value::as_str).unwrap_or_default();
        let words = format!("{code} {}", part("error").and_then(Value::as_str).unwrap_or_default());
        let told = part("retry_after_ms").and_then(Value::as_f64).and_then(|ms| http::seconds(ms / 1000.0));
        Err(match self.way.fault(&answer, words.trim(), changes) {
            Fault::Refused { why } if code == "M_UNKNOWN_TOKEN" || code == "M_MISSING_TOKEN" => {
                Fault::token(why)
            }
            Fault::Away { why, retry_after } => Fault::Away { why, retry_after: told.or(retry_after) },
            fault => fault,
        })
    }

    fn get(&self, path: &str, within: Duration) -> Result<Value, Fault> {
        self.call(Ask::get(self.way.at(path), within))
    }

    /// The account's own id.
    fn user(&mut self) -> Result<String, Fault> {
        if let Some(user) = &self.user {
            return Ok(user.clone());
        }
        let me = self.get("/_matrix/client/v3/account/whoami", crate::CALL)?;
        let user = me.get("user_id").and_then(Value::as_str).and_then(clean::id);
        let user = user.ok_or_else(|| Fault::away("the homeserver does not say whose token this is"))?;
        self.user = Some(user.clone());
        Ok(user)
    }

    fn sync(&self, since: &str, wait: Duration) -> Result<Sync, Fault> {
        let filter = json!({
            "presence": { "types": [] },
            "account_data": { "types": [] },
            "room": {
                "timeline": { "limit": SYNC_EVENTS, "types": ["m.room.message", "m.room.member", "m.room.encrypted"] },
                "state": { "types": [], "lazy_load_members": true },
                "ephemeral": { "types": [] },
                "account_data": { "types": [] },
            },
        });
        let mut path = format!(
            "/_matrix/client/v3/sync?set_presence=offline&timeout={}&filter={}",
            wait.saturating_sub(EARLIER).as_millis(),
            http::encoded(&filter.to_string())
        );
        if !since.is_empty() {
            path.push_str(&format!("&since={}", http::encoded(since)));
        }
        let said = self.get(&path, wait.max(Duration::from_secs(2)))?;
        serde_json::from_value(said).map_err(|_| Fault::away("the homeserver's answer cannot be read"))
    }

    /// Accepts the invitations that it is set to accept.
    fn accept(&mut self, invites: &BTreeMap<String, Value>, me: &str) -> Result<(), Fault> {
        let inviter = |room: &Value| {
            let events = room.pointer("/invite_state/events")?.as_array()?.clone();
            let own = events.into_iter().find(|event| {
                event.get("type").is_some_and(|kind| kind == "m.room.member")
                    && event.get("state_key").is_some_and(|key| key == me)
            });
            Some(own?.get("sender")?.as_str()?.to_owned())
        };
        for (id, room) in invites.iter().take(POLL_MESSAGES_MAX) {
            let from = inviter(room).unwrap_or_default();
            let wanted = self.invites == "all"
                || !from.is_empty() && self.invites.split([' ', ',']).any(|user| user == from);
            if !wanted {
                continue;
            }
            let url = self.way.at(&format!("/_matrix/client/v3/join/{}", http::encoded(id)));
            match self.call(Ask::json("POST", url, &json!({}), false)) {
                // An invitation that was taken back is none.
                Ok(_) | Err(Fault::Refused { .. }) => {}
                Err(fault @ Fault::Token { .. }) => return Err(fault),
                // A room whose server is gone keeps nobody from being heard.
                Err(fault) => self.notes.push(format!(
                    "The account could not come into the room {}, and has to be invited again: {}",
                    clean::name(id),
                    fault.why()
                )),
            }
        }
        Ok(())
    }

    /// What a sync left out of a room, oldest first, as far back as the sync before or the account's joining; whether that is
    /// all of it.
    fn left_out(&self, room: &str, from: &str, since: &str, me: &str) -> Result<(Vec<Value>, bool), Fault> {
        let (mut found, mut from, mut is_whole) = (Vec::new(), from.to_owned(), false);
        for _ in 0..PAGES_MAX {
            let mut path = format!(
                "/_matrix/client/v3/rooms/{}/messages?dir=b&limit={PAGE_EVENTS}&from={}",
                http::encoded(room),
                http::encoded(&from)
            );
            path.push_str(&format!("&to={}", http::encoded(since)));
            let mut page = self.get(&path, crate::CALL)?;
            let Some(Value::Array(events)) = page.get_mut("chunk").map(Value::take) else {
                return Err(Fault::away("the homeserver's answer cannot be read"));
            };
            let is_last = events.is_empty() || events.iter().any(|event| events::joins(event, me));
            found.extend(events.into_iter().take(PAGE_EVENTS));
            match page.get("end").and_then(Value::as_str) {
                Some(end) if !is_last && end != from => from = end.to_owned(),
                _ => {
                    is_whole = true;
                    break;
                }
            }
        }
        found.reverse();
        Ok((found, is_whole))
    }

    /// Whether others than two are in a room by now, or nobody can say.
    fn has_others(&self, room: &str) -> Result<bool, Fault> {
        let path = format!("/_matrix/client/v3/rooms/{}/joined_members", http::encoded(room));
        match self.get(&path, crate::CALL) {
            Ok(members) => {
                Ok(members.get("joined").and_then(Value::as_object).is_none_or(|all| all.len() > 2))
            }
            // More members than can be read, or the account has left.
            Err(Fault::Refused { .. }) => Ok(true),
            Err(fault) => Err(fault),
        }
    }

    fn is_group(&mut self, room: &str) -> Result<bool, Fault> {
        if let Some(known) = self.groups.get(room) {
            return Ok(*known);
        }
        let is_group = self.has_others(room)?;
        if self.groups.len() >= ROOMS_MAX {
            self.groups.clear();
        }
        self.groups.insert(room.to_owned(), is_group);
        Ok(is_group)
    }

    /// The events of one room that a poll may give, oldest first.
    fn events_of(
        &mut self,
        room: &str,
        of: &mut Value,
        cursor: &Cursor,
        from: Begin,
        me: &str,
    ) -> Result<Vec<Event>, Fault> {
        let timeline = of.get_mut("timeline").map(Value::take).unwrap_or_default();
        let Ok(timeline) = serde_json::from_value::<Timeline>(timeline) else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        if timeline.limited && from == Begin::Cursor && !timeline.events.iter().any(|e| events::joins(e, me))
        {
            let (found, is_whole) = self.left_out(room, &timeline.prev_batch, &cursor.since, me)?;
            if !is_whole {
                self.notes.push(format!("More was said in the room {} than is read.", clean::name(room)));
            }
            events = found;
        }
        events.extend(timeline.events);
        // What was said before the account came is none of its business.
        if let Some(at) = events.iter().rposition(|event| events::joins(event, me)) {
            events.drain(..=at);
        }
        if timeline.limited || events.iter().any(|event| events::is_kind(event, "m.room.member")) {
            self.groups.remove(room);
        }
        let mut events: Vec<Event> =
            events.into_iter().filter_map(|event| serde_json::from_value(event).ok()).collect();
        if let Some(last) = cursor.given.get(room)
            && let Some(at) = events.iter().position(|event| &event.event_id == last)
        {
            events.drain(..=at);
        }
        if events.iter().any(|event| event.kind == "m.room.encrypted")
            && self.unreadable.insert(room.to_owned())
        {
            self.notes.push(format!(
                "The room {} is encrypted, and Hermit does not read encrypted rooms.",
                clean::name(room)
            ));
        }
        let is_new = |event: &Event| match from {
            Begin::Cursor => true,
            Begin::Time(at) => event.origin_server_ts >= at,
            Begin::Nowhere => false,
        };
        events.retain(|event| event.sender != me && event.kind == "m.room.message" && is_new(event));
        Ok(events)
    }

    /// Everything new of a sync, as far as one poll may give it.
    fn give(&mut self, sync: Sync, cursor: &Cursor, from: Begin, me: &str) -> Result<Polled, Fault> {
        let mut next = Cursor { since: sync.next_batch, at: now_ms(), given: BTreeMap::new() };
        let (mut incoming, mut is_whole) = (Vec::new(), true);
        let mut given = cursor.given.clone();
        for (room, mut of) in sync.rooms.join {
            let Some(room) = clean::id(&room) else { continue };
            for event in self.events_of(&room, &mut of, cursor, from, me)? {
                if incoming.len() >= POLL_MESSAGES_MAX {
                    is_whole = false;
                    break;
                }
                given.insert(room.clone(), event.event_id.clone());
                let is_group = self.is_group(&room)?;
                incoming.extend(of_event(event, &room, is_group));
            }
        }
        if !is_whole {
            next = Cursor { since: cursor.since.clone(), at: cursor.at, given };
        } else if next.since == cursor.since && cursor.given.is_empty() {
            next.at = cursor.at;
        }
        Ok(Polled { incoming, cursor: serde_json::to_string(&next).unwrap_or_default() })
    }

    fn upload(&self, file: &crate::OutFile) -> Result<String, Fault> {
        if file.bytes.len() > FILE_BYTES_MAX {
            return Err(Fault::refused(format!("no file over {FILE_BYTES_MAX} bytes is sent")));
        }
        let name = http::encoded(&clean::file_name(&file.name));
        let url = self.way.at(&format!("/_matrix/media/v3/upload?filename={name}"));
        // One that is uploaded twice is in no room before its message is sent.
        let ask = Ask {
            method: "POST",
            body: Some((clean::media_type(&file.media_type), file.bytes.clone())),
            ..Ask::get(url, 4 * crate::CALL)
        };
        let said = self.call(ask)?;
        let at = said.get("content_uri").and_then(Value::as_str).filter(|at| at.starts_with("mxc://"));
        at.map(str::to_owned).ok_or_else(|| Fault::away("the homeserver does not say where the file is"))
    }

    fn content(&self, out: &Outgoing) -> Result<Value, Fault> {
        let html = render(&out.text, Dialect::Html);
        let mut content = json!({
            "msgtype": "m.text", "body": out.text, "m.mentions": {},
            "format": "org.matrix.custom.html", "formatted_body": html,
        });
        if let (Some(file), Some(all)) = (&out.file, content.as_object_mut()) {
            let name = clean::file_name(&file.name);
            if out.text.is_empty() {
                all.insert("body".to_owned(), name.clone().into());
                all.remove("format");
                all.remove("formatted_body");
            }
            all.insert("msgtype".to_owned(), "m.file".into());
            all.insert("filename".to_owned(), name.into());
            all.insert("url".to_owned(), self.upload(file)?.into());
            let kind = clean::media_type(&file.media_type);
            all.insert("info".to_owned(), json!({ "mimetype": kind, "size": file.bytes.len() }));
        }
        if let Some(edited) = &out.edit_of {
            content = json!({
                "msgtype": "m.text", "body": format!("* {}", out.text), "m.mentions": {},
                "format": "org.matrix.custom.html", "formatted_body": format!("* {html}"),
                "m.new_content": content,
                "m.relates_to": { "rel_type": "m.replace", "event_id": edited },
            });
        } else if let (Some(to), Some(all)) = (&out.reply_to, content.as_object_mut()) {
            all.insert("m.relates_to".to_owned(), json!({ "m.in_reply_to": { "event_id": to } }));
        }
        if content.to_string().len() > EVENT_BYTES {
            plain(Some(&mut content));
            plain(content.get_mut("m.new_content"));
        }
        Ok(content)
    }
}

/// Leaves out the form in HTML.
fn plain(content: Option<&mut Value>) {
    if let Some(all) = content.and_then(Value::as_object_mut) {
        all.remove("format");
        all.remove("formatted_body");
    }
}

fn parts(cursor: &str) -> Result<Cursor, Fault> {
    if cursor.is_empty() {
        return Ok(Cursor::default());
    }
    serde_json::from_str(cursor).map_err(|_| Fault::refused("this is no cursor of Matrix"))
}

impl Matrix {
    /// One poll, whose calls end when whoever waits stops waiting.
    fn polled(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let was = parts(cursor)?;
        let me = self.user()?;
        let first = was.since.is_empty();
        let synced = self.sync(&was.since, if first { Duration::ZERO } else { wait });
        let (mut sync, from) = match synced {
            // Where nothing was read before, nothing that stands there already is new.
            Ok(sync) if first => (sync, Begin::Nowhere),
            Ok(sync) => (sync, Begin::Cursor),
            Err(Fault::Refused { .. }) if !first => {
                let sync = self.sync("", Duration::ZERO)?;
                self.notes.push(format!(
                    "The homeserver has forgotten where reading stopped: of each room, at most the last {SYNC_EVENTS} \
                     messages were read."
                ));
                (sync, Begin::Time(was.at))
            }
            Err(fault) => return Err(fault),
        };
        let invites = std::mem::take(&mut sync.rooms.invite);
        let polled = self.give(sync, &was, from, &me)?;
        self.accept(&invites, &me)?;
        Ok(polled)
    }
}

impl Adapter for Matrix {
    fn limits(&self) -> Limits {
        Limits { text_chars: TEXT_CHARS, edits: true, buttons: false, files: true, is_repeat_safe: true }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        vec![http::host_of(self.way.base())]
    }

    fn who(&mut self) -> Result<String, Fault> {
        self.user = None;
        self.user()
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        self.way.until(Some(Instant::now() + wait));
        let polled = self.polled(cursor, wait);
        self.way.until(None);
        polled
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        if !out.buttons.is_empty() {
            return Err(Fault::refused("Matrix has no buttons"));
        }
        // Whoever came into the room since would read it. It is asked for each time: who sends hears nothing of who comes.
        if self.has_others(&out.chat)? {
            return Err(Fault::refused("others are in that room by now, and would read it"));
        }
        let content = self.content(out)?;
        let url = self.way.at(&format!(
            "/_matrix/client/v3/rooms/{}/send/m.room.message/hermit{}",
            http::encoded(&out.chat),
            short_key(&out.repeat_key)
        ));
        // The same words twice are the same words.
        let changes = out.edit_of.is_none();
        let said = self.call(Ask::json("PUT", url, &content, changes))?;
        let id = said.get("event_id").and_then(Value::as_str).and_then(clean::id);
        let unsaid = "the homeserver does not say what it sent";
        id.ok_or_else(|| if changes { Fault::unknown(unsaid) } else { Fault::away(unsaid) })
    }

    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let place = attachment.handle.strip_prefix("mxc://").and_then(|place| place.split_once('/'));
        let (server, media) = place.ok_or_else(|| Fault::refused("this is no file of Matrix"))?;
        let url = self.way.at(&format!(
            "/_matrix/client/v1/media/download/{}/{}",
            http::encoded(server),
            http::encoded(media)
        ));
        let ask = Ask { bytes_max, ..Ask::get(url, 4 * crate::CALL) };
        let answer = self.way.ask(&ask.with("Authorization", &format!("Bearer {}", self.token.as_str())))?;
        self.way.file(answer, attachment)
    }

    fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}
