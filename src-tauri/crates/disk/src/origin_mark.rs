//! The mark that browsers and mail programs leave at a file which came from elsewhere: quarantine on macOS, the zone of a file on
//! Windows, the address it came from on Linux. Whoever has a file may take its mark away, so none means nothing.

use std::fs::File;
use std::path::Path;

/// Bytes of a mark that are read.
const MARK_BYTES_MAX: usize = 4096;
/// Letters of the program that left one.
#[cfg(any(target_os = "macos", test))]
const PROGRAM_CHARS_MAX: usize = 40;

/// The mark of a file that came from elsewhere, in words for a person; none where it has none, or its disk keeps none.
#[must_use]
pub fn origin_mark(file: &File, path: &Path) -> Option<String> {
    system::mark(file, path)
}

/// What a mark of macOS says, `flags;time;program;identifier`. What is not written so is a mark as well.
#[cfg(any(target_os = "macos", test))]
fn quarantine(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let program = text.split(';').nth(2).unwrap_or_default();
    // Whoever wrote it says what it is called.
    let program: String =
        program.chars().filter(|c| c.is_alphanumeric() || *c == ' ').take(PROGRAM_CHARS_MAX).collect();
    match program.trim() {
        "" => "its quarantine mark says that it came from elsewhere".to_owned(),
        program => format!("its quarantine mark says that it came from elsewhere, by {program}"),
    }
}

/// What a mark of Windows says; none for a zone of this machine or its own network. What is not written so is a mark as well.
#[cfg(any(windows, test))]
fn zone(value: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(value);
    let zone = text.lines().find_map(|line| {
        let (name, zone) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("zoneid").then(|| zone.trim().parse::<u32>().ok())
    });
    match zone.flatten() {
        Some(0..=2) => None,
        Some(3) => Some("its zone says that it came from the internet".to_owned()),
        Some(_) | None => Some("its zone says that it came from elsewhere".to_owned()),
    }
}

#[cfg(unix)]
mod system {
    use super::MARK_BYTES_MAX;
    use rustix::io::Errno;
    use std::fs::File;
    use std::path::Path;

    /// What a file holds under a name beside its bytes; of what is longer nothing.
    fn beside(file: &File, name: &str) -> Option<Vec<u8>> {
        let mut value = [0_u8; MARK_BYTES_MAX];
        match rustix::fs::fgetxattr(file, name, &mut value) {
            Ok(read) => Some(value.get(..read)?.to_vec()),
            Err(Errno::RANGE) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    #[cfg(target_os = "macos")]
    pub(super) fn mark(file: &File, _: &Path) -> Option<String> {
        beside(file, "com.apple.quarantine").map(|value| super::quarantine(&value))
    }

    /// Where it came from is an address, which may hold what nobody else is to read: it is not told.
    #[cfg(not(target_os = "macos"))]
    pub(super) fn mark(file: &File, _: &Path) -> Option<String> {
        beside(file, "user.xdg.origin.url").map(|_| "its mark says that it came from elsewhere".to_owned())
    }
}

#[cfg(windows)]
mod system {
    use super::MARK_BYTES_MAX;
    use std::fs::File;
    use std::io::Read as _;
    use std::path::Path;

    /// It is a second stream of the file, which a path alone names.
    pub(super) fn mark(_: &File, path: &Path) -> Option<String> {
        let mut name = path.as_os_str().to_owned();
        name.push(":Zone.Identifier");
        let mut value = Vec::new();
        let most = u64::try_from(MARK_BYTES_MAX).unwrap_or(u64::MAX);
        // What cannot be read to its end is a mark all the same.
        let _ = File::open(name).ok()?.take(most).read_to_end(&mut value);
        super::zone(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_macos_names_the_program_that_left_it_and_nothing_that_it_made_up() {
        let told = quarantine(b"0083;65f1a2b3;Safari;1B2C3D4E-0000-0000-0000-000000000000");
        assert_eq!(told, "its quarantine mark says that it came from elsewhere, by Safari");
        let none = "its quarantine mark says that it came from elsewhere";
        for bare in ["", "0081", "0081;;;", "no mark at all", "0;0; ;"] {
            assert_eq!(quarantine(bare.as_bytes()), none, "{bare}");
        }
        let hostile = format!("0081;0;\u{1b}[31m`Mail`\n{};x", "a".repeat(500));
        let told = quarantine(hostile.as_bytes());
        assert!(told.contains(", by 31mMaila") && !told.contains('\u{1b}') && told.len() < 120, "{told}");
        assert!(quarantine(b"\xff\xfe;0;\xff;").starts_with(none));
    }

    #[test]
    fn a_zone_of_windows_counts_from_the_internet_on_and_where_it_cannot_be_read() {
        let of = |zone: &str| {
            zone_of(&format!("[ZoneTransfer]\r\nZoneId={zone}\r\nHostUrl=https://example.org/\r\n"))
        };
        for own in ["0", "1", "2"] {
            assert_eq!(of(own), None, "{own}");
        }
        assert!(of("3").unwrap().contains("the internet"));
        for other in ["4", "99", "-1", "x", ""] {
            assert!(of(other).unwrap().contains("elsewhere"), "{other}");
        }
        assert!(zone_of("").is_some() && zone_of("[ZoneTransfer]").is_some());
        assert_eq!(zone_of("zoneid = 1"), None);
    }

    fn zone_of(text: &str) -> Option<String> {
        zone(text.as_bytes())
    }

    #[test]
    fn a_file_of_ones_own_making_has_no_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "mine").unwrap();
        assert_eq!(origin_mark(&File::open(&path).unwrap(), &path), None);
    }

    /// As a browser leaves it, on a disk that keeps such marks.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_a_browser_marked_is_known_however_long_its_mark_is() {
        let folder = tempfile::tempdir().unwrap();
        for (name, length) in [("short", 20), ("long", MARK_BYTES_MAX - 200), ("empty", 0)] {
            let path = folder.path().join(name);
            let file = File::create_new(&path).unwrap();
            let value = vec![b'x'; length];
            let flags = rustix::fs::XattrFlags::empty();
            match rustix::fs::fsetxattr(&file, "user.xdg.origin.url", &value, flags) {
                Ok(()) => assert!(origin_mark(&file, &path).is_some(), "{name}"),
                // This disk keeps none, or none of this length.
                Err(_) => assert_eq!(origin_mark(&file, &path), None, "{name}"),
            }
        }
    }
}
