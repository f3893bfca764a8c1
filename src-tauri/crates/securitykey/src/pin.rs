//! The PIN of a key, and how it is told to it: both protocols of CTAP 2.1, 6.5.

use crate::cbor::Value;
use crate::{Error, random};
use aes::Aes256;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey, ecdh};
use seal::webauthn::cbor::Item;
use sha2::{Digest as _, Sha256};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

/// Fewest characters and most bytes of a PIN.
const CHARS_MIN: usize = 4;
const BYTES_MAX: usize = 63;
/// Bytes of a block.
const BLOCK: usize = 16;
/// COSE number of the agreement about a key, which every key says whatever it does.
const ECDH_ES_HKDF_256: i64 = -25;
/// How often a number of P-256 is drawn; one draw of 2^32 is none.
const DRAWS: usize = 8;

/// A PIN that somebody typed, wiped when dropped.
pub struct Pin(Zeroizing<String>);

impl Pin {
    /// What was typed, where a key could have it as its PIN.
    ///
    /// # Errors
    /// [`Error::PinShape`].
    pub fn new(typed: &str) -> Result<Self, Error> {
        // Written as one buffer, so that no shorter one is left behind.
        let mut pin = Zeroizing::new(String::with_capacity(typed.len().saturating_mul(4)));
        pin.extend(typed.nfc());
        let fits = pin.chars().count() >= CHARS_MIN && pin.len() <= BYTES_MAX;
        if fits { Ok(Self(pin)) } else { Err(Error::PinShape) }
    }

    /// The half of its digest by which a key knows it.
    fn digest(&self) -> Zeroizing<Vec<u8>> {
        let whole = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(self.0.as_bytes())));
        Zeroizing::new(whole.iter().take(BLOCK).copied().collect())
    }
}

/// How a PIN is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    One,
    Two,
}

impl Protocol {
    pub(crate) const fn of(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            _ => None,
        }
    }

    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// The mark that whoever has the token puts on what is asked.
    fn mark(self, key: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut mark = Hmac::<Sha256>::new_from_slice(key).map_err(|_| Error::unreadable("its token"))?;
        mark.update(message);
        let length = if self == Self::One { BLOCK } else { 32 };
        Ok(<[u8; 32]>::from(mark.finalize().into_bytes()).into_iter().take(length).collect())
    }
}

/// What allows one thing with a key, for its PIN was told. Wiped when dropped.
pub(crate) struct Token {
    protocol: Protocol,
    bytes: Zeroizing<Vec<u8>>,
}

impl Token {
    /// The mark on what is asked.
    pub(crate) fn mark(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.protocol.mark(&self.bytes, message)
    }

    pub(crate) const fn protocol(&self) -> Protocol {
        self.protocol
    }
}

/// A secret that this process and a key share, for one PIN.
pub(crate) struct Agreed {
    protocol: Protocol,
    secret: Zeroizing<[u8; 32]>,
    /// Our half, uncompressed.
    ours: Vec<u8>,
}

impl Agreed {
    /// Agrees with the half that a key told, as COSE spells it.
    pub(crate) fn with(protocol: Protocol, theirs: &Item<'_>) -> Result<Self, Error> {
        let theirs = point(theirs).ok_or_else(|| Error::unreadable("its half of a secret"))?;
        let own = drawn()?;
        let shared: ecdh::SharedSecret = ecdh::diffie_hellman(own.to_nonzero_scalar(), theirs.as_affine());
        let shared = shared.raw_secret_bytes().as_slice();
        let mut secret = Zeroizing::new([0_u8; 32]);
        match protocol {
            Protocol::One => *secret = Sha256::digest(shared).into(),
            Protocol::Two => Hkdf::<Sha256>::new(Some(&[0; 32]), shared)
                .expand(b"CTAP2 AES key", secret.as_mut_slice())
                .map_err(|_| Error::unreadable("its half of a secret"))?,
        }
        Ok(Self { protocol, secret, ours: own.public_key().to_sec1_point(false).as_bytes().to_vec() })
    }

    /// Our half, as COSE spells it.
    pub(crate) fn ours(&self) -> Result<Value<'_>, Error> {
        let broken = || Error::unreadable("the half of a secret");
        let (_, coordinates) = self.ours.split_first().ok_or_else(broken)?;
        let (x, y) = coordinates.split_at_checked(32).ok_or_else(broken)?;
        Ok(Value::Numbered(vec![
            (1, Value::Integer(2)),
            (3, Value::Integer(ECDH_ES_HKDF_256)),
            (-1, Value::Integer(1)),
            (-2, Value::Bytes(x)),
            (-3, Value::Bytes(y)),
        ]))
    }

    /// The PIN as it is told to the key.
    pub(crate) fn sealed(&self, pin: &Pin) -> Result<Vec<u8>, Error> {
        let mut begin = [0; BLOCK];
        let mut sealed = Vec::new();
        if self.protocol == Protocol::Two {
            random(&mut begin)?;
            sealed.extend_from_slice(&begin);
        }
        let mut cipher = cbc::Encryptor::<Aes256>::new((&*self.secret).into(), (&begin).into());
        for block in pin.digest().as_chunks::<BLOCK>().0 {
            let mut block = (*block).into();
            cipher.encrypt_block(&mut block);
            sealed.extend_from_slice(block.as_slice());
        }
        Ok(sealed)
    }

    /// The token that the key told.
    pub(crate) fn token(&self, sealed: &[u8]) -> Result<Token, Error> {
        let broken = || Error::unreadable("its token");
        let (begin, sealed) = match self.protocol {
            Protocol::One => ([0; BLOCK], sealed),
            Protocol::Two => {
                let (begin, rest) = sealed.split_first_chunk::<BLOCK>().ok_or_else(broken)?;
                (*begin, rest)
            }
        };
        let is_token =
            matches!((self.protocol, sealed.len()), (Protocol::One, 16 | 32) | (Protocol::Two, 32));
        if !is_token {
            return Err(broken());
        }
        let mut cipher = cbc::Decryptor::<Aes256>::new((&*self.secret).into(), (&begin).into());
        let mut bytes = Zeroizing::new(Vec::with_capacity(sealed.len()));
        for block in sealed.as_chunks::<BLOCK>().0 {
            let mut block = (*block).into();
            cipher.decrypt_block(&mut block);
            bytes.extend_from_slice(block.as_slice());
        }
        Ok(Token { protocol: self.protocol, bytes })
    }
}

fn drawn() -> Result<SecretKey, Error> {
    let mut number = Zeroizing::new([0_u8; 32]);
    for _ in 0..DRAWS {
        random(number.as_mut_slice())?;
        if let Ok(key) = SecretKey::from_slice(number.as_slice()) {
            return Ok(key);
        }
    }
    Err(Error::Randomness)
}

/// A point of P-256 as COSE spells it.
fn point(key: &Item<'_>) -> Option<PublicKey> {
    let coordinate = |name: i64| match key.member(&Item::Integer(name)) {
        Some(Item::Bytes(bytes)) if bytes.len() == 32 => Some(*bytes),
        _ => None,
    };
    let bytes = [[4_u8].as_slice(), coordinate(-2)?, coordinate(-3)?].concat();
    PublicKey::from_sec1_bytes(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Error, Pin};

    #[test]
    fn a_pin_is_of_a_length_that_keys_take_and_is_told_in_one_form() {
        for wrong in ["", "123", "äöü", &"a".repeat(64)] {
            assert_eq!(Pin::new(wrong).err(), Some(Error::PinShape), "{wrong}");
        }
        let (composed, apart) = (Pin::new("p\u{e4}ss").ok(), Pin::new("pa\u{308}ss").ok());
        assert!(composed.is_some());
        assert_eq!(composed.map(|pin| pin.digest().to_vec()), apart.map(|pin| pin.digest().to_vec()));
    }
}
