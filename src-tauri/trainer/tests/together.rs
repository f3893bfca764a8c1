//! Four processes on one machine learn together; one is away for a round, and what is forged or late does not count (HV-3.8-3).

use crate::tiny::Place;
use seal::{SeedSigner, Signer as _};
use std::fs;
use std::path::{Path, PathBuf};
use trainer::adapter::flat;
use trainer::checkpoint;
use trainer::peer::{CountedFiles, MessageFile};
use training::Said;
use training::outer::{Compressor, OuterHead, OuterMessage, OuterSettings, Robust};

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

/// The numbers of the state of a peer.
fn numbers(place: &Place) -> Vec<f32> {
    let (_, found) =
        checkpoint::from_bytes(&state(place), place.spec.together(), &["numbers", "velocity"]).unwrap();
    flat(&found[0])
}

#[test]
fn one_poisoned_peer_moves_no_place_further_than_the_honest_ones_do() {
    let peers = ["a", "b", "c", "d"].map(|project| Place::with(|_| {}, project));
    let files: Vec<PathBuf> = peers.iter().map(|peer| learns(peer).0).collect();
    let mut messages: Vec<MessageFile> =
        files.iter().zip(1..).map(|(file, key)| message(file, key)).collect();
    // How far a place goes at most with the honest ones alone, whichever of them are left out.
    let length = OuterHead::of(&fs::read(&files[0]).unwrap()).unwrap().length;
    let read = |file: &Path| OuterMessage::from_bytes(&fs::read(file).unwrap(), length).unwrap();
    let mut furthest = vec![0.0_f32; length as usize];
    for file in &files {
        for (place, number) in read(file).packed.numbers() {
            let most = &mut furthest[place as usize];
            *most = most.max(number.abs());
        }
    }
    let counted = CountedFiles { round: Some(0), settings: settings(), messages: messages.clone() };
    ends(&peers[0], &counted).unwrap();
    // The fourth sends the opposite of what it learned, a thousand times as far.
    let own = read(&files[3]);
    let mut way = vec![0.0_f32; length as usize];
    for (place, number) in own.packed.numbers() {
        way[place as usize] = number * -1_000.0;
    }
    let packed = Compressor::new(way.len()).unwrap().pack(&way, way.len()).unwrap();
    let poisoned = peers[3].folder.path().join("poisoned.bin");
    fs::write(&poisoned, OuterMessage { packed, ..own }.to_sign()).unwrap();
    messages[3] = message(&poisoned, 4);
    ends(&peers[1], &CountedFiles { messages, ..counted }).unwrap();
    let OuterSettings { rate, momentum, .. } = settings();
    let places = numbers(&peers[0]).into_iter().zip(numbers(&peers[1])).zip(furthest);
    for ((honest, poisoned), most) in places {
        assert!((honest - poisoned).abs() <= 2.0 * rate * (1.0 + momentum) * most + 1e-6);
    }
}
