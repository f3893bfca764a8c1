//! Log-ins at servers of tools: tokens in the vault, renewed by one at a time, lent to nobody but the calls of their server.
//! A log-in that a person has allowed waits for them on a port of this machine.

mod redirect;
#[cfg(test)]
mod tests;

use crate::fetch_client::FetchClient;
use crate::secrets::SecretBook;
use crate::{Config, Error, HostKeys};
use api::LoginStands;
use kernel::Kernel;
use keychain::{Secrets, Vault};
use model::login::{LoginTerms, login_handle, server_of_login};
use model::secret::SecretTerms;
use model::web::WebUrl;
use model::{UnixMs, lasting};
use redact::Redactor;
use redirect::Redirect;
use seal::SecretSource as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use toolservers::Way;
use toolservers::login::{self, NotRenewed, Tokens, Wanted};
use zeroize::Zeroizing;

/// How long it may take to find out who gives tokens, and to be given one.
const ASKING: Duration = Duration::from_secs(60);
/// How long a renewal may take: a call waits for it.
const RENEWING: Duration = Duration::from_secs(30);
/// How long a person may take in their browser.
const WAITING: Duration = Duration::from_secs(10 * 60);
/// How long nobody is asked again after a renewal failed, or a token that is new was refused.
const PAUSE: Duration = Duration::from_secs(10);
/// A token is renewed when less than so many seconds of it are left, or half of it.
const LEFT_MIN: u64 = 30;

/// Seconds since 1970, as tokens count.
pub(crate) type Seconds = fn() -> u64;

/// The vault, or why it is not open.
type OpenVault = Arc<dyn Fn() -> Result<Arc<dyn Vault>, String> + Send + Sync>;

/// What is kept of one log-in, in the vault.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    terms: LoginTerms,
    tokens: Tokens,
    /// What calls were signed with before: it may still be valid, and stays out of every text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    former: Option<String>,
    /// A renewal was asked for and not kept: its answer may have been lost, and with it what the next one needs.
    #[serde(default)]
    renewing: bool,
    /// Why it never will be renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl Kept {
    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>, String> {
        serde_json::to_vec(self).map(Zeroizing::new).map_err(|e| e.to_string())
    }

    fn is_fresh(&self, now: u64) -> bool {
        let Some(all) = self.tokens.expires_in else { return true };
        let left = all.saturating_sub(now.saturating_sub(self.tokens.received_at));
        left >= LEFT_MIN.min(all / 2).max(1)
    }
}

/// Every value of a log-in that must be seen nowhere; none where it is no log-in that is kept there.
pub(crate) fn values_of(kept: &[u8]) -> Option<Vec<Zeroizing<Vec<u8>>>> {
    let kept = serde_json::from_slice::<Kept>(kept).ok()?;
    let tokens = &kept.tokens;
    let all =
        [Some(&tokens.access), tokens.refresh.as_ref(), tokens.client_secret.as_ref(), kept.former.as_ref()];
    Some(all.into_iter().flatten().map(|value| Zeroizing::new(value.clone().into_bytes())).collect())
}

/// Whether all values of a log-in can be kept out of texts; why not, in words.
fn fit(handle: &str, kept: &[u8]) -> Result<(), String> {
    let values = values_of(kept).unwrap_or_default();
    values.iter().try_for_each(|value| Redactor::check(handle, value)).map_err(|e| e.to_string())
}

/// What is known of one server's tokens beside the vault.
#[derive(Default)]
struct Gate {
    /// Why they were not renewed, and when that was.
    failed: Option<(Instant, String)>,
    /// Tokens that the vault did not take.
    unkept: Option<Kept>,
}

/// A log-in that waits for a person, or that did.
struct Pending {
    terms: LoginTerms,
    address: Option<String>,
    until: UnixMs,
    stop: Arc<AtomicBool>,
    why: Option<String>,
}

/// The log-ins of one store. Only the process that holds the store has them.
pub(crate) struct Logins {
    web: Arc<dyn effects::Web>,
    vault: OpenVault,
    book: SecretBook,
    gates: Mutex<BTreeMap<String, Arc<Mutex<Gate>>>>,
    pending: Mutex<BTreeMap<String, Pending>>,
    now: Seconds,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// What a person does about it.
fn again(server: &str) -> String {
    format!("log in with `hermit tools login {server}`, or on the page Tools")
}

impl Logins {
    pub(crate) fn new(config: &Config, keys: Arc<HostKeys>, book: SecretBook) -> Self {
        let vault = move || keys.vault().ok_or_else(|| keys.why_locked());
        Self::over(Arc::new(FetchClient::new(config)), Arc::new(vault), book, seconds)
    }

    fn over(web: Arc<dyn effects::Web>, vault: OpenVault, book: SecretBook, now: Seconds) -> Self {
        Self { web, vault, book, gates: Mutex::default(), pending: Mutex::default(), now }
    }

    fn way(&self, within: Duration, stop: Option<&Arc<AtomicBool>>) -> Way {
        let stop = stop.cloned();
        let stopped = move || stop.as_ref().is_some_and(|stop| stop.load(Ordering::SeqCst));
        Way { web: Arc::clone(&self.web), stopped: Arc::new(stopped), within }
    }

    /// The one place where tokens of a server are read and written; one at a time.
    fn gate(&self, handle: &str) -> Arc<Mutex<Gate>> {
        Arc::clone(lock(&self.gates).entry(handle.to_owned()).or_default())
    }

    fn secrets(&self) -> Result<(Arc<dyn Vault>, Secrets), String> {
        let vault = (self.vault)().map_err(|why| format!("the vault with the log-in is locked: {why}"))?;
        Ok((Arc::clone(&vault), Secrets::new(vault)))
    }

    fn read(&self, gate: &Gate, handle: &str) -> Result<Kept, String> {
        if let Some(kept) = &gate.unkept {
            return Ok(kept.clone());
        }
        let server = server_of_login(handle).unwrap_or_default();
        let bytes = self.secrets()?.1.secret(handle).map_err(|e| match e {
            seal::Error::KeyMissing { .. } => {
                format!("you are not logged in at `{server}`; {}", again(server))
            }
            other => other.to_string(),
        })?;
        serde_json::from_slice(&bytes).map_err(|_| {
            format!("what is kept of the log-in at `{server}` cannot be read; {}", again(server))
        })
    }

    /// Keeps tokens, and from then on takes them out of every text.
    fn write(&self, handle: &str, kept: &Kept) -> Result<(), String> {
        let (vault, secrets) = self.secrets()?;
        let bytes = kept.bytes()?;
        let put = secrets.put(handle, &bytes).map_err(|e| e.to_string());
        self.book.know_beside(
            handle,
            if put.is_ok() { Vec::new() } else { values_of(&bytes).unwrap_or_default() },
        );
        self.book.learn_again(vault).map_err(|e| e.to_string())?;
        put
    }

    /// The token of a server, renewed where it has ended; with `refused`, another than that.
    pub(crate) fn token(&self, handle: &str, refused: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, String> {
        let server = server_of_login(handle).unwrap_or_default();
        if !self.book.handles().iter().any(|known| known == handle) {
            return Err(format!("you are not logged in at `{server}`; {}", again(server)));
        }
        let gate = self.gate(handle);
        let mut gate = lock(&gate);
        let kept = self.read(&gate, handle)?;
        let token = |kept: &Kept| Ok(Zeroizing::new(kept.tokens.access.clone().into_bytes()));
        if let Some(why) = &kept.refused {
            return Err(format!("the log-in at `{server}` is over: {why}; {}", again(server)));
        }
        let now = (self.now)();
        match refused {
            None if kept.is_fresh(now) => return token(&kept),
            // Whoever came first has another by now.
            Some(old) if old != kept.tokens.access.as_bytes() && kept.is_fresh(now) => return token(&kept),
            Some(_) if now.saturating_sub(kept.tokens.received_at) < PAUSE.as_secs() => {
                return Err(format!(
                    "`{server}` does not take the token that it was given just now; {}",
                    again(server)
                ));
            }
            _ => {}
        }
        if let Some((_, why)) = gate.failed.as_ref().filter(|(at, _)| at.elapsed() < PAUSE) {
            return Err(why.clone());
        }
        let kept = self.renewed(&mut gate, (server, handle), kept)?;
        token(&kept)
    }

    /// One renewal. That it is asked for is kept before, so that after a crash it is known that its answer may be lost.
    fn renewed(
        &self,
        gate: &mut Gate,
        (server, handle): (&str, &str),
        mut kept: Kept,
    ) -> Result<Kept, String> {
        let was_cut_off = kept.renewing;
        kept.renewing = true;
        self.write(handle, &kept)?;
        let secret = self.client_secret(&kept.terms)?;
        let secret = secret.as_ref().map(|secret| secret.as_str());
        let came = login::renew(&self.way(RENEWING, None), &kept.terms, &kept.tokens, secret);
        let came = came.and_then(|tokens| {
            let former = Some(kept.tokens.access.clone());
            let next = Kept { terms: kept.terms.clone(), tokens, former, renewing: false, refused: None };
            let bytes = next.bytes().map_err(NotRenewed::Failed)?;
            fit(handle, &bytes).map_err(NotRenewed::Refused)?;
            Ok(next)
        });
        match came {
            Ok(next) => {
                kept = next;
                (gate.failed, gate.unkept) = (None, None);
                // What it was renewed with may be spent: what came is used while this process lives, wherever it is kept.
                if let Err(why) = self.write(handle, &kept) {
                    tracing::warn!(%server, %why, "a renewed token could not be kept");
                    gate.unkept = Some(kept.clone());
                }
                Ok(kept)
            }
            Err(NotRenewed::Refused(why)) => {
                let why = match was_cut_off {
                    true => format!("{why} (Hermit was ended in the middle of the renewal before)"),
                    false => why,
                };
                kept.renewing = false;
                kept.refused = Some(why.clone());
                gate.unkept = None;
                self.write(handle, &kept)?;
                Err(format!("the log-in at `{server}` is over: {why}; {}", again(server)))
            }
            Err(NotRenewed::Failed(why)) => {
                let why = format!(
                    "the log-in at `{server}` could not be renewed: {why}; it is tried again in {}",
                    lasting(PAUSE)
                );
                gate.failed = Some((Instant::now(), why.clone()));
                Err(why)
            }
        }
    }

    /// The secret of the client that a person has made, where they named one.
    fn client_secret(&self, terms: &LoginTerms) -> Result<Option<Zeroizing<String>>, String> {
        let Some(handle) = &terms.client_secret else { return Ok(None) };
        if !self.book.terms(handle).hosts.contains(&terms.token.server()) {
            return Err(format!("`secret:{handle}` may not go to {}", terms.token.server()));
        }
        let value = self.secrets()?.1.secret(handle).map_err(|e| e.to_string())?;
        let text = std::str::from_utf8(&value).map_err(|_| format!("`secret:{handle}` is no text"))?;
        Ok(Some(Zeroizing::new(text.trim().to_owned())))
    }

    /// Finds out who gives tokens for a server.
    pub(crate) fn discover(&self, url: &WebUrl, wanted: &Wanted) -> Result<LoginTerms, String> {
        login::discover(&self.way(ASKING, None), url, wanted)
    }

    /// Begins a log-in that was allowed: from now on the person is waited for.
    pub(crate) fn begin(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        server: &str,
        terms: &LoginTerms,
        now: UnixMs,
    ) -> Result<(), String> {
        // One that waits with other terms than those that are allowed now is given up.
        let waits = |all: &BTreeMap<String, Pending>| {
            let pending = all.get(server).filter(|pending| pending.address.is_some());
            pending.is_some_and(|pending| {
                let same = pending.terms == *terms && !pending.stop.load(Ordering::SeqCst);
                if !same {
                    pending.stop.store(true, Ordering::SeqCst);
                }
                same
            })
        };
        if waits(&lock(&self.pending)) {
            return Ok(());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let secret = self.client_secret(terms)?;
        let redirect = Redirect::open()?;
        let secret = secret.as_ref().map(|secret| secret.as_str());
        let begun = login::begin(&self.way(ASKING, Some(&stop)), terms, &redirect.url(), secret)?;
        let until = UnixMs(now.0.saturating_add(i64::try_from(WAITING.as_millis()).unwrap_or(i64::MAX)));
        let address = Some(begun.address().to_owned());
        let mut all = lock(&self.pending);
        // Another has begun it meanwhile.
        if waits(&all) {
            return Ok(());
        }
        let pending = Pending { terms: terms.clone(), address, until, stop: Arc::clone(&stop), why: None };
        all.insert(server.to_owned(), pending);
        drop(all);
        let (logins, kernel) = (Arc::clone(self), Arc::clone(kernel));
        let name = server.to_owned();
        let (server, terms) = (server.to_owned(), terms.clone());
        let wait = move || {
            let finish = |begun: login::Begun, callback: &str| {
                let tokens = begun.finish(callback)?;
                logins.keep(&kernel, &server, terms.clone(), tokens, &stop)
            };
            let came = redirect.wait(begun, WAITING, &stop, finish);
            logins.over_with(&server, &stop, came.err());
        };
        let began = std::thread::Builder::new().name("log-in".to_owned()).spawn(wait);
        if let Err(error) = began {
            lock(&self.pending).remove(&name);
            return Err(error.to_string());
        }
        Ok(())
    }

    /// Nobody waits for this one any more; another that was begun meanwhile stays.
    fn over_with(&self, server: &str, stop: &Arc<AtomicBool>, why: Option<String>) {
        if let Some(pending) = lock(&self.pending).get_mut(server)
            && Arc::ptr_eq(&pending.stop, stop)
        {
            (pending.address, pending.why) = (None, why);
        }
    }

    /// Keeps what a person was given, unless it was given up meanwhile: in the vault, taken out of every text, then on record.
    fn keep(
        &self,
        kernel: &Kernel,
        server: &str,
        terms: LoginTerms,
        tokens: Tokens,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        let handle = login_handle(server);
        let gate = self.gate(&handle);
        let mut gate = lock(&gate);
        if stop.load(Ordering::SeqCst) {
            return Err("it was given up".to_owned());
        }
        let (vault, secrets) = self.secrets()?;
        let host = terms.url.server();
        let scopes = tokens.scopes.clone();
        let expires_at = tokens.expires_in.map(|some| {
            let at = tokens.received_at.saturating_add(some).saturating_mul(1_000);
            UnixMs(i64::try_from(at).unwrap_or(i64::MAX))
        });
        let kept = Kept { terms, tokens, former: None, renewing: false, refused: None };
        let bytes = kept.bytes()?;
        fit(&handle, &bytes)?;
        let before = secrets.secret(&handle).ok();
        secrets.put(&handle, &bytes).map_err(|e| e.to_string())?;
        let mut known = kernel.secrets();
        known.insert(handle.clone(), SecretTerms::at(&[host]));
        let kind = vault.kind().to_string();
        let recorded =
            self.book.learn(known, Some(Arc::clone(&vault))).map_err(|e| e.to_string()).and_then(|()| {
                kernel.logged_in(server, &kept.terms, scopes, (expires_at, &kind)).map_err(|e| e.to_string())
            });
        if recorded.is_err() {
            let undone = match before {
                Some(before) => secrets.put(&handle, &before).map_err(|e| e.to_string()),
                None => secrets.delete(&handle).map(drop).map_err(|e| e.to_string()),
            };
            let learnt = self.book.learn(kernel.secrets(), Some(vault)).map_err(|e| e.to_string());
            return recorded.and(undone).and(learnt);
        }
        *gate = Gate::default();
        Ok(())
    }

    /// Gives up a log-in that waits for a person; whether one did.
    pub(crate) fn cancel(&self, server: &str) -> bool {
        let all = lock(&self.pending);
        let waits = all.get(server).filter(|pending| pending.address.is_some());
        waits.inspect(|pending| pending.stop.store(true, Ordering::SeqCst)).is_some()
    }

    /// Forgets the tokens of a server, and asks whoever gave them to take them back; why that was not done.
    pub(crate) fn forget(
        &self,
        kernel: &Kernel,
        server: &str,
        by: kernel::sender::Sender,
    ) -> Result<Option<String>, Error> {
        let said = |why: String| Error::Said(wire::Error::new(wire::Code::KeyLocked, why));
        self.cancel(server);
        let handle = login_handle(server);
        let own = self.gate(&handle);
        let mut gate = lock(&own);
        let (vault, secrets) = self.secrets().map_err(said)?;
        let kept = self.read(&gate, &handle);
        let is_kept = secrets.secret(&handle).is_ok();
        match kernel.logged_out(server, by) {
            // A host that ended in a log-out before, or a log-in that nobody recorded.
            Err(kernel::Error::NotFound { .. }) if is_kept => {}
            told => told?,
        }
        secrets.delete(&handle)?;
        *gate = Gate::default();
        self.book.learn(kernel.secrets(), Some(vault))?;
        drop(gate);
        let kept = match kept {
            Ok(kept) => kept,
            Err(why) => return Ok(Some(why)),
        };
        let secret = self.client_secret(&kept.terms).ok().flatten();
        let secret = secret.as_ref().map(|secret| secret.as_str());
        Ok(login::revoke(&self.way(RENEWING, None), &kept.terms, &kept.tokens, secret).err())
    }

    /// How the log-in at a server stands beside what is on record.
    pub(crate) fn stands(&self, server: &str) -> LoginStands {
        let mut stands = LoginStands::default();
        if let Some(pending) = lock(&self.pending).get(server) {
            stands.address.clone_from(&pending.address);
            stands.until = pending.address.is_some().then_some(pending.until);
            stands.why.clone_from(&pending.why);
        }
        let handle = login_handle(server);
        let gate = self.gate(&handle);
        // Whoever renews it just now is not waited for.
        if let Ok(gate) = gate.try_lock()
            && self.book.handles().contains(&handle)
        {
            stands.refused = self.read(&gate, &handle).ok().and_then(|kept| kept.refused);
        }
        stands
    }
}
