//! An authenticator in software, with the browser around it: it makes one passkey and signs with it. What it says can be bent
//! before it says it.

use p256::ecdsa::signature::Signer as _;
use seal::webauthn::{Assertion, PasskeyKey, Signed, base64url};
use seal::{Digest, SeedSigner, Signer as _};
use serde_json::json;

/// Somebody was present and verified.
const PRESENT_AND_VERIFIED: u8 = 0x05;
const HAS_CREDENTIAL: u8 = 0x40;

enum Key {
    Es256(Box<p256::ecdsa::SigningKey>),
    EdDsa(Box<SeedSigner>),
}

/// One passkey, and what is said of it.
pub struct Authenticator {
    key: Key,
    /// Its identifier.
    pub credential_id: Vec<u8>,
    /// How often it has signed; it counts on by `step` before each signature.
    pub counter: u32,
    /// By how much it counts on.
    pub step: u32,
    /// Present, verified, backup: as the first byte behind the hash says.
    pub flags: u8,
    /// Whom it says to be for.
    pub rp_id: String,
    /// The page at which the browser says to be.
    pub origin: String,
    /// What else the browser says.
    pub says: serde_json::Map<String, serde_json::Value>,
}

impl Authenticator {
    /// A passkey of P-256 from a seed byte that is neither 0 nor 255, at this origin.
    pub fn es256(seed: u8, origin: &str) -> Self {
        let key = p256::ecdsa::SigningKey::from_slice(&[seed; 32]).unwrap();
        Self::of(Key::Es256(Box::new(key)), seed, origin)
    }

    /// A passkey of Ed25519.
    pub fn eddsa(seed: u8, origin: &str) -> Self {
        Self::of(Key::EdDsa(Box::new(SeedSigner::from_seed([seed; 32]))), seed, origin)
    }

    fn of(key: Key, seed: u8, origin: &str) -> Self {
        // What is no address is origin and host in one.
        let host = origin.split("://").nth(1).map_or(origin, |place| place.split(':').next().unwrap());
        Self {
            key,
            credential_id: vec![seed; 16],
            counter: 0,
            step: 1,
            flags: PRESENT_AND_VERIFIED,
            rp_id: host.to_owned(),
            origin: origin.to_owned(),
            says: serde_json::Map::new(),
        }
    }

    /// The public half.
    pub fn key(&self) -> PasskeyKey {
        match &self.key {
            Key::Es256(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                let point: &[u8] = point.as_ref();
                PasskeyKey::p256(point.try_into().unwrap()).unwrap()
            }
            Key::EdDsa(key) => PasskeyKey::ed25519(key.public()),
        }
    }

    /// What it says when it makes the passkey: flags, counter, identifier and key.
    pub fn made(&self) -> Vec<u8> {
        let der = self.key().to_spki_der();
        let cose = match &self.key {
            Key::Es256(_) => {
                let (x, y) = der[27..].split_at(32);
                let head = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
                [&head[..], x, &[0x22, 0x58, 0x20], y].concat()
            }
            Key::EdDsa(_) => {
                let head = [0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
                [&head[..], &der[12..]].concat()
            }
        };
        let length = u16::try_from(self.credential_id.len()).unwrap().to_be_bytes();
        let head = self.head(self.flags | HAS_CREDENTIAL);
        [head.as_slice(), &[0; 16], &length, self.credential_id.as_slice(), cose.as_slice()].concat()
    }

    /// The attestation object around [`Self::made`], with no statement of a maker.
    pub fn attestation(&self) -> Vec<u8> {
        let made = self.made();
        let length = u16::try_from(made.len()).unwrap().to_be_bytes();
        let head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59";
        [head.as_slice(), &length, made.as_slice()].concat()
    }

    /// What the browser says of a ceremony.
    pub fn client_data(&self, ceremony: &str, challenge: &[u8]) -> Vec<u8> {
        let mut said = json!({
            "type": ceremony, "challenge": base64url(challenge), "origin": self.origin, "crossOrigin": false,
        });
        said.as_object_mut().unwrap().extend(self.says.clone());
        said.to_string().into_bytes()
    }

    /// The payload with the passkey's signature on its digest.
    pub fn sign(&mut self, payload_type: &str, payload: &[u8]) -> Signed {
        let webauthn = self.answer(Digest::of(payload).as_bytes());
        Signed { payload_type: payload_type.to_owned(), payload: payload.to_vec(), webauthn }
    }

    /// What browser and authenticator answer to a challenge.
    pub fn answer(&mut self, challenge: &[u8]) -> Assertion {
        let client_data_json = self.client_data("webauthn.get", challenge);
        let (authenticator_data, signature) = self.assert(Digest::of(&client_data_json).as_bytes());
        let credential_id = self.credential_id.clone();
        Assertion { credential_id, authenticator_data, client_data_json, signature }
    }

    /// What it says when it signs the hash of what a browser says, and its signature over both.
    pub fn assert(&mut self, client_data_hash: &[u8]) -> (Vec<u8>, Vec<u8>) {
        self.counter += self.step;
        let authenticator_data = self.head(self.flags);
        let message = [authenticator_data.as_slice(), client_data_hash].concat();
        let signature = match &self.key {
            Key::Es256(key) => {
                let made: p256::ecdsa::Signature = key.sign(&message);
                made.to_der().as_bytes().to_vec()
            }
            Key::EdDsa(key) => seal::Signer::sign(key.as_ref(), &message).unwrap().0.to_vec(),
        };
        (authenticator_data, signature)
    }

    fn head(&self, flags: u8) -> Vec<u8> {
        let hash = Digest::of(self.rp_id.as_bytes());
        [hash.as_bytes().as_slice(), &[flags], &self.counter.to_be_bytes()].concat()
    }
}
