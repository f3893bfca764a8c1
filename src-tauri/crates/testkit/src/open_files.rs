//! Which files of a folder are open at the same time, where the system tells it.

pub use system::OpenFiles;

#[cfg(target_os = "linux")]
mod system {
    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::Errno;
    use std::collections::BTreeSet;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::time::Duration;

    /// How often it is tried where other programs of this user hold all that there are, and how long is waited between.
    const TRIES: usize = 2_400;
    const BETWEEN: Duration = Duration::from_millis(50);

    /// Hears which files of a folder are opened and closed, in this order.
    pub struct OpenFiles(OwnedFd);

    impl OpenFiles {
        /// Hears of the files of this folder from now on.
        pub fn of(folder: &Path) -> Self {
            let mut left = TRIES;
            loop {
                let heard = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).and_then(|heard| {
                    add_watch(&heard, folder, WatchFlags::OPEN | WatchFlags::CLOSE)?;
                    Ok(heard)
                });
                match heard {
                    Ok(heard) => return Self(heard),
                    Err(Errno::MFILE | Errno::NOSPC) if left > 0 => {
                        left -= 1;
                        std::thread::sleep(BETWEEN);
                    }
                    Err(error) => panic!("the system does not tell of files: {error}"),
                }
            }
        }

        /// How many files whose names begin so were opened since this was asked last, and how many of them were open together at
        /// most; none where the system does not tell.
        pub fn told(&self, begins: &str) -> Option<(usize, usize)> {
            let mut buffer = [MaybeUninit::uninit(); 4_096];
            let mut reader = Reader::new(&self.0, &mut buffer);
            let (mut all, mut open, mut most) = (BTreeSet::new(), BTreeSet::new(), 0);
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) => return Some((all.len(), most)),
                    Err(error) => panic!("what was heard cannot be read: {error}"),
                };
                assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW), "something was not heard");
                let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                let Some(name) = name.filter(|name| name.starts_with(begins)) else { continue };
                if event.events().contains(ReadFlags::OPEN) {
                    all.insert(name.clone());
                    open.insert(name);
                    most = most.max(open.len());
                } else {
                    open.remove(&name);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    /// Hears nothing: this system does not tell.
    pub struct OpenFiles;

    impl OpenFiles {
        /// Hears nothing.
        pub fn of(_: &Path) -> Self {
            Self
        }

        /// None: the system does not tell.
        pub fn told(&self, _: &str) -> Option<(usize, usize)> {
            None
        }
    }
}
