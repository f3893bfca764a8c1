//! What a host is to others: where it is reached, the run stream that it keeps for them, and the words that open its
//! keys when it was begun without them.

use super::Local;
use crate::chance::Deadline;
use crate::keys::Known;
use crate::logs::OrLogged as _;
use crate::run_stream_thread::RunStream;
use crate::secrets::SecretBook;
use crate::session::built_pages;
use crate::{Config, Error, OsEntropy, Unlock, doctor, head_pin};
use kernel::Kernel;
use model::body::KeyPurpose;
use model::{Entropy as _, TaskId};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

impl Local {
    /// The same for all who ask it, guests inside their walls among them.
    pub(crate) fn shared(self) -> Arc<Self> {
        let shared = Arc::new(self);
        shared.executors.of(&shared);
        shared
    }

    /// Settings in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What is known of secrets in this process.
    pub const fn secrets(&self) -> &SecretBook {
        &self.secrets
    }

    /// Facts for the doctor, also where there is no store yet. Settings are read anew: they may have been set meanwhile.
    pub fn facts(&self) -> wire::host::Facts {
        // Without a store, or in one that cannot be read, nothing is named; the doctor says so elsewhere.
        let known = self.known_keys().unwrap_or_default();
        let config = self.settings_now();
        let mut facts =
            doctor::gather(&self.home, &config, &self.keys, &self.executors, &self.secrets, &known);
        facts.extend(doctor::schedules(&self.unseen().unwrap_or_default()));
        let (service, of_service) = crate::service::told(&self.home).unzip();
        let telemetry = crate::telemetry::stands(&self.home, &config);
        facts.extend(of_service);
        facts.extend(telemetry.as_ref().map(doctor::telemetry));
        wire::host::Facts { facts, service, telemetry, update: crate::updates::told(&self.home) }
    }

    /// Schedules that cannot see what they wait for, by name.
    fn unseen(&self) -> Option<Vec<String>> {
        let registry = match &self.owned {
            Some(owned) => owned.kernel.schedule_registry(),
            None => {
                self.home.has_store().then_some(())?;
                let reader = self.reading_reader().or_logged("the store cannot be read")?;
                let mut state = api::store_state(reader).or_logged("the schedules cannot be read")?;
                let read = Arc::make_mut(&mut state.schedules).read_slots(reader);
                read.or_logged("what became of schedules cannot be read")?;
                state.schedules
            }
        };
        let unseen = registry.all_standing().filter(|one| one.may_begin() && one.slots.unseen.is_some());
        Some(unseen.map(|one| one.name.clone()).collect())
    }

    /// The keys in force that the ledger names.
    fn known_keys(&self) -> Option<Known> {
        if let Some(owned) = &self.owned {
            return Some(owned.kernel.store_state().keys);
        }
        self.home.has_store().then_some(())?;
        let reader = self.reading_reader().or_logged("the store cannot be read")?;
        api::store_state(reader).or_logged("the keys of the store cannot be read").map(|state| state.keys)
    }

    /// The settings as they are in their file now.
    pub(super) fn settings_now(&self) -> Config {
        Config::load(&self.home).unwrap_or_else(|_| self.config.clone())
    }

    /// Keeps the newest head outside the store.
    pub(crate) fn keep_pins(&self) {
        if let Some(owned) = &self.owned {
            head_pin::keep(&self.home, &self.config, self.keys.vault().as_deref(), owned.kernel.reader());
        }
    }

    /// Moves the pin with every head that is signed from now on.
    pub(super) fn move_pins(&self, kernel: &Kernel) -> Result<(), Error> {
        let (home, config) = (self.home.clone(), self.config.clone());
        let faults = Arc::clone(&kernel.ports().faults);
        let keys = Arc::clone(&self.keys);
        let mover = head_pin::Mover::begin(home, config, keys, kernel.reader().clone(), faults)?;
        self.notices.tell_of_heads(Some(mover.wake()));
        *self.pins.lock().unwrap_or_else(PoisonError::into_inner) = Some(mover);
        Ok(())
    }

    /// Waits until the pin stands where it was last said to go.
    pub(super) fn end_pins(&self) {
        self.notices.tell_of_heads(None);
        let mover = self.pins.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mover) = mover {
            mover.end();
        }
    }

    /// Keeps the run stream from now on. Where it cannot be had everything else works, and the log says why.
    pub(super) fn mirror(&self, kernel: &Arc<Kernel>) {
        let mut run_stream = self.run_stream.lock().unwrap_or_else(PoisonError::into_inner);
        if run_stream.is_some() {
            return;
        }
        match RunStream::begin(Arc::clone(kernel)) {
            Ok(begun) => {
                self.notices.feed(Some(begun.feed()));
                *run_stream = Some(Arc::new(begun));
            }
            Err(error) => tracing::warn!(%error, "there is no run stream"),
        }
    }

    /// Lets go of the store without touching what is kept outside it.
    pub(crate) fn close_quietly(&self) {
        let Some(owned) = &self.owned else { return };
        owned.drives.stop();
        owned.end_clock();
        owned.drives.settle();
        self.end_stream();
        self.end_pins();
        if let Err(error) = owned.kernel.close() {
            tracing::warn!(%error, "the store was not closed; the next host recovers it");
        }
    }

    /// Asks the witnesses to cosign; what they did not do, in words.
    pub(super) fn cosigned(&self) -> Vec<String> {
        match self.ask_witnesses() {
            Ok(asked) => asked
                .into_iter()
                .filter_map(|asked| Some(format!("witness {}: {}", asked.name, asked.outcome.err()?)))
                .collect(),
            Err(error) => vec![format!("the witnesses could not be asked: {error}")],
        }
    }

    /// Reads large cards as soon as they wait, so that they open at once. It ends with this process's store.
    fn read_ahead(self: &Arc<Self>) {
        let (heard, local) = (self.notices.listen(), Arc::downgrade(self));
        std::thread::spawn(move || {
            let read = |task: Option<&str>| match local.upgrade() {
                Some(local) => {
                    // Whoever opens the card is told what is wrong.
                    let _ = api::prepare(&*local, task);
                    true
                }
                None => false,
            };
            let _ = read(None);
            for notice in heard {
                if let wire::Notice::Event { task_id, event_type, .. } = notice
                    && event_type == "approval.requested"
                    && !read(Some(&task_id))
                {
                    return;
                }
            }
        });
    }

    /// Lets others attach: listens on loopback, at a port of its own unless one is named, leaves a new token in the
    /// store's folder, and says in the store's lock where it is reached.
    ///
    /// # Errors
    /// [`Error::Gateway`] when the port is taken or the token cannot be kept; [`Error::Kernel`] when this process
    /// does not own the store.
    pub fn serve(self: &Arc<Self>, port: Option<u16>) -> Result<SocketAddr, Error> {
        self.serve_as(port, None)
    }

    /// The same, also under an origin that leads here by way of a proxy of the person's. It is kept nowhere.
    ///
    /// # Errors
    /// As [`Self::serve`], and [`Error::Gateway`] for what is no such origin.
    pub fn serve_as(self: &Arc<Self>, port: Option<u16>, origin: Option<&str>) -> Result<SocketAddr, Error> {
        let origin = origin.map(gateway::Origin::parse).transpose()?;
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*server {
            return Ok(server.address());
        }
        let kernel =
            self.owned.as_ref().map(|owned| &owned.kernel).ok_or_else(|| {
                Error::Kernel(kernel::Error::Conflict("this process only reads".to_owned()))
            })?;
        self.mirror(kernel);
        let at = (Ipv4Addr::LOCALHOST, port.unwrap_or_default());
        let listener = TcpListener::bind(at)
            .map_err(|e| gateway::Error::Io { act: "listen there", why: e.to_string() })?;
        let draw: gateway::Draw = Arc::new(|| {
            let mut bytes = [0; 32];
            OsEntropy.fill(&mut bytes);
            bytes
        });
        let token = gateway::Token::new(draw());
        token.keep(self.home.dir())?;
        let reached_at = origin.as_ref().map(|origin| origin.as_str().to_owned());
        let options =
            gateway::Options { token, draw, pages: built_pages(), keeper: Arc::clone(self) as _, origin };
        let serving = gateway::serve(Arc::clone(self) as _, listener, options)?;
        let address = serving.address();
        self.read_ahead();
        crate::push_thread::begin(self);
        crate::telemetry::begin(self);
        kernel.announce(Some(&address.to_string()))?;
        tracing::info!(%address, "others can attach");
        self.begin_control();
        self.executors.chats().reached_at(reached_at);
        *server = Some(serving);
        Ok(address)
    }

    /// Where others attach, while they can.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(gateway::Server::address)
    }

    /// A link for a browser, which works once; none when nobody is served.
    pub fn link(&self) -> Option<String> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|server| server.link().url)
    }

    /// The same, for a person who reads it at a terminal of this host, and whose page may make and open keys.
    pub fn link_at_terminal(&self) -> Option<String> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        server.as_ref().map(|server| server.link_at_terminal().url)
    }

    /// A link for a device elsewhere, for a person who reads it at a terminal of this host.
    ///
    /// # Errors
    /// [`Error::Said`] when nobody is served, or no origin was named.
    pub fn link_elsewhere(&self) -> Result<String, Error> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let server = server.as_ref().ok_or_else(|| Error::Said(api::no_host()))?;
        server.link_elsewhere().map(|link| link.url).map_err(Error::Said)
    }

    /// Hears a person at a terminal from now on. Where that cannot be had everything else works.
    fn begin_control(self: &Arc<Self>) {
        match crate::control_socket::Control::begin(self) {
            Ok(control) => *self.control.lock().unwrap_or_else(PoisonError::into_inner) = Some(control),
            Err(error) => {
                tracing::warn!(%error, "keys cannot be opened from a terminal while this host runs")
            }
        }
    }

    /// Hears nobody any more.
    pub(super) fn end_control(&self) {
        if let Some(control) = self.control.lock().unwrap_or_else(PoisonError::into_inner).take() {
            control.end();
        }
    }

    /// Opens the keys for a while; then they are locked again by themselves.
    ///
    /// # Errors
    /// As [`Self::unlock`], and [`keychain::Error::Locked`] when they are still locked.
    pub fn unlock_for(
        self: &Arc<Self>,
        words: Option<Zeroizing<Vec<u8>>>,
        time: Duration,
    ) -> Result<(), Error> {
        let unlock = words.map_or(Unlock::Environment, Unlock::Words);
        if !self.unlock_with(&unlock)? {
            return Err(keychain::Error::Locked { why: self.keys.why_locked() }.into());
        }
        let (local, relock) = (Arc::downgrade(self), Arc::clone(&self.relock));
        let mine = self.next_lock();
        let ends = Deadline::after(time);
        let run = move || {
            let mut now = relock.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *now == mine {
                let left = ends.left();
                if left.is_zero() {
                    drop(now);
                    let locked = local.upgrade().map(|local| local.lock("their time was over"));
                    if let Some(Err(error)) = locked {
                        tracing::warn!(%error, "the keys were locked, and not everything was wiped");
                    }
                    return;
                }
                let wait = left.min(Duration::from_secs(30));
                now = relock.1.wait_timeout(now, wait).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        let spawned = std::thread::Builder::new().name("relock".to_owned()).spawn(run);
        if let Err(error) = spawned {
            self.lock("nothing could lock them later")?;
            return Err(Error::io("start", std::path::Path::new("the thread that locks the keys"), &error));
        }
        Ok(())
    }

    /// Which unlocking counts from now on.
    fn next_lock(&self) -> u64 {
        let mut now = self.relock.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now += 1;
        self.relock.1.notify_all();
        *now
    }

    /// Locks the keys and wipes them. The values of secrets are known until what is at work has come to rest: they have
    /// to be taken out of what it still writes.
    ///
    /// # Errors
    /// [`Error::Kernel`] when this process only reads.
    pub fn lock(self: &Arc<Self>, why: &str) -> Result<(), Error> {
        let owned = self.owned.as_ref().ok_or_else(|| Error::Said(api::no_host()))?;
        self.next_lock();
        self.keys.lock(&format!("{why}; open them with `hermit unlock`"));
        tracing::info!(%why, "the keys are locked");
        self.notices.tell(&wire::Notice::Keys { open: false });
        if self.is_wiping.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let (local, drives) = (Arc::downgrade(self), Arc::clone(&owned.drives));
        let is_wiping = Arc::clone(&self.is_wiping);
        let wipe = move || {
            drives.settle();
            // Whoever locks them from now on is not sure to be seen below.
            is_wiping.store(false, Ordering::SeqCst);
            if let Some(local) = local.upgrade().filter(|local| local.keys.keys().is_none())
                && let Err(error) = local.know_secrets()
            {
                tracing::warn!(%error, "what was known of secrets was not wiped");
            }
        };
        let spawned = std::thread::Builder::new().name("wipe".to_owned()).spawn(wipe);
        spawned.map(drop).map_err(|e| {
            self.is_wiping.store(false, Ordering::SeqCst);
            Error::io("start", std::path::Path::new("the thread that wipes"), &e)
        })
    }

    /// Opens the keys of a store whose vault was locked when it was taken; whether they are open now.
    ///
    /// # Errors
    /// [`Error::Keys`] for a wrong passphrase or a damaged vault; [`Error::Kernel`] when this process only reads.
    pub fn unlock(&self, words: Zeroizing<Vec<u8>>) -> Result<bool, Error> {
        self.unlock_with(&Unlock::Words(words))
    }

    fn unlock_with(&self, unlock: &Unlock) -> Result<bool, Error> {
        let kernel = self.owned_kernel()?;
        let log = kernel.store_state().keys.get(&KeyPurpose::Log).map(|(_, key)| *key);
        let open = self.keys.unlock(&self.home, kernel.reader().log_id(), log, unlock)?;
        if let Err(error) = crate::approval_key::check(kernel, &self.keys) {
            self.keys.lock("the approval key was exchanged");
            return Err(error);
        }
        if open {
            self.notices.tell(&wire::Notice::Keys { open: true });
            self.know_secrets()?;
            self.go_on().map_err(Error::Said)?;
        }
        Ok(open)
    }

    /// Writes what the run stream still lacks, and closes it.
    pub(super) fn end_stream(&self) {
        self.notices.feed(None);
        let run_stream = self.run_stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(run_stream) = run_stream {
            run_stream.end();
        }
    }
}

impl Local {
    /// The run stream, caught up with a run.
    pub(super) fn journal_of(&self, run: Option<TaskId>) -> Result<api::Journal, wire::Error> {
        self.owned()?;
        let run_stream = self.run_stream.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let run_stream = run_stream.ok_or_else(|| {
            wire::Error::new(wire::Code::Unavailable, "this host keeps no run stream")
                .hint("its log says why; what was done is still in the ledger")
        })?;
        if let Some(run) = run {
            run_stream.catch_up(run);
        }
        let (watch, thoughts) = run_stream.live();
        let reader = runstream::Reader::hearing(self.home.dir(), thoughts).map_err(api::failed)?;
        Ok(api::Journal { reader, watch })
    }
}
