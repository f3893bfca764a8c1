//! Bitcoin: headers, paths to them, and a transaction of one's own.

use crate::{chain, digest, headers, mined};
use anchor::bitcoin::{Header, Headers, Transaction, TxOutProof, double_sha256, spelled};
use anchor::op_return::{OpReturnProof, script};
use anchor::{Error, Trust, check};
use model::UnixMs;
use model::anchor::AnchorClock;
use seal::Digest;

/// The first three headers of Bitcoin's own chain.
pub(crate) const MAIN: [&str; 3] = [
    "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c",
    "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299",
    "010000004860eb18bf1b1620e37e9490fc8a427514416fd75159ab86688e9a8300000000d5fdcc541e25de1c7a5addedf24858b8bb665c9f36ef744ee42c316022c90f9bb0bc6649ffff001d08d2bd61",
];
/// The one transaction of the first block.
const COINBASE: &str = "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000";

fn bytes(hex: &str) -> Vec<u8> {
    hex::decode(hex).unwrap()
}

#[test]
fn headers_of_the_main_chain_are_read_as_bytes_and_as_lines() {
    let whole: Vec<u8> = MAIN.iter().flat_map(|header| bytes(header)).collect();
    for file in [whole.clone(), MAIN.join("\n").into_bytes(), format!("{}\n", MAIN.join("\r\n")).into_bytes()]
    {
        let read = Headers::read(&file).unwrap();
        assert!(read.begins_with_genesis());
        let place = read.at(2).unwrap();
        assert_eq!(
            spelled(&place.header.hash),
            "000000006a625f06636b8bb6ac7b960a8d03705d1ace08b1a19da3fdcc99ddbd"
        );
        assert_eq!((place.height, place.depth, place.header.time), (Some(2), 1, 1_231_469_744));
        assert!(read.at(3).is_none());
    }
    let named = Headers::read(format!("height 1\n{}\n{}\n", MAIN[1], MAIN[2]).as_bytes()).unwrap();
    assert_eq!(named.at(1).unwrap().depth, 2);
    assert!(named.at(0).is_none() && !named.begins_with_genesis());
    assert_eq!(
        Headers::read(&whole[80..]).unwrap().of_hash(&double_sha256(&bytes(MAIN[2]))).unwrap().height,
        None
    );
}

#[test]
fn headers_without_work_or_a_link_are_refused() {
    let [first, second, third] = MAIN.map(bytes);
    for file in [
        vec![],
        vec![0; 79],
        [&first[..], &third].concat(),
        [&second[..], &first].concat(),
        [&first[..], &first].concat(),
        b"height x\n".to_vec(),
        format!("height 5\n{}", MAIN[0]).into_bytes(),
        format!("{}\nzz", MAIN[0]).into_bytes(),
        // On top of the first block, but as easy as on a test network.
        [&first[..], &mined(double_sha256(&first), [1; 32], 1_231_006_600)].concat(),
    ] {
        assert!(Headers::read(&file).is_err());
    }
    let mut changed = third;
    changed[70] ^= 1;
    assert!(matches!(Header::read(&changed), Err(Error::Wrong { .. })));
}

#[test]
fn a_transaction_has_the_same_id_with_and_without_witnesses() {
    let coinbase = Transaction::read(&bytes(COINBASE)).unwrap();
    assert_eq!(spelled(&coinbase.txid), "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b");
    let stripped = transaction(&script(&digest()));
    let plain = Transaction::read(&stripped).unwrap();
    let end = stripped.len() - 4;
    let with = [&stripped[..4], &[0, 1], &stripped[4..end], &[1, 2, 7, 7], &stripped[end..]].concat();
    assert_eq!(Transaction::read(&with).unwrap(), plain);
    let empty = [&stripped[..4], &[0, 1], &stripped[4..end], &[0], &stripped[end..]].concat();
    assert!(Transaction::read(&empty).is_err());
    assert_eq!(plain.scripts, vec![script(&digest())]);
}

/// A transaction with one input and one output of this script.
pub(crate) fn transaction(script: &[u8]) -> Vec<u8> {
    let output = [&[0; 8][..], &[u8::try_from(script.len()).unwrap()], script].concat();
    [&[2, 0, 0, 0, 1][..], &[9; 36], &[0], &[0xff; 4], &[1], &output, &[0; 4]].concat()
}

#[test]
fn a_transaction_as_long_as_an_inner_node_is_refused() {
    // 4 + 1 + 41 + 1 + 9 + 4 bytes beside the script.
    assert_eq!(transaction(&[0; 4]).len(), 64);
    assert!(Transaction::read(&transaction(&[0; 3])).is_ok());
    assert!(Transaction::read(&transaction(&[0; 4])).is_err());
    for huge in [vec![0xff; 9], vec![0xfe, 0xff, 0xff, 0xff, 0xff], vec![0xfd, 1, 0]] {
        assert!(Transaction::read(&[&[2, 0, 0, 0][..], &huge, &[0; 64]].concat()).is_err());
    }
}

/// The rows of a Merkle tree, from the transactions to the root.
fn rows(leaves: &[[u8; 32]]) -> Vec<Vec<[u8; 32]>> {
    let mut rows = vec![leaves.to_vec()];
    while rows.last().unwrap().len() > 1 {
        let row = rows.last().unwrap();
        let pair = |pair: &[[u8; 32]]| double_sha256(&[pair[0], *pair.last().unwrap()].concat());
        rows.push(row.chunks(2).map(pair).collect());
    }
    rows
}

/// What `gettxoutproof` writes for one of these transactions, and the header.
pub(crate) fn proof(leaves: &[[u8; 32]], at: usize, previous: [u8; 32]) -> (Vec<u8>, [u8; 80]) {
    let rows = rows(leaves);
    let header = mined(previous, rows.last().unwrap()[0], 1_700_003_600);
    let (mut flags, mut hashes) = (Vec::new(), Vec::new());
    let mut stack = vec![(rows.len() - 1, 0)];
    while let Some((row, index)) = stack.pop() {
        let leads_on = at >> row == index;
        flags.push(leads_on);
        if leads_on && row > 0 {
            if index * 2 + 1 < rows[row - 1].len() {
                stack.push((row - 1, index * 2 + 1));
            }
            stack.push((row - 1, index * 2));
        } else {
            hashes.push(rows[row][index]);
        }
    }
    let mut packed = vec![0_u8; flags.len().div_ceil(8)];
    for (number, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
        packed[number / 8] |= 1 << (number % 8);
    }
    let count = u32::try_from(leaves.len()).unwrap();
    let small = |length: usize| [u8::try_from(length).unwrap()];
    let proof = [
        &header[..],
        &count.to_le_bytes(),
        &small(hashes.len()),
        &hashes.concat(),
        &small(packed.len()),
        &packed,
    ]
    .concat();
    (proof, header)
}

#[test]
fn each_transaction_of_a_block_of_any_size_is_found() {
    for count in 1_u8..=17 {
        let leaves: Vec<[u8; 32]> = (0..count).map(|leaf| [leaf; 32]).collect();
        for at in 0..leaves.len() {
            let (bytes, _) = proof(&leaves, at, [0; 32]);
            assert_eq!(TxOutProof::read(&bytes).unwrap().transactions, vec![leaves[at]], "{at} of {count}");
        }
    }
}

#[test]
fn a_repeated_row_and_huge_counts_are_refused() {
    // Six leaves whose last two repeat the two before them give the root of five and six alike (CVE-2012-2459).
    let leaves: Vec<[u8; 32]> = [1, 2, 3, 4, 5, 6, 5, 6].map(|leaf| [leaf; 32]).to_vec();
    let (bytes, _) = proof(&leaves, 4, [0; 32]);
    assert!(matches!(TxOutProof::read(&bytes), Err(Error::Malformed { .. })));
    let (good, _) = proof(&leaves[..6], 4, [0; 32]);
    assert!(TxOutProof::read(&good).is_ok());
    for (at, with) in [
        (80, vec![0; 4]),
        (80, vec![0xff; 4]),
        (80, vec![0x1b, 0x41, 0, 0]),
        (84, vec![0xff; 9]),
        (84, vec![0xfe, 0xff, 0xff, 0xff, 0x7f]),
    ] {
        let mut bad = good.clone();
        bad[at..at + with.len()].copy_from_slice(&with);
        assert!(TxOutProof::read(&bad).is_err(), "{at}: {with:?}");
    }
    assert!(TxOutProof::read(&[&good[..], &[0]].concat()).is_err());
    let mut padded = good;
    *padded.last_mut().unwrap() |= 0x80;
    assert!(TxOutProof::read(&padded).is_err());
}

/// The proof of a transaction in a block on top of another, and the headers.
pub(crate) fn own() -> (Vec<u8>, Vec<[u8; 80]>) {
    let below = chain(&[[1; 32]]);
    let raw = transaction(&script(&digest()));
    let leaves = [[3; 32], Transaction::read(&raw).unwrap().txid, [4; 32]];
    let (tx_out_proof, header) = proof(&leaves, 1, double_sha256(&below[0]));
    let made = OpReturnProof {
        raw_tx: hex::encode(raw),
        tx_out_proof: hex::encode(tx_out_proof),
        header: hex::encode(header),
        height: 1,
    };
    let above = mined(double_sha256(&header), [5; 32], 1_700_007_200);
    (made.to_bytes().unwrap(), vec![below[0], header, above])
}

#[test]
fn a_transaction_proves_its_time_by_the_headers_given_alone() {
    let (proof, chain) = own();
    let told = headers(&chain);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    let proven = check(AnchorClock::OpReturn, &proof, &digest(), &trust).unwrap().proven.unwrap();
    assert_eq!(proven.not_after, UnixMs(1_700_003_600_000));
    let block = proven.block.unwrap();
    assert_eq!((block.height, block.depth, block.time), (1, 2, 1_700_003_600));
    let alone = check(AnchorClock::OpReturn, &proof, &digest(), &Trust::default()).unwrap();
    assert_eq!(alone.proven, None);
    assert!(alone.says[1].contains("next to no work"), "{:?}", alone.says);
    let other = check(AnchorClock::OpReturn, &proof, &Digest::of(b"other"), &trust);
    assert!(matches!(other, Err(Error::OtherDigest { .. })));
}

#[test]
fn a_block_that_the_headers_do_not_have_proves_nothing() {
    let (proof, chain) = own();
    let fork = [chain[0], mined(double_sha256(&chain[0]), [8; 32], 1_700_003_601)];
    let told = headers(&fork);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    assert!(matches!(check(AnchorClock::OpReturn, &proof, &digest(), &trust), Err(Error::Wrong { .. })));
    let told = headers(&chain[..1]);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    assert_eq!(check(AnchorClock::OpReturn, &proof, &digest(), &trust).unwrap().proven, None);
}

#[test]
fn a_proof_about_another_transaction_header_or_height_is_wrong() {
    let (bytes, chain) = own();
    let told = headers(&chain);
    let trust = Trust { authorities: &[], headers: Some(&told) };
    let good = OpReturnProof::read(&bytes).unwrap();
    let other = transaction(&[&[0x6a, 39][..], b"HERMIT2", &[0; 32]].concat());
    let mut longer = transaction(&script(&digest()));
    longer[10] ^= 1;
    for bad in [
        OpReturnProof { raw_tx: hex::encode(other), ..good.clone() },
        OpReturnProof { raw_tx: hex::encode(longer), ..good.clone() },
        OpReturnProof { header: hex::encode(chain[0]), ..good.clone() },
        OpReturnProof { height: 2, ..good.clone() },
        OpReturnProof { header: good.header.to_uppercase(), ..good.clone() },
    ] {
        assert!(
            check(AnchorClock::OpReturn, &bad.to_bytes().unwrap(), &digest(), &trust).is_err(),
            "{bad:?}"
        );
    }
}
