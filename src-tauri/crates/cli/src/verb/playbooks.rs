//! `hermit playbooks`.

use super::Came;
use super::tools::stay;
use crate::args::PlaybooksVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{paragraph, plain, short, time};
use wire::playbooks::{Adopt, Draft, DraftList, Drafts, List, Playbook, Trial, Try, TurnOff};
use wire::{Code, Error, exit};
use words::store::{PlaybookState, PlaybookTrialOutcome};

/// Lists the playbooks that come with Hermit, or shows one with its parameters.
pub fn playbooks(context: &Context, name: Option<&str>) -> Came {
    let found = context.free()?.call(&List {})?;
    let Some(name) = name else {
        context.out.answer(&found, |out, found| {
            let row = |one: &Playbook| vec![plain(&one.name), state(one), plain(&one.about)];
            table(out, &["playbook", "state", ""], &found.playbooks.iter().map(row).collect::<Vec<_>>());
            out.say(Tone::Faint, "hermit playbooks NAME shows what one does and its parameters; hermit playbooks drafts lists what recurs");
        })?;
        return Ok(exit::DONE);
    };
    let names: Vec<&str> = found.playbooks.iter().map(|one| one.name.as_str()).collect();
    let one = found.playbooks.iter().find(|one| one.name == name).ok_or_else(|| {
        Error::new(Code::NotFound, format!("there is no playbook `{name}`")).hint(format!(
            "there are {}; `hermit playbooks drafts` lists what you have not adopted",
            names.join(", ")
        ))
    })?;
    context.out.answer(one, shown)?;
    Ok(exit::DONE)
}

fn shown(out: &Output, one: &Playbook) {
    out.say(Tone::Bold, format!("{}: {}", plain(&one.name), plain(&one.about)));
    out.line(paragraph(&one.description));
    for parameter in &one.parameters {
        let standard = match parameter.standard.as_deref() {
            None | Some("") => String::new(),
            Some(standard) => format!(" (standard: {})", plain(standard)),
        };
        out.line(format!("  {:<12} {}{standard}", plain(&parameter.name), plain(&parameter.about)));
    }
    out.say(
        Tone::Faint,
        format!("hermit run --playbook {} --workspace DIR --param NAME=VALUE", plain(&one.name)),
    );
}

/// Whether it comes with Hermit, or which version a person adopted.
fn state(one: &Playbook) -> String {
    one.version.map_or_else(|| "with Hermit".to_owned(), |version| format!("adopted, version {version}"))
}

/// What was drafted from what recurs: lists it, tries it, asks about it, stops it.
pub fn drafted(context: &Context, verb: PlaybooksVerb) -> Came {
    match verb {
        PlaybooksVerb::Drafts => {
            let found = context.reading()?.call(&Drafts { name: None })?;
            context.out.answer(&found, listed)?;
            Ok(exit::DONE)
        }
        PlaybooksVerb::Try { playbook } => {
            let session = context.writing(Signs::No)?;
            let tried = session.call(&Try { name: playbook });
            session.close();
            context.out.answer(&tried?, in_full)?;
            Ok(exit::DONE)
        }
        PlaybooksVerb::Adopt { playbook } => {
            let ask = Adopt { name: playbook, channel: Some("cli".to_owned()) };
            stay(context, |session| session.call(&ask))
        }
        PlaybooksVerb::Off { playbook, reason } => {
            let session = context.writing(Signs::No)?;
            let gone = session.call(&TurnOff { name: playbook, reason });
            session.close();
            context.out.answer(&gone?, |out, gone| {
                out.line(format!(
                    "{} is turned off; `hermit run --playbook` does not run it any more",
                    plain(&gone.name)
                ));
            })?;
            Ok(exit::DONE)
        }
    }
}

fn listed(out: &Output, found: &DraftList) {
    if found.rows.is_empty() {
        return out.line(
            "nothing was drafted; Hermit drafts a playbook when three tasks of a project did the same, and everything is at rest",
        );
    }
    let row = |one: &Draft| {
        let project = one.project.as_deref().map(plain).unwrap_or_default();
        vec![plain(&one.name), one.state.to_string(), same(one), project]
    };
    table(
        out,
        &["draft", "state", "same result", "project"],
        &found.rows.iter().map(row).collect::<Vec<_>>(),
    );
    for one in &found.rows {
        let name = plain(&one.name);
        if let Some(why) = &one.why {
            out.say(Tone::Warn, format!("{name}: {}", plain(why)));
        }
        if found.rows.iter().filter(|other| other.name == one.name).count() > 1 {
            let sha256 = plain(&one.playbook_sha256);
            out.say(Tone::Faint, format!("{name}, {}: name it by {sha256}", one.state));
        }
    }
    let waits = |one: &&Draft| one.state == PlaybookState::Draft;
    if let Some(one) = found.rows.iter().find(waits) {
        let name = plain(&one.name);
        match &one.task_id {
            Some(task) => {
                out.say(Tone::Faint, format!("{name} waits for your answer in {task}: hermit approvals list"))
            }
            None => out.say(
                Tone::Faint,
                format!("hermit playbooks try {name} shows it; hermit playbooks adopt {name} asks you"),
            ),
        }
    }
}

fn same(one: &Draft) -> String {
    format!("on {} of {}", one.same, one.of)
}

fn in_full(out: &Output, one: &Draft) {
    out.say(Tone::Bold, format!("{}, {}", plain(&one.name), one.state));
    out.line(format!("  same result {} recorded tasks", same(one)));
    for trial in &one.trials {
        out.line(format!("  {}", tried(trial)));
    }
    out.line(format!("  sha256 of its text: {}", plain(&one.playbook_sha256)));
    if let Some(trust) = one.trust {
        out.line(format!("  lowest trust of what it was made of: {trust}"));
    }
    if let Some(narrowest) = &one.narrowest {
        out.line(format!("  narrowest standing grant: {}", plain(narrowest)));
    }
    for version in &one.versions {
        let off = version.off.as_ref().map_or(String::new(), |why| format!(", and off: {}", plain(why)));
        out.say(
            Tone::Faint,
            format!("  version {} was adopted {}{off}", version.version, time(version.since)),
        );
    }
    out.line("");
    for line in one.text.as_deref().unwrap_or("its text was erased").lines() {
        out.line(plain(line));
    }
}

fn tried(trial: &Trial) -> String {
    let came = match trial.outcome {
        PlaybookTrialOutcome::Same => "the same",
        PlaybookTrialOutcome::Differs => "another",
        PlaybookTrialOutcome::NotTried => "not tried",
    };
    let with: Vec<String> =
        trial.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let why = trial.why.as_ref().map_or(String::new(), |why| format!(": {}", plain(why)));
    let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
    let receipts: Vec<&str> = trial.receipts.iter().map(|receipt| short(receipt)).collect();
    let of = if receipts.is_empty() { String::new() } else { format!(" (receipts {})", receipts.join(", ")) };
    format!("{came} on task {}{with}{why}{of}", short(&trial.task_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_on_which_a_draft_was_tried_is_told_by_its_short_reference() {
        let of = |parameters: &[(&str, &str)], receipts: &[&str]| Trial {
            task_id: format!("task_{}0badcafe", "0".repeat(24)),
            receipts: receipts.iter().map(|id| (*id).to_owned()).collect(),
            parameters: parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            outcome: PlaybookTrialOutcome::Same,
            why: None,
        };
        let receipt = format!("rcp_{}00c0ffee", "0".repeat(24));
        let told = tried(&of(&[("folder", "beta")], &[&receipt]));
        assert_eq!(told, "the same on task 0badcafe with folder=beta (receipts 00c0ffee)");
        assert_eq!(tried(&of(&[], &[])), "the same on task 0badcafe");
    }
}
