//! Blocks of a chain of one's own, and files of OpenTimestamps that lead to them: what a calendar would give, without one.

use seal::Digest;

/// The height of the block that commits to what was stamped.
pub const HEIGHT: u64 = 840_000;
/// The time in its header.
pub const BLOCK_TIME: u32 = 1_760_100_000;

const OTS_BEGIN: &[u8] = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94\x01\x08";
/// An `x` is put behind the digest, and the whole hashed; an attestation follows.
const OPERATIONS: &[u8] = b"\xf0\x01x\x08\x00";
const IN_BITCOIN: &[u8] = b"\x05\x88\x96\x0d\x73\xd7\x19\x01";
const PENDING: &[u8] = b"\x83\xdf\xe3\x0d\x2e\xf9\x0c\x8e";

/// A file as the client of OpenTimestamps writes it: it leads from the digest to the Merkle root of a block.
pub fn in_a_block(digest: &Digest) -> Vec<u8> {
    let mut height = Vec::new();
    let mut rest = HEIGHT;
    while rest > 0x7f {
        height.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    height.push(rest as u8);
    let length = [height.len() as u8];
    let pieces: [&[u8]; 6] = [OTS_BEGIN, &digest.0, OPERATIONS, IN_BITCOIN, &length, &height];
    pieces.concat()
}

/// A file that a calendar has not completed yet.
pub fn pending(digest: &Digest) -> Vec<u8> {
    let uri = b"https://calendar.example";
    let lengths = [uri.len() as u8 + 1, uri.len() as u8];
    let pieces: [&[u8]; 6] = [OTS_BEGIN, &digest.0, OPERATIONS, PENDING, &lengths, uri];
    pieces.concat()
}

/// A file of headers that begins with the block which commits to this digest, each with the work that it names: next to none, as on
/// a chain for tests.
pub fn headers(digest: &Digest) -> Vec<u8> {
    let root = Digest::of(&[&digest.0[..], b"x"].concat()).0;
    let first = mined([1; 32], root, BLOCK_TIME);
    let second = mined(hash(&first), [2; 32], BLOCK_TIME + 600);
    format!("height {HEIGHT}\n{}\n{}\n", hex(&first), hex(&second)).into_bytes()
}

fn hash(header: &[u8]) -> [u8; 32] {
    Digest::of(&Digest::of(header).0).0
}

fn mined(previous: [u8; 32], root: [u8; 32], time: u32) -> Vec<u8> {
    let easy: u32 = 0x207f_ffff;
    let (version, time, bits) = (1_u32.to_le_bytes(), time.to_le_bytes(), easy.to_le_bytes());
    let pieces: [&[u8]; 5] = [&version, &previous, &root, &time, &bits];
    let begin = pieces.concat();
    let header = |nonce: u32| [&begin[..], &nonce.to_le_bytes()].concat();
    // The greatest target of all has the highest bit free.
    (0..).map(header).find(|header| hash(header)[31] < 0x7f).unwrap_or_default()
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
