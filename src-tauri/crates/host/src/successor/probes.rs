//! What a clone tries to reach of its parent, and what the system says. A clone that reaches anything has no sandbox around it.

use ::successor::Probe;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a connection is tried.
const PATIENCE: Duration = Duration::from_millis(500);
/// The file that a clone tries to leave with its parent.
const LEFT: &str = ".left-by-a-clone";

/// Where the parent of a clone has what it may not have. A clone is told, so that it can try.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentPlaces {
    /// The folder of the store.
    pub store: PathBuf,
    /// Files in it that are its log and content.
    pub files: Vec<PathBuf>,
    /// Sockets that it, or the keychain of the desktop, listens at.
    pub sockets: Vec<PathBuf>,
    /// Where secret values and signing keys are.
    pub keychain: Vec<PathBuf>,
    /// The approval key.
    pub approval_key: PathBuf,
    /// The token of the gateway.
    pub token: PathBuf,
    /// The person's home.
    pub home: PathBuf,
    /// Where the gateway listens.
    pub address: Option<SocketAddr>,
    /// The parent's process, and when it began by the system's count.
    pub process: Option<(u32, u64)>,
}

impl ParentPlaces {
    /// The places of the store in this folder, held by this process.
    pub fn of(store: &Path, address: Option<SocketAddr>) -> Self {
        let at = |name: &str| store.join(name);
        let process = std::process::id();
        let run = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let bus = run.iter().map(|folder| folder.join("bus"));
        Self {
            store: store.to_owned(),
            files: vec![at(ledger::FILE), at("config.json"), at("objects")],
            sockets: sockets_in(store).into_iter().chain(bus).collect(),
            keychain: vec![at("vault.key"), at("keys.json")],
            approval_key: at(crate::keys::APPROVAL_FILE),
            token: at(gateway::TOKEN_FILE),
            home: std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from),
            address,
            process: began(process).map(|began| (process, began)),
        }
    }
}

/// Sockets of a folder, by what they are.
fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::FileTypeExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_socket = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_socket());
    entries.filter(is_socket).map(|entry| entry.path()).collect()
}

/// When a process began, in the system's own count since it started.
fn began(process: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Tries each of them. Where an attempt comes through, nothing is changed by it.
pub fn probes(of: &ParentPlaces) -> Vec<Probe> {
    let mut tried = vec![
        probe("store", std::iter::once(left_in(&of.store)).chain(of.files.iter().map(|file| opened(file)))),
        probe("socket", of.sockets.iter().map(|at| UnixStream::connect(at).map(drop))),
        probe("keychain", of.keychain.iter().map(|file| opened(file))),
        probe("approval_key", std::iter::once(opened(&of.approval_key))),
        probe("token", std::iter::once(opened(&of.token))),
        probe("network", std::iter::once(bound()).chain(of.address.iter().map(connected))),
        probe("home", [listed(&of.home), left_in(&of.home)].into_iter()),
    ];
    tried.push(probe("processes", std::iter::once(signalled(of.process))));
    tried
}

/// What became of attempts at one thing: refused only where each was.
fn probe(what: &str, attempts: impl Iterator<Item = io::Result<()>>) -> Probe {
    let mut says = String::new();
    for attempt in attempts {
        match attempt {
            Ok(()) => {
                return Probe { what: what.to_owned(), refused: false, says: "it was reached".to_owned() };
            }
            Err(error) if says.is_empty() => says = error.to_string(),
            Err(_) => {}
        }
    }
    Probe { what: what.to_owned(), refused: true, says }
}

/// A file opened to be read, or to be added to; a folder listed.
fn opened(file: &Path) -> io::Result<()> {
    let read = OpenOptions::new().read(true).open(file).map(drop);
    read.or_else(|_| OpenOptions::new().append(true).open(file).map(drop))
}

fn listed(folder: &Path) -> io::Result<()> {
    std::fs::read_dir(folder).map(drop)
}

/// A file made in a folder, and taken away again.
fn left_in(folder: &Path) -> io::Result<()> {
    let file = folder.join(LEFT);
    OpenOptions::new().write(true).create_new(true).open(&file).map(drop)?;
    std::fs::remove_file(&file)
}

/// A socket of the internet, which nobody has to answer.
fn bound() -> io::Result<()> {
    UdpSocket::bind(("0.0.0.0", 0)).map(drop)
}

fn connected(address: &SocketAddr) -> io::Result<()> {
    TcpStream::connect_timeout(address, PATIENCE).map(drop)
}

/// The parent seen among the processes; another one of its number is not it.
fn signalled(process: Option<(u32, u64)>) -> io::Result<()> {
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let (number, since) = process.ok_or_else(absent)?;
    let number_of = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw).ok_or_else(absent)?;
    if began(number) != Some(since) {
        return Err(absent());
    }
    Ok(rustix::process::test_kill_process(number_of)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_sandbox_each_place_is_reached_and_nothing_stays() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = folder.path();
        for name in [ledger::FILE, "vault.key", "keys.json", crate::keys::APPROVAL_FILE, gateway::TOKEN_FILE]
        {
            std::fs::write(store.join(name), "x").unwrap();
        }
        let _socket = std::os::unix::net::UnixListener::bind(store.join("control.sock")).unwrap();
        let places = ParentPlaces { home: store.to_owned(), ..ParentPlaces::of(store, None) };
        for tried in probes(&places) {
            assert!(!tried.refused, "{tried:?}");
        }
        assert!(!store.join(LEFT).exists());
    }
}
