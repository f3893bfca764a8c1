//! OpenTimestamps.

use crate::{COMPLETE, PENDING, chain, digest, headers};
use anchor::ots::{Attestation, Node, Op, Timestamp};
use anchor::{Error, Trust, check};
use model::UnixMs;
use model::anchor::AnchorClock;
use seal::Digest;

const ANSWER: &[u8] = include_bytes!("data/answer.bin");

/// The Merkle root that `complete.ots` leads to, in the order of bytes that a header has.
fn root() -> [u8; 32] {
    *"05fa971cfe70ba29ea6b3ea4c4afee205afb1d40f9d7146aa06bf6aa4875ba9f".parse::<Digest>().unwrap().as_bytes()
}

fn nonce() -> [u8; 16] {
    std::array::from_fn(|at| u8::try_from(at).unwrap())
}

#[test]
fn a_file_of_the_reference_is_written_as_it_was_read() {
    for file in [PENDING, COMPLETE] {
        let read = Timestamp::read(file).unwrap();
        assert_eq!(read.digest, digest());
        assert_eq!(read.to_bytes().unwrap(), file);
    }
    assert_eq!(Timestamp::read(COMPLETE).unwrap().unknown(), 1);
}

#[test]
fn a_pending_file_says_whom_to_ask_about_what() {
    let (commitment, _) = Timestamp::stamp_request(&digest(), nonce());
    let pending = Timestamp::read(PENDING).unwrap().commitments_pending();
    assert_eq!(pending.len(), 2);
    assert_eq!(pending[0], ("https://a.example.org".to_owned(), commitment.to_vec()));
    assert_eq!(pending[1].0, "https://b.example.org/pool");
    let checked = check(AnchorClock::OpenTimestamps, PENDING, &digest(), &Trust::default()).unwrap();
    assert!(checked.pending && checked.proven.is_none());
    assert!(checked.says[0].contains("https://a.example.org"));
}

#[test]
fn answers_of_calendars_are_merged_one_by_one() {
    let (commitment, mut stamp) = Timestamp::stamp_request(&digest(), nonce());
    assert!(stamp.to_bytes().is_err(), "nothing attests it yet");
    let first = Timestamp::read(PENDING).unwrap();
    let (Op::Append(_), nonced) = &first.root().ops[0] else { panic!("another operation") };
    assert_eq!(nonced.ops[0].1.message, commitment);
    let uri = b"https://a.example.org";
    let mut answer = vec![0, 0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e, 22, 21];
    answer.extend(uri);
    stamp.merge(&commitment, &answer).unwrap();
    let once = stamp.to_bytes().unwrap();
    stamp.merge(&commitment, &answer).unwrap();
    assert_eq!(stamp.to_bytes().unwrap(), once, "what is there already is there once");
    stamp.merge(&commitment, ANSWER).unwrap();
    assert_eq!(stamp.in_blocks()[0].height, 7);
    assert!(stamp.commitments_pending().is_empty(), "a block attests it");
    assert_eq!(Timestamp::read(&stamp.to_bytes().unwrap()).unwrap(), stamp);
    let other = stamp.merge(&[1; 32], ANSWER);
    assert!(matches!(other, Err(Error::Wrong { .. })));
}

#[test]
fn a_block_of_the_headers_given_proves_its_time() {
    let chain = chain(&[[1; 32], [2; 32], root(), [4; 32]]);
    let told = headers(&chain);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    let checked = check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &trust).unwrap();
    let proven = checked.proven.unwrap();
    assert_eq!(proven.not_after, UnixMs((1_700_000_000 + 7200) * 1000));
    let block = proven.block.unwrap();
    assert_eq!((block.height, block.depth), (2, 2));
    assert!(checked.on_trust[0].contains("next to no work"), "{:?}", checked.on_trust);
    // Without heights, the root finds the block.
    let told = headers(&chain[1..]);
    let checked =
        check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &Trust { headers: Some(&told), ..trust })
            .unwrap();
    assert!(checked.proven.is_some());
    assert!(checked.on_trust.iter().any(|said| said.contains("which only the proof says")));
}

#[test]
fn without_headers_a_block_proves_nothing_and_with_others_it_is_wrong() {
    let checked = check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &Trust::default()).unwrap();
    assert_eq!((checked.proven, checked.pending), (None, false));
    let other = headers(&chain(&[[1; 32], [2; 32], [3; 32]]));
    let trust = Trust { authorities: &[], headers: Some(&other) };
    assert!(matches!(
        check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &trust),
        Err(Error::Wrong { .. })
    ));
    let short = headers(&chain(&[[1; 32], [2; 32]]));
    let trust = Trust { authorities: &[], headers: Some(&short) };
    assert_eq!(check(AnchorClock::OpenTimestamps, COMPLETE, &digest(), &trust).unwrap().proven, None);
}

#[test]
fn depth_number_and_size_are_bounded() {
    let head = &COMPLETE[..65];
    let end = [0, 1, 2, 3, 4, 5, 6, 7, 8, 0];
    let file = |ops: &[u8]| Timestamp::read(&[head, ops, &end].concat());
    assert!(file(&[0x08; 255]).is_ok());
    assert!(file(&[0x08; 256]).is_err());
    assert!(file(&[0x08; 100_000]).is_err());
    // Forks of an attestation each: 4,095 and the last.
    let fork = [&[0xff][..], &end].concat();
    assert!(file(&fork.repeat(4095)).is_ok());
    assert!(file(&fork.repeat(4096)).is_err());
    // A message that grows beyond 4096 bytes, and lengths that nothing is behind.
    assert!(file(&[0xf3; 7]).is_ok());
    assert!(file(&[0xf3; 8]).is_err());
    for length in [vec![0xff; 9], vec![0xff, 0xff, 0xff, 0xff, 0x0f], vec![0x81, 0x20], vec![0x80, 0]] {
        assert!(file(&[&[0xf0][..], &length].concat()).is_err(), "{length:?}");
    }
    assert!(file(&[0x09]).is_err(), "an unknown operation");
    let uri = |uri: &[u8]| {
        let length = u8::try_from(uri.len()).unwrap();
        let pending =
            [&[0, 0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e, length + 1, length][..], uri].concat();
        Timestamp::read(&[head, &pending].concat())
    };
    assert!(uri(b"https://a.example:14788/x_y-z").is_ok());
    for wrong in [&b"https://a/?q"[..], b"https://a@b", b"a b", b"a\n", "ä".as_bytes()] {
        assert!(uri(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn attestations_of_one_message_are_in_the_order_of_the_reference() {
    let read = Timestamp::read(COMPLETE).unwrap();
    let mut last = Vec::new();
    let mut node: &Node = read.root();
    while let Some((_, below)) = node.ops.first() {
        node = below;
        last.clone_from(&node.attestations);
    }
    assert!(matches!(
        last.as_slice(),
        [Attestation::Unknown { .. }, Attestation::Bitcoin(2), Attestation::Bitcoin(123_456_789)]
    ));
}
