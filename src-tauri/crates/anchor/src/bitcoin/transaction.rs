//! A transaction, as far as its id and its outputs go.

use super::double_sha256;
use crate::{Error, reader::Reader};

const TRANSACTION: &str = "Bitcoin transaction";
/// The longest transaction, in bytes: nodes hand on nothing heavier.
pub const TRANSACTION_BYTES_MAX: usize = 400_000;

/// A transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Its id, in the order of bytes that hashing gives: of what it is without witnesses.
    pub txid: [u8; 32],
    /// The scripts of its outputs.
    pub scripts: Vec<Vec<u8>>,
}

impl Transaction {
    /// Reads a transaction, with or without witnesses.
    ///
    /// # Errors
    /// It is malformed, or 64 bytes long without witnesses: an inner node of a Merkle tree could be passed off as that.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > TRANSACTION_BYTES_MAX {
            return Err(Error::malformed(TRANSACTION, "it is too long"));
        }
        let mut reader = Reader::new(TRANSACTION, bytes);
        let version = reader.take(4)?;
        let with_witness = reader.left().starts_with(&[0, 1]);
        if with_witness {
            reader.take(2)?;
        }
        let from = reader.left();
        let inputs = reader.compact(TRANSACTION_BYTES_MAX)?;
        if inputs == 0 {
            return Err(reader.bad("it has no inputs"));
        }
        for _ in 0..inputs {
            reader.take(36)?;
            script(&mut reader)?;
            reader.take(4)?;
        }
        let outputs = reader.compact(TRANSACTION_BYTES_MAX)?;
        let mut scripts = Vec::new();
        for _ in 0..outputs {
            reader.take(8)?;
            scripts.push(script(&mut reader)?.to_vec());
        }
        let (core, _) = from.split_at_checked(from.len() - reader.left().len()).unwrap_or((from, &[]));
        if with_witness {
            witnesses(&mut reader, inputs)?;
        }
        let lock_time = reader.take(4)?;
        reader.end()?;
        let stripped = [version, core, lock_time].concat();
        if stripped.len() == 64 {
            return Err(reader.bad("it is as long as an inner node of a Merkle tree"));
        }
        Ok(Self { txid: double_sha256(&stripped), scripts })
    }
}

fn script<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let length = reader.compact(TRANSACTION_BYTES_MAX)?;
    reader.take(length)
}

/// The witnesses of each input, of which one at least has some.
fn witnesses(reader: &mut Reader<'_>, inputs: usize) -> Result<(), Error> {
    let mut is_empty = true;
    for _ in 0..inputs {
        let items = reader.compact(TRANSACTION_BYTES_MAX)?;
        is_empty &= items == 0;
        for _ in 0..items {
            script(reader)?;
        }
    }
    if is_empty { Err(reader.bad("it says that it has witnesses, and has none")) } else { Ok(()) }
}
