//! Keys as Linux shows them: `/sys/class/hidraw` says which devices are keys, `/dev/hidraw*` leads to them.

use super::Found;
use crate::{Device, Error, REPORT};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names a socket behind which a test's key is, in debug builds.
const TEST: &str = "HERMIT_TEST_SECURITY_KEY";
/// Most devices that are looked at, bytes of what one says of itself, and characters of its name.
const DEVICES_MAX: usize = 256;
const SAYS_MAX: u64 = 4_096;
const NAME_MAX: usize = 60;
/// The page of usages that security keys are on.
const FIDO: u32 = 0xf1d0;

pub(super) fn plugged_in() -> Result<Vec<Found>, Error> {
    if let Some(socket) = of_a_test()? {
        return Ok(vec![Found { name: "a test's key".to_owned(), place: socket }]);
    }
    // Without the class there is no such device.
    let Ok(entries) = Path::new("/sys/class/hidraw").read_dir() else { return Ok(Vec::new()) };
    let mut found: Vec<Found> =
        entries.flatten().take(DEVICES_MAX).filter_map(|entry| key(&entry.path())).collect();
    found.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(found)
}

/// The socket of a test. A program that is not a debug build refuses the variable, rather than ignore it.
fn of_a_test() -> Result<Option<PathBuf>, Error> {
    match std::env::var_os(TEST) {
        Some(socket) if !socket.is_empty() && cfg!(debug_assertions) => Ok(Some(PathBuf::from(socket))),
        Some(socket) if !socket.is_empty() => Err(Error::Closed(format!("only debug builds take {TEST}"))),
        _ => Ok(None),
    }
}

/// The key that a device is, if it is one.
fn key(class: &Path) -> Option<Found> {
    let says = |what: &str| {
        let mut bytes = Vec::new();
        File::open(class.join("device").join(what)).ok()?.take(SAYS_MAX).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    if !is_key(&says("report_descriptor")?) {
        return None;
    }
    let told = says("uevent").map(|told| String::from_utf8_lossy(&told).into_owned()).unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("HID_NAME=")).unwrap_or("a security key");
    let name = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
    Some(Found { name, place: Path::new("/dev").join(class.file_name()?) })
}

/// Whether what a device says of its reports (HID 1.11, 6.2.2) begins a page of usages for security keys.
fn is_key(mut descriptor: &[u8]) -> bool {
    while let Some((head, rest)) = descriptor.split_first() {
        let (width, rest) = match (head, rest) {
            // A long item: its length, its tag, and so many bytes.
            (0xfe, [length, _, rest @ ..]) => (usize::from(*length), rest),
            (0xfe, _) => return false,
            (head, rest) => ([0, 1, 2, 4].get(usize::from(head & 3)).copied().unwrap_or_default(), rest),
        };
        let Some((data, rest)) = rest.split_at_checked(width) else { return false };
        let value = data.iter().rev().fold(0_u32, |value, byte| (value << 8) | u32::from(*byte));
        if *head != 0xfe && head & 0xfc == 0x04 && value == FIDO {
            return true;
        }
        descriptor = rest;
    }
    false
}

pub(super) fn open(found: &Found) -> Result<Box<dyn Device>, Error> {
    let opened = match of_a_test()? {
        Some(socket) => UnixStream::connect(socket).map(Way::Socket),
        None => File::options().read(true).write(true).open(&found.place).map(Way::Hid),
    };
    match opened {
        Ok(way) => Ok(Box::new(way)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Gone),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(Error::Closed(format!(
            "this account may not use {}; install the rules for FIDO devices that your system has for udev, then plug it in again",
            found.place.display()
        ))),
        Err(error) => Err(Error::Closed(error.to_string())),
    }
}

enum Way {
    Hid(File),
    Socket(UnixStream),
}

impl AsFd for Way {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Hid(file) => file.as_fd(),
            Self::Socket(stream) => stream.as_fd(),
        }
    }
}

impl Device for Way {
    fn write(&mut self, report: &[u8; REPORT]) -> io::Result<()> {
        match self {
            // The number of the report stands before it; keys have one without a number.
            Self::Hid(file) => file.write_all(&[[0_u8].as_slice(), report].concat()),
            Self::Socket(stream) => stream.write_all(report),
        }
    }

    fn read(&mut self, patience: Duration) -> io::Result<Option<[u8; REPORT]>> {
        let timeout = Timespec::try_from(patience).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        let is_ready = {
            let mut polled = [PollFd::new(&*self, PollFlags::IN)];
            match poll(&mut polled, Some(&timeout)) {
                Ok(ready) => ready > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(error) => return Err(error.into()),
            }
        };
        if !is_ready {
            return Ok(None);
        }
        let mut report = [0; REPORT];
        match self {
            // One call reads one report.
            Self::Hid(file) => match file.read(&mut report)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                REPORT => {}
                _ => return Ok(None),
            },
            Self::Socket(stream) => stream.read_exact(&mut report)?,
        }
        Ok(Some(report))
    }
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn a_key_is_told_by_its_page_of_usages() {
        let key = [0x06, 0xd0, 0xf1, 0x09, 0x01, 0xa1, 0x01, 0x09, 0x20, 0x15, 0x00, 0x26, 0xff, 0x00, 0xc0];
        let keyboard = [0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0x05, 0x07, 0xc0];
        let long = [[0xfe, 0x02, 0x10, 0x06, 0xd0].as_slice(), &key].concat();
        assert!(is_key(&key) && is_key(&long) && !is_key(&keyboard));
        // The number as data of something else, cut, and nothing.
        for other in
            [&[0x26, 0xd0, 0xf1][..], &[0x06, 0xd0], &[0xfe], &[0xfe, 0xff, 0x00, 0x06, 0xd0, 0xf1], &[]]
        {
            assert!(!is_key(other), "{other:02x?}");
        }
    }
}
