//! `hermit successor adopt`, `adopted` and `back`.

use super::Came;
use super::keyring::approval_passphrase;
use super::tools::stay;
use crate::args::{SuccessorAdopt, SuccessorBack};
use crate::context::Context;
use crate::output::{Output, Tone};
use crate::text::{plain, time};
use model::adoption::REVIEW_BYTES_MAX;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use wire::adoptions::{Adoption, AdoptionList, Back, List, Propose};
use wire::successor::{Show, Trial};
use wire::{Code, Error, exit};

/// `hermit successor adopt`: for each part that keeps Hermit in check and that it changes, the passphrase is typed once.
pub fn adopt(context: &Context, args: SuccessorAdopt) -> Came {
    let reviews = args.review.iter().map(|file| text_of(file)).collect::<Result<Vec<_>, _>>()?;
    let reading = context.reading()?;
    // Named by its identifier, or the end of it.
    let shown = reading.call(&Show { trial: args.trial })?;
    let looked = args.looked.iter().map(|digits| edit(&shown, digits)).collect::<Result<Vec<_>, _>>()?;
    let trial = shown.trial.trial_id;
    let rooms = reading.rooms_of(&trial)?;
    let mut signed = Vec::with_capacity(rooms.len());
    if !rooms.is_empty() {
        if context.terminal.is_none() {
            return Err(Error::new(
                Code::Usage,
                "it changes what keeps Hermit in check, and nobody is here to sign for that",
            )
            .hint("run this at a terminal"));
        }
        context.out.say(
            Tone::Warn,
            "It changes what keeps Hermit in check. Type the approval passphrase for each part:",
        );
        for room in &rooms {
            context.out.say(Tone::Bold, format!("  {}", plain(room)));
            let words = approval_passphrase(context, None)?;
            signed.push(reading.sign_room(&trial, room, &words)?);
        }
    }
    let (although_same, channel) = (args.although_same, Some("cli".to_owned()));
    let propose = Propose { trial, reviews, although_same, signed, looked, channel };
    stay(context, |session| session.call(&propose))
}

/// `hermit successor back`.
pub fn back(context: &Context, args: SuccessorBack) -> Came {
    let back = Back { kind: args.kind, reason: args.reason, channel: Some("cli".to_owned()) };
    stay(context, |session| session.call(&back))
}

/// `hermit successor adopted`.
pub fn adopted(context: &Context) -> Came {
    let listed = context.reading()?.call(&List {})?;
    context.out.answer(&listed, listed_in_words)?;
    Ok(exit::DONE)
}

/// The edit of tests that is meant by its digest, or the beginning of it.
fn edit(shown: &Trial, digits: &str) -> Result<String, Error> {
    const DIGITS_MIN: usize = 8;
    let digits = digits.trim().to_ascii_lowercase();
    let is_meant = |sha256: &&String| digits.len() >= DIGITS_MIN && sha256.starts_with(&digits);
    let mut found = shown.edited_tests.iter().map(|one| &one.sha256).filter(is_meant);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(_), Some(_)) => {
            Err(Error::new(Code::Ambiguous, format!("`{digits}` fits more than one edit of tests")))
        }
        (None, _) => Err(Error::new(
            Code::Usage,
            format!("no tests that this change edits have a difference with the sha256 `{digits}`"),
        )
        .hint(format!("`hermit successor show {}` tells each of them", shown.trial.trial_id))),
    }
}

/// The text of a review.
fn text_of(file: &Path) -> Result<String, Error> {
    let unread = |why: String| Error::new(Code::Usage, format!("cannot read `{}`: {why}", file.display()));
    let limit = u64::try_from(REVIEW_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    let read = File::open(file).and_then(|open| open.take(limit).read_to_string(&mut text));
    read.map_err(|e| unread(e.to_string()))?;
    match text.len() > REVIEW_BYTES_MAX {
        true => Err(unread(format!("a review has {} KB at most", REVIEW_BYTES_MAX / 1024))),
        false => Ok(text),
    }
}

fn listed_in_words(out: &Output, listed: &AdoptionList) {
    if listed.adoptions.is_empty() {
        out.line("Nobody has adopted a change of Hermit itself.");
    }
    listed.adoptions.iter().for_each(|one| one_in_words(out, one));
}

fn one_in_words(out: &Output, one: &Adoption) {
    let says = one.says.as_deref().map_or_else(|| "(erased)".to_owned(), plain);
    out.line(format!("{}  {}  {}  {says}", plain(&one.trial_id), one.kind, time(one.adopted_at)));
    if !one.constitutional.is_empty() {
        out.say(
            Tone::Warn,
            format!("  changes what keeps Hermit in check: {}", plain(&one.constitutional.join(", "))),
        );
    }
    if !one.reviewers.is_empty() {
        out.line(format!("  reviewed by {}", plain(&one.reviewers.join(", "))));
    }
    match (one.returned_at, &one.why) {
        (Some(at), why) => {
            let why = why.as_deref().filter(|why| !why.is_empty()).map(|why| format!(": {}", plain(why)));
            out.line(format!("  returned from {}{}", time(at), why.unwrap_or_default()));
        }
        (None, _) => out.say(Tone::Good, "  at work"),
    }
}
