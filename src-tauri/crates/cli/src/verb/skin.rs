//! `hermit skin`.

use super::Came;
use super::keyring::approval_passphrase;
use super::tools::stay;
use crate::args::SkinVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::plain;
use std::io::Write as _;
use std::path::Path;
use wire::skins::{
    Check, Choose, Draft, List, Show, SkinChosen, SkinList, SkinRow, SkinShown, SkinUntrusted, Trust, Untrust,
};
use wire::{Code, Error, exit};
use words::store::SkinState;

/// Bytes of a file that are read: a little more than one may have, so that what is too long is said to be.
const READ_MAX: u64 = 96 * 1024;

/// `hermit skin`.
pub fn skin(context: &Context, verb: SkinVerb) -> Came {
    match verb {
        SkinVerb::New { name } => new(context, name),
        SkinVerb::Check { file } => {
            let checked = context.free()?.call(&Check { text: text_of(&file)? })?;
            context.out.answer(&checked, |out, checked| {
                out.line(format!(
                    "{} can be a skin: version {}, {}",
                    file.display(),
                    checked.version,
                    plain(&checked.about)
                ));
                told(out, checked);
            })?;
            Ok(exit::DONE)
        }
        SkinVerb::Sign { file, approval_passphrase_fd } => {
            let text = text_of(&file)?;
            let words = approval_passphrase(context, approval_passphrase_fd)?;
            let signed = host::sign_skin(&context.home, text.as_bytes(), &words)?;
            disk::replace(&file, &signed).map_err(|e| unwritten(&file, &e))?;
            let text = String::from_utf8(signed).map_err(|e| Error::new(Code::Failed, e.to_string()))?;
            let checked = context.free()?.call(&Check { text })?;
            context.out.answer(&checked, |out, checked| {
                out.line(format!("signed {} with your approval key", plain(&checked.name)));
                told(out, checked);
            })?;
            Ok(exit::DONE)
        }
        SkinVerb::Use { skin, conversation } => chosen(context, skin, conversation),
        SkinVerb::List => {
            let listed = context.reading()?.call(&List { conversation: None })?;
            context.out.answer(&listed, listed_in_words)?;
            Ok(exit::DONE)
        }
        SkinVerb::Show { skin } => {
            let shown = context.reading()?.call(&Show { skin })?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        SkinVerb::Untrust { skin, reason } => {
            let session = context.writing(Signs::No)?;
            let gone = session.call(&Untrust { skin, reason });
            session.close();
            context.out.answer(&gone?, untrusted_in_words)?;
            Ok(exit::DONE)
        }
    }
}

fn new(context: &Context, name: String) -> Came {
    let file = format!("{}.skin.json", name.trim());
    let path = Path::new(&file);
    let draft = context.free()?.call(&Draft { name })?;
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(unwritten(path, &std::io::Error::from(std::io::ErrorKind::AlreadyExists)));
    }
    let mut written = disk::Draft::beside(path).map_err(|e| unwritten(path, &e))?;
    written.file().write_all(draft.text.as_bytes()).map_err(|e| unwritten(path, &e))?;
    written.create().map_err(|e| unwritten(path, &e))?;
    context.out.answer(&serde_json::json!({ "file": file }), |out, _| {
        out.line(format!("wrote {file}; edit it, then: hermit skin sign {file}"));
    })?;
    Ok(exit::DONE)
}

/// A file is put to the person first, unless they trust these bytes already.
fn chosen(context: &Context, skin: String, conversation: Option<String>) -> Came {
    let file = Path::new(&skin);
    if !file.is_file() {
        return choose(context, Choose { conversation, skin: Some(skin) });
    }
    let text = text_of(file)?;
    let checked = context.free()?.call(&Check { text: text.clone() })?;
    let listed = context.reading()?.call(&List { conversation: None })?;
    let known = listed.skins.iter().find(|one| one.sha256 == checked.sha256);
    if known.is_none_or(|one| one.state == SkinState::Untrusted) {
        let trust = Trust { text, channel: Some("cli".to_owned()), idempotency_key: None };
        let came = stay(context, |session| session.call(&trust))?;
        if came != exit::DONE {
            return Ok(came);
        }
        // The report of the task was the answer; a person who said no has no skin to choose.
        let listed = context.reading()?.call(&List { conversation: None })?;
        let is_trusted = |one: &SkinRow| one.sha256 == checked.sha256 && one.state != SkinState::Untrusted;
        if !listed.skins.iter().any(is_trusted) {
            return Ok(came);
        }
        // The report of the task was the one answer that a program reads.
        let chosen = ask(context, &Choose { conversation, skin: Some(checked.sha256) })?;
        if !context.out.is_json() {
            context.out.answer(&chosen, chosen_in_words)?;
        }
        return Ok(came);
    }
    choose(context, Choose { conversation, skin: Some(checked.sha256) })
}

fn choose(context: &Context, wanted: Choose) -> Came {
    context.out.answer(&ask(context, &wanted)?, chosen_in_words)?;
    Ok(exit::DONE)
}

fn ask(context: &Context, wanted: &Choose) -> Result<SkinChosen, Error> {
    let session = context.writing(Signs::No)?;
    let chosen = session.call(wanted);
    session.close();
    chosen
}

fn text_of(file: &Path) -> Result<String, Error> {
    let hinted = |error: Error| error.hint("name the file of a skin; `hermit skin new NAME` makes one");
    super::text_of(file, READ_MAX).map_err(hinted)
}

fn unwritten(file: &Path, why: &std::io::Error) -> Error {
    Error::new(Code::Failed, format!("cannot write `{}`: {why}", file.display()))
        .hint("work in a folder that you may write to, where no file of this name is")
}

/// How far a skin is trusted, as a person reads it.
fn state(of: SkinState) -> String {
    of.as_str().replace('_', " ")
}

fn listed_in_words(out: &Output, listed: &SkinList) {
    let row =
        |one: &SkinRow| vec![plain(&one.name), one.version.to_string(), state(one.state), plain(&one.about)];
    table(out, &["skin", "version", "state", ""], &listed.skins.iter().map(row).collect::<Vec<_>>());
    for one in &listed.skins {
        told(out, one);
    }
}

fn told(out: &Output, one: &SkinRow) {
    if let Some(why) = &one.why {
        out.say(Tone::Warn, format!("{} is {}: {}", plain(&one.name), state(one.state), plain(why)));
    }
    for note in &one.notes {
        out.say(Tone::Faint, format!("{}: {}", plain(&one.name), plain(note)));
    }
}

fn shown_in_words(out: &Output, shown: &SkinShown) {
    let skin = &shown.skin;
    out.say(Tone::Bold, format!("{}, version {}, {}", plain(&skin.name), skin.version, state(skin.state)));
    told(out, skin);
    out.line(format!("  {}", plain(&skin.about)));
    out.line(format!("  sha256 {}", skin.sha256));
    match &skin.signed_by {
        Some(keyid) => out.line(format!("  signed with the key {}", plain(keyid))),
        None => out.line("  signed by nobody; it comes with Hermit"),
    }
    if let Some(tools) = &skin.tools {
        out.line(format!("  tools, of those that a task has anyway: {}", plain(&tools.join(", "))));
    }
    for (what, words) in [("voice", &shown.voice), ("form", &shown.form)] {
        out.line(format!("{what}:"));
        words.lines().for_each(|line| out.line(format!("  {}", plain(line))));
    }
}

fn untrusted_in_words(out: &Output, gone: &SkinUntrusted) {
    out.line(format!("no conversation has {} any more", plain(&gone.skin)));
}

fn chosen_in_words(out: &Output, chosen: &SkinChosen) {
    match &chosen.name {
        Some(name) => out.line(format!(
            "conversation {} has the skin {} from its next turn on",
            chosen.conversation_id,
            plain(name)
        )),
        None => out.line(format!("conversation {} has no skin", chosen.conversation_id)),
    }
}
