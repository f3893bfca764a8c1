//! Somebody who may write the store's file puts a key of their own into it, chains everything behind it anew, and lays
//! their own `approval.key` beside it: no host believes them, with the vault open or locked.

use crate::bench::{APPROVAL, Bench, Ran, text};
use std::process::Command;

/// Changes events of one stream, whichever the words of Python `edit` say, and chains all behind them anew.
fn chain_anew(bench: &Bench, task: &str, edit: &str) {
    let program = "import hashlib, json, sqlite3, sys
path, task, edit = sys.argv[1:]
db = sqlite3.connect(path, isolation_level=None)
db.execute('PRAGMA foreign_keys = off')
triggers = db.execute(\"SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'\").fetchall()
for name, _ in triggers: db.execute('DROP TRIGGER ' + name)
task, head = bytes.fromhex(task), None
rows = db.execute('SELECT task_seq, bytes FROM events WHERE task_id = ? ORDER BY task_seq', (task,)).fetchall()
for seq, before in rows:
    event = json.loads(before)
    exec(edit)
    if head: event['prev_event_hash'] = head
    after = json.dumps(event, sort_keys=True, separators=(',', ':'), ensure_ascii=False).encode()
    assert seq > 1 or after == before
    head = hashlib.sha256(after).hexdigest()
    db.execute('UPDATE events SET bytes = ?, hash = ? WHERE task_id = ? AND task_seq = ?',
               (after, bytes.fromhex(head), task, seq))
for _, sql in triggers: db.execute(sql)";
    let mut command = Command::new("python3");
    let task = task.replace("task_", "").replace('-', "");
    command.args(["-c", program]).arg(bench.home().join("ledger.db")).args([&task, edit]);
    bench.finish_in(command).ends_with(0);
}

/// Exchanges the approval key in the ledger and beside it.
fn exchange(bench: &Bench, mine: &Bench) {
    let select = |bench: &Bench, what: &str| {
        let rows = bench.sqlite(&format!(
            "SELECT {what} FROM events WHERE event_type = 'key.registered' AND CAST(bytes AS TEXT) LIKE '%\"purpose\":\"approval\"%'"
        ));
        text(&rows[0][0])
    };
    let of_payload = |name: &str| format!("json_extract(CAST(bytes AS TEXT), '$.payload.{name}')");
    let edit = format!(
        "p = event['payload']\nif p.get('purpose') == 'approval': event['entity_id'] = p['keyid'] = '{}'; p['public_key'] = '{}'",
        select(mine, &of_payload("keyid")),
        select(mine, &of_payload("public_key")),
    );
    chain_anew(bench, &select(bench, "hex(task_id)"), &edit);
    std::fs::copy(mine.home().join("approval.key"), bench.home().join("approval.key")).unwrap();
}

/// Refused, and told what it is and what to do.
fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
}

#[test]
fn an_approval_key_exchanged_in_the_ledger_says_no_yes_with_the_vault_open_or_locked() {
    let (bench, mine) = (Bench::new(), Bench::new());
    let (_, approval) = bench.waiting();
    exchange(&bench, &mine);
    let told = ["changed behind Hermit's back", "whose keys count", "hint:", "backup"];
    // No head was signed by anybody but the making of the keys.
    refused(&bench.run(&["resume"]), &told);
    refused(&bench.run_with(&["resume"], &[("HERMIT_PASSPHRASE_FILE", "")]), &told);
    refused(&bench.run_with(&["serve"], &[("HERMIT_PASSPHRASE_FILE", "")]), &told);
    let home = bench.home();
    let locked = [("HERMIT_HOME", home.to_str().unwrap())];
    let words = ["approvals", "approve", &approval];
    let mut terminal = testkit::pty::Pty::spawn(crate::bench::program(), &words, &locked);
    terminal.expect("Vault passphrase").send("\r");
    let (code, shown) = terminal.end();
    assert!(code == 5 && shown.contains("whose keys count"), "{shown}");
    assert_eq!(bench.status(&approval), "pending", "it is read");
    bench.run(&["ledger", "verify"]).ends_with(5);
    let doctor = bench.run(&["doctor", "--json"]).json();
    let fact =
        doctor["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == "signed heads").unwrap();
    assert_eq!(fact["level"], "trouble", "{fact}");
    assert!(text(&fact["advice"]).contains("backup"), "{fact}");
    // The way that leads past a broken chain is not theirs either, who knows the passphrase of their own key.
    let again = bench.reanchor(APPROVAL);
    assert!(
        again.code != 0 && again.err.contains("the vault knows another one"),
        "{}{}",
        again.out,
        again.err
    );
    assert_eq!(bench.sqlite("SELECT count(*) FROM events WHERE event_type = 'chain.reanchored'")[0][0], 0);
}

#[test]
fn an_approval_key_exchanged_with_every_signature_taken_out_is_not_the_one_the_vault_knows() {
    let (bench, mine) = (Bench::new(), Bench::new());
    bench.waiting();
    exchange(&bench, &mine);
    bench.sqlite("DELETE FROM checkpoints");
    std::fs::remove_file(bench.path("home.pin")).unwrap();
    refused(&bench.run(&["resume"]), &["the vault knows another one", "hint:", "backup"]);
    // Behind the pin it is refused before any vault is opened.
    let (bench, mine) = (Bench::new(), Bench::new());
    bench.waiting();
    exchange(&bench, &mine);
    bench.sqlite("DELETE FROM checkpoints");
    let said = bench.run_with(&["resume"], &[("HERMIT_PASSPHRASE_FILE", "")]);
    assert!(said.code == 3 && said.err.contains("hermit checkpoint accept"), "{}", said.err);
}

#[test]
fn a_task_chained_anew_behind_its_signed_head_is_found_when_the_store_is_opened() {
    let bench = Bench::new();
    let (task, _) = bench.waiting();
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    bench.run(&["resume"]).ends_with(0);
    chain_anew(&bench, &task, "if seq == 3: event['occurred_at'] += 1");
    refused(
        &bench.run(&["resume"]),
        &[task.as_str(), "not those that were signed", "hermit ledger reanchor"],
    );
    bench.reanchor(APPROVAL).ends_with(0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
}
