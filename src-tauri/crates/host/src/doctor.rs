//! What the doctor tells of machine, walls, keys and settings.

use crate::error::put_back;
use crate::executors::{LocalExecutors, kernel_release};
use crate::keys::{APPROVAL_FILE, Known, VAULT_FILE, missing};
use crate::secrets::SecretBook;
use crate::{Config, Home, HostKeys};
use keychain::{ApprovalKey, FileVault, Marker, VaultKind};
use ledger::Reader;
use model::body::KeyPurpose;
use model::receipt::SandboxLevel;
use wire::host::{Fact, Level, TelemetryStands};

/// Facts in the order a person reads them.
pub fn gather(
    home: &Home,
    config: &Config,
    keys: &HostKeys,
    executors: &LocalExecutors,
    book: &SecretBook,
    known: &Known,
) -> Vec<Fact> {
    let facts = vec![
        machine(),
        folder(home),
        walls(executors),
        vault(home, keys, known),
        secrets(home, keys, book),
        approval(home, known),
        signed(home, config),
        settings(home),
        model(config),
        content(home, config),
        authorities(config),
        fact("proxy", Level::Fine, proxy(), ""),
    ];
    facts.into_iter().chain(streams(home)).collect()
}

/// Schedules that cannot see what they wait for, by name, where there are any.
pub fn schedules(unseen: &[String]) -> Option<Fact> {
    let value = format!("cannot see what they wait for: {}", unseen.join(", "));
    let advice = "`hermit schedule show NAME` says why; each is looked at again every minute";
    (!unseen.is_empty()).then(|| fact("schedules", Level::Trouble, value, advice))
}

/// What is told to a collector of telemetry, where a person named one.
pub fn telemetry(stands: &TelemetryStands) -> Fact {
    let (level, value) = crate::telemetry::told(stands);
    let advice = match level {
        Level::Fine => "",
        _ => "work goes on; see that the collector runs, or take `telemetry` out of `config.json`",
    };
    fact("telemetry", level, value, advice)
}

fn fact(name: &str, level: Level, value: impl Into<String>, advice: &str) -> Fact {
    Fact { name: name.to_owned(), level, value: value.into(), advice: advice.to_owned() }
}

/// How much content lies in files, beside how much may.
fn content(home: &Home, config: &Config) -> Fact {
    let faults = std::sync::Arc::new(model::fault::NoFaults);
    let store =
        artifacts::Store::open_for_reading(home.dir(), std::sync::Arc::new(artifacts::NoInline), faults);
    let quota = config.content_quota();
    let mib = |bytes: u64| bytes / (1024 * 1024);
    match store.weigh() {
        Err(error) => fact("content", Level::Trouble, error.to_string(), ""),
        Ok(weight) => {
            let (files, bytes) = (weight.files, weight.bytes);
            let saved = match weight.content_bytes.saturating_sub(bytes) {
                saved if mib(saved) > 0 => {
                    format!(", {} MiB saved by keeping the same parts once", mib(saved))
                }
                _ => String::new(),
            };
            // What is small lies in the ledger and takes nothing of the quota.
            let text = format!(
                "{files} files, {} MiB of {} MiB{saved}, beside content of up to 64 KiB, which is in the database",
                mib(bytes),
                mib(quota)
            );
            let advice = "run `hermit artifacts gc --dry-run` to see what may go, or set `content_quota_bytes` in \
                          `config.json`";
            match bytes {
                _ if bytes > quota => {
                    fact("content", Level::Trouble, format!("{text}: over its quota"), advice)
                }
                _ if bytes > quota / 5 * 4 => fact("content", Level::Note, text, advice),
                _ => fact("content", Level::Fine, text, ""),
            }
        }
    }
}

fn machine() -> Fact {
    let text = format!("{} {} {}", std::env::consts::OS, std::env::consts::ARCH, kernel_release());
    fact("machine", Level::Fine, text.trim(), "")
}

/// Whether the store's folder can be written, or made where there is none yet.
fn folder(home: &Home) -> Fact {
    let shown = home.dir().display().to_string();
    // What a folder that is not there would be made in.
    let there = home.dir().ancestors().find(|folder| folder.exists()).unwrap_or(home.dir());
    let probe = there.join(".hermit-probe");
    match std::fs::write(&probe, b"") {
        Ok(()) => {
            let _ = std::fs::remove_file(&probe);
            let text = if there == home.dir() { shown } else { format!("{shown}, not made yet") };
            fact("folder", Level::Fine, text, "")
        }
        Err(error) => {
            let text = format!("{shown}: {error}");
            fact(
                "folder",
                Level::Trouble,
                text,
                "see that the folder is yours and its disk is not full or read-only",
            )
        }
    }
}

fn walls(executors: &LocalExecutors) -> Fact {
    let walls = executors.walls();
    sandbox(walls.level(), walls.why())
}

/// The level in the words of the cards, why it is that one, and what to do where it is not the best.
fn sandbox(level: SandboxLevel, why: &str) -> Fact {
    let text = format!("{} ({why})", level.in_words());
    let (grave, advice) = match level {
        SandboxLevel::Unconfined | SandboxLevel::Beneath | SandboxLevel::NotApplicable => {
            (Level::Note, NO_SANDBOX)
        }
        SandboxLevel::Landlock => (
            Level::Note,
            "without bubblewrap no command is tried in a copy: each one is asked about and then runs in the folder itself, \
             none gets the network, and none can open a unix socket; it could still change permissions and times of your \
             other files; install `bubblewrap`",
        ),
        SandboxLevel::SeatbeltOpen => (
            Level::Note,
            "commands are refused here unless the profile allows them without a sandbox, because not all that was tried was \
             refused; what was not stands in brackets",
        ),
        SandboxLevel::RestrictedToken => {
            (Level::Note, "no command is tried in a copy, and none that needs the network runs")
        }
        SandboxLevel::NamespacesLandlock
        | SandboxLevel::Namespaces
        | SandboxLevel::Seatbelt
        | SandboxLevel::AppContainer => (Level::Fine, ""),
    };
    fact("sandbox", grave, text, advice)
}

/// What to do where there is none, for the system that this was built for.
const NO_SANDBOX: &str = if effects::Sandbox::is_of_namespaces() {
    "commands are refused here; install `bubblewrap`, or use a newer kernel"
} else {
    "commands are refused here"
};

fn vault(home: &Home, keys: &HostKeys, known: &Known) -> Fact {
    let lost = missing(home, known).unwrap_or_default().unwrap_or_default();
    let lost: Vec<&str> = lost.into_iter().filter(|file| *file != APPROVAL_FILE).collect();
    if !lost.is_empty() {
        let text = format!("missing, or of another store: {}", lost.join(", "));
        return fact("vault", Level::Trouble, text, &put_back(&lost));
    }
    match Marker::read(home.dir()) {
        Ok(Some(_)) if !known.contains_key(&KeyPurpose::Log) => fact(
            "vault",
            Level::Trouble,
            "made, and the store was never told of its keys",
            "run `hermit keys init` once more: it takes them up",
        ),
        Ok(None) => fact(
            "vault",
            missing_level(home),
            "none",
            "make them with `hermit keys init --store keychain` or `--store file`",
        ),
        Ok(Some(marker)) if keys.keys().is_some() => {
            fact("vault", Level::Fine, format!("open, in the {} vault", marker.vault), "")
        }
        Ok(Some(marker))
            if marker.vault == VaultKind::File
                && let Err(error) = FileVault::look(&home.path(VAULT_FILE)) =>
        {
            fact("vault", Level::Trouble, error.to_string(), &put_back(&[VAULT_FILE]))
        }
        Ok(Some(marker)) if keys.why_locked().is_empty() => {
            let text = format!("in the {} vault, locked; looking needs no keys", marker.vault);
            fact("vault", Level::Fine, text, "")
        }
        Ok(Some(marker)) => {
            let text = format!("in the {} vault: {}", marker.vault, keys.why_locked());
            fact(
                "vault",
                Level::Note,
                text,
                "set `HERMIT_PASSPHRASE_FILE`, or work at a terminal that can ask",
            )
        }
        Err(error) => fact(
            "vault",
            Level::Trouble,
            error.to_string(),
            "keep the files as they are; a backup has the right ones",
        ),
    }
}

/// How grave it is that no keys were made: none is wrong where nothing was begun.
fn missing_level(home: &Home) -> Level {
    if home.has_store() { Level::Trouble } else { Level::Note }
}

/// Where the values of secrets are kept: beside the keys, never in the store.
fn secrets(home: &Home, keys: &HostKeys, book: &SecretBook) -> Fact {
    let place = match Marker::read(home.dir()) {
        Ok(Some(marker)) => match marker.vault {
            VaultKind::Keychain => "in the system's keychain".to_owned(),
            VaultKind::File => {
                format!("in `{}`, under the vault's passphrase", home.path("vault.key").display())
            }
            VaultKind::Memory => "nowhere; this is a test's store".to_owned(),
        },
        _ => return fact("secrets", Level::Note, "no vault yet", "make one with `hermit keys init`"),
    };
    let known = book.redactor().now().handles().len();
    let text = match (keys.keys().is_some(), known) {
        (true, 0) => format!("none set; they would be kept {place}"),
        (true, n) => format!("{n} known, kept {place}; removed from every record"),
        (false, _) => format!("kept {place}; `hermit secret list` names them"),
    };
    fact("secrets", Level::Fine, text, "")
}

fn approval(home: &Home, known: &Known) -> Fact {
    let trouble = |text: &str, advice: &str| fact("approval key", Level::Trouble, text, advice);
    let path = home.path(APPROVAL_FILE);
    let found = if path.exists() { ApprovalKey::public(&path).map(Some) } else { Ok(None) };
    match (found, known.get(&KeyPurpose::Approval)) {
        (Err(error), _) => trouble(&error.to_string(), &put_back(&[APPROVAL_FILE])),
        (Ok(None), None) => fact(
            "approval key",
            missing_level(home),
            "none; nothing can be approved",
            "make it with `hermit keys init`",
        ),
        (Ok(None), Some(_)) => trouble("missing; nothing can be approved", &put_back(&[APPROVAL_FILE])),
        (Ok(Some(_)), None) => trouble(
            "made, and the store was never told of it",
            "run `hermit keys init` once more: it takes it up",
        ),
        (Ok(Some(found)), Some((_, named))) if found != *named => {
            trouble("that of another store, or an exchanged one", &put_back(&[APPROVAL_FILE]))
        }
        (Ok(Some(key)), Some(_)) => {
            let value = format!("{}, under a passphrase of its own", key.keyid());
            fact("approval key", Level::Fine, value, "")
        }
    }
}

/// Whether the store still holds what was signed, and is no older than the head kept outside it.
fn signed(home: &Home, config: &Config) -> Fact {
    let name = "signed heads";
    let trouble = |error: &wire::Error| fact(name, Level::Trouble, error.message.clone(), &error.hint);
    match crate::older_store::older(home, config) {
        Ok(Some(older)) => return trouble(&crate::older_store::refused(&older)),
        Err(error) => return trouble(&error),
        Ok(None) => {}
    }
    if !home.has_store() {
        return fact(name, Level::Note, "no store yet", "");
    }
    let keys = crate::older_store::log_keys(home);
    match Reader::open(home.dir()).and_then(|reader| ledger::verify::changed(&reader, &keys)) {
        Ok(None) => fact(name, Level::Fine, "the log still holds everything it was signed for", ""),
        Ok(Some(ledger::Changed { own, why })) => {
            trouble(&api::of_ledger(ledger::Error::Changed { own, why }))
        }
        Err(error) => trouble(&api::of_ledger(error)),
    }
}

fn settings(home: &Home) -> Fact {
    match Config::load(home) {
        Ok(_) => fact("settings", Level::Fine, "readable", ""),
        Err(error) => fact(
            "settings",
            Level::Trouble,
            error.to_string(),
            "correct the file, or move it away; until then the standard settings are in force and no task is begun",
        ),
    }
}

/// Run streams that were damaged and set aside: nothing is lost with them, and nobody needs them.
fn streams(home: &Home) -> Option<Fact> {
    let damaged = runstream::damaged(home.dir());
    let newest = damaged.last()?;
    let value = format!("{} damaged, set aside; the newest is `{}`", damaged.len(), newest.display());
    let advice = "the log has everything; look at the disk, and remove these files when you have";
    Some(fact("run streams", Level::Note, value, advice))
}

fn model(config: &Config) -> Fact {
    match &config.default_model {
        Some(address) => fact("default model", Level::Fine, address.clone(), ""),
        None => fact(
            "default model",
            Level::Note,
            "none; playbooks need none",
            "choose one of `hermit models list` with `hermit models use ADDRESS`, or name one with `--model`",
        ),
    }
}

fn authorities(config: &Config) -> Fact {
    match config.authorities() {
        None => fact("certificate authorities", Level::Fine, "those that come with Hermit", ""),
        Some(path) if path.is_file() => {
            fact("certificate authorities", Level::Fine, path.display().to_string(), "")
        }
        Some(path) => {
            let text = format!("`{}` is not there", path.display());
            fact("certificate authorities", Level::Trouble, text, "correct `HERMIT_CA_FILE` or `ca_file`")
        }
    }
}

/// Which proxy is set, without what may stand in its address to open it.
fn proxy() -> String {
    let set = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];
    match set.iter().find(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        Some(name) => format!("as `{name}` says; never for this machine itself"),
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_of_the_sandbox_is_told_in_the_words_of_the_cards_and_only_the_best_without_advice() {
        for level in SandboxLevel::ALL {
            let told = sandbox(*level, "it was tried");
            assert_eq!(told.value, format!("{} (it was tried)", level.in_words()));
            assert_eq!(
                (told.level, told.advice.is_empty()),
                if level.isolates() { (Level::Fine, true) } else { (Level::Note, false) }
            );
        }
    }

    #[test]
    fn a_schedule_that_sees_nothing_is_trouble_with_its_name_and_none_is_no_fact() {
        assert_eq!(schedules(&[]), None);
        let told = schedules(&["inbox".to_owned(), "notes".to_owned()]).unwrap();
        assert_eq!((told.level, told.name.as_str()), (Level::Trouble, "schedules"));
        assert!(told.value.ends_with("inbox, notes") && told.advice.contains("hermit schedule show"));
    }
}
