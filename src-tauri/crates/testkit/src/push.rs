//! A browser that push services tell things: it makes a subscription in software and reads what comes. Nothing of it is shared with
//! what encrypts.

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes128Gcm, KeyInit as _};
use hkdf::Hkdf;
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::{PublicKey, SecretKey};
use seal::webauthn::{base64url, base64url_decode};
use serde_json::Value;
use sha2::Sha256;

/// One subscription of one browser.
pub struct Subscribed {
    secret: SecretKey,
    /// Its public half: 4, x, y.
    point: Vec<u8>,
    auth: [u8; 16],
}

impl Subscribed {
    /// From a seed byte that is neither 0 nor 255.
    pub fn new(seed: u8) -> Self {
        let point = SigningKey::from_slice(&[seed; 32]).unwrap().verifying_key().to_sec1_point(false);
        let point: &[u8] = point.as_ref();
        let secret = SecretKey::from_slice(&[seed; 32]).unwrap();
        Self { secret, point: point.to_vec(), auth: [seed; 16] }
    }

    /// Its public key, as a browser says it.
    pub fn p256dh(&self) -> String {
        base64url(&self.point)
    }

    /// Its secret, as a browser says it.
    pub fn auth(&self) -> String {
        base64url(&self.auth)
    }

    /// What was told, if it was told to this browser.
    pub fn read(&self, body: &[u8]) -> Option<Vec<u8>> {
        let (salt, rest) = body.split_at_checked(16)?;
        let (record, rest) = rest.split_at_checked(4)?;
        let (length, rest) = rest.split_first()?;
        let (sender, sealed) = rest.split_at_checked(usize::from(*length))?;
        assert!(sealed.len() <= u32::from_be_bytes(record.try_into().unwrap()) as usize, "one record");
        let shared = self.secret.diffie_hellman(&PublicKey::from_sec1_bytes(sender).ok()?);
        let shared: &[u8] = shared.raw_secret_bytes().as_ref();
        let info = [b"WebPush: info\0".as_slice(), self.point.as_slice(), sender].concat();
        let input: [u8; 32] = derived(&self.auth, shared, &info);
        let key: [u8; 16] = derived(salt, &input, b"Content-Encoding: aes128gcm\0");
        let nonce: [u8; 12] = derived(salt, &input, b"Content-Encoding: nonce\0");
        let text = Aes128Gcm::new_from_slice(&key).unwrap().decrypt(&nonce.into(), sealed).ok()?;
        let end = text.iter().rposition(|byte| *byte != 0)?;
        (text[end] == 2).then(|| text[..end].to_vec())
    }
}

fn derived<const N: usize>(salt: &[u8], input: &[u8], info: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    Hkdf::<Sha256>::new(Some(salt), input).expand(info, &mut out).unwrap();
    out
}

/// What a sender says of itself in `Authorization` (RFC 8292), when its signature holds: the claims, and its key.
pub fn is_signed(authorization: &str) -> Option<(Value, String)> {
    let (token, key) = authorization.strip_prefix("vapid t=")?.split_once(", k=")?;
    let (text, signature) = token.rsplit_once('.')?;
    let verifying = VerifyingKey::from_sec1_bytes(&base64url_decode(key).ok()?).ok()?;
    let made = Signature::from_slice(&base64url_decode(signature).ok()?).ok()?;
    verifying.verify(text.as_bytes(), &made).ok()?;
    let (head, claims) = text.split_once('.')?;
    let head: Value = serde_json::from_slice(&base64url_decode(head).ok()?).ok()?;
    assert_eq!((&head["alg"], &head["typ"]), (&"ES256".into(), &"JWT".into()));
    Some((serde_json::from_slice(&base64url_decode(claims).ok()?).ok()?, key.to_owned()))
}
