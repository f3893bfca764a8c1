//! The tree as bytes, in the order of the reference.

use super::read::{ATTESTATION, FORK};
use super::tree::{Attestation, Node};
use crate::Error;

pub(super) fn tree(node: &Node, into: &mut Vec<u8>) -> Result<(), Error> {
    let mut left = node.attestations.len() + node.ops.len();
    if left == 0 {
        return Err(Error::wrong(super::FILE, "nothing attests one of its messages yet"));
    }
    let mut fork = |into: &mut Vec<u8>| {
        left -= 1;
        if left > 0 {
            into.push(FORK);
        }
    };
    for one in &node.attestations {
        fork(into);
        into.push(ATTESTATION);
        attestation(one, into);
    }
    for (op, below) in &node.ops {
        fork(into);
        into.push(op.tag());
        if let Some(argument) = op.argument() {
            bytes(argument, into);
        }
        tree(below, into)?;
    }
    Ok(())
}

fn attestation(one: &Attestation, into: &mut Vec<u8>) {
    into.extend(one.tag());
    let mut payload = Vec::new();
    match one {
        Attestation::Bitcoin(height) => number(*height, &mut payload),
        Attestation::Pending(uri) => bytes(uri.as_bytes(), &mut payload),
        Attestation::Unknown { payload: kept, .. } => payload.extend(kept),
    }
    bytes(&payload, into);
}

fn number(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push((number.to_le_bytes()[0] & 0x7f) | 0x80);
        number >>= 7;
    }
    into.push(number.to_le_bytes()[0]);
}

fn bytes(bytes: &[u8], into: &mut Vec<u8>) {
    number(u64::try_from(bytes.len()).unwrap_or(u64::MAX), into);
    into.extend(bytes);
}
