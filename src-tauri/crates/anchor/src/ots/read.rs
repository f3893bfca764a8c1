//! The tree as bytes, read within bounds: each operation is applied while it is read.

use super::op::{MESSAGE_BYTES_MAX, Op};
use super::tree::{Attestation, Node};
use crate::{Error, reader::Reader};

/// Operations on one path, as in the reference.
const DEPTH_MAX: usize = 256;
/// Operations and attestations in one tree.
const PARTS_MAX: usize = 4096;
/// The longest attestation of a kind that is not known here, in bytes.
const PAYLOAD_BYTES_MAX: usize = 8192;
/// The longest address of a calendar.
const URI_BYTES_MAX: usize = 1000;
/// Before an operation or attestation that is not the last of its message.
pub(super) const FORK: u8 = 0xff;
/// Before an attestation.
pub(super) const ATTESTATION: u8 = 0x00;

/// The tree of this message, to the end of what there is to read.
pub(super) fn tree(reader: &mut Reader<'_>, message: Vec<u8>) -> Result<Node, Error> {
    if message.len() > MESSAGE_BYTES_MAX {
        return Err(reader.bad("its message is too long"));
    }
    let mut parts = PARTS_MAX;
    let node = node(reader, message, DEPTH_MAX, &mut parts)?;
    reader.end()?;
    Ok(node)
}

fn node(reader: &mut Reader<'_>, message: Vec<u8>, depth: usize, parts: &mut usize) -> Result<Node, Error> {
    let depth = depth.checked_sub(1).ok_or_else(|| reader.bad("a path in it is too long"))?;
    let mut made = Node { message, ..Node::default() };
    loop {
        let mut tag = reader.byte()?;
        let is_last = tag != FORK;
        if !is_last {
            tag = reader.byte()?;
        }
        *parts = parts.checked_sub(1).ok_or_else(|| reader.bad("it has too many parts"))?;
        if tag == ATTESTATION {
            made.attest(attestation(reader)?);
        } else {
            let op = op(reader, tag)?;
            let result = op.apply(&made.message)?;
            let below = node(reader, result, depth, parts)?;
            made.lead(op, below);
        }
        if is_last {
            return Ok(made);
        }
    }
}

fn op(reader: &mut Reader<'_>, tag: u8) -> Result<Op, Error> {
    Ok(match tag {
        0x02 => Op::Sha1,
        0x03 => Op::Ripemd160,
        0x08 => Op::Sha256,
        0x67 => Op::Keccak256,
        0xf0 => Op::Append(argument(reader)?),
        0xf1 => Op::Prepend(argument(reader)?),
        0xf2 => Op::Reverse,
        0xf3 => Op::Hexlify,
        _ => return Err(reader.bad("it has an operation that is not known")),
    })
}

fn argument(reader: &mut Reader<'_>) -> Result<Vec<u8>, Error> {
    let argument = bytes(reader, MESSAGE_BYTES_MAX)?;
    if argument.is_empty() { Err(reader.bad("an argument is empty")) } else { Ok(argument.to_vec()) }
}

fn attestation(reader: &mut Reader<'_>) -> Result<Attestation, Error> {
    let tag: [u8; 8] = reader.array()?;
    let payload = bytes(reader, PAYLOAD_BYTES_MAX)?;
    let mut inner = Reader::new(reader.what, payload);
    let read = match tag {
        Attestation::BITCOIN => Attestation::Bitcoin(number(&mut inner)?),
        Attestation::PENDING => {
            let uri = bytes(&mut inner, URI_BYTES_MAX)?;
            let is_plain = uri.iter().all(|c| c.is_ascii_alphanumeric() || b"-._/:".contains(c));
            let uri = std::str::from_utf8(uri).ok().filter(|_| is_plain);
            Attestation::Pending(uri.ok_or_else(|| inner.bad("an address has other characters"))?.to_owned())
        }
        _ => return Ok(Attestation::Unknown { tag, payload: payload.to_vec() }),
    };
    inner.end()?;
    Ok(read)
}

/// A number in groups of seven bits, the lowest first, in its shortest form.
fn number(reader: &mut Reader<'_>) -> Result<u64, Error> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = reader.byte()?;
        let bits = u64::from(byte & 0x7f);
        if bits.checked_shl(shift).is_none_or(|placed| placed >> shift != bits) {
            break;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return if byte == 0 && shift > 0 {
                Err(reader.bad("a number is not in its shortest form"))
            } else {
                Ok(number)
            };
        }
    }
    Err(reader.bad("a number is too large"))
}

fn bytes<'a>(reader: &mut Reader<'a>, max: usize) -> Result<&'a [u8], Error> {
    let length = usize::try_from(number(reader)?).ok().filter(|length| *length <= max);
    let length = length.ok_or_else(|| reader.bad("a part is too long"))?;
    reader.take(length)
}
