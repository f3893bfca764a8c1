//! The process that holds the store, and what waits for a person.

use crate::convert::{all, opt_text};
use crate::ids::find;
use crate::{Flow, Host, Stands, Wire as _, fold};
use model::Digest;
use std::time::Duration;
use wire::host::{
    Doctor, Fact, Facts, Holder, HostStatus, Level, Resume, Resumed, Status, Stood, Wait, Waiting,
};
use wire::{Code, Error};
use words::store::HostRole;
use words::task::DriveState;

pub(crate) fn status(host: &dyn Host, _: Status) -> Result<HostStatus, Error> {
    let reader = host.reader()?;
    let query = host.query()?;
    let waiting = query.waiting(host.now()).wire()?;
    let gate = query.gate().wire()?;
    let held_by = ledger::holder(reader.dir()).wire()?;
    // Who holds the store knows its schedules and gateways; anybody else folds them.
    let (paused_schedules, paused_gateways) = match host.kernel() {
        Ok(kernel) => (kernel.schedule_registry().asking(), kernel.gateway_registry().asking()),
        Err(_) => {
            let store = fold::store_state(&reader)?;
            (store.schedules.asking(), store.gateways.asking())
        }
    };
    Ok(HostStatus {
        role: if host.kernel().is_ok() { HostRole::Owner } else { HostRole::Reader },
        held_by: held_by.map(|h| Holder { pid: h.pid, since: h.since.0, address: h.address }),
        store_id: reader.log_id().to_owned(),
        dir: reader.dir().display().to_string(),
        version: kernel::VERSION.to_owned(),
        epoch: reader.epoch().wire()?,
        halted: gate.as_ref().is_some_and(|gate| gate.halted),
        halt_reason: gate.and_then(|gate| opt_text(gate.reason.as_ref())),
        waiting: Waiting {
            approvals: waiting.approvals,
            questions: waiting.questions,
            unknown_effects: waiting.unknown_effects,
            undecided_messages: waiting.undecided_messages,
            paused_schedules: paused_schedules as u64,
            paused_gateways: paused_gateways as u64,
            running: waiting.running,
            quiet: waiting.quiet,
        },
    })
}

/// Facts of the store, where it can be read, and the host's own.
pub(crate) fn doctor(host: &dyn Host, _: Doctor) -> Result<Facts, Error> {
    let mut facts = match of_store(host) {
        Ok(facts) => facts,
        Err(error) => {
            let level = if error.code == Code::NoStore { Level::Note } else { Level::Trouble };
            vec![fact("store", level, error.message, error.hint)]
        }
    };
    let Facts { facts: own, service, telemetry, update } = host.facts();
    facts.extend(own);
    Ok(Facts { facts, service, telemetry, update })
}

fn of_store(host: &dyn Host) -> Result<Vec<Fact>, Error> {
    let reader = host.reader()?;
    let stats = reader.stats().wire()?;
    let store = fold::store_state(&reader)?;
    let mut facts = vec![
        fact("version", Level::Fine, kernel::VERSION.to_owned(), String::new()),
        fact(
            "store",
            Level::Fine,
            format!("{}, log {}", reader.dir().display(), reader.log_id()),
            String::new(),
        ),
        fact(
            "ledger",
            Level::Fine,
            format!(
                "{}, {}, {}, schema {}",
                counted(stats.events, "event", "events"),
                // The store's own records and each conversation have a chain, as every task has.
                counted(stats.tasks, "chain", "chains"),
                counted(stats.entries, "gate entry", "gate entries"),
                stats.schema
            ),
            String::new(),
        ),
    ];
    facts.push(match host.query() {
        Ok(query) => {
            let behind = stats.events.saturating_sub(query.head().wire()?);
            let level = if behind == 0 { Level::Fine } else { Level::Note };
            let text = if behind == 0 {
                "up to date".to_owned()
            } else {
                format!("{} behind the log", counted(behind, "event", "events"))
            };
            fact("lists", level, text, String::new())
        }
        Err(error) => fact("lists", Level::Trouble, error.message, "run `hermit ledger rebuild`".to_owned()),
    });
    let (level, advice) = match store.keys.len() {
        4 => (Level::Fine, String::new()),
        _ => (
            Level::Note,
            "make them with `hermit keys init`: receipts are signed and proofs verify only with keys"
                .to_owned(),
        ),
    };
    let known = all(store.keys.keys());
    let known = if known.is_empty() { "none is registered".to_owned() } else { known.join(", ") };
    facts.push(fact("keys", level, known, advice));
    facts.push(content_check(host, &reader)?);
    facts.push(match store.halted {
        Some(reason) => {
            fact("gate", Level::Note, format!("halted: {reason}"), "run `hermit boot`".to_owned())
        }
        None => fact("gate", Level::Fine, "not halted".to_owned(), String::new()),
    });
    Ok(facts)
}

/// Bytes of content that the doctor reads: about a second of work. All of it is read by `ledger verify --content`.
const READ_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Whether content is there and whole, as far as can be told in a moment. Each time it begins elsewhere.
fn content_check(host: &dyn Host, reader: &ledger::Reader) -> Result<Fact, Error> {
    let artifacts = host.artifacts()?;
    let live = kernel::command::collect::live(reader, artifacts).wire()?;
    let all: Vec<Digest> = live.kept.into_keys().collect();
    let begin = Digest::of(&host.now().0.to_be_bytes());
    let at = all.partition_point(|digest| *digest < begin);
    let order = all.iter().skip(at).chain(all.iter().take(at));
    let total = all.len() as u64;
    let mut go_on = |so_far: &artifacts::Verified| {
        so_far.bytes < READ_BYTES_MAX && host.progress("content", so_far.checked, total) == Flow::Continue
    };
    let found = artifacts.verify(order, &mut go_on).wire()?;
    let text = format!(
        "{} of {total} pieces read: {} damaged, {} missing",
        found.checked,
        found.damaged.len(),
        found.missing.len()
    );
    Ok(if found.is_whole() {
        fact("content check", Level::Fine, text, String::new())
    } else {
        let advice = "`hermit ledger verify --content` names them all; restore them from a backup";
        fact("content check", Level::Trouble, text, advice.to_owned())
    })
}

fn fact(name: &str, level: Level, value: String, advice: String) -> Fact {
    Fact { name: name.to_owned(), level, value, advice }
}

pub(crate) fn resume(host: &dyn Host, _: Resume) -> Result<Resumed, Error> {
    Ok(Resumed { tasks: all(host.drive_all()?) })
}

/// Longer waits are asked for again, so that nobody holds a seat of the gateway for long.
const PATIENCE_MAX: Duration = Duration::from_secs(1);

pub(crate) fn wait(host: &dyn Host, p: Wait) -> Result<Stood, Error> {
    let task = find(host, &p.task)?;
    let stands = host.stands(task, Duration::from_millis(p.patience_ms).min(PATIENCE_MAX))?;
    let (stands, error) = match stands {
        Stands::AtWork => (DriveState::AtWork, None),
        Stands::AtRest => (DriveState::AtRest, None),
        Stands::KeyLocked => (DriveState::KeyLocked, None),
        Stands::Halted => (DriveState::Halted, None),
        Stands::Broke(error) => (DriveState::Broke, Some(error)),
    };
    Ok(Stood { task_id: task.to_string(), stands, error })
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
