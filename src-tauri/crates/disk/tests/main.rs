//! The writer of small files.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking"
)]

use disk::{Draft, replace};
use std::io::{Read, Write as _};
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn invariants_1_and_2_old_bytes_or_new_ones_and_nothing_beside() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("pin");
    replace(&path, b"one").unwrap();
    replace(&path, b"two").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    let mut draft = Draft::beside(&path).unwrap();
    draft.file().write_all(b"half").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    drop(draft);
    assert_eq!(names(folder.path()), ["pin"]);
    // A folder stands where the file goes.
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    assert!(replace(&folder.path().join("taken"), b"x").is_err());
    assert_eq!(names(folder.path()), ["pin", "taken"]);
}

#[cfg(unix)]
#[test]
fn invariant_3_what_is_its_owners_nobody_else_reads_and_links_are_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let (path, other) = (folder.path().join("token"), folder.path().join("other"));
    std::fs::write(&other, "kept").unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    let draft = Draft::beside(&path).unwrap();
    let temporary = names(folder.path()).into_iter().find(|name| name.ends_with(".part")).unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&temporary), 0o600);
    draft.replace().unwrap();
    assert_eq!((mode("token"), std::fs::read(&other).unwrap()), (0o600, b"kept".to_vec()));
}

#[test]
fn invariant_4_what_is_there_is_not_replaced() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("proof.zip");
    let draft = || {
        let mut draft = Draft::beside(&path).unwrap();
        draft.file().write_all(b"mine").unwrap();
        draft
    };
    std::fs::write(&path, "yours").unwrap();
    assert_eq!(draft().create().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"yours");
    std::fs::remove_file(&path).unwrap();
    draft().create().unwrap();
    assert_eq!((std::fs::read(&path).unwrap(), names(folder.path()).len()), (b"mine".to_vec(), 1));
}

#[test]
fn what_is_not_on_a_system_is_said_in_words_and_as_a_kind_of_its_own() {
    let error = disk::not_on_this_system("a folder that sings");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "a folder that sings: Hermit does not have this on this system yet");
}

#[cfg(unix)]
#[test]
fn what_systems_do_differently_is_done_here() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    let stamp = |name: &str| disk::stamp(&std::fs::metadata(at(name)).unwrap()).unwrap();

    disk::owner_only::missing_folders(&at("a/b")).unwrap();
    std::fs::set_permissions(at("a"), std::fs::Permissions::from_mode(0o755)).unwrap();
    disk::owner_only::missing_folders(&at("a")).unwrap();
    assert_eq!((mode("a"), mode("a/b")), (0o755, 0o700), "one that is there stays as it is");
    disk::owner_only::folder(&at("a")).unwrap();
    assert_eq!(mode("a"), 0o700);
    assert!(disk::owner_only::new_folder(&at("a")).is_err());

    disk::owner_only::write(&at("kept"), b"one").unwrap();
    let open_to =
        |name: &str| disk::owner_only::open_to_others(&std::fs::File::open(at(name)).unwrap()).unwrap();
    assert_eq!((mode("kept"), open_to("kept")), (0o600, None));
    let before = stamp("kept");
    assert_eq!(before, stamp("kept"));
    std::fs::write(at("kept"), "another").unwrap();
    assert_ne!(before, stamp("kept"));

    drop(disk::create_for_all(&at("program"), true).unwrap());
    assert!(disk::create_for_all(&at("program"), true).is_err(), "what is there is not replaced");
    std::fs::set_permissions(at("program"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(
        !disk::is_program(&at("program"))
            && open_to("program").is_some_and(|others| others.who == "mode 644")
    );
    let others = open_to("program").unwrap();
    assert_eq!(others.remedy_for("/a/key-1.txt"), "run `chmod 600 /a/key-1.txt`");
    assert_eq!(others.remedy_for("/a/it's mine"), "run `chmod 600 '/a/it'\\''s mine'`");
    disk::make_program(&std::fs::File::open(at("program")).unwrap()).unwrap();
    assert!(disk::is_program(&at("program")) && mode("program") == 0o555);
    assert!(disk::is_own(&std::fs::File::open(at("program")).unwrap()));
    assert!(disk::is_own(&disk::open_folder(&at("a")).unwrap()) && disk::open_folder(&at("kept")).is_err());
    std::fs::set_permissions(at("a"), std::fs::Permissions::from_mode(0o722)).unwrap();
    assert!(!disk::is_own(&disk::open_folder(&at("a")).unwrap()), "others write in it");

    let open = |name: &str, mode: u32| {
        std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let above = |name: &str| disk::owner_only::closed_folder_above(&at(name)).unwrap();
    let real = folder.path().canonicalize().unwrap();
    open("", 0o755);
    open("a", 0o755);
    std::fs::write(at("a/b/words"), "one").unwrap();
    open("a/b/words", 0o444);
    assert_eq!(above("a/b/words"), Some(real.join("a/b")), "nobody else comes to it");
    open("a/b", 0o711);
    assert_ne!(above("a/b/words"), Some(real.join("a/b")), "others pass, and may know the name");
    open("a", 0o700);
    std::os::unix::fs::symlink(at("a/b/words"), at("led")).unwrap();
    assert_eq!(above("led"), Some(real.join("a")), "the way is the real one");
    std::fs::hard_link(at("a/b/words"), at("twice")).unwrap();
    assert_eq!(above("a/b/words"), None, "it has another name");
    open("", 0o700);
    assert!(disk::owner_only::closed_folder_above(&at("missing")).is_err());

    std::os::unix::fs::symlink(at("kept"), at("link")).unwrap();
    assert!(disk::open_unfollowed(&at("kept")).is_ok() && disk::open_unwaited(&at("link")).is_ok());
    assert!(disk::open_unfollowed(&at("link")).is_err());

    let space = disk::space(folder.path()).unwrap();
    assert!(space.available <= space.free && space.free <= space.total);
    assert!(disk::may_write(folder.path()) && disk::sync_folder(folder.path()).is_ok());
}

#[test]
fn a_lock_is_held_by_one_and_others_read_the_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("lock");
    disk::owner_only::write(&path, b"held by me").unwrap();
    let open = || std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let (one, other) = (open(), open());
    assert!(disk::try_lock(&one).unwrap() && !disk::try_lock(&other).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"held by me");
    drop(one);
    assert!(disk::try_lock(&other).unwrap());
}

#[test]
fn what_is_held_is_made_with_its_folder_and_held_by_one_until_it_is_closed() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("state/of/turn");
    let held = disk::hold(&path).unwrap();
    assert!(held.is_some() && disk::hold(&path).unwrap().is_none());
    drop(held);
    std::fs::write(&path, b"kept").unwrap();
    assert!(disk::hold(&path).unwrap().is_some());
    assert_eq!(std::fs::read(&path).unwrap(), b"kept", "nothing in it is changed");
    assert!(disk::hold(folder.path()).is_err(), "a folder is no file");
}

/// What every system has to do, each in its own way.
#[test]
fn what_is_made_for_its_owner_alone_is_closed_to_others_and_what_was_open_is_closed() {
    let folder = tempfile::TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let is_closed = |file: &std::fs::File| disk::owner_only::open_to_others(file).unwrap().is_none();
    disk::owner_only::missing_folders(&at("a/b")).unwrap();
    disk::owner_only::new_folder(&at("a/c")).unwrap();
    for name in ["a", "a/b", "a/c"] {
        assert!(is_closed(&disk::open_folder(&at(name)).unwrap()), "{name}");
    }
    assert!(is_closed(&disk::owner_only::create_new(&at("new")).unwrap()));
    assert!(disk::owner_only::create_new(&at("new")).is_err(), "what is there is not replaced");
    let mut draft = Draft::beside(&at("draft")).unwrap();
    assert!(is_closed(draft.file()));
    draft.replace().unwrap();
    assert!(is_closed(&std::fs::File::open(at("draft")).unwrap()));
    std::fs::write(at("open"), "kept").unwrap();
    disk::owner_only::database(&at("open")).unwrap();
    assert!(is_closed(&std::fs::File::open(at("open")).unwrap()));
    assert_eq!(std::fs::read(at("open")).unwrap(), b"kept");
    std::fs::create_dir(at("folder")).unwrap();
    disk::owner_only::folder(&at("folder")).unwrap();
    assert!(is_closed(&disk::open_folder(&at("folder")).unwrap()));
}

#[test]
fn a_digest_is_of_every_byte_in_whatever_pieces_they_come() {
    struct Drips<'a>(&'a [u8], bool);
    impl Read for Drips<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            self.0.by_ref().take(7).read(into)
        }
    }
    for length in [0, 1, 4095, 4096, 4097, 300_000_usize] {
        let bytes: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let whole = (seal::Digest::of(&bytes), length as u64);
        assert_eq!(disk::digest(bytes.as_slice()).unwrap(), whole);
        assert_eq!(disk::digest(Drips(&bytes, false)).unwrap(), whole);
        let (mut hasher, read) = disk::hashed(bytes.as_slice()).unwrap();
        hasher.update(b"more");
        assert_eq!(
            (hasher.finish(), read),
            (seal::Digest::of(&[bytes.as_slice(), b"more"].concat()), whole.1)
        );
    }
    // Read no further than one byte behind the bound.
    let (_, read) = disk::digest(std::io::repeat(1).take(11)).unwrap();
    assert_eq!(read, 11);
}
