//! `hermit witness`: a second machine that cosigns; and `hermit checkpoint witness`, which asks it.

use super::Came;
use super::keyring::owner;
use super::keys::{Passphrase, ask_twice, from_descriptor};
use crate::args::{AskWitness, WitnessServe, WitnessVerb};
use crate::context::{Context, Signs};
use crate::output::{Tone, table};
use crate::terminal::{Echo, Typed};
use crate::text::{plain, time};
use host::log_witness::{Witness, serve};
use seal_key::log_key;
use serde_json::json;
use std::net::TcpListener;
use std::sync::Arc;
use wire::ledger::Checkpoint;
use wire::{Code, Error, exit};
use zeroize::Zeroizing;

/// `hermit witness`.
pub fn witness(context: &Context, verb: WitnessVerb) -> Came {
    match verb {
        WitnessVerb::Serve(args) => serving(context, &args),
    }
}

fn serving(context: &Context, args: &WitnessServe) -> Came {
    let dir = args.dir.clone().unwrap_or_else(|| context.home.path("witness"));
    let words = passphrase(context, args, dir.join("witness.key").exists())?;
    let witness = Arc::new(Witness::open(&dir, args.name.as_deref(), &words).map_err(host::Error::to_wire)?);
    for log in &args.log {
        witness.know(log_key(log)?).map_err(host::Error::to_wire)?;
    }
    let logs = witness.logs().map_err(host::Error::to_wire)?;
    let listener = TcpListener::bind(&args.listen).map_err(|e| {
        Error::new(Code::Failed, format!("cannot listen at `{}`: {e}", args.listen))
            .hint("choose another with `--listen`")
    })?;
    let address = listener.local_addr().map_err(|e| Error::new(Code::Failed, e.to_string()))?;
    let key = witness.key().to_string();
    let shown = json!({
        "url": format!("http://{address}"),
        "key": key,
        "logs": logs.iter().map(|(origin, size)| json!({ "origin": origin, "size": size })).collect::<Vec<_>>(),
    });
    context.out.stream(&shown)?;
    context.out.line(format!("witness {key}"));
    context.out.line(format!("listens at http://{address}; ask it with"));
    context.out.line(format!("  hermit checkpoint witness http://{address} --key '{key}'"));
    if logs.is_empty() {
        context.out.say(
            Tone::Warn,
            "it knows no log yet; name one with `--log VKEY` (see `hermit keys export-public`)",
        );
    }
    for (origin, size) in &logs {
        context.out.line(format!("  {} seen up to {size} notes", plain(origin)));
    }
    serve(witness, listener).map_err(host::Error::to_wire)?;
    Ok(exit::DONE)
}

fn passphrase(context: &Context, args: &WitnessServe, exists: bool) -> Result<Passphrase, Error> {
    if let Some(fd) = args.passphrase_fd {
        return from_descriptor(fd);
    }
    if let Some(path) = std::env::var_os("HERMIT_PASSPHRASE_FILE").filter(|p| !p.is_empty()) {
        let text =
            std::fs::read(&path).map_err(|e| Error::new(Code::Usage, format!("the passphrase file: {e}")))?;
        let line = text.split(|b| *b == b'\n').next().unwrap_or_default();
        return Ok(Zeroizing::new(line.to_vec()));
    }
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(
            Code::Usage,
            "the witness's key is under a passphrase, and nobody is here to ask",
        )
        .hint("give it with `--passphrase-fd N` or `HERMIT_PASSPHRASE_FILE`"));
    };
    if !exists {
        return ask_twice(terminal, "New passphrase of the witness", None);
    }
    match terminal.ask("Passphrase of the witness: ", Echo::Hidden)? {
        Typed::Line(words) if !words.is_empty() => Ok(Zeroizing::new(words.as_bytes().to_vec())),
        _ => Err(Error::new(Code::Cancelled, "no passphrase was given")),
    }
}

mod seal_key {
    //! A log's key as it is given.

    use host::log_witness::LogKey;
    use wire::{Code, Error};

    pub fn log_key(given: &str) -> Result<LogKey, Error> {
        let text = std::fs::read_to_string(given).unwrap_or_else(|_| given.to_owned());
        let line = text.lines().next().unwrap_or_default().trim();
        line.parse().map_err(|_| {
            Error::new(Code::Usage, format!("`{given}` is no verifier key of a log"))
                .hint("it looks like `hermit.local/…+1234abcd+A…`; `hermit keys export-public` writes it to `log.vkey`")
        })
    }
}

/// `hermit checkpoint witness`.
pub fn ask(context: &Context, args: &AskWitness) -> Came {
    context.reading()?;
    if let Some(url) = &args.url {
        let known =
            host::cosign_client::policy(&context.home).map_err(host::Error::to_wire)?.unwrap_or_default();
        let key = match &args.key {
            Some(key) => key.parse().map_err(|_| {
                Error::new(Code::Usage, format!("`{key}` is no witness's key"))
                    .hint("the witness prints it when it starts")
            })?,
            None => {
                let there = known
                    .witnesses
                    .iter()
                    .find(|(_, _, at)| at.as_deref() == Some(url.trim_end_matches('/')));
                there.map(|(_, key, _)| key.clone()).ok_or_else(|| {
                    Error::new(Code::Usage, "a new witness is known by its key")
                        .hint("name it with `--key`; the witness prints it")
                })?
            }
        };
        host::cosign_client::add_witness(&context.home, &key, url, args.quorum)
            .map_err(host::Error::to_wire)?;
    }
    let session = context.writing(Signs::Yes)?;
    let made = session.call(&Checkpoint { tasks: Vec::new() });
    let asked = made.and_then(|_| owner(&session)?.ask_witnesses().map_err(host::Error::to_wire));
    session.close();
    let asked = asked?;
    let policy = host::cosign_client::policy(&context.home).map_err(host::Error::to_wire)?;
    let Some(policy) = policy else {
        return Err(Error::new(Code::Usage, "no witness is known here")
            .hint("name one: `hermit checkpoint witness URL --key KEY`"));
    };
    let signed: Vec<(String, u64)> =
        asked.iter().filter_map(|a| Some((a.name.clone(), *a.outcome.as_ref().ok()?))).collect();
    let met = policy.is_met(&signed);
    let shown = json!({
        "witnesses": asked.iter().map(|a| json!({
            "name": a.name,
            "cosigned_at": a.outcome.as_ref().ok(),
            "trouble": a.outcome.as_ref().err(),
        })).collect::<Vec<_>>(),
        "policy_met": met,
    });
    context.out.answer(&shown, |out, _| {
        let rows = asked.iter().map(|a| match &a.outcome {
            Ok(at) => {
                vec![plain(&a.name), format!("cosigned {}", time(i64::try_from(*at).unwrap_or(0) * 1000))]
            }
            Err(why) => vec![plain(&a.name), plain(why)],
        });
        table(out, &["witness", "answer"], &rows.collect::<Vec<_>>());
        let tone = if met { Tone::Good } else { Tone::Warn };
        let (signed, all) = (signed.len(), policy.witnesses.len());
        out.say(
            tone,
            format!(
                "{signed} of {all} witnesses cosigned; that is {}enough for the policy",
                if met { "" } else { "not " }
            ),
        );
    })?;
    Ok(if met { exit::DONE } else { exit::OTHER })
}
