//! Skins: what there is and how each stands, proposals to a person, the one of a conversation, and what only narrows.

use super::slash::Order;
use super::task::{channel, of_submitted};
use crate::caller::sender;
use crate::{Host, Wire as _, failed, fold, not_found, usage};
use kernel::command::skins::{meant, unknown_tools};
use kernel::skin_registry::SkinRegistry;
use model::Digest;
use model::ingress::Channel;
use model::skin::{Skin, SkinFile, SkinState, built_in};
use std::collections::BTreeSet;
use wire::Error;
use wire::skins::{
    Check, Choose, ChosenSkin, Draft, List, Show, SkinChosen, SkinColours, SkinDraft, SkinList, SkinRow,
    SkinShown, SkinUntrusted, Trust, Untrust,
};
use wire::task::Submitted;

/// The word that takes a skin off.
const NONE: &str = "none";

pub(crate) fn list(host: &dyn Host, p: List) -> Result<SkinList, Error> {
    let registry = registry(host)?;
    let mut skins = Vec::new();
    for (file, sha256) in built_in() {
        skins.push(row(file, *sha256, &registry));
    }
    let mut seen = BTreeSet::new();
    for version in registry.versions.iter().rev().filter(|one| seen.insert(one.sha256)) {
        // One that was erased is told of nowhere but in the log.
        if let Some(file) = file(host, &registry, version.sha256)? {
            skins.push(row(&file, version.sha256, &registry));
        }
    }
    let of = p.conversation.as_deref();
    let chosen = of.map(|named| super::conversations::conversation(host, named)).transpose()?;
    let chosen = chosen.and_then(|id| registry.chosen.get(&id));
    let is_kept = |sha256: Digest| file(host, &registry, sha256).map(|file| file.is_some());
    let chosen = match chosen {
        Some(one) => Some(ChosenSkin {
            name: one.name.clone(),
            sha256: one.sha256.to_string(),
            since: one.since.0,
            why: without(one.sha256, is_kept(one.sha256)?, &registry),
        }),
        None => None,
    };
    Ok(SkinList { skins, chosen })
}

/// Why a conversation goes on without the skin that was chosen for it.
fn without(sha256: Digest, is_kept: bool, registry: &SkinRegistry) -> Option<String> {
    match registry.standing(sha256) {
        (SkinState::Untrusted, why) => Some(why.unwrap_or_else(|| "nobody trusts it".to_owned())),
        (SkinState::BuiltIn | SkinState::Trusted, _) => {
            (!is_kept).then(|| "its file was erased, or is damaged".to_owned())
        }
    }
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<SkinShown, Error> {
    let registry = registry(host)?;
    let named = p.skin.trim();
    // One that is trusted no more is shown by its digest.
    let sha256 = match named.parse::<Digest>() {
        Ok(sha256) => sha256,
        Err(_) => meant(&registry, named).map_err(|_| missing(named))?.1,
    };
    let file = file(host, &registry, sha256)?.ok_or_else(|| missing(named))?;
    let text = String::from_utf8(file.to_bytes().map_err(failed)?).map_err(failed)?;
    let skin = row(&file, sha256, &registry);
    Ok(SkinShown { skin, voice: file.skin.voice, form: file.skin.form, text })
}

pub(crate) fn check(_: &dyn Host, p: Check) -> Result<SkinRow, Error> {
    let file = SkinFile::read(p.text.as_bytes()).map_err(usage)?;
    let sha256 = file.digest().map_err(usage)?;
    Ok(row(&file, sha256, &SkinRegistry::default()))
}

pub(crate) fn draft(_: &dyn Host, p: Draft) -> Result<SkinDraft, Error> {
    let skin = Skin::draft(p.name.trim());
    skin.check().map_err(usage)?;
    let file = SkinFile { skin, signed: None };
    let text = serde_json::to_string_pretty(&file).map_err(failed)?;
    Ok(SkinDraft { text: format!("{text}\n") })
}

pub(crate) fn trust(host: &dyn Host, p: Trust) -> Result<Submitted, Error> {
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_skin(p.text.as_bytes(), by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn untrust(host: &dyn Host, p: Untrust) -> Result<SkinUntrusted, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("taken back by a {}", by.by));
    let gone = host.kernel()?.untrust_skin(&p.skin, &reason, by).wire()?;
    Ok(SkinUntrusted { skin: p.skin, sha256: gone.iter().map(Digest::to_string).collect() })
}

pub(crate) fn choose(host: &dyn Host, p: Choose) -> Result<SkinChosen, Error> {
    let conversation = super::conversations::meant(host, p.conversation.as_deref())?.conversation_id;
    let by = sender(host, Channel::App);
    let named = p.skin.as_deref().map(str::trim).filter(|named| *named != NONE);
    if let Some(named) = named {
        named_here(host, named)?;
    }
    let chosen = host.kernel()?.choose_skin(conversation, named, by).wire()?;
    let (name, sha256) = chosen.unzip();
    let sha256 = sha256.map(|sha256: Digest| sha256.to_string());
    Ok(SkinChosen { conversation_id: conversation.to_string(), name, sha256 })
}

/// That a skin of this name can be chosen, or that it is taken off.
pub(super) fn named_here(host: &dyn Host, named: &str) -> Result<(), Error> {
    if named.trim() == NONE {
        return Ok(());
    }
    meant(&registry(host)?, named).map(drop).map_err(|_| missing(named))
}

/// The same by a command behind a slash, in a sentence.
pub(super) fn chosen_here(host: &dyn Host, order: &Order<'_>, named: &str) -> Result<Vec<String>, Error> {
    let named = Some(named.trim()).filter(|named| *named != NONE);
    let conversation = order.row.conversation_id;
    let chosen = host.kernel()?.choose_skin(conversation, named, order.sender).wire()?;
    Ok(vec![has(chosen.map(|(name, _)| name))])
}

/// What such a command comes to that comes again: how it stands by now.
pub(super) fn stands_here(host: &dyn Host, order: &Order<'_>) -> Result<Vec<String>, Error> {
    let chosen = registry(host)?.chosen.remove(&order.row.conversation_id);
    Ok(vec![has(chosen.map(|one| one.name))])
}

fn has(chosen: Option<String>) -> String {
    match chosen {
        Some(name) => format!("This conversation has the skin {name} from the next turn on."),
        None => "This conversation has no skin from the next turn on.".to_owned(),
    }
}

fn registry(host: &dyn Host) -> Result<SkinRegistry, Error> {
    Ok(fold::store_state(&host.reader()?)?.skins)
}

/// The file with these bytes, where it comes with Hermit or was trusted once, and is kept.
fn file(host: &dyn Host, registry: &SkinRegistry, sha256: Digest) -> Result<Option<SkinFile>, Error> {
    if let Some((file, _)) = built_in().iter().find(|(_, known)| *known == sha256) {
        return Ok(Some(file.clone()));
    }
    let Some(version) = registry.versions.iter().rfind(|one| one.sha256 == sha256) else { return Ok(None) };
    let bytes = host.artifacts()?.read(&version.file.sha256).ok();
    Ok(bytes.and_then(|bytes| SkinFile::read(&bytes).ok()))
}

fn missing(named: &str) -> Error {
    not_found("skin", named).hint(
        "`hermit skin list` shows those that can be chosen; a file is put to you by `hermit skin use FILE`",
    )
}

fn row(file: &SkinFile, sha256: Digest, registry: &SkinRegistry) -> SkinRow {
    let skin = &file.skin;
    let (state, why) = registry.standing(sha256);
    let unknown = unknown_tools(skin).into_iter();
    let mut notes: Vec<String> = unknown
        .map(|tool| format!("there is no tool `{tool}`: it stays in the skin and has no effect"))
        .collect();
    if file.signed.is_none() && state != SkinState::BuiltIn {
        notes.push("nobody signed it: `hermit skin sign` does, and then it can be used".to_owned());
    }
    SkinRow {
        name: skin.name.clone(),
        version: skin.version,
        about: skin.about.clone(),
        state,
        why,
        sha256: sha256.to_string(),
        signed_by: file.keyid().map(|keyid| keyid.to_string()),
        mark: skin.mark.clone(),
        colours: skin
            .colours
            .as_ref()
            .map(|two| SkinColours { light: two.light.clone(), dark: two.dark.clone() }),
        tools: skin.tools.clone(),
        notes,
        since: registry.trusted(sha256).map(|version| version.since.0),
    }
}
