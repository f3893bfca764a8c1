//! The mesh of a store that this process holds, as commands ask for it. It goes with the clock, where a person turned it on.

use super::{Local, work};
use crate::mesh_settings::MeshSettings;
use crate::mesh_thread::{Begin, MeshThread, NoKey, VaultSource, no_pairing, node_key, node_of, proposer};
use crate::model_http::certificates;
use crate::reasoners::chosen;
use crate::{Config, Error, Home};
use api::{MeshLive, MeshShown};
use kernel::Kernel;
use mesh::{Command, NodeId, carry};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::Code;
use wire::mesh::{Carried, PairingState, Set};

/// The thread of the mesh, while there is one.
#[derive(Default)]
pub(super) struct MeshSeat {
    thread: Mutex<Option<Arc<MeshThread>>>,
    /// Held by whoever changes what is set, or begins what is.
    changes: Mutex<()>,
    /// Whether this process stays and serves. A command that has the store for its own time speaks to no other machine.
    is_host: AtomicBool,
    /// Whether work is gone on with at such a host, and the mesh with it.
    is_begun: AtomicBool,
}

impl MeshSeat {
    fn seat(&self) -> MutexGuard<'_, Option<Arc<MeshThread>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn thread(&self) -> Option<Arc<MeshThread>> {
        self.seat().clone()
    }

    /// Nobody else changes or begins anything meanwhile.
    fn alone(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the thread, and waits until nothing of it is open; so does whoever ends it as well.
    pub(super) fn end(&self) {
        let mut seat = self.seat();
        if let Some(thread) = seat.take() {
            thread.end();
        }
    }
}

/// The key with which this machine speaks from now on: that with which it joined, as long as the keychain has it.
fn speaks_as(kernel: &Kernel) -> Result<NodeId, wire::Error> {
    let joined = kernel.mesh_registry().node();
    let key = match node_key(kernel, joined) {
        Err(NoKey::Gone) => node_key(kernel, None),
        other => other,
    };
    let key = key.map_err(|why| match why {
        NoKey::Locked => {
            wire::Error::new(Code::KeyLocked, why.to_string()).hint("unlock the keys of this store")
        }
        NoKey::Soul | NoKey::Gone => wire::Error::new(Code::Conflict, why.to_string())
            .hint("`hermit identity edit` writes who this instance is; its key comes of that"),
    })?;
    node_of(&key).ok_or_else(|| wire::Error::new(Code::Failed, "the key of this instance cannot be read"))
}

impl Local {
    /// This process stays and serves: the mesh runs here, where it is on, from when work is gone on with.
    pub fn be_host(&self) {
        self.owned.iter().for_each(|owned| owned.mesh.is_host.store(true, Ordering::SeqCst));
    }

    /// Begins the mesh beside the clock, where it is on and this is a host. What stands in its way is in the log, and stops nothing else.
    pub(super) fn begin_mesh(&self) {
        let Some(owned) = &self.owned else { return };
        let is_host = owned.mesh.is_host.load(Ordering::SeqCst);
        if !is_host || owned.drives.is_ending() || owned.mesh.is_begun.swap(true, Ordering::SeqCst) {
            return;
        }
        // A person who changes it meanwhile may have begun it.
        let _alone = owned.mesh.alone();
        let settings = Config::in_force(&self.home).mesh;
        if settings.on
            && owned.mesh.thread().is_none()
            && let Err(error) = self.start_mesh(owned, settings)
        {
            tracing::warn!(%error, "the mesh is on, and cannot begin");
        }
    }

    fn start_mesh(
        &self,
        owned: &work::Owned,
        settings: MeshSettings,
    ) -> Result<Arc<MeshThread>, wire::Error> {
        let authorities = match Config::in_force(&self.home).authorities() {
            Some(path) => certificates(&path).map_err(|e| wire::Error::new(Code::Usage, e.to_string()))?,
            None => Vec::new(),
        };
        let keys = Arc::clone(&self.keys);
        let vault: VaultSource = Box::new(move || keys.vault());
        let begin = Begin {
            kernel: Arc::clone(&owned.kernel),
            drives: Arc::clone(&owned.drives),
            notices: Arc::clone(&self.notices),
            vault,
            home: self.home.clone(),
            settings,
            authorities,
        };
        let thread = Arc::new(MeshThread::begin(begin).map_err(Error::to_wire)?);
        *owned.mesh.seat() = Some(Arc::clone(&thread));
        // A host that was told to end meanwhile looked for a thread before there was one.
        if owned.drives.is_ending() {
            owned.mesh.end();
        }
        Ok(thread)
    }

    fn mesh_thread(&self) -> Result<Arc<MeshThread>, wire::Error> {
        if let Some(thread) = self.owned()?.mesh.thread() {
            return Ok(thread);
        }
        if Config::in_force(&self.home).mesh.on {
            return Err(api::no_host());
        }
        Err(wire::Error::new(Code::Conflict, "the mesh is off on this machine")
            .hint("turn it on with `hermit mesh on`"))
    }

    /// Whether somebody can work here on goals of other machines.
    fn can_work(&self, settings: &MeshSettings) -> Result<(), wire::Error> {
        if settings.folders.is_empty() {
            return Ok(());
        }
        let config = Config::load(&self.home).map_err(Error::to_wire)?;
        chosen(&proposer(settings), &config, &self.home).map(|_| ()).map_err(|error| match settings.model {
            Some(_) => error,
            None => error.hint(
                "goals of other machines need a model: name one with `hermit mesh on --model ADDRESS`, choose a default one with \
                 `hermit models use ADDRESS`, or offer no folder",
            ),
        })
    }

    fn kept_mesh(&self, settings: &MeshSettings) -> Result<(), wire::Error> {
        let kept = Config::change(&self.home, |config| {
            config.mesh.clone_from(settings);
            Ok(())
        });
        kept.map_err(Error::to_wire)
    }

    /// Has the mesh be as it is set now.
    fn apply_mesh(&self, owned: &work::Owned, settings: MeshSettings) -> Result<(), wire::Error> {
        if !settings.on {
            owned.mesh.end();
            return Ok(());
        }
        if let Some(thread) = owned.mesh.thread() {
            return thread.take(settings);
        }
        // Where nothing is gone on with, the next host begins it.
        if !owned.mesh.is_begun.load(Ordering::SeqCst) || owned.drives.is_ending() {
            return Ok(());
        }
        let begun = self.start_mesh(owned, settings.clone())?.take(settings);
        if begun.is_err() {
            owned.mesh.end();
        }
        begun
    }
}

impl api::Mesh for Local {
    fn settings(&self) -> Result<MeshShown, wire::Error> {
        Ok(Config::load(&self.home).map_err(Error::to_wire)?.mesh.shown())
    }

    fn set(&self, wanted: &Set) -> Result<(), wire::Error> {
        let owned = self.owned()?;
        let _alone = owned.mesh.alone();
        let before = Config::load(&self.home).map_err(Error::to_wire)?.mesh;
        let mut settings = before.clone();
        settings.take(wanted).map_err(|why| wire::Error::new(Code::Usage, why))?;
        if wanted.folders.is_some() {
            for path in settings.folders.values_mut() {
                *path = super::folders::to_work_in(&self.home, path)?;
            }
        }
        if wanted.leave {
            if wanted.on == Some(true) {
                return Err(wire::Error::new(
                    Code::Usage,
                    "a machine that leaves the mesh is not turned on with it",
                ));
            }
            settings.on = false;
        }
        if settings.on {
            if !before.on || wanted.folders.is_some() || wanted.model.is_some() {
                self.can_work(&settings)?;
            }
            let node = speaks_as(&owned.kernel)?;
            if owned.kernel.mesh_registry().node().is_some_and(|former| former != node) {
                owned.mesh.end();
            }
            owned.kernel.join_mesh(node, &settings.machine_name()).map_err(api::of_kernel)?;
        }
        self.kept_mesh(&settings)?;
        let applied = self.apply_mesh(owned, settings);
        if applied.is_err() {
            // What cannot be is not left behind for the next start.
            self.kept_mesh(&before)?;
            if let Err(error) = self.apply_mesh(owned, before) {
                tracing::warn!(%error, "the mesh is not as it was before");
            }
        }
        if wanted.leave && applied.is_ok() {
            owned.kernel.leave_mesh().map_err(api::of_kernel)?;
        }
        applied
    }

    fn live(&self) -> Option<MeshLive> {
        self.owned.as_ref()?.mesh.thread().map(|thread| thread.live())
    }

    fn say(&self, commands: Vec<Command>) -> Result<(), wire::Error> {
        self.mesh_thread()?.say(commands)
    }

    fn invite(&self) -> Result<wire::mesh::Code, wire::Error> {
        self.mesh_thread()?.invite()
    }

    fn join(&self, code: &str, at: &[String]) -> Result<PairingState, wire::Error> {
        self.mesh_thread()?.join(code, at)
    }

    fn pairing(&self) -> PairingState {
        let thread = self.owned.as_ref().and_then(|owned| owned.mesh.thread());
        thread.map_or_else(no_pairing, |thread| thread.pairing())
    }

    fn export(&self, path: &Path, only: Option<NodeId>) -> Result<Carried, wire::Error> {
        let thread = self.mesh_thread()?;
        outside(&self.home, path)?;
        let packed = thread.export(only)?;
        written(path, &packed.file)?;
        let (messages, left_out) = (packed.messages as u64, packed.left_out as u64);
        Ok(Carried { path: path.display().to_string(), messages, left_out })
    }

    fn import(&self, path: &Path) -> Result<Carried, wire::Error> {
        let thread = self.mesh_thread()?;
        let file = read(path)?;
        let unfit = |e: carry::Unfit| {
            wire::Error::new(Code::Usage, format!("`{}` is not taken in: {e}", path.display()))
                .hint("`hermit mesh export` writes such a file on the other machine")
        };
        let read = carry::unpack(&file).map_err(unfit)?.len() as u64;
        let left_out = lines(&file).saturating_sub(1 + read);
        let messages = thread.import(file)? as u64;
        Ok(Carried { path: path.display().to_string(), messages, left_out })
    }
}

/// Lines in which something stands.
fn lines(file: &[u8]) -> u64 {
    file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as u64
}

/// Refuses a place in the store's own folder.
fn outside(home: &Home, path: &Path) -> Result<(), wire::Error> {
    let shown = path.display();
    let folder =
        path.parent().ok_or_else(|| wire::Error::new(Code::Usage, format!("`{shown}` names no file")))?;
    let missing = |e: std::io::Error| {
        wire::Error::new(Code::NotFound, format!("`{shown}` cannot be written: {e}"))
            .hint("name a folder that is there")
    };
    let folder = folder.canonicalize().map_err(missing)?;
    let store = home.dir().canonicalize().unwrap_or_else(|_| home.dir().to_owned());
    if folder.starts_with(&store) {
        return Err(wire::Error::new(Code::Refused, format!("`{shown}` is in Hermit's own store"))
            .hint("name a place outside it, such as on the stick"));
    }
    Ok(())
}

/// Writes a file that is not there yet: it has its name when all of it is on the disk.
fn written(path: &Path, file: &[u8]) -> Result<(), wire::Error> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => wire::Error::new(
            Code::Conflict,
            format!("`{}` is already there; name another file", path.display()),
        ),
        _ => Error::io("write", path, &e).to_wire(),
    };
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(failed(std::io::Error::from(std::io::ErrorKind::AlreadyExists)));
    }
    let mut draft = disk::Draft::beside(path).map_err(failed)?;
    draft.file().write_all(file).map_err(failed)?;
    draft.create().map_err(failed)
}

/// Reads a file, as far as one that is carried may be long. A pipe is not waited for.
fn read(path: &Path) -> Result<Vec<u8>, wire::Error> {
    let (mut file, most) = (Vec::new(), carry::CARRY_BYTES_MAX as u64);
    let read = api::open_file(path)?.take(most + 1).read_to_end(&mut file);
    read.map_err(|e| Error::io("read", path, &e).to_wire())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unlock;

    #[test]
    fn off_it_is_nothing_and_turned_on_it_needs_a_key() {
        let store = tempfile::tempdir().unwrap();
        let local = Local::owning(Home::find(Some(store.path())).unwrap(), &Unlock::Environment).unwrap();
        local.go_on().unwrap();
        let mesh: &dyn api::Mesh = &local;
        let is_nothing = || mesh.live().is_none() && local.owned().unwrap().mesh.thread().is_none();
        assert_eq!((mesh.settings().unwrap(), mesh.pairing()), (MeshShown::default(), no_pairing()));
        assert!(is_nothing(), "no thread, and no socket");
        for refused in [mesh.say(Vec::new()).err(), mesh.invite().err(), mesh.import(store.path()).err()] {
            assert_eq!(refused.unwrap().code, Code::Conflict);
        }
        let set = |change: &dyn Fn(&mut Set)| {
            let mut wanted = Set::default();
            change(&mut wanted);
            mesh.set(&wanted)
        };
        let refused = set(&|wanted| wanted.on = Some(true)).unwrap_err();
        assert!(refused.code == Code::Conflict && refused.message.contains("no key yet"), "{refused:?}");
        let wrong = set(&|wanted| wanted.relays = Some(vec!["relay".to_owned()])).unwrap_err();
        assert_eq!(wrong.code, Code::Usage);
        assert_eq!(mesh.settings().unwrap(), MeshShown::default(), "what is refused is not kept");
        set(&|wanted| wanted.name = Some("laptop".to_owned())).unwrap();
        assert_eq!(mesh.settings().unwrap().name.as_deref(), Some("laptop"));
        assert!(is_nothing());
        local.close();
    }

    #[test]
    fn a_command_that_has_the_store_for_its_own_time_runs_no_mesh_and_a_host_does() {
        let store = tempfile::tempdir().unwrap();
        let local = Local::owning(Home::find(Some(store.path())).unwrap(), &Unlock::Environment).unwrap();
        let on = Config::change(&local.home, |config| {
            config.mesh.on = true;
            Ok(())
        });
        on.unwrap();
        let runs = || local.owned().unwrap().mesh.thread().is_some();
        local.go_on().unwrap();
        assert!(!runs(), "as in `hermit run`");
        local.be_host();
        assert!(!runs(), "it begins with the work");
        local.go_on().unwrap();
        assert!(runs(), "as in `hermit serve`");
        local.close();
        assert!(!runs());
    }

    #[test]
    fn a_file_to_carry_replaces_nothing_and_lies_outside_the_store() {
        let (store, stick) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let home = Home::find(Some(store.path())).unwrap();
        let path = stick.path().join("letters");
        assert_eq!(outside(&home, &path), Ok(()));
        assert_eq!(outside(&home, &store.path().join("letters")).unwrap_err().code, Code::Refused);
        assert_eq!(outside(&home, &stick.path().join("nowhere/letters")).unwrap_err().code, Code::NotFound);
        written(&path, b"one\n").unwrap();
        assert_eq!(written(&path, b"two\n").unwrap_err().code, Code::Conflict);
        assert_eq!(read(&path).unwrap(), b"one\n");
        assert_eq!(read(stick.path()).unwrap_err().code, Code::Usage);
        assert_eq!(read(&stick.path().join("gone")).unwrap_err().code, Code::NotFound);
        assert_eq!(lines(b"hermit-mesh-carry/1\n{}\n\n{}\n"), 3);
        assert_eq!(std::fs::read_dir(stick.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
