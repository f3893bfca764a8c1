//! What the doctor tells of machine, walls, keys and settings.

use crate::hands::{LocalHands, kernel_release};
use crate::secrets::SecretBook;
use crate::{Config, Home, HostKeys};
use keychain::{Marker, VaultKind};
use model::receipt::SandboxLevel;
use wire::host::{Fact, Level};

/// Facts in the order a person reads them.
pub fn gather(
    home: &Home,
    config: &Config,
    keys: &HostKeys,
    hands: &LocalHands,
    book: &SecretBook,
) -> Vec<Fact> {
    vec![
        machine(),
        folder(home),
        walls(hands),
        vault(home, keys),
        secrets(home, keys, book),
        approval(home),
        model(config),
        content(home, config),
        authorities(config),
        fact("proxy", Level::Fine, proxy(), ""),
    ]
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
            let text = format!("{files} files, {} MiB of {} MiB{saved}", mib(bytes), mib(quota));
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

fn folder(home: &Home) -> Fact {
    let shown = home.dir().display().to_string();
    let probe = home.path(".probe");
    match std::fs::write(&probe, b"") {
        Ok(()) => {
            let _ = std::fs::remove_file(&probe);
            fact("folder", Level::Fine, shown, "")
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

fn walls(hands: &LocalHands) -> Fact {
    let walls = hands.walls();
    let text = format!("{} ({})", walls.level(), walls.why());
    match walls.level() {
        SandboxLevel::Unconfined => fact(
            "walls around commands",
            Level::Note,
            text,
            "commands are refused here; install `bubblewrap`, or use a newer kernel",
        ),
        _ => fact("walls around commands", Level::Fine, text, ""),
    }
}

fn vault(home: &Home, keys: &HostKeys) -> Fact {
    match Marker::read(home.dir()) {
        Ok(None) => fact(
            "vault",
            Level::Trouble,
            "none",
            "make them with `hermit keys init --store keychain` or `--store file`",
        ),
        Ok(Some(marker)) if keys.keys().is_some() => {
            fact("vault", Level::Fine, format!("open, in the {} vault", marker.vault), "")
        }
        Ok(Some(marker)) => {
            let why = Some(keys.why_locked()).filter(|why| !why.is_empty());
            let why = why.unwrap_or_else(|| "a look needs no keys, so they were not opened".to_owned());
            let text = format!("in the {} vault: {why}", marker.vault);
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

/// Where the values of secrets sleep: beside the keys, never in the store.
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
        (true, 0) => format!("none set; they would sleep {place}"),
        (true, n) => format!("{n} known, asleep {place}; taken out of everything that is kept"),
        (false, _) => format!("asleep {place}; `hermit secret list` names them"),
    };
    fact("secrets", Level::Fine, text, "")
}

fn approval(home: &Home) -> Fact {
    if home.path(crate::keys::APPROVAL_FILE).exists() {
        fact("approval key", Level::Fine, "there, under a passphrase of its own", "")
    } else {
        fact(
            "approval key",
            Level::Trouble,
            "none; nothing can be approved",
            "make it with `hermit keys init`",
        )
    }
}

fn model(config: &Config) -> Fact {
    match &config.default_model {
        Some(address) => fact("standard model", Level::Fine, address.clone(), ""),
        None => fact(
            "standard model",
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
