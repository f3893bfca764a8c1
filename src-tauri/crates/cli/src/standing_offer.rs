//! "Always allow this": the narrowest standing grants that would have answered, what each would have meant so far, and
//! a person's choice among them.
//!
//! What is shown last before the passphrase is made in this process from exactly what is signed.

use crate::card_screen::Front;
use crate::output::{Row, Tone};
use crate::terminal::{Echo, Typed};
use crate::text::{plain, time};
use host::Session;
use model::standing::StandingGrant;
use wire::grants::{Proposal, Propose, Rehearsed};
use wire::{Code, Error};

/// Questions of the past that are shown under each.
const PAST_SHOWN: usize = 3;

/// Lets a person choose; `None` when they left, or there is nothing to choose.
///
/// # Errors
/// When the store cannot be asked.
pub fn choose(
    front: &mut dyn Front,
    session: &Session,
    approval: &str,
) -> Result<Option<StandingGrant>, Error> {
    let found = session.call(&Propose { approval: approval.to_owned(), scope: None })?.rows;
    let drafts = found.iter().map(draft).collect::<Result<Vec<_>, Error>>()?;
    if drafts.is_empty() {
        front.remark("No safe rule covers this; you will be asked each time. You can approve it once.");
        return Ok(None);
    }
    let mut rows = vec![(Tone::Plain, "Always approve, the narrowest rule first:".to_owned())];
    for (number, (one, grant)) in found.iter().zip(&drafts).enumerate() {
        let words = plain(&host::standing_in_words(grant));
        rows.push((Tone::Bold, format!("  {}  {words}", number + 1)));
        rows.extend(past(&one.rehearsed));
    }
    let revoke = "You are still asked about critical risk. Revoke it with `hermit grants revoke`.";
    rows.push((Tone::Faint, revoke.to_owned()));
    front.show(rows);
    loop {
        let question =
            "Number of the rule, then days and uses if you like (`1`, or `1 30 200`); Enter goes back: ";
        let Typed::Line(line) = front.ask(None, question, Echo::Shown)? else { return Ok(None) };
        if line.trim().is_empty() {
            return Ok(None);
        }
        match picked(&line, &drafts) {
            Some(grant) => {
                let words = plain(&host::standing_in_words(&grant));
                front.show(vec![(Tone::Warn, format!("You always approve: {words}"))]);
                return Ok(Some(grant));
            }
            None => front.remark("That is not one of the numbers."),
        }
    }
}

/// A draft as it would be signed.
///
/// # Errors
/// When the host's answer is none.
pub fn draft(proposal: &Proposal) -> Result<StandingGrant, Error> {
    serde_json::from_value(proposal.draft.clone()).map_err(|e| Error::new(Code::Failed, e.to_string()))
}

/// A number of the list, days, uses.
fn picked(line: &str, drafts: &[StandingGrant]) -> Option<StandingGrant> {
    let mut words = line.split_whitespace();
    let number: usize = words.next()?.parse().ok()?;
    let draft = drafts.get(number.checked_sub(1)?)?;
    let days = words.next().map(str::parse::<u16>).transpose().ok()?;
    let uses = words.next().map(str::parse::<u32>).transpose().ok()?;
    let some = days != Some(0) && uses != Some(0) && words.next().is_none();
    some.then(|| draft.clone().bounded(days, uses))
}

/// What it would have meant so far.
pub fn past(found: &Rehearsed) -> Vec<Row> {
    let Rehearsed { answered, refused, questions, rows } = found;
    let sum = format!("       it would have answered {answered} of {questions} questions so far");
    let mut told = vec![(Tone::Plain, sum)];
    if *refused > 0 {
        told.push((Tone::Bad, format!("       {refused} of them you had DENIED")));
    }
    told.extend(rows.iter().take(PAST_SHOWN).map(|row| {
        let answer = row.answered.map(|a| format!(", you {a} it")).unwrap_or_default();
        let summary = plain(&row.summary.to_string());
        (Tone::Faint, format!("         {}  {summary}{answer}", time(row.at)))
    }));
    told
}
