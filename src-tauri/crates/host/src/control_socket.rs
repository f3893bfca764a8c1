//! The control socket: how a person at a terminal makes, opens and locks the keys of a host that runs.
//!
//! It lies in the store's folder, which is its owner's alone; on Windows a pipe, whose name is told there, stands in its place. A token
//! does not show that a person is there: the socket says which process speaks, and what opens or makes keys is heard only from one
//! that a terminal is in front of. So is the wish for a link whose page may do the same. Passphrases follow the order as bytes, so
//! that no parser keeps a copy of them.

#[cfg(not(unix))]
mod pipe;
mod until;

use crate::{Error, Home, Local, NewKeys, PassphraseOf, VaultChoice};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;
use wire::Code;
use zeroize::Zeroizing;

/// An order is a few words; more is not ours.
const ORDER_BYTES_MAX: usize = 1024;
/// More than any passphrase.
const PASSPHRASE_BYTES_MAX: usize = 64 * 1024;
/// An answer holds one error at most.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// How long either side waits for the other's words. Making a key takes a second where it is slow.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest that keys may be open.
pub const OPEN_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a person may ask of a host that runs.
pub enum Order<'a> {
    /// Makes keys, or takes up those that an earlier try left.
    MakeKeys(&'a NewKeys<'a>),
    /// Opens the keys for a while, with the passphrase of the vault's file where it is one.
    Unlock(Option<&'a [u8]>, Duration),
    /// Puts the second passphrase in the place of the first.
    ChangePassphrase(PassphraseOf, &'a [u8], &'a [u8]),
    /// Forgets the open keys.
    Lock,
    /// A link for a browser, which a person reads at their terminal.
    Link,
    /// The same for a device elsewhere.
    LinkElsewhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    MakeKeys,
    Unlock,
    ChangeVault,
    ChangeApproval,
    Lock,
    Link,
    LinkElsewhere,
}

/// The order's first line; as many bytes of passphrases follow: of one that is changed the old one and the new one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    act: Act,
    keychain: bool,
    vault_bytes: Option<usize>,
    approval_bytes: Option<usize>,
    open_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    error: Option<wire::Error>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// An order as it was heard.
struct Heard {
    head: Head,
    vault: Option<Zeroizing<Vec<u8>>>,
    approval: Option<Zeroizing<Vec<u8>>>,
}

impl Heard {
    /// Does it; the link, where one was asked for.
    fn obey(&self, local: &Arc<Local>) -> Result<Option<String>, Error> {
        match self.head.act {
            Act::MakeKeys => {
                local.make_keys(&NewKeys {
                    vault: if self.head.keychain { VaultChoice::Keychain } else { VaultChoice::File },
                    vault_passphrase: self.vault.as_ref().map(|words| words.as_slice()),
                    approval_passphrase: self.approval.as_ref().map(|words| words.as_slice()),
                })?;
                // What waited for a key goes on.
                local.go_on().map_err(Error::Said)?;
            }
            Act::Unlock => {
                let time = Duration::from_millis(self.head.open_ms).min(OPEN_MAX);
                local.unlock_for(self.vault.clone(), time)?;
            }
            Act::ChangeVault => self.changes(local, PassphraseOf::Vault)?,
            Act::ChangeApproval => self.changes(local, PassphraseOf::Approval)?,
            Act::Lock => local.lock("a person locked them")?,
            Act::Link => return Ok(local.link_at_terminal()),
            Act::LinkElsewhere => return local.link_elsewhere().map(Some),
        }
        Ok(None)
    }

    fn changes(&self, local: &Local, of: PassphraseOf) -> Result<(), Error> {
        let words = |words: &Option<Zeroizing<Vec<u8>>>| words.clone().unwrap_or_default();
        local.change_passphrase(of, &words(&self.vault), &words(&self.approval))
    }
}

#[cfg(unix)]
pub(crate) use here::Control;
#[cfg(unix)]
use here::ask;
#[cfg(not(unix))]
pub(crate) use pipe::Control;
#[cfg(not(unix))]
use pipe::ask;

/// Asks the host that runs.
///
/// # Errors
/// [`Code::NoHost`] when none listens; what it says.
pub fn order(home: &Home, order: &Order<'_>) -> Result<(), wire::Error> {
    ask(home, order).map(drop)
}

/// A link for a browser, made by the host that runs for a person who reads it at this process's terminal.
///
/// # Errors
/// As [`order`].
pub fn link(home: &Home) -> Result<String, wire::Error> {
    ask(home, &Order::Link)?.link.ok_or_else(api::no_host)
}

/// The same for a device elsewhere.
///
/// # Errors
/// As [`order`].
pub fn link_elsewhere(home: &Home) -> Result<String, wire::Error> {
    ask(home, &Order::LinkElsewhere)?.link.ok_or_else(api::no_host)
}

/// No host can be asked.
fn unreached(error: &io::Error) -> wire::Error {
    wire::Error::new(Code::NoHost, format!("no host of this store can be reached: {error}"))
        .hint("start one with `hermit serve`; it asks for the passphrase itself")
}

/// What a host has said, or that it refused.
fn told(answer: io::Result<Answer>) -> Result<Answer, wire::Error> {
    let answer = answer.map_err(|e| api::failed(format!("the host did not answer: {e}")))?;
    match answer.error {
        Some(error) => Err(error),
        None => Ok(answer),
    }
}

/// An order as it is said: its line, and the passphrases that follow.
fn spelled<'o>(order: &'o Order<'_>) -> io::Result<(Vec<u8>, [Option<&'o [u8]>; 2])> {
    let (act, keychain, vault, approval, open) = match order {
        Order::MakeKeys(new) => {
            let keychain = new.vault == VaultChoice::Keychain;
            (Act::MakeKeys, keychain, new.vault_passphrase, new.approval_passphrase, Duration::ZERO)
        }
        Order::Unlock(words, open) => (Act::Unlock, false, *words, None, *open),
        Order::ChangePassphrase(of, old, new) => {
            let act = match of {
                PassphraseOf::Vault => Act::ChangeVault,
                PassphraseOf::Approval => Act::ChangeApproval,
            };
            (act, false, Some(*old), Some(*new), Duration::ZERO)
        }
        Order::Lock => (Act::Lock, false, None, None, Duration::ZERO),
        Order::Link => (Act::Link, false, None, None, Duration::ZERO),
        Order::LinkElsewhere => (Act::LinkElsewhere, false, None, None, Duration::ZERO),
    };
    let head = Head {
        act,
        keychain,
        vault_bytes: vault.map(<[u8]>::len),
        approval_bytes: approval.map(<[u8]>::len),
        open_ms: u64::try_from(open.as_millis()).unwrap_or(u64::MAX),
    };
    let mut line = serde_json::to_vec(&head).map_err(io::Error::other)?;
    line.push(b'\n');
    Ok((line, [vault, approval]))
}

fn hear(stream: &mut impl Read) -> io::Result<Heard> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte)?;
        if byte == *b"\n" {
            break;
        }
        line.extend_from_slice(&byte);
        if line.len() > ORDER_BYTES_MAX {
            return Err(io::Error::other("an order is longer than any of ours"));
        }
    }
    let head: Head = serde_json::from_slice(&line).map_err(io::Error::other)?;
    let vault = secret(stream, head.vault_bytes)?;
    let approval = secret(stream, head.approval_bytes)?;
    Ok(Heard { head, vault, approval })
}

fn secret(stream: &mut impl Read, bytes: Option<usize>) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes > PASSPHRASE_BYTES_MAX {
        return Err(io::Error::other("a passphrase is longer than any"));
    }
    let mut words = Zeroizing::new(vec![0; bytes]);
    stream.read_exact(&mut words)?;
    Ok(Some(words))
}

/// What an order needs whose asker is at no terminal.
#[cfg(any(target_os = "linux", target_os = "macos", windows))]
const HOW: &str = "run it in a terminal, in the foreground";
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
const HOW: &str = "Hermit cannot tell on this system yet that somebody is at a terminal; stop the host, and start it again with \
    `hermit serve`, which asks for the passphrase itself";

/// Does what was heard; what is answered. Whoever is at no terminal can only lock.
fn answered(local: &Arc<Local>, heard: &Heard, at_terminal: bool) -> io::Result<Vec<u8>> {
    let done = if at_terminal || heard.head.act == Act::Lock {
        heard.obey(local).map_err(Error::to_wire)
    } else {
        Err(wire::Error::new(Code::Forbidden, "only a person at a terminal may ask this").hint(HOW))
    };
    let answer = match done {
        Ok(link) => Answer { error: None, link },
        Err(error) => Answer { error: Some(error), link: None },
    };
    serde_json::to_vec(&answer).map_err(io::Error::other)
}

#[cfg(unix)]
mod here {
    use super::until::{Comes, Until};
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;
    use std::sync::Weak;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::JoinHandle;
    use std::time::Instant;
    use tokio::net::UnixListener;
    use tokio::sync::oneshot;

    /// Its name in the store's folder.
    const SOCKET: &str = "control.sock";
    /// How often it is looked whether the host ends while nobody says anything.
    const LOOK: Duration = Duration::from_millis(100);

    /// The host's side, until it ends.
    pub struct Control {
        stop: oneshot::Sender<()>,
        /// Whoever is heard at that moment is heard no further.
        is_ending: Arc<AtomicBool>,
        thread: JoinHandle<()>,
        path: PathBuf,
    }

    impl Control {
        /// Listens from now on.
        ///
        /// # Errors
        /// [`Error::Io`] when the socket cannot be made; everything else works without.
        pub fn begin(local: &Arc<Local>) -> Result<Self, Error> {
            let path = local.home().path(SOCKET);
            let failed = |e: io::Error| Error::io("listen at", &path, &e);
            // A socket of a host that died is nobody's: this process owns the store.
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
                _ => {}
            }
            let listener = std::os::unix::net::UnixListener::bind(&path).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            let (stop, stopped) = oneshot::channel();
            let weak = Arc::downgrade(local);
            let is_ending = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&is_ending);
            let run = move || runtime.block_on(listen(listener, weak, (stopped, ends)));
            let thread = std::thread::Builder::new().name("control".to_owned()).spawn(run).map_err(failed)?;
            Ok(Self { stop, is_ending, thread, path })
        }

        /// Listens no longer.
        pub fn end(self) {
            let _ = std::fs::remove_file(&self.path);
            self.is_ending.store(true, Ordering::SeqCst);
            let _ = self.stop.send(());
            let _ = self.thread.join();
        }
    }

    async fn listen(
        listener: std::os::unix::net::UnixListener,
        local: Weak<Local>,
        (mut stopped, is_ending): (oneshot::Receiver<()>, Arc<AtomicBool>),
    ) {
        let Ok(listener) = UnixListener::from_std(listener) else { return };
        loop {
            let stream = tokio::select! {
                _ = &mut stopped => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::warn!(%error, "the control socket refuses");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
            };
            let (Ok(peer), Some(local)) = (stream.peer_cred(), local.upgrade()) else { continue };
            let own = rustix::process::geteuid().as_raw();
            if peer.uid() != own {
                continue;
            }
            let at_terminal = peer.pid().is_some_and(has_terminal);
            let Ok(stream) = stream.into_std() else { continue };
            // One after another: nobody is in a hurry, and whoever guesses waits.
            let ends = Arc::clone(&is_ending);
            let serve = move || serve(&local, stream, (at_terminal, &ends));
            let served = tokio::task::spawn_blocking(serve).await;
            if let Ok(Err(error)) = served {
                tracing::warn!(%error, "an order was not heard to its end");
            }
        }
    }

    /// Whether the process is in the foreground of a terminal: its group is the one the terminal talks to.
    #[cfg(target_os = "linux")]
    fn has_terminal(pid: i32) -> bool {
        let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return false };
        // A program is called whatever its files are, also what is no UTF-8.
        let stat = String::from_utf8_lossy(&stat);
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<i64> =
            rest.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
        match fields.as_slice() {
            [_parent, group, _session, terminal, foreground, ..] => *terminal != 0 && group == foreground,
            _ => false,
        }
    }

    /// The same, as `ps` tells it.
    #[cfg(target_os = "macos")]
    fn has_terminal(pid: i32) -> bool {
        let mut ps = std::process::Command::new("/bin/ps");
        ps.args(["-o", "pgid=,tpgid=,tty=", "-p"]).arg(pid.to_string());
        ps.env_clear().env("LC_ALL", "C").stdin(std::process::Stdio::null());
        ps.output().is_ok_and(|told| is_in_front(&String::from_utf8_lossy(&told.stdout)))
    }

    /// Whether a line of `ps` tells of a process in the foreground of a terminal: its group, the one that the terminal talks to,
    /// and the terminal, which is `??` where there is none.
    #[cfg(any(target_os = "macos", test))]
    fn is_in_front(told: &str) -> bool {
        match told.split_whitespace().collect::<Vec<_>>().as_slice() {
            [group, foreground, terminal] => {
                let is_group = group.parse::<u32>().is_ok_and(|group| group > 0);
                is_group && group == foreground && !terminal.starts_with(['?', '-'])
            }
            _ => false,
        }
    }

    /// It cannot be told here yet, so nobody is taken for a person.
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    const fn has_terminal(_: i32) -> bool {
        false
    }

    fn serve(
        local: &Arc<Local>,
        mut stream: UnixStream,
        (at_terminal, stop): (bool, &AtomicBool),
    ) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let heard = hear(&mut Until { stream: &stream, by: Instant::now() + PATIENCE, stop })?;
        let answer = answered(local, &heard, at_terminal)?;
        stream.write_all(&answer)
    }

    impl Comes for UnixStream {
        fn next(&self, buffer: &mut [u8], left: Duration) -> io::Result<Option<usize>> {
            self.set_read_timeout(Some(left.min(LOOK)))?;
            let mut stream = self;
            match stream.read(buffer) {
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Ok(None),
                came => came.map(Some),
            }
        }
    }

    pub(super) fn ask(home: &Home, order: &Order<'_>) -> Result<Answer, wire::Error> {
        let mut stream = UnixStream::connect(home.path(SOCKET)).map_err(|e| unreached(&e))?;
        told(exchange(&mut stream, order))
    }

    fn exchange(stream: &mut UnixStream, order: &Order<'_>) -> io::Result<Answer> {
        let (line, words) = spelled(order)?;
        // It may hear somebody else first.
        stream.set_read_timeout(Some(PATIENCE + PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(&line)?;
        for words in words.into_iter().flatten() {
            stream.write_all(words)?;
        }
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        serde_json::from_slice(&answer).map_err(io::Error::other)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// A token shows no person: who is behind another process, or has no terminal, is none.
        #[test]
        fn only_a_process_in_the_foreground_of_a_terminal_is_taken_for_a_person() {
            assert!(is_in_front("  512   512 ttys003 \n"));
            for other in [
                "512 700 ttys003",
                "512 512 ??",
                "512 0 ??",
                "0 0 ttys003",
                "512 512",
                "",
                "-1 -1 ttys003",
                "a a ttys003",
                "512 512 ttys003 x",
            ] {
                assert!(!is_in_front(other), "{other}");
            }
        }

        #[test]
        fn an_order_that_comes_drop_by_drop_is_not_heard_for_longer_than_any() {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let begun = Instant::now();
            // Each piece comes long before its own time is over.
            let drips = std::thread::spawn(move || {
                while begun.elapsed() < Duration::from_secs(20) && theirs.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let by = begun + Duration::from_millis(400);
            assert!(hear(&mut Until { stream: &ours, by, stop: &AtomicBool::new(false) }).is_err());
            assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
            drop(ours);
            drips.join().unwrap();
        }

        #[test]
        fn whoever_says_nothing_does_not_hold_up_the_end_of_a_host() {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let stop = AtomicBool::new(false);
            let by = Instant::now() + Duration::from_secs(600);
            std::thread::scope(|scope| {
                let heard = scope.spawn(|| hear(&mut Until { stream: &ours, by, stop: &stop }).is_err());
                stop.store(true, Ordering::SeqCst);
                assert!(heard.join().unwrap());
            });
            assert!(Instant::now() < by, "it was waited for");
            drop(theirs);
        }
    }
}
