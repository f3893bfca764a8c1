//! No room: a full disk, a file that may not grow, a sync that fails. It is said, what was recorded is read, what stops
//! work and what makes room goes on, and nothing is lost.

use crate::bench::{APPROVAL, Bench, program};
use std::process::Command;

/// A small disk for the store, in a mount namespace of its own; `fill N` leaves N KiB of it.
const DISK: &str = r#"fill() {
  rm -f "$HERMIT_HOME/filler"
  dd if=/dev/zero of="$HERMIT_HOME/filler" bs=1k count=$(($(df -k --output=avail "$HERMIT_HOME" | tail -n 1) - $1)) 2>/dev/null
}
hermit() { "$program" "$@"; }
wants() { want=$1; shift; hermit "$@" >said 2>&1; got=$?; [ $got = "$want" ] || { echo "with $free KiB \`$*\` ends with $got: $(cat said)"; exit 1; }; }
says() { grep -q "$1" said || { echo "with $free KiB it does not say $1: $(cat said)"; exit 1; }; }
program=$0
hermit keys init --store file --passphrase-fd 3 --approval-passphrase-fd 4 3<vault 4<approval >/dev/null || exit 1
export HERMIT_PASSPHRASE_FILE=vault
wants 4 run --playbook tidy --workspace folder
"#;

fn on_a_disk(bench: &Bench, mount: &str, script: &str) {
    std::fs::create_dir(bench.home()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mount} || exit 77\n{DISK}{script}")]).arg(program());
    let ran = bench.finish_in(command);
    if ran.code == 77 || ran.err.contains("unshare failed") {
        return conforms::skip("this machine mounts nothing for us, so no disk is full");
    }
    ran.ends_with(0);
}

#[test]
fn on_a_full_disk_the_store_is_read_halted_and_room_is_made_in_it() {
    let script = r#"for free in 0 4 16 32 60; do
  fill $free
  wants 0 task list
  wants 0 approvals list
  wants 0 ledger verify
  wants 0 artifacts gc --dry-run --older-than 0s
  wants 1 resume; says 'the disk is full'
done
free=0; fill 0
wants 0 halt; says 'alted'
rm "$HERMIT_HOME/filler"; wants 0 gate state; says 'alted'
wants 0 boot
free=0; fill 0
wants 0 artifacts gc --older-than 0s
rm "$HERMIT_HOME/filler"; wants 0 ledger verify
"#;
    on_a_disk(&Bench::bare(), r#"mount -t tmpfs -o size=40m none "$HERMIT_HOME""#, script);
}

#[test]
fn a_disk_of_small_blocks_that_is_full_ends_no_command_without_a_word() {
    let mount = r#"dd if=/dev/zero of=disk bs=1M count=48 2>/dev/null && mke2fs -q -t ext4 -b 1024 -m 0 disk && mount -o loop disk "$HERMIT_HOME""#;
    let script = r#"for free in 0 1 2 3 5 8 20 40; do
  fill $free
  wants 0 task list
  wants 0 ledger verify
  wants 1 resume; says 'the disk is full'
done
umount "$HERMIT_HOME""#;
    on_a_disk(&Bench::bare(), mount, script);
}

#[test]
fn a_file_that_may_not_grow_is_told_of_and_ends_no_program() {
    let bench = Bench::new();
    bench.tidied();
    let script = "ulimit -f 40; exec \"$0\" backup copy";
    let mut command = Command::new("bash");
    command.args(["-c", script]).arg(program());
    let ran = bench.finish_in(command);
    assert!(ran.code == 1 && ran.err.contains("error:"), "{} {}{}", ran.code, ran.out, ran.err);
    bench.run(&["backup", "copy"]).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(0);
}

#[test]
fn after_a_sync_that_failed_while_the_wal_is_moved_nothing_more_is_written() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    std::fs::write(bench.path("said"), APPROVAL).unwrap();
    let script = "exec strace -f -qq -o calls -P \"$HERMIT_HOME/ledger.db\" -e trace=fsync,fdatasync \
                  -e inject=fsync,fdatasync:error=EIO:when=1 \"$0\" erase --task \"$1\" --yes --approval-passphrase-fd 3 3<said";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program()).arg(&task);
    let ran = bench.finish_in(command);
    let calls = std::fs::read_to_string(bench.path("calls")).unwrap();
    assert!(calls.contains("INJECTED"), "no sync failed: {calls}");
    assert_ne!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("end this process and open the store again"), "{}", ran.err);
    assert_eq!(calls.matches("sync(").count(), 1, "the file was written on after it: {calls}");
    bench.erase(&["--task", &task], APPROVAL).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(0);
}
