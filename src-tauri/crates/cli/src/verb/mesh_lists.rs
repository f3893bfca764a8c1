//! What `hermit mesh` lists: how this machine stands, the others, messages and how far each came, and the receipts of all. What they
//! hold was written by other machines.

use super::mesh::counted;
use crate::output::{Output, Tone, table};
use crate::text::{capital, clip, plain, short, time};
use wire::mesh::{Alert, Mesh, Message, MessageList, Node, NodeList, Receipt, ReceiptList, Way};
use words::mesh::{DeliveryState, NeverReason};

/// Characters of a message that are shown; its task holds all of them.
const TEXT_CHARS: usize = 400;
/// Characters of a name, an alias or what a relay said.
const NAME_CHARS: usize = 80;
/// Alerts that are shown beside how the machine stands.
const ALERTS: usize = 10;
/// Digits of a key by which a machine can be named.
const DIGITS: usize = 8;

/// How this machine stands.
pub(super) fn stands(out: &Output, mesh: &Mesh) {
    let name = mesh.name.as_deref().map_or_else(|| "This machine".to_owned(), named);
    match (mesh.on, &mesh.node) {
        (true, _) => out.say(Tone::Bold, format!("{name} is in the mesh")),
        (false, Some(_)) => out.say(Tone::Bold, format!("The mesh is off on {name}")),
        (false, None) => {
            out.say(Tone::Bold, "The mesh is off");
            return out.say(Tone::Faint, "`hermit mesh on --help` tells how your machines become one");
        }
    }
    if let Some(node) = &mesh.node {
        out.line(format!("  key {}", plain(node)));
    }
    if let Some(key) = &mesh.cosign_key {
        out.say(Tone::Faint, format!("  signs heads of your other machines' logs with {}", plain(key)));
    }
    let all = |texts: &[String]| if texts.is_empty() { "none".to_owned() } else { plain(&texts.join(", ")) };
    out.line(format!("  relays: {}", all(&mesh.relays)));
    out.line(format!("  listens at: {}", mesh.listen.as_deref().map_or_else(|| "nowhere".to_owned(), plain)));
    if mesh.folders.is_empty() {
        out.line("  folders for goals of your other machines: none");
    }
    for (alias, path) in &mesh.folders {
        out.line(format!("  folder {}: {}", named(alias), plain(path)));
    }
    out.line(format!(
        "  model: {}",
        mesh.model.as_deref().map_or_else(|| "the standard one".to_owned(), plain)
    ));
    if mesh.public {
        out.say(
            Tone::Warn,
            "  everybody who reads these relays sees that this machine is here, its key, how busy it is, and how many tools and models \
             it has, and the newest signed head of your log; `hermit mesh on --public no` ends that",
        );
    }
    mesh.ways.iter().for_each(|one| way(out, one));
    if mesh.waiting > 0 {
        out.line(format!("  {} not opened by another machine yet", counted(mesh.waiting, "message")));
    }
    mesh.alerts.iter().take(ALERTS).for_each(|one| alert(out, one));
    if mesh.on && mesh.relays.is_empty() && mesh.listen.is_none() {
        out.note("Nobody reaches this machine yet: name a relay (`--relay`), or say where it listens (`--listen`).");
    }
}

fn way(out: &Output, one: &Way) {
    let what = if one.is_direct { "directly to " } else { "" };
    let says = one.says.as_deref().map(|says| format!(": {}", named(says))).unwrap_or_default();
    let (tone, stands) = if one.is_open { (Tone::Good, "open") } else { (Tone::Warn, "not open") };
    out.say(tone, format!("  {what}{}, {stands}{says}", named(&one.at)));
}

fn alert(out: &Output, one: &Alert) {
    let of = one.name.as_deref().map(|name| format!(" ({})", named(name))).unwrap_or_default();
    out.say(Tone::Warn, format!("  {}{of}: {}", time(one.at), capital(&plain(&one.says))));
}

/// Machines.
pub(super) fn nodes(out: &Output, found: &NodeList) {
    if found.nodes.is_empty() {
        return out.say(Tone::Faint, "no machine is paired; `hermit mesh pair` shows a code for one");
    }
    let (standing, withdrawn): (Vec<&Node>, Vec<&Node>) =
        found.nodes.iter().partition(|one| !one.is_withdrawn);
    if !standing.is_empty() {
        let row = |one: &&Node| {
            let folders: Vec<String> = one.folders.iter().map(|alias| named(alias)).collect();
            vec![name(one), digits(&one.node), here(one), folders.join(", "), waits(one)]
        };
        table(
            out,
            &["machine", "key", "", "folders", "waits for it"],
            &standing.iter().map(row).collect::<Vec<_>>(),
        );
    }
    for one in standing {
        details(out, one);
    }
    for one in withdrawn {
        out.say(Tone::Faint, format!("{} ({}) was withdrawn", name(one), digits(&one.node)));
    }
}

fn here(one: &Node) -> String {
    match (one.here_until, one.load) {
        (Some(_), Some(load)) if load > 0 => format!("here, {load} % busy"),
        (Some(_), _) => "here".to_owned(),
        (None, _) => "not heard".to_owned(),
    }
}

fn waits(one: &Node) -> String {
    match (one.queued, one.accepted) {
        (0, _) => String::new(),
        (queued, 0) => counted(queued, "message"),
        (queued, accepted) => format!("{}, {accepted} of them at a relay", counted(queued, "message")),
    }
}

/// What a machine can do, and whether it may approve.
fn details(out: &Output, one: &Node) {
    let all = |texts: &[String]| plain(&clip(&texts.join(", "), 4 * NAME_CHARS));
    if !one.models.is_empty() {
        out.say(Tone::Faint, format!("{}: models {}", name(one), all(&one.models)));
    }
    if one.is_public {
        out.line(format!("{} tells everybody at its relays that it is here", name(one)));
    }
    match (&one.approval_key, one.is_approver) {
        (Some(key), true) => out.line(format!("{} may approve here, with {}", name(one), plain(key))),
        (Some(key), false) => out.say(
            Tone::Faint,
            format!(
                "{} approves nothing here; `hermit mesh approver {}` lets its key: {}",
                name(one),
                digits(&one.node),
                plain(key)
            ),
        ),
        (None, _) => {}
    }
    if let Some(key) = &one.cosign_key {
        out.say(Tone::Faint, format!("{} signed the head of this log with {}", name(one), plain(key)));
    }
}

/// Messages, the newest first.
pub(super) fn messages(out: &Output, found: &MessageList) {
    if found.messages.is_empty() {
        return out.say(Tone::Faint, "no messages; `hermit mesh send --to NODE GOAL` sends one");
    }
    for one in &found.messages {
        message(out, one);
    }
    if let Some(before) = found.before {
        out.say(Tone::Faint, format!("older: hermit mesh messages --before {before}"));
    }
}

fn message(out: &Output, one: &Message) {
    let name = named(&one.name.to_string());
    let who = if one.is_outgoing { format!("to {name}") } else { format!("from {name}") };
    let (tone, state) = state(one);
    out.say(tone, format!("{}  {who}: {state}", time(one.at)));
    let text =
        one.text.as_ref().map_or_else(|| "(its words are not kept any more)".to_owned(), ToString::to_string);
    quoted(out, &text);
    if let Some(answer) = &one.answer {
        let at = one.answered_at.map(|at| format!(", {}", time(at))).unwrap_or_default();
        out.line(format!("  answered{at}:"));
        quoted(out, &answer.to_string());
    }
    let task = one.task_id.as_deref().map(|id| format!(", task {}", short(id))).unwrap_or_default();
    out.say(Tone::Faint, format!("  conversation {}{task}", plain(&one.conversation)));
}

/// Text as it was written, line by line.
pub(super) fn quoted(out: &Output, text: &str) {
    clip(text, TEXT_CHARS).lines().for_each(|line| out.line(format!("  | {}", plain(line))));
}

/// How far a message came, as it was observed and no further.
pub(super) fn state(one: &Message) -> (Tone, String) {
    if !one.is_outgoing {
        return match one.never {
            Some(_) => (Tone::Warn, "it could not be used here".to_owned()),
            None => (Tone::Plain, "opened here".to_owned()),
        };
    }
    if one.waits_since.is_some() {
        return (Tone::Warn, "opened there, and waits for its person there".to_owned());
    }
    match (one.state, &one.accepted_by) {
        (DeliveryState::Queued, _) => (Tone::Plain, "queued here".to_owned()),
        (DeliveryState::Accepted, Some(relay)) => (Tone::Plain, format!("accepted by {}", named(relay))),
        (DeliveryState::Accepted, None) => (Tone::Plain, "accepted by a relay".to_owned()),
        (DeliveryState::Opened, _) => (Tone::Good, "opened there".to_owned()),
        (DeliveryState::Never, _) => {
            (Tone::Warn, format!("it will not come: {}", one.never.map_or("nobody knows why", never)))
        }
    }
}

/// Why a message will never come.
const fn never(why: NeverReason) -> &'static str {
    match why {
        NeverReason::Expired => "it waited too long",
        NeverReason::Withdrawn => "that machine was withdrawn",
        NeverReason::Rerouted => "its conversation is on another machine, to which it went",
        NeverReason::Refused => "that machine could not use it",
    }
}

/// Receipts of all machines, the newest first.
pub(super) fn receipts(out: &Output, found: &ReceiptList) {
    if found.receipts.is_empty() {
        return out.say(Tone::Faint, "no receipts");
    }
    let row = |one: &Receipt| {
        let id = one
            .receipt_id
            .as_deref()
            .map_or_else(|| format!("number {}", one.number), |id| short(id).to_owned());
        let digest: String = one.sha256.chars().take(16).collect();
        vec![time(one.at), named(&one.name.to_string()), id, format!("{digest}…")]
    };
    table(
        out,
        &["when", "machine", "receipt", "sha256"],
        &found.receipts.iter().map(row).collect::<Vec<_>>(),
    );
    if let Some(before) = found.before {
        out.say(Tone::Faint, format!("older: hermit mesh receipts --before {before}"));
    }
}

/// A name that another machine or its person chose, cut where it is long.
pub(super) fn named(text: &str) -> String {
    plain(&clip(text, NAME_CHARS))
}

fn name(one: &Node) -> String {
    named(&one.name.to_string())
}

fn digits(node: &str) -> String {
    node.chars().take(DIGITS).collect()
}

/// A message to `desk`, as tests make one up.
#[cfg(test)]
pub(super) fn made_up(state: DeliveryState, never: Option<NeverReason>) -> Message {
    Message {
        place: 1,
        message: "00".repeat(32),
        at: 0,
        is_outgoing: true,
        node: "ab".repeat(32),
        name: wire::Text::Shown("desk".to_owned()),
        conversation: "conv_1".to_owned(),
        text: Some(wire::Text::Shown("look".to_owned())),
        state,
        accepted_by: None,
        never,
        task_id: None,
        answer: None,
        answered_at: None,
        waits_since: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Text;

    #[test]
    fn how_far_a_message_came_is_told_in_words_of_its_own() {
        let told = |one: &Message| state(one).1;
        assert_eq!(told(&made_up(DeliveryState::Queued, None)), "queued here");
        let relay = Some("wss://a.example\u{1b}[31m".to_owned());
        let accepted = Message { accepted_by: relay, ..made_up(DeliveryState::Accepted, None) };
        assert_eq!(told(&accepted), "accepted by wss://a.example\\u{1b}[31m", "a relay moves no cursor");
        assert_eq!(told(&made_up(DeliveryState::Opened, None)), "opened there");
        let all: std::collections::BTreeSet<String> =
            NeverReason::ALL.iter().map(|why| told(&made_up(DeliveryState::Never, Some(*why)))).collect();
        assert_eq!(all.len(), NeverReason::ALL.len());
        assert!(all.iter().all(|says| says.starts_with("it will not come: ")), "{all:?}");
        let came = Message { is_outgoing: false, ..made_up(DeliveryState::Opened, None) };
        assert_eq!(told(&came), "opened here");
        let waits = Message { waits_since: Some(1), ..made_up(DeliveryState::Opened, None) };
        assert_eq!(told(&waits), "opened there, and waits for its person there");
    }

    #[test]
    fn a_machine_is_told_with_what_waits_for_it_and_that_it_is_not_heard() {
        let node = Node {
            node: "ab".repeat(32),
            name: Text::Shown("desk".to_owned()),
            relays: Vec::new(),
            here_until: None,
            tools: Vec::new(),
            models: Vec::new(),
            folders: Vec::new(),
            load: None,
            queued: 2,
            accepted: 1,
            approval_key: None,
            is_approver: false,
            is_withdrawn: false,
            is_public: false,
            cosign_key: None,
        };
        assert_eq!(
            (here(&node).as_str(), waits(&node).as_str()),
            ("not heard", "2 messages, 1 of them at a relay")
        );
        let here_now = Node { here_until: Some(1), load: Some(40), queued: 0, ..node };
        assert_eq!((here(&here_now).as_str(), waits(&here_now).as_str()), ("here, 40 % busy", ""));
    }
}
