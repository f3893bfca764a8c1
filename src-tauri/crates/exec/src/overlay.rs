//! A layer over a folder: whatever is written there lands in another place, and the folder itself stays as it is.
//!
//! Only this process and those that come from it see the layer; it is gone with the last of them. The folders are
//! named to the system by open handles, so that no path has to be spelled in its language of options.

use crate::Error;
use std::ffi::OsString;
use std::path::PathBuf;

/// Which folder is covered, and where what is written goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The folder that stays as it is.
    pub folder: PathBuf,
    /// Where changes land.
    pub upper: PathBuf,
    /// An empty folder of the system's own, on the same file system as `upper`.
    pub work: PathBuf,
}

impl Layer {
    /// Reads `--layer FOLDER UPPER WORK -- PROGRAM…`; none when the arguments ask for something else.
    ///
    /// # Errors
    /// [`Error::Argument`] when one of the three, or the two dashes, are missing.
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Option<(Self, Vec<OsString>)>, Error> {
        let mut arguments = arguments.into_iter();
        if arguments.next().is_none_or(|word| word != "--layer") {
            return Ok(None);
        }
        let mut next = || arguments.next().ok_or_else(|| Error::Argument("--layer".to_owned()));
        let layer = Self { folder: next()?.into(), upper: next()?.into(), work: next()?.into() };
        match next()? {
            dashes if dashes == "--" => Ok(Some((layer, arguments.collect()))),
            other => Err(Error::Argument(other.to_string_lossy().into_owned())),
        }
    }

    /// Puts the layer up for this process.
    ///
    /// # Errors
    /// [`Error::Wall`] with what the system said.
    #[cfg(target_os = "linux")]
    pub fn raise(&self) -> Result<(), Error> {
        linux::raise(self).map_err(|(doing, error)| Error::wall(doing, error))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Layer;
    use rustix::fs::{Mode, OFlags};
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    use rustix::process::{getegid, geteuid};
    use rustix::thread::UnshareFlags;
    use std::ffi::CString;
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};

    type Failed = (&'static str, io::Error);

    pub(super) fn raise(layer: &Layer) -> Result<(), Failed> {
        let open = |path: &std::path::Path| -> Result<OwnedFd, Failed> {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(path, flags, Mode::empty()).map_err(|e| ("the overlay's folders", e.into()))
        };
        let own_users = enter()?;
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
            .map_err(|e| ("the private mounts", e.into()))?;
        // Opened here and not before: a handle of the mounts outside is none of these.
        let (folder, upper, work) = (open(&layer.folder)?, open(&layer.upper)?, open(&layer.work)?);
        let named = |fd: &OwnedFd| format!("/proc/self/fd/{}", fd.as_raw_fd());
        // Who maps no users may keep marks only under names that every user may set.
        let marks = if own_users { "userxattr" } else { "redirect_dir=off,metacopy=off" };
        let options = format!(
            "lowerdir={},upperdir={},workdir={},{marks}",
            named(&folder),
            named(&upper),
            named(&work)
        );
        let target = named(&folder);
        let overlay = |options: String| {
            let options = CString::new(options).map_err(io::Error::from)?;
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("overlay", &target, "overlay", flags, options.as_c_str()).map_err(io::Error::from)
        };
        // What is written here lives for one command: where the system lets us, nothing waits for the disk.
        overlay(format!("{options},volatile")).or_else(|_| overlay(options)).map_err(|e| ("the overlay", e))
    }

    /// Mounts of its own; where that takes it, users of its own too, who are the same ones. Whether it took them.
    fn enter() -> Result<bool, Failed> {
        if geteuid().is_root() && unshare(UnshareFlags::NEWNS).is_ok() {
            return Ok(false);
        }
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).map_err(|e| ("the namespaces", e))?;
        let say = |file: &str, line: String| {
            std::fs::write(format!("/proc/self/{file}"), line).map_err(|e| ("the users of the namespace", e))
        };
        say("setgroups", "deny".to_owned())?;
        say("uid_map", format!("{uid} {uid} 1"))?;
        say("gid_map", format!("{gid} {gid} 1"))?;
        Ok(true)
    }

    #[allow(deprecated, reason = "its trouble is with shared tables of files, which is not asked for here")]
    fn unshare(flags: UnshareFlags) -> io::Result<()> {
        Ok(rustix::thread::unshare(flags)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<(Layer, Vec<OsString>)>, Error> {
        Layer::parse(words.iter().map(OsString::from))
    }

    #[test]
    fn a_layer_names_three_folders_and_what_works_under_it() {
        let (layer, words) = parse(&["--layer", "/a b", "/u", "/w", "--", "sh", "--layer"]).unwrap().unwrap();
        assert_eq!(layer.folder, PathBuf::from("/a b"));
        assert_eq!(layer.work, PathBuf::from("/w"));
        assert_eq!(words, ["sh", "--layer"]);
        assert_eq!(parse(&["--read", "/usr", "--", "sh"]).unwrap(), None);
    }

    #[test]
    fn a_layer_without_all_its_words_is_refused() {
        for words in [&["--layer"][..], &["--layer", "/a", "/u", "/w"], &["--layer", "/a", "/u", "/w", "sh"]]
        {
            assert!(matches!(parse(words), Err(Error::Argument(_))), "{words:?}");
        }
    }
}
