//! Keys that are made: broken off wherever that can break off, on a full disk, and in a store that has others.

use crate::bench::{APPROVAL, Bench, VAULT, program};
use crate::making::purposes;
use std::process::Command;

#[test]
fn keys_are_made_on_a_full_disk_once_there_is_room() {
    let bench = Bench::bare();
    // In a mount namespace of its own the small disk is gone with the shell; without the right to one, the injected
    // errors above have to do.
    let script = r#"mount -t tmpfs -o size=8m none "$HERMIT_HOME" || exit 77
for free in $(seq 644 12 860); do
  rm -rf "$HERMIT_HOME"/* "$HERMIT_HOME".pin
  left=$(df -k --output=avail "$HERMIT_HOME" | tail -n 1)
  dd if=/dev/zero of="$HERMIT_HOME/filler" bs=1k count=$((left - free)) 2>/dev/null
  "$0" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval >/dev/null 2>said
  first=$?
  rm "$HERMIT_HOME/filler"
  [ $first = 0 ] || "$0" keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval >said 2>&1 \
    || { echo "with $free KiB:"; cat said; exit 1; }
  [ "$("$0" keys list | grep -c 'in force')" = 4 ] || { echo "with $free KiB some are missing"; exit 1; }
  echo "$free $first"
done"#;
    std::fs::create_dir(bench.home()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(program());
    let ran = bench.finish_in(command);
    if ran.code == 77 || ran.err.contains("unshare failed") {
        return;
    }
    let ran = ran.ends_with(0);
    assert!(ran.out.lines().any(|line| !line.ends_with(" 0")), "no disk was full:\n{}", ran.out);
    assert!(ran.out.lines().any(|line| line.ends_with(" 0")), "every disk was full:\n{}", ran.out);
}

#[test]
fn the_first_approval_key_wants_a_terminal_and_the_right_passphrase_of_the_vault() {
    let bench = Bench::bare();
    std::fs::write(bench.path("vault"), VAULT).unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg("exec \"$0\" keys init --store file --passphrase-fd 3 3<vault").arg(program());
    bench.finish_in(command).ends_with(0);
    assert_eq!(purposes(&bench).len(), 3);
    // A program that knows both passphrases makes itself no key that says yes.
    let refused = bench.keys();
    assert_eq!(refused.code, 3, "{}{}", refused.out, refused.err);
    assert!(refused.err.contains("terminal"), "{}", refused.err);
    assert!(!bench.home().join("approval.key").exists());
    let answer = |vault: &str, ends: i32| {
        let mut terminal = bench.terminal(&["keys", "init"]);
        terminal.expect("Vault passphrase: ").send(&format!("{vault}\r"));
        terminal.expect("Approval passphrase: ").send(&format!("{vault}\r"));
        terminal.expect("different from the vault's").expect("Approval passphrase: ");
        terminal.send("short\r").expect("at least 8 characters").expect("Approval passphrase: ");
        terminal.send(&format!("{APPROVAL}\r")).expect("once more: ").send(&format!("{APPROVAL}\r"));
        let (code, shown) = terminal.end();
        assert_eq!(code, ends, "{shown}");
    };
    answer("a wrong passphrase", 4);
    assert!(!bench.home().join("approval.key").exists());
    answer(VAULT, 0);
    assert_eq!(purposes(&bench).len(), 4);
    bench.tidied();
}
