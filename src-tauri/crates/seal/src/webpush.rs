//! Web Push: what is told to one browser through the push service of its maker. It is encrypted for that browser alone (RFC 8291,
//! RFC 8188), and the sender shows by a signature that it is the same as ever (VAPID, RFC 8292).

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes128Gcm, KeyInit as _};
use hkdf::Hkdf;
use p256::ecdsa::SigningKey;
use p256::ecdsa::signature::Signer as _;
use p256::{PublicKey, SecretKey};
use serde_json::json;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::Error;
use crate::webauthn::{base64url, base64url_decode};

/// Most bytes of what is told, as every push service takes them in one record with its head, mark and tag.
pub const PLAIN_MAX: usize = 3_993;

/// Bytes of one record: one is all there is.
const RECORD: u32 = 4_096;
/// What stands behind the last record's text.
const LAST: u8 = 2;
const WHAT: &str = "push subscription";

/// A browser that can be told: its public key and the secret it shares with whoever may tell it.
#[derive(Clone)]
pub struct Browser {
    key: PublicKey,
    /// The same as it was said: 4, x, y.
    point: Vec<u8>,
    auth: Zeroizing<[u8; 16]>,
}

impl Browser {
    /// As a browser says them, in base64url: `p256dh` and `auth`.
    ///
    /// # Errors
    /// [`Error::Malformed`] for what is no point of the curve P-256, and for a secret of another length.
    pub fn new(p256dh: &str, auth: &str) -> Result<Self, Error> {
        let point = base64url_decode(p256dh)?;
        let no_point = || Error::malformed(WHAT, "its key is no point of the curve P-256");
        if point.len() != 65 {
            return Err(no_point());
        }
        let key = PublicKey::from_sec1_bytes(&point).map_err(|_| no_point())?;
        let auth: [u8; 16] = base64url_decode(auth)?
            .try_into()
            .map_err(|_| Error::malformed(WHAT, "its secret is not 16 bytes"))?;
        Ok(Self { key, point, auth: Zeroizing::new(auth) })
    }

    /// A text for this browser alone. `ephemeral` and `salt` are drawn for this one text and never used again.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a longer text than [`PLAIN_MAX`], and for a draw that is no key: draw again.
    pub fn encrypt(&self, plain: &[u8], ephemeral: &[u8; 32], salt: &[u8; 16]) -> Result<Vec<u8>, Error> {
        if plain.len() > PLAIN_MAX {
            return Err(Error::malformed(WHAT, format!("more than {PLAIN_MAX} bytes are told")));
        }
        let no_key = || Error::malformed(WHAT, "the draw is no key");
        let secret = SecretKey::from_slice(ephemeral).map_err(|_| no_key())?;
        let own = point_of(ephemeral)?;
        let shared = secret.diffie_hellman(&self.key);
        let shared: &[u8] = shared.raw_secret_bytes().as_ref();
        let info = [b"WebPush: info\0".as_slice(), self.point.as_slice(), own.as_slice()].concat();
        let mut input = Zeroizing::new([0_u8; 32]);
        derive(self.auth.as_slice(), shared, &info, &mut *input)?;
        let mut key = Zeroizing::new([0_u8; 16]);
        derive(salt, input.as_slice(), b"Content-Encoding: aes128gcm\0", &mut *key)?;
        let mut nonce = [0_u8; 12];
        derive(salt, input.as_slice(), b"Content-Encoding: nonce\0", &mut nonce)?;
        let cipher = Aes128Gcm::new_from_slice(key.as_slice()).map_err(|_| no_key())?;
        let text = Zeroizing::new([plain, &[LAST]].concat());
        let sealed = cipher.encrypt(&nonce.into(), text.as_slice()).map_err(|_| no_key())?;
        let length = u8::try_from(own.len()).map_err(|_| no_key())?;
        Ok([salt.as_slice(), &RECORD.to_be_bytes(), &[length], own.as_slice(), sealed.as_slice()].concat())
    }
}

/// HKDF with SHA-256, one step out and one in.
fn derive(salt: &[u8], input: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), Error> {
    Hkdf::<Sha256>::new(Some(salt), input)
        .expand(info, out)
        .map_err(|_| Error::malformed(WHAT, "no key of this length can be derived"))
}

/// The uncompressed point of a secret.
fn point_of(secret: &[u8; 32]) -> Result<Vec<u8>, Error> {
    let key = SigningKey::from_slice(secret).map_err(|_| Error::malformed(WHAT, "the draw is no key"))?;
    let point = key.verifying_key().to_sec1_point(false);
    let point: &[u8] = point.as_ref();
    Ok(point.to_vec())
}

/// The key by which push services know a sender again.
pub struct SenderKey(SigningKey);

impl SenderKey {
    /// The key of 32 random bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a draw that is no key: draw again.
    pub fn new(secret: &[u8; 32]) -> Result<Self, Error> {
        let key = SigningKey::from_slice(secret).map_err(|_| Error::malformed(WHAT, "the draw is no key"))?;
        Ok(Self(key))
    }

    /// The public half, base64url of the uncompressed point: what a browser is told to take messages from.
    #[must_use]
    pub fn public(&self) -> String {
        let point = self.0.verifying_key().to_sec1_point(false);
        let point: &[u8] = point.as_ref();
        base64url(point)
    }

    /// The header `Authorization` for one push service, by its origin, until `ends_at` in seconds since 1970. `contact` is whom the
    /// service may ask about the sender, an address of mail or of a page.
    #[must_use]
    pub fn authorization(&self, service: &str, ends_at: i64, contact: &str) -> String {
        let head = base64url(br#"{"typ":"JWT","alg":"ES256"}"#);
        let claims = json!({ "aud": service, "exp": ends_at, "sub": contact }).to_string();
        let said = format!("{head}.{}", base64url(claims.as_bytes()));
        let made: p256::ecdsa::Signature = self.0.sign(said.as_bytes());
        let made = made.to_bytes();
        let signature: &[u8] = made.as_ref();
        format!("vapid t={said}.{}, k={}", base64url(signature), self.public())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;
    use p256::ecdsa::signature::Verifier as _;

    /// RFC 8291, section 5.
    const THEIRS: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    fn drawn<const N: usize>(text: &str) -> [u8; N] {
        base64url_decode(text).expect("base64url").try_into().expect("its length")
    }

    #[test]
    fn the_example_of_the_rfc_is_written_byte_for_byte() {
        let browser = Browser::new(THEIRS, AUTH).expect("a browser");
        let made = browser
            .encrypt(
                b"When I grow up, I want to be a watermelon",
                &drawn("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
                &drawn("DGv6ra1nlYgDCS1FRnbzlw"),
            )
            .expect("it fits");
        assert_eq!(
            base64url(&made),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn what_is_no_browser_too_long_or_no_draw_is_refused() {
        let off_the_curve = base64url(&[&[4_u8][..], &[1; 64]].concat());
        let compressed = base64url(&[&[2_u8][..], &[1; 32]].concat());
        for (key, auth) in
            [(off_the_curve.as_str(), AUTH), (compressed.as_str(), AUTH), ("", AUTH), (THEIRS, "AA")]
        {
            assert!(Browser::new(key, auth).is_err(), "{key} {auth}");
        }
        let browser = Browser::new(THEIRS, AUTH).expect("a browser");
        assert!(browser.encrypt(&[b'a'; PLAIN_MAX], &[7; 32], &[0; 16]).is_ok());
        assert!(browser.encrypt(&[b'a'; PLAIN_MAX + 1], &[7; 32], &[0; 16]).is_err());
        assert!(browser.encrypt(b"a", &[0; 32], &[0; 16]).is_err());
        assert!(SenderKey::new(&[0; 32]).is_err());
    }

    #[test]
    fn a_sender_shows_itself_to_one_service_for_a_while() {
        let key = SenderKey::new(&[7; 32]).expect("a key");
        let said = key.authorization("https://push.example", 1_700_000_000, "mailto:a@b.example");
        let (token, public) = said
            .strip_prefix("vapid t=")
            .and_then(|rest| rest.split_once(", k="))
            .expect("both parts of RFC 8292");
        assert_eq!(public, key.public());
        let (text, signature) = token.rsplit_once('.').expect("a signature");
        let point = base64url_decode(public).expect("a point");
        let verifying = p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).expect("a key");
        let made = p256::ecdsa::Signature::from_slice(&base64url_decode(signature).expect("64 bytes"));
        verifying.verify(text.as_bytes(), &made.expect("a signature")).expect("it holds");
        let claims = text.split_once('.').expect("two parts").1;
        let claims: serde_json::Value =
            serde_json::from_slice(&base64url_decode(claims).expect("bytes")).expect("JSON");
        assert_eq!(
            claims,
            json!({ "aud": "https://push.example", "exp": 1_700_000_000, "sub": "mailto:a@b.example" })
        );
    }
}
