//! A store that was set back is found out, read, not written, and taken up again only by a person.

use crate::bench::{Bench, program};
use crate::pins::refused;
use std::process::Command;

/// With keys that sleep in the system's keychain: a real one, in a session bus of its own.
#[test]
fn the_keychain_keeps_the_head_too_and_it_is_compared_when_the_store_is_opened() {
    let there = |tool: &str| Command::new(tool).arg("--help").output().is_ok();
    if !there("dbus-run-session") || !there("gnome-keyring-daemon") {
        return conforms::lacks("a keyring to start");
    }
    let bench = Bench::bare();
    let script = r#"export HOME=$PWD XDG_DATA_HOME=$PWD/data XDG_RUNTIME_DIR=$PWD/run; mkdir -m 700 -p run
exec dbus-run-session -- sh -ec '
printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
hermit() { "$0" "$@" >/dev/null; }
hermit keys init --store keychain --approval-passphrase-fd 4 4<approval
hermit ledger checkpoint
cp -a "$HERMIT_HOME" old
hermit artifacts ingest approval
hermit ledger checkpoint
rm -r "$HERMIT_HOME" "$HERMIT_HOME.pin"
mv old "$HERMIT_HOME"
"$0" ledger checkpoint
' "$0""#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program());
    let ran = bench.finish_in(command);
    refused(&ran);
    assert!(ran.err.contains("the head kept in the keychain"), "{}", ran.err);
}
