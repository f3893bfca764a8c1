//! What this verifier says of somebody's bundle, and whether another one says the same.

use super::child::{Ended, filled, run};
use super::score::place_of;
use super::{Answer, Asked};
use crate::shown;
use proof::{Verdict, parts, verify};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The bundle as it was graded.
#[derive(Serialize)]
struct Graded {
    format: &'static str,
    /// Whether each name, line and record has its one spelling. What has another is invalid; of what is invalid nothing is
    /// known behind the place that was found.
    canonical: Option<bool>,
    /// Files by part; none where its names or its zip are no bundle's.
    parts: Option<BTreeMap<String, u64>>,
    /// What this verifier says.
    report: proof::Report,
    other: Option<Other>,
}

/// What the other verifier says.
#[derive(Serialize)]
struct Other {
    /// Its exit code, where it ended by itself in time.
    code: Option<i32>,
    place: Option<String>,
    /// Whether both call it valid or neither does, at the same place where the other names one.
    agrees: bool,
}

/// Grades it.
///
/// # Errors
/// When the bundle cannot be read, or the other verifier cannot be started.
pub(super) fn grade(asked: &Asked) -> Answer {
    let report = verify(&asked.path, &asked.trust).map_err(|e| e.to_string())?;
    let parts = parts(&asked.path).map_err(|e| e.to_string())?;
    let other = if asked.command.is_empty() { None } else { Some(other(asked, &report)?) };
    let is_invalid = matches!(report.verdict, Verdict::Invalid { .. });
    let canonical = (!is_invalid).then_some(true);
    let agrees = other.as_ref().is_none_or(|other| other.agrees);
    let is_good = !is_invalid && !matches!(report.verdict, Verdict::Incomplete { .. }) && agrees;
    let graded = Graded { format: "hermit-kit-bundle/1", canonical, parts, report, other };
    let text = if asked.json {
        serde_json::to_string_pretty(&graded).map(|text| text + "\n").map_err(|e| e.to_string())?
    } else {
        in_words(&graded).map_err(|e| e.to_string())?
    };
    Ok((text, is_good))
}

fn other(asked: &Asked, ours: &proof::Report) -> Result<Other, String> {
    // The keys that this verifier was told are part of the command that its caller wrote.
    let (ended, out) = run(&filled(&asked.command, &asked.path, Path::new("{key}")), &asked.bounds)?;
    let code = if let Ended::Code(code) = ended { Some(code) } else { None };
    let place = place_of(&out);
    let is_valid = ours.verdict == Verdict::Valid;
    let said = code.and_then(|code| match code {
        0 => Some(true),
        code if code == i32::from(ours.exit_code()) || asked.refusals.contains(&code) => Some(false),
        _ => None,
    });
    let same_place = match (&ours.verdict, &place) {
        (Verdict::Invalid { place: here, .. }, Some(there)) => here == there,
        _ => true,
    };
    Ok(Other { code, place, agrees: said == Some(is_valid) && same_place })
}

fn in_words(graded: &Graded) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{}", shown::lines(&graded.report.headline()))?;
    let canonical = if graded.canonical.is_some() { "yes" } else { "not known: it is refused" };
    writeln!(text, "canonical form: {canonical}")?;
    match &graded.parts {
        Some(parts) => {
            writeln!(text, "\nparts:")?;
            parts.iter().try_for_each(|(part, files)| writeln!(text, "- {part}: {files}"))?;
        }
        None => writeln!(text, "its names or its zip are no bundle's")?,
    }
    if let Some(other) = &graded.other {
        let code = other.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let agrees = if other.agrees { "agrees" } else { "does not agree" };
        writeln!(text, "\nthe other verifier {agrees} (exit code {code})")?;
        if let Some(place) = &other.place {
            writeln!(text, "it names {}", shown::line(place))?;
        }
    }
    Ok(text)
}
