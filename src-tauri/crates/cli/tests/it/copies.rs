//! What the doctor says of a store that is damaged.

use crate::bench::Bench;
use serde_json::Value;

pub fn facts(bench: &Bench, name: &str) -> Value {
    let doctor = bench.run(&["doctor", "--json"]).json();
    let all = doctor["facts"].as_array().unwrap();
    all.iter().find(|fact| fact["name"] == name).unwrap_or_else(|| panic!("{name} in {doctor}")).clone()
}

#[test]
fn the_doctor_says_that_an_approval_key_is_damaged_and_which_streams_were_set_aside() {
    let bench = Bench::new();
    assert_eq!(facts(&bench, "approval key")["level"], "fine");
    let path = bench.home().join("approval.key");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let told = facts(&bench, "approval key");
    assert_eq!(told["level"], "trouble", "{told}");
    std::fs::write(&path, whole).unwrap();
    // Every key file whose form can be seen without its passphrase.
    for (name, of) in [("approval.key", "approval key"), ("vault.key", "vault"), ("keys.json", "vault")] {
        let path = bench.home().join(name);
        let whole = std::fs::read_to_string(&path).unwrap();
        let longer = whole.replace("\"ciphertext\":\"", "\"ciphertext\":\"AAAA");
        for damaged in [longer, whole.replace("\":\"", "\":\"~"), String::new()] {
            std::fs::write(&path, &damaged).unwrap();
            let locked = bench.run_with(&["doctor", "--json"], &[]).json();
            let all = locked["facts"].as_array().unwrap();
            let told = all.iter().find(|fact| fact["name"] == of).unwrap();
            // A vault may hold any number of bytes.
            assert_eq!(
                told["level"] == "trouble",
                damaged != whole && (name != "vault.key" || !damaged.contains("AAAA")),
                "{name}: {told}"
            );
        }
        std::fs::write(&path, whole).unwrap();
    }
    std::fs::write(bench.home().join("journal.db.damaged-1"), "x").unwrap();
    let told = facts(&bench, "run streams");
    assert!(told["value"].as_str().unwrap().contains("damaged-1"), "{told}");
}
