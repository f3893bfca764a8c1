//! Places that somebody who is nobody else may reach for as long as a command runs, where walls are made of access lists.

pub(crate) use system::LentPlaces;

use std::path::PathBuf;

/// What is done at a place before a command, and taken back after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: PathBuf,
    /// Whether these rights are taken, whatever else gives them.
    pub(crate) is_denied: bool,
    /// The rights, as bits.
    pub(crate) rights: u32,
    /// Whether nothing runs where it cannot be done.
    pub(crate) is_needed: bool,
    /// Whether a folder is made there as long as there is nothing.
    pub(crate) is_made: bool,
}

/// What a command is lent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lending {
    /// The container that is made for it.
    pub(crate) container: Option<String>,
    /// In whose name it is looked at a second time, where there is no container.
    pub(crate) name: String,
    pub(crate) entries: Vec<Entry>,
    /// Folders that a process of low integrity may write.
    pub(crate) low: Vec<PathBuf>,
}

#[cfg(unix)]
mod system {
    use super::Lending;

    /// Walls are made otherwise here.
    #[derive(Debug)]
    pub(crate) struct LentPlaces;

    impl LentPlaces {
        pub(crate) const fn none() -> Self {
            Self
        }

        pub(crate) fn lend(_: &Lending) -> Result<Self, String> {
            Err(disk::not_on_this_system("access that is lent to a command").to_string())
        }

        /// To whom.
        pub(crate) const fn who(&self) -> &str {
            ""
        }

        /// What could not be lent, in words.
        pub(crate) const fn not_lent(&self) -> &[String] {
            &[]
        }

        /// What could not be taken back or lent, in words.
        pub(crate) const fn take_back(self) -> Vec<String> {
            Vec::new()
        }
    }
}

#[cfg(windows)]
mod system {
    use super::{Entry, Lending};
    use crate::STAGE_COPY_ENTRIES_MAX;
    use std::collections::BTreeSet;
    use std::io::{Error, ErrorKind, Result};
    use std::path::{Path, PathBuf};
    use win32::access::Sid;
    use win32::grants::Grant;

    /// What is lent. Dropped, it is taken back.
    #[derive(Debug)]
    pub(crate) struct LentPlaces {
        /// To whom; nobody where nothing is.
        who: Option<Sid>,
        written: String,
        container: Option<String>,
        /// Places with an entry for them.
        given: Vec<PathBuf>,
        /// Folders that were made to have an entry.
        made: Vec<PathBuf>,
        /// Folders with a label, and what in them had one of its own.
        low: Vec<(PathBuf, BTreeSet<PathBuf>)>,
        notes: Vec<String>,
    }

    impl LentPlaces {
        pub(crate) const fn none() -> Self {
            Self {
                who: None,
                written: String::new(),
                container: None,
                given: Vec::new(),
                made: Vec::new(),
                low: Vec::new(),
                notes: Vec::new(),
            }
        }

        /// Makes the container and opens the places to it; what was done before a failure is taken back.
        pub(crate) fn lend(lending: &Lending) -> std::result::Result<Self, String> {
            let mut lent = Self::none();
            let who = match &lending.container {
                Some(name) => {
                    let made = win32::make_container(name);
                    lent.container = made.is_ok().then(|| name.clone());
                    made.map_err(|e| format!("no AppContainer can be made: {e}"))?
                }
                None => lending.name.parse::<Sid>().map_err(|e| format!("`{}`: {e}", lending.name))?,
            };
            lent.written = who.written();
            lent.who = Some(who.clone());
            for entry in &lending.entries {
                let done = lent.entry(&who, entry);
                let say = |e: Error| format!("`{}` cannot be opened to a command: {e}", shown(&entry.at));
                match done.map_err(say) {
                    Ok(()) => {}
                    Err(why) if entry.is_needed => return Err(why),
                    Err(why) => lent.notes.push(why),
                }
            }
            for folder in &lending.low {
                lent.label(folder).map_err(|e| {
                    format!("`{}` cannot be opened to a process of low integrity: {e}", shown(folder))
                })?;
            }
            Ok(lent)
        }

        fn entry(&mut self, who: &Sid, entry: &Entry) -> Result<()> {
            let there = std::fs::symlink_metadata(&entry.at);
            let is_folder = match there {
                Err(error) if error.kind() == ErrorKind::NotFound && entry.is_made => {
                    std::fs::create_dir(&entry.at)?;
                    self.made.push(entry.at.clone());
                    true
                }
                // What is gone by now needs nothing taken.
                Err(error) if error.kind() == ErrorKind::NotFound && entry.is_denied => return Ok(()),
                // A list of the link would be that of what it leads to.
                Ok(there) if there.file_type().is_symlink() => {
                    return Err(Error::new(ErrorKind::InvalidInput, "it is a link; name what it leads to"));
                }
                other => other?.is_dir(),
            };
            let grant = Grant { is_denied: entry.is_denied, rights: entry.rights, is_taken_on: is_folder };
            self.given.push(entry.at.clone());
            win32::give(&entry.at, who, grant)
        }

        /// What is deepest comes first, so that no label is taken for one of its own that came from above.
        fn label(&mut self, folder: &Path) -> Result<()> {
            let all = below(folder, STAGE_COPY_ENTRIES_MAX)?;
            let mut own = BTreeSet::new();
            let labelled = all.into_iter().rev().try_for_each(|(at, is_folder)| {
                let labelled = win32::set_low(&at, is_folder);
                // What had a label, or takes none, keeps what it has.
                if !matches!(labelled, Ok(true)) {
                    own.insert(at);
                }
                labelled.map(drop)
            });
            self.low.push((folder.to_path_buf(), own));
            labelled
        }

        /// To whom, as Windows writes it.
        pub(crate) fn who(&self) -> &str {
            &self.written
        }

        /// What could not be lent, in words.
        pub(crate) fn not_lent(&self) -> &[String] {
            &self.notes
        }

        /// What could not be taken back or lent, in words.
        pub(crate) fn take_back(mut self) -> Vec<String> {
            self.undo();
            std::mem::take(&mut self.notes)
        }

        fn undo(&mut self) {
            for (folder, own) in std::mem::take(&mut self.low) {
                if let Err(error) = unlabel(&folder, &own) {
                    self.left(&folder, &error);
                }
            }
            let who = self.who.take();
            for at in std::mem::take(&mut self.given).into_iter().rev() {
                let Some(who) = &who else { continue };
                match win32::take_back(&at, who) {
                    Err(error) if error.kind() != ErrorKind::NotFound => self.left(&at, &error),
                    Ok(()) | Err(_) => {}
                }
            }
            for at in std::mem::take(&mut self.made).into_iter().rev() {
                match std::fs::remove_dir(&at) {
                    Err(error) if error.kind() != ErrorKind::NotFound => self.left(&at, &error),
                    Ok(()) | Err(_) => {}
                }
            }
            if let Some(name) = self.container.take()
                && let Err(error) = win32::forget_container(&name)
            {
                self.notes
                    .push(format!("the container `{name}` of the command stays known to Windows: {error}"));
            }
        }

        fn left(&mut self, at: &Path, error: &Error) {
            self.notes
                .push(format!("the access of the command to `{}` was not taken back: {error}", shown(at)));
        }
    }

    impl Drop for LentPlaces {
        fn drop(&mut self) {
            self.undo();
        }
    }

    fn unlabel(folder: &Path, own: &BTreeSet<PathBuf>) -> Result<()> {
        for (at, _) in below(folder, UNLABELLED_MAX)?.into_iter().filter(|(at, _)| !own.contains(at)) {
            match win32::clear_label(&at) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// What a command may have made beside what was there.
    const UNLABELLED_MAX: usize = 20 * STAGE_COPY_ENTRIES_MAX;

    /// A folder and all that lies in it, so many entries at most, and which of it are folders; what is above comes first. Links are
    /// left out, with what they lead to.
    fn below(folder: &Path, most: usize) -> Result<Vec<(PathBuf, bool)>> {
        let mut found = vec![(folder.to_path_buf(), true)];
        let mut next = 0;
        while let Some((at, is_folder)) = found.get(next).cloned() {
            next += 1;
            if !is_folder {
                continue;
            }
            for entry in std::fs::read_dir(&at)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if !kind.is_symlink() {
                    found.push((entry.path(), kind.is_dir()));
                }
            }
            if found.len() > most {
                let say = format!("it has more than {most} entries; choose a smaller folder");
                return Err(Error::new(ErrorKind::InvalidInput, say));
            }
        }
        Ok(found)
    }

    fn shown(at: &Path) -> String {
        acts::visible(&at.to_string_lossy())
    }
}
