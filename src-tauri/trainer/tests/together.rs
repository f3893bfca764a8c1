//! Four processes on one machine learn together; one is away for a round, and what is forged or late does not count (HV-3.8-3).

use crate::tiny::Place;
use seal::{SeedSigner, Signer as _};
use std::fs;
use std::path::{Path, PathBuf};
use trainer::peer::{CountedFiles, MessageFile};
use training::Said;
use training::outer::{OuterSettings, Robust};

fn settings() -> OuterSettings {
    let robust = Robust { trim_percent: 25, clip: true };
    OuterSettings { robust, peers_min: 3, rate: 0.7, momentum: 0.3 }
}

/// A peer learns for some steps; the file of its message, and bytes of it and of the whole.
fn learns(place: &Place) -> (PathBuf, u64, u64) {
    let (said, well) = place.done(&place.spec, "peer", &["learn", "3", "10"]);
    let Some(Said::Round { file, bytes, whole, .. }) = said.last() else { panic!("{said:?}") };
    assert!(well);
    (PathBuf::from(file), *bytes, *whole)
}

fn message(file: &Path, key: u8) -> MessageFile {
    let signer = SeedSigner::from_seed([key; 32]);
    let signature = signer.sign(&fs::read(file).unwrap()).unwrap();
    MessageFile { peer: signer.public(), signature, file: file.to_str().unwrap().to_owned() }
}

fn ends(place: &Place, counted: &CountedFiles) -> Result<(), String> {
    let path = place.folder.path().join("counted.json");
    fs::write(&path, serde_json::to_vec(counted).unwrap()).unwrap();
    let (said, well) = place.done(&place.spec, "peer", &["end", path.to_str().unwrap()]);
    match said.last() {
        Some(Said::Refused { words }) => Err(words.clone()),
        _ if well => Ok(()),
        other => panic!("{other:?}"),
    }
}

fn state(place: &Place) -> Vec<u8> {
    fs::read(Path::new(&place.spec.folder).join("together/state.safetensors")).unwrap()
}

#[test]
fn peers_of_different_work_come_to_one_state_and_a_forged_or_late_message_is_refused() {
    let peers = ["a", "b", "c", "d"].map(|project| Place::with(|_| {}, project));
    let mut sum = (0, 0);
    for round in 0..3 {
        // The fourth is away in the second round.
        let here: Vec<usize> = (0..4).filter(|at| round != 1 || *at != 3).collect();
        let mut messages = Vec::new();
        for at in &here {
            let (file, bytes, whole) = learns(&peers[*at]);
            sum = (sum.0 + bytes, sum.1 + whole);
            messages.push(message(&file, *at as u8 + 1));
        }
        let counted = CountedFiles { round: None, settings: settings(), messages };
        let mut forged = counted.clone();
        forged.messages[0].signature = forged.messages[1].signature;
        assert!(ends(&peers[0], &forged).unwrap_err().contains("signature"));
        let few = CountedFiles { messages: counted.messages[..2].to_vec(), ..counted.clone() };
        assert!(ends(&peers[0], &few).is_err());
        for peer in &peers {
            ends(peer, &counted).unwrap();
        }
        assert!(peers.iter().all(|peer| state(peer) == state(&peers[0])), "round {round}");
        assert!(ends(&peers[0], &counted).unwrap_err().contains("another round"));
        // Whoever died before it was known that the round is over says it again.
        let before = state(&peers[0]);
        ends(&peers[0], &CountedFiles { round: Some(round), ..counted.clone() }).unwrap();
        assert!(state(&peers[0]) == before);
    }
    println!("three rounds of four peers: {} bytes sent, plain averaging {}", sum.0, sum.1);
    assert!(sum.0 * 4 < sum.1);
}

#[test]
fn learning_again_in_a_round_gives_the_same_message() {
    let place = Place::new();
    let (file, ..) = learns(&place);
    let first = fs::read(&file).unwrap();
    let (again, ..) = learns(&place);
    assert_eq!(again, file);
    assert!(fs::read(again).unwrap() == first);
}
