//! `hermit identity`.

use super::Came;
use super::tools::stay;
use crate::args::IdentityVerb;
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone};
use crate::text::{plain, time};
use model::identity::SOUL_BYTES_MAX;
use std::io::{Read, Write as _};
use std::path::Path;
use wire::identity::{
    Attest, Attested, Export, Identity, Publish, Show, TrustGraph, TrustLink, Verify, Write,
};
use wire::{Code, Error, exit};

/// `hermit identity`.
pub fn identity(context: &Context, verb: IdentityVerb) -> Came {
    match verb {
        IdentityVerb::Show { version } => {
            let shown = context.reading()?.call(&Show { version })?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        IdentityVerb::Edit { file, replaces } => {
            let text = text_of(&file)?;
            let replaces = match replaces {
                Some(replaces) => replaces,
                None => context.reading()?.call(&Show { version: None })?.version,
            };
            stay(context, |session| session.call(&Write { text, replaces }))
        }
        IdentityVerb::Attest => {
            let session = context.writing(Signs::Yes)?;
            let made = session.call(&Attest {});
            session.close();
            context.out.answer(&made?, attested_in_words)?;
            Ok(exit::DONE)
        }
        IdentityVerb::Publish { relay } => {
            let publish = Publish { relays: relay, channel: Some("cli".to_owned()) };
            stay(context, |session| session.call(&publish))
        }
        IdentityVerb::Fetch { key, file, relay } => fetch(context, &key, &file, &relay),
        IdentityVerb::Verify { file } => verify(context, file.as_deref()),
        IdentityVerb::Export { file } => {
            let made = context.reading()?.call(&Export { path: absolute(&file)? })?;
            context.out.answer(&made, |out, made| {
                out.line(format!(
                    "{}  the chain, with the statement of the first key; links in it: {}",
                    plain(&made.path),
                    made.links
                ));
            })?;
            Ok(exit::DONE)
        }
    }
}

/// A file needs no store: whoever is handed a chain follows it anywhere.
fn verify(context: &Context, file: Option<&Path>) -> Came {
    let graph = match file {
        Some(file) => context.free()?.call(&Verify { path: Some(absolute(file)?) })?,
        None => context.reading()?.call(&Verify { path: None })?,
    };
    context.out.answer(&graph, |out, graph| followed_in_words(out, graph))?;
    Ok(if graph.unbroken { exit::DONE } else { exit::INVALID })
}

/// A chain that an instance published, kept in a file and followed. Whoever reads it believes no relay: what it gave is worth what
/// follows from it.
fn fetch(context: &Context, key: &str, file: &Path, relays: &[String]) -> Came {
    let unfit = || {
        Error::new(Code::Usage, format!("`{}` is no key of an instance", plain(key))).hint(
            "write `npub1…`, or 64 hexadecimal digits; `hermit identity show` tells it at the other machine",
        )
    };
    let key = api::instance_key(key).ok_or_else(unfit)?;
    let found = host::chain_at(&context.home, relays, &key);
    let (lines, says) =
        found.map_err(|why| Error::new(Code::NotFound, format!("nothing was read: {why}")))?;
    let unkept = |e: std::io::Error| {
        Error::new(Code::Failed, format!("`{}` cannot be written: {e}", file.display()))
            .hint("name a file that is not there yet")
    };
    let mut kept = std::fs::File::create_new(file).map_err(unkept)?;
    for line in &lines {
        kept.write_all(line).and_then(|()| kept.write_all(b"\n")).map_err(unkept)?;
    }
    drop(kept);
    says.iter().for_each(|said| context.out.note(plain(said)));
    let graph = context.free()?.call(&Verify { path: Some(absolute(file)?) })?;
    context.out.answer(&graph, |out, graph| followed_in_words(out, graph))?;
    let is_its = graph.key_in_force.as_deref() == Some(key.as_str());
    if !is_its {
        context.out.note("the chain does not end with the key that you named: it is not this instance's");
    }
    Ok(if graph.unbroken && is_its { exit::DONE } else { exit::INVALID })
}

/// The text of a file, or of standard input.
fn text_of(file: &Path) -> Result<String, Error> {
    let unread = |why: String| {
        Error::new(Code::Usage, format!("cannot read `{}`: {why}", file.display()))
            .hint("name a file with the text of SOUL.md, or `-` for standard input")
    };
    let limit = u64::try_from(SOUL_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|open| open.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(|e| unread(e.to_string()))?;
    if bytes.len() > SOUL_BYTES_MAX {
        return Err(unread(format!("SOUL.md has {} KB at most; shorten it", SOUL_BYTES_MAX / 1024)));
    }
    String::from_utf8(bytes).map_err(|_| unread("it is no text in UTF-8".to_owned()))
}

fn attested_in_words(out: &Output, made: &Attested) {
    out.say(Tone::Good, format!("version {} of SOUL.md is attested by link {}", made.version, made.number));
    out.line(format!("  sha256 {}", made.link_sha256));
}

fn shown_in_words(out: &Output, shown: &Identity) {
    out.say(Tone::Bold, format!("instance {}", plain(&shown.instance_id)));
    match (&shown.soul, shown.shown) {
        (_, 0) => out.line("Nobody has written SOUL.md yet. `hermit identity edit FILE` puts a text to you."),
        (Some(text), version) => {
            let at = shown.written_at.map(|at| format!(", written {}", time(at))).unwrap_or_default();
            out.line(format!("SOUL.md, version {version} of {}{at}:", shown.version));
            text.lines().for_each(|line| out.line(format!("  {}", plain(line))));
        }
        (None, version) => out.say(Tone::Warn, format!("version {version} of SOUL.md was erased")),
    }
    if let Some(sha256) = &shown.soul_sha256 {
        out.line(format!("  sha256 {sha256}"));
    }
    if let Some(task) = &shown.asked {
        out.say(
            Tone::Warn,
            format!("a change waits for your word: `hermit approvals`, task {}", plain(task)),
        );
    }
    if let Some(key) = &shown.instance_pubkey {
        out.line(format!("key {key}"));
        shown.npub.iter().for_each(|npub| out.line(format!("  on Nostr {npub}")));
        shown.address.iter().for_each(|address| out.line(format!("  on Bitcoin {address}")));
    }
    match (shown.version, shown.attested) {
        (0, _) => {}
        (version, true) => out.say(Tone::Good, format!("version {version} is attested")),
        (version, false) => out.say(
            Tone::Warn,
            format!(
                "version {version} is not attested: its key needs the keys of this store open, or made with `hermit keys \
                 init`; then `hermit identity attest`"
            ),
        ),
    }
    if !shown.graph.links.is_empty() {
        followed_in_words(out, &shown.graph);
    }
}

fn followed_in_words(out: &Output, graph: &TrustGraph) {
    for link in &graph.links {
        out.line(format!("{:>5}  {}  {}", link.number, time(link.made_at), told(link)));
        link.published.iter().for_each(|relay| out.say(Tone::Faint, format!("       at {}", plain(relay))));
    }
    for finding in &graph.findings {
        let at = finding.number.map_or_else(|| "key".to_owned(), |number| format!("link {number}"));
        out.say(Tone::Bad, format!("{at}: {} ({})", plain(&finding.says), finding.what));
    }
    if let Some(instance) = &graph.instance_id {
        out.line(format!("instance {}", plain(instance)));
    }
    match (&graph.log_key, graph.links.is_empty()) {
        (Some(key), _) => {
            out.line(format!("the log's key and the first key signed each other: {}", plain(key)))
        }
        (None, false) => out.say(Tone::Warn, "no key of a log signed the first key"),
        (None, true) => {}
    }
    match (graph.unbroken, graph.links.is_empty()) {
        (true, _) => out.say(Tone::Good, "unbroken back to genesis"),
        (false, true) => out.say(Tone::Warn, "there is no chain"),
        (false, false) => out.say(Tone::Bad, "BROKEN: do not rely on it"),
    }
}

/// A link in words.
fn told(link: &TrustLink) -> String {
    let short = |key: &String| plain(key.get(..12).unwrap_or(key));
    let by: Vec<String> = link.signed_by.iter().map(short).collect();
    let by = by.join(" and ");
    match (link.version, link.reason, &link.revoked) {
        (Some(version), ..) => format!("version {version} of SOUL.md is attested, by {by}"),
        (None, Some(reason), _) => format!("one key takes the place of another ({reason}), by {by}"),
        (None, None, Some(revoked)) => format!("the key {} is revoked, by {by}", short(revoked)),
        (None, None, None) => format!("signed by {by}"),
    }
}
