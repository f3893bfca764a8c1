//! The table of escapes, really tried: behind the best walls of this machine, and with none.

use effects::{Escapes, Sandbox};
use model::receipt::SandboxLevel;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");

/// What needs no program that a machine may lack.
const ALWAYS_TRIED: [&str; 3] = ["write outside", "read outside", "signal"];

#[test]
fn behind_the_best_walls_nothing_of_the_table_gets_through() {
    let walls = Sandbox::probe(Path::new(EXEC));
    if !matches!(walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces) {
        return conforms::lacks_walls(&format!(
            "bubblewrap ({}), without which nothing is tried,",
            walls.why()
        ));
    }
    let escapes: Escapes = walls.escapes().unwrap();
    assert!(escapes.through.is_empty(), "{escapes}");
    for name in ALWAYS_TRIED {
        assert!(escapes.refused.contains(&name), "{name} was not tried: {escapes}");
    }
}

/// So that a table which finds nothing is a failing test.
#[test]
fn without_walls_the_same_table_gets_through() {
    let escapes = Sandbox::none("a test".to_owned()).escapes().unwrap();
    for name in ALWAYS_TRIED {
        assert!(escapes.through.contains(&name), "{name} was not found out: {escapes}");
    }
    for name in ["socket", "unix socket", "grandchild"] {
        assert!(!escapes.refused.contains(&name), "{name} was taken for refused: {escapes}");
    }
    assert!(!escapes.all_refused());
}

/// A program that is a script. Another process writes it, so that nobody has it open for writing when it is started.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let at = folder.join(name);
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod 755 "$1""#;
    let written = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(&at).arg(text).status();
    assert!(written.unwrap().success());
    at
}

/// The first list of what got through, in the reason of a level.
fn through(why: &str) -> BTreeSet<&str> {
    let (_, rest) = why.split_once("got through: ").unwrap_or_default();
    rest.split(';').next().unwrap_or_default().split(", ").filter(|name| !name.is_empty()).collect()
}

/// That what got through is what a wall had held that is gone, and nothing else of what is always tried.
fn is_found_out(gone: &str, walls: &Sandbox, wanted: &[&str]) {
    let found = through(walls.why());
    for name in wanted {
        assert!(found.contains(name), "without {gone}, {name} was not found out: {}", walls.why());
    }
    for name in ALWAYS_TRIED.iter().filter(|name| !wanted.contains(name)) {
        assert!(!found.contains(name), "without {gone}, {name} is held all the same: {}", walls.why());
    }
    assert!(!matches!(walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces), "{gone}");
}

/// What the tries need beside a shell, and set-up does not install; none where it is here.
fn lacking(tried: &Escapes) -> Option<String> {
    let names = tried.not_tried.join(", ");
    (!tried.not_tried.is_empty()).then(|| format!("what some tries need ({names}) is not here"))
}

#[test]
fn without_namespaces_nothing_of_the_table_gets_through_and_each_wall_that_is_taken_away_is_found_out() {
    let walls = Sandbox::probe_without_namespaces(Path::new(EXEC));
    if walls.level() != SandboxLevel::Landlock {
        assert!(through(walls.why()).is_empty(), "{}", walls.why());
        return conforms::lacks(&format!(
            "Landlock ({}), without which there are no such walls,",
            walls.why()
        ));
    }
    let escapes = walls.escapes().unwrap();
    assert!(escapes.through.is_empty(), "{escapes}");
    for name in ALWAYS_TRIED {
        assert!(escapes.refused.contains(&name) && walls.why().contains(name), "{name}: {}", walls.why());
    }
    if let Some(what) = lacking(&escapes) {
        return conforms::skip(&what);
    }
    let folder = tempfile::tempdir().unwrap();
    let with = |word: &str| format!("exec '{EXEC}' {word} \"$@\"");
    let without = |word: &str| {
        format!(
            "for word in \"$@\"; do shift; [ \"$word\" = {word} ] || set -- \"$@\" \"$word\"; done; {}",
            with("")
        )
    };
    let gone: [(&str, String, &[&str]); 4] = [
        ("rules of files", with("--write /"), &["write outside", "read outside"]),
        ("the filter of networks", with("--network"), &["socket"]),
        ("the filter of local sockets", without("--no-local-sockets"), &["unix socket"]),
        ("the filter of groups", without("--shared"), &["grandchild"]),
    ];
    for (number, (gone, text, wanted)) in gone.iter().enumerate() {
        let exec = script(folder.path(), &number.to_string(), text);
        let open = Sandbox::probe_without_namespaces(&exec);
        is_found_out(gone, &open, wanted);
        assert_eq!(open.level(), SandboxLevel::Unconfined, "{gone}: policy refuses what is called so");
    }
}

/// A `hermit-exec` that puts nothing up inside namespaces, so that what they hold is seen alone; outside of them the real one.
const NOTHING: &str = r#"[ "$0" = /run/hermit/exec ] || exec 'EXEC' "$@"
while [ $# -gt 0 ]; do
  case $1 in
    --check) echo landlock=full seccomp=yes; exit 0 ;;
    --) shift; exec "$@" ;;
  esac
  shift
done"#;

#[test]
fn namespaces_alone_hold_the_table_and_each_that_is_taken_away_is_found_out() {
    const BWRAP: &str = "/usr/bin/bwrap";
    let walls = Sandbox::probe_by(Path::new(BWRAP), Path::new(EXEC));
    if !matches!(walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces) {
        return conforms::lacks_walls(&format!("bubblewrap ({}), whose walls are taken away,", walls.why()));
    }
    let folder = tempfile::tempdir().unwrap();
    let nothing = script(folder.path(), "nothing", &NOTHING.replace("EXEC", EXEC));
    let alone = Sandbox::probe_by(Path::new(BWRAP), &nothing);
    assert_eq!(alone.level(), SandboxLevel::NamespacesLandlock, "{}", alone.why());
    let escapes = alone.escapes().unwrap();
    assert!(escapes.through.is_empty(), "{escapes}");
    if let Some(what) = lacking(&escapes) {
        return conforms::skip(&what);
    }
    let temporary = std::env::temp_dir().canonicalize().unwrap();
    // All of them but one, by their names; or one place more that is seen.
    let all_but = |names: &str| format!("--unshare-all) set -- \"$@\" --unshare-user-try {names} ;;");
    let seen = format!("--chdir) set -- \"$@\" --bind '{0}' '{0}' \"$word\" ;;", temporary.display());
    let gone: [(&str, String, &[&str]); 3] = [
        ("a network of its own", all_but("--unshare-ipc --unshare-pid --unshare-uts"), &["socket"]),
        (
            "processes of its own",
            all_but("--unshare-ipc --unshare-net --unshare-uts"),
            &["signal", "grandchild"],
        ),
        ("files of its own", seen, &["write outside", "read outside", "unix socket"]),
    ];
    for (number, (gone, case, wanted)) in gone.iter().enumerate() {
        let text = format!(
            "for word in \"$@\"; do shift; case $word in {case} *) set -- \"$@\" \"$word\" ;; esac; done; \
             exec {BWRAP} \"$@\""
        );
        let bwrap = script(folder.path(), &number.to_string(), &text);
        let open = Sandbox::probe_by(&bwrap, &nothing);
        is_found_out(gone, &open, wanted);
        assert!(open.why().contains("bubblewrap is not believed here: "), "{gone}: {}", open.why());
    }
}
