//! `hermit mesh`: what this machine is in the mesh, and what is said of other machines. Lists stand in [`super::mesh_lists`],
//! pairing in [`super::mesh_pair`], goals for other machines in [`super::mesh_send`].

use super::Came;
use super::keyring::{approval_passphrase, confirmed};
use super::{mesh_answer, mesh_lists, mesh_pair, mesh_relay, mesh_send};
use crate::args::{MeshOn, MeshVerb, PersonArgs};
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone};
use crate::text::{count, plain};
use host::Session;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use wire::mesh::{
    Approver, Carried, Export, HandOver, Held, Hold, Import, Mesh, Messages, Nodes, Owned, Receipts, Set,
    Show, Take, Withdraw,
};
use wire::{Code, Command, Error, PersonSigned, exit};

/// Why a passphrase is asked for where no card is shown.
const WHY_ASKED: &str =
    "What your machines may do with each other is for you to say: your approval passphrase says yes to this.";
/// Rows of one list, unless a person says otherwise.
const ROWS: u32 = 30;

/// `hermit mesh`.
pub fn mesh(context: &Context, verb: MeshVerb) -> Came {
    match verb {
        MeshVerb::On(args) => on(context, *args),
        MeshVerb::Off { leave, person } => {
            let off = Set { on: Some(false), leave, ..Set::default() };
            let says = match leave {
                true => {
                    "This machine left the mesh: nothing is sent and nothing is heard. Turned on again it speaks with the key that the instance has then."
                }
                false => "The mesh is off: nothing is sent and nothing is heard. Machines stay paired.",
            };
            changed(context, |session| set(context, session, &person, off), |out, _| out.line(says))
        }
        MeshVerb::Show => {
            let of = |mesh: &Mesh| mesh.on.then_some("Whether a way to another machine is open is not known");
            answered(context, &context.told(&Show {}, of)?, mesh_lists::stands)
        }
        MeshVerb::Pair { code, at, person } => mesh_pair::pair(context, code, at, &person),
        MeshVerb::Nodes => changed(context, |session| session.call(&Nodes {}), mesh_lists::nodes),
        MeshVerb::Withdraw { node, reason, yes, person } => {
            withdraw(context, Withdraw { node, reason, signed: None }, yes, &person)
        }
        MeshVerb::Send { to, folder, conversation, wait, text } => {
            let goal = wire::mesh::Send { to, folder, conversation, text, idempotency_key: None };
            mesh_send::send(context, &goal, wait)
        }
        MeshVerb::Messages(part) => {
            let ask = Messages { before: part.before, limit: Some(part.limit.unwrap_or(ROWS)) };
            answered(context, &context.reading()?.call(&ask)?, mesh_lists::messages)
        }
        MeshVerb::Receipts(part) => {
            let ask = Receipts { before: part.before, limit: Some(part.limit.unwrap_or(ROWS)) };
            answered(context, &context.reading()?.call(&ask)?, mesh_lists::receipts)
        }
        MeshVerb::HandOver { conversation, node, person } => {
            let give = HandOver { conversation, to: node, signed: None };
            let with = |give: HandOver, signed| HandOver { signed: Some(signed), ..give };
            changed(context, |session| by_person(context, session, &person, give, with), given)
        }
        MeshVerb::Take { conversation, person } => {
            let take = Take { conversation, signed: None };
            let with = |take: Take, signed| Take { signed: Some(signed), ..take };
            changed(context, |session| by_person(context, session, &person, take, with), taken)
        }
        MeshVerb::Questions => mesh_answer::questions(context),
        MeshVerb::Answer { approval, answer } => mesh_answer::answer(context, &approval, answer == "allow"),
        MeshVerb::Approver { node, no, person } => {
            approver(context, Approver { node, allow: !no, signed: None }, &person)
        }
        MeshVerb::Hold { schedule, nodes, term, none: _, person } => {
            let hold = Hold { schedule, nodes, term_minutes: term, signed: None };
            let with = |hold: Hold, signed| Hold { signed: Some(signed), ..hold };
            changed(context, |session| by_person(context, session, &person, hold, with), held)
        }
        MeshVerb::Export { file, node } => {
            let export = Export { path: absolute(&file)?, node };
            changed(context, |session| session.call(&export), written)
        }
        MeshVerb::Import { file } => {
            let import = Import { path: absolute(&file)? };
            changed(context, |session| session.call(&import), read)
        }
        MeshVerb::Relay { listen, auth } => mesh_relay::relay(context, &listen, auth),
    }
}

fn on(context: &Context, args: MeshOn) -> Came {
    let wanted = Set {
        on: Some(true),
        name: args.name,
        relays: some(args.relays),
        listen: args.listen,
        folders: some(args.folders).map(|named| folders(&named)).transpose()?,
        model: args.model,
        public: args.public,
        leave: false,
        signed: None,
    };
    let session = context.writing(Signs::No)?;
    let (is_served, done) = (session.is_attached(), set(context, &session, &args.person, wanted));
    session.close();
    answered(context, &done?, |out, mesh: &Mesh| {
        mesh_lists::stands(out, mesh);
        if !is_served {
            out.say(Tone::Warn, "It works while Hermit is open: open the app, or start `hermit serve`.");
        }
    })
}

/// What was named, without the empty words that stand for none; nothing where nothing was named.
fn some(named: Vec<String>) -> Option<Vec<String>> {
    if named.is_empty() {
        None
    } else {
        Some(named.into_iter().filter(|one| !one.trim().is_empty()).collect())
    }
}

/// Folders by alias, each a path from here.
fn folders(named: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let mut folders = BTreeMap::new();
    for one in named {
        let wrong = || {
            Error::new(Code::Usage, format!("`{one}` names no folder by an alias"))
                .hint("write `--folder ALIAS=PATH`, such as `--folder notes=~/notes`")
        };
        let (alias, path) = one.split_once('=').ok_or_else(wrong)?;
        let (alias, path) = (alias.trim(), path.trim());
        if alias.is_empty() || path.is_empty() {
            return Err(wrong());
        }
        // What no shell has expanded is the home of whoever runs the host, who is the same person.
        let path = if path.starts_with('~') { path.to_owned() } else { absolute(Path::new(path))? };
        if folders.insert(alias.to_owned(), path).is_some() {
            return Err(Error::new(Code::Usage, format!("the alias `{alias}` is named twice")));
        }
    }
    Ok(folders)
}

fn set(context: &Context, session: &Session, person: &PersonArgs, wanted: Set) -> Result<Mesh, Error> {
    by_person(context, session, person, wanted, |set, signed| Set { signed: Some(signed), ..set })
}

/// Gives a command that a person gives: signed with the approval key where another process holds the store.
pub(super) fn by_person<C: Command>(
    context: &Context,
    session: &Session,
    person: &PersonArgs,
    command: C,
    with: impl FnOnce(C, PersonSigned) -> C,
) -> Result<C::Answer, Error> {
    if !session.is_attached() {
        return session.call(&command);
    }
    if person.approval_passphrase_fd.is_none() && context.terminal.is_some() {
        context.out.note(WHY_ASKED);
    }
    let words = approval_passphrase(context, person.approval_passphrase_fd)?;
    session.mesh_by(command, with, &words)
}

fn withdraw(context: &Context, wanted: Withdraw, yes: bool, person: &PersonArgs) -> Came {
    let what = format!(
        "No machine of yours will believe {} any more, what waits for it is never sent, and its key cannot be paired again.",
        plain(&wanted.node)
    );
    confirmed(context, yes, &what)?;
    let with = |wanted: Withdraw, signed| Withdraw { signed: Some(signed), ..wanted };
    changed(context, |session| by_person(context, session, person, wanted, with), mesh_lists::nodes)
}

fn approver(context: &Context, wanted: Approver, person: &PersonArgs) -> Came {
    let allow = wanted.allow;
    let set = |session: &Session| mesh_answer::set_approver(context, session, person, wanted);
    changed(context, set, |out, nodes| {
        mesh_lists::nodes(out, nodes);
        out.line(match allow {
            true => "Cards of this machine are shown there, too, and a yes given there counts here.",
            false => "It approves nothing here any more.",
        });
    })
}

/// Asks for something in the process that holds the store, and tells what came.
fn changed<T: Serialize>(
    context: &Context,
    ask: impl FnOnce(&Session) -> Result<T, Error>,
    show: impl FnOnce(&Output, &T),
) -> Came {
    let session = context.writing(Signs::No)?;
    let done = ask(&session);
    session.close();
    answered(context, &done?, show)
}

fn answered<T: Serialize>(context: &Context, answer: &T, show: impl FnOnce(&Output, &T)) -> Came {
    context.out.answer(answer, show)?;
    Ok(exit::DONE)
}

fn given(out: &Output, owned: &Owned) {
    out.line(format!(
        "Conversation {} goes to {}, which continues it.",
        plain(&owned.conversation),
        plain(&owned.name)
    ));
}

fn taken(out: &Output, owned: &Owned) {
    out.line(format!(
        "Conversation {} is on {} from now on.",
        plain(&owned.conversation),
        plain(&owned.name)
    ));
}

fn held(out: &Output, held: &Held) {
    let schedule = plain(&held.schedule);
    let Some(first) = held.nodes.first() else {
        return out.line(format!("{schedule} is out of the mesh: this machine alone runs it."));
    };
    let others = plain(&held.nodes.join(", "));
    out.line(format!("{schedule} is held by one of {others}; {} goes first.", plain(first)));
    match &held.holder {
        Some(holder) => out.line(format!("  {} holds it now", plain(holder))),
        None => out.say(Tone::Faint, "  no machine holds it yet"),
    }
}

fn written(out: &Output, carried: &Carried) {
    let messages = counted(carried.messages, "message");
    out.line(format!("{messages} written to {}.", plain(&carried.path)));
    if carried.left_out > 0 {
        let left_out = counted(carried.left_out, "message");
        out.say(Tone::Faint, format!("{left_out} did not fit: export again once these were taken in."));
    }
    out.say(
        Tone::Faint,
        "Carry it there: hermit mesh import FILE. It is sealed: whoever finds it reads nothing.",
    );
}

fn read(out: &Output, carried: &Carried) {
    out.line(match carried.messages {
        0 => format!("No message in {} is new here.", plain(&carried.path)),
        new => format!("{} taken in from {}.", counted(new, "new message"), plain(&carried.path)),
    });
    if carried.left_out > 0 {
        let lines = counted(carried.left_out, "line");
        out.say(Tone::Faint, format!("{lines} of it cannot be read: the file is damaged."));
    }
}

pub(super) fn counted(many: u64, noun: &str) -> String {
    count(usize::try_from(many).unwrap_or(usize::MAX), noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_by_their_aliases_and_what_names_none_is_told() {
        let named =
            |words: &[&str]| folders(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let kept = named(&["notes=/srv/notes", "code = ~/code", "odd=/a=b"]).unwrap();
        // On Windows a drive comes before it.
        let whole = |path: &str| std::path::absolute(path).unwrap().display().to_string();
        assert_eq!(kept["notes"], whole("/srv/notes"));
        assert_eq!(kept["code"], "~/code");
        assert_eq!(kept["odd"], whole("/a=b"));
        assert!(Path::new(&named(&["here=x"]).unwrap()["here"]).is_absolute());
        for wrong in [&["notes"][..], &["=/x"], &["notes="], &["a=/x", "a=/y"]] {
            assert_eq!(named(wrong).unwrap_err().code, Code::Usage, "{wrong:?}");
        }
    }

    #[test]
    fn an_empty_word_takes_away_and_nothing_leaves_it_as_it_is() {
        assert_eq!(some(vec![]), None);
        assert_eq!(some(vec![String::new()]), Some(vec![]));
        assert_eq!(
            some(vec!["wss://a.example".to_owned(), " ".to_owned()]),
            Some(vec!["wss://a.example".to_owned()])
        );
    }
}
