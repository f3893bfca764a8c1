//! Proofs, and the gate's evidence.

use super::Came;
use crate::args::{GateVerb, ProofExport, ProofVerb, ProofVerify};
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone};
use crate::text::{place, plain, size, time};
use std::path::Path;
use wire::gate::{Export as GateExport, GateState, State, Verify as GateVerify};
use wire::proof::{Export, Exported, Preview, Previewed, Report, THIS_STORE, Verify};
use wire::{Error, Verdict, exit};
use words::artifact::ArtifactKind;
use words::number::grouped;

/// `hermit proof`.
pub fn proof(context: &Context, verb: ProofVerb) -> Came {
    match verb {
        ProofVerb::Export(args) if args.preview => {
            let found = context.reading()?.call(&preview(&args))?;
            context.out.answer(&found, show_preview)?;
            Ok(exit::DONE)
        }
        ProofVerb::Export(args) => {
            let session = context.writing(Signs::Yes)?;
            let made = export(&session, &args);
            session.close();
            context.out.answer(&made?, show_exported)?;
            Ok(exit::DONE)
        }
        ProofVerb::Verify(args) => {
            let report = verify(&context.free()?, &args)?;
            context.out.answer(&report, show_report)?;
            Ok(report.verdict.exit_code())
        }
    }
}

/// Task and receipt that the words name.
fn about(args: &ProofExport) -> (Option<String>, Option<String>) {
    match &args.receipt {
        Some(receipt) => (None, Some(receipt.clone())),
        None if args.subject.starts_with("rcp_") => (None, Some(args.subject.clone())),
        None => (Some(args.subject.clone()), None),
    }
}

/// Writes a proof.
pub fn export(session: &host::Session, args: &ProofExport) -> Result<Exported, Error> {
    let (task, receipt) = about(args);
    let output =
        args.output.as_deref().ok_or_else(|| Error::new(wire::Code::Usage, "say where to with `-o`"))?;
    session.call(&Export {
        task,
        receipt,
        first: args.events.map(|[first, _]| first),
        last: args.events.map(|[_, last]| last),
        path: absolute(output)?,
        artifacts: args.artifacts.clone(),
        redact: args.redact.clone(),
        since: args.since.as_deref().map(note).transpose()?,
    })
}

fn preview(args: &ProofExport) -> Preview {
    let (task, receipt) = about(args);
    let (artifacts, redact) = (args.artifacts.clone(), args.redact.clone());
    let (first, last) = (args.events.map(|[first, _]| first), args.events.map(|[_, last]| last));
    Preview { task, receipt, first, last, artifacts, redact }
}

/// Checks a proof.
pub fn verify(session: &host::Session, args: &ProofVerify) -> Result<Report, Error> {
    let since = args.since.as_deref().map(note).transpose()?;
    let authorities =
        args.trust_authority.iter().map(|file| absolute(file)).collect::<Result<Vec<_>, _>>()?;
    session.call(&Verify {
        path: absolute(&args.proof)?,
        trust: trusted(&args.trust)?,
        since,
        authorities,
        bitcoin_headers: args.bitcoin_headers.as_deref().map(absolute).transpose()?,
    })
}

/// A checkpoint out of the file that was named.
fn note(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| {
        Error::new(wire::Code::Usage, format!("cannot read the checkpoint `{}`: {error}", path.display()))
    })
}

/// Keys as given, or out of the files that were given.
pub fn trusted(given: &[String]) -> Result<Vec<String>, Error> {
    let read = |text: &String| match std::fs::read_to_string(Path::new(text)) {
        Ok(key) => Ok(key.trim().to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || text.contains('\n') => Ok(text.clone()),
        Err(error) => Err(Error::new(wire::Code::Usage, format!("cannot read the key `{text}`: {error}"))),
    };
    given.iter().map(read).collect()
}

/// What was written.
pub fn show_exported(out: &Output, made: &Exported) {
    out.line(format!("{}  {} files, {}", plain(&made.path), grouped(made.files), size(made.byte_size)));
    out.line(format!("Fingerprint: sha256 {}", made.sums_sha256));
    made.left_out.iter().for_each(|what| out.say(Tone::Warn, format!("  left out: {}", plain(what))));
}

/// What would leave this machine.
pub fn show_preview(out: &Output, found: &Previewed) {
    out.line(format!(
        "{} events and {} receipts, with the digests of all they name",
        found.events, found.receipts
    ));
    out.say(Tone::Bold, format!("Readable by whoever receives it: {} values", found.values.len()));
    for value in &found.values {
        let whole = place(&value.example);
        let example: String = whole.chars().take(60).collect();
        let more = if whole.chars().count() > 60 { " …" } else { "" };
        out.line(format!("  {:>5} x {}  {}{more}", value.count, plain(&value.pointer), plain(&example)));
    }
    for kind in &found.artifacts {
        let name = kind.kind.map_or("unknown", ArtifactKind::as_str);
        out.line(format!("  {:>5} x {name}, whole, {}", kind.count, size(kind.byte_size)));
    }
    if found.links + found.anchors > 0 {
        out.line(format!(
            "Who this instance is goes along: {} links of its chain with its keys, and {} anchors",
            found.links, found.anchors
        ));
    }
    out.say(Tone::Bold, "Stays here; only fingerprints leave");
    out.line(format!("  {} sensitive values, {} artifacts", found.withheld, found.artifacts_withheld));
    found.left_out.iter().for_each(|what| out.say(Tone::Warn, format!("  left out: {}", plain(what))));
    out.line("Nothing was written.");
}

/// What a check has shown.
pub fn show_report(out: &Output, report: &Report) {
    show_verdict(out, report);
    for (title, sentences) in [
        ("not signed by a key you trust", &report.unvouched),
        ("proven", &report.proven),
        ("only asserted", &report.asserted),
        ("not shown", &report.not_shown),
    ] {
        if !sentences.is_empty() {
            out.say(Tone::Bold, title);
            sentences.iter().for_each(|sentence| out.line(format!("  - {}", plain(sentence))));
        }
    }
    if report.verdict == Verdict::Unverifiable {
        report
            .keys
            .iter()
            .for_each(|(purpose, keyid)| out.line(format!("  its {purpose} key: {}", plain(keyid))));
        out.line("If you know one of these keys, trust it with `--trust KEY`.");
    }
}

/// In one line.
pub fn show_verdict(out: &Output, report: &Report) {
    let tone = match report.verdict {
        Verdict::Valid => Tone::Good,
        Verdict::Invalid => Tone::Bad,
        Verdict::Unverifiable | Verdict::Incomplete => Tone::Warn,
    };
    out.say(tone, headline(report));
}

/// The verdict, and by whose word.
fn headline(report: &Report) -> String {
    let (verdict, reason) = (report.verdict.to_string(), plain(&report.reason));
    let said = if verdict == reason || reason.starts_with(&verdict) {
        reason
    } else {
        format!("{verdict}: {reason}")
    };
    match report.trusted_as.as_slice() {
        [] => said,
        [own] if own == THIS_STORE => format!("{said}: this store's own"),
        names => format!("{said}, by a key you trust as {}", plain(&names.join(", "))),
    }
}

/// `hermit gate`.
pub fn gate(context: &Context, verb: GateVerb) -> Came {
    match verb {
        GateVerb::State => {
            let of = |state: &GateState| (!state.halted).then_some("This is how the gate stood last");
            let state = context.told(&State {}, of)?;
            context.out.answer(&state, show_state)?;
            Ok(exit::DONE)
        }
        GateVerb::Export { output } => {
            let made = context.reading()?.call(&GateExport { path: absolute(&output)? })?;
            context.out.answer(&made, |out, made| {
                out.line(format!(
                    "{}  {} entries, {}",
                    plain(&made.path),
                    made.entries,
                    size(made.byte_size)
                ));
            })?;
            Ok(exit::DONE)
        }
        GateVerb::Verify { bundle, root } => {
            let found = context.free()?.call(&GateVerify { path: absolute(&bundle)?, root })?;
            context.out.answer(&found, |out, found| {
                out.line(format!("{} ({} entries)", plain(&found.reason), found.entries));
            })?;
            Ok(found.verdict.exit_code())
        }
    }
}

/// How the gate stands.
pub fn show_state(out: &Output, state: &GateState) {
    if state.halted {
        out.say(Tone::Bad, "Halted: nothing runs until `hermit boot`.");
        if let Some(reason) = &state.reason {
            out.line(format!("  because {}", plain(&reason.to_string())));
        }
    } else {
        out.say(Tone::Good, "Working.");
    }
    if let Some(since) = state.since {
        out.line(format!("  since {}", time(since)));
    }
    out.line(format!("  {} entries, the last {}", state.entries, state.head));
    out.line(format!("  the gate is {}", state.state.to_lowercase()));
}
