//! The release key, in the file in which `openssl` makes one.

use crate::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seal::SeedSigner;

// In parts, for this file holds no key.
const BEGIN: &str = concat!("-----BEGIN ", "PRIVATE KEY-----");
const END: &str = concat!("-----END ", "PRIVATE KEY-----");
/// PKCS#8 of an Ed25519 key is this prefix and the 32 bytes of its seed (RFC 8410).
const PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// The signer of a key as `openssl genpkey -algorithm ed25519` writes it.
///
/// # Errors
/// [`Error::Given`] when the text is another kind of key, or one behind a passphrase.
pub fn release_signer(pem: &str) -> Result<SeedSigner, Error> {
    let refused = |why: &str| Error::Given { what: "release key", why: why.to_owned() };
    let body = pem.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let body = body.ok_or_else(|| refused("it is not a PEM `PRIVATE KEY` block without a passphrase"))?;
    let der = STANDARD.decode(body.trim()).map_err(|_| refused("its base64 cannot be read"))?;
    let seed = der.strip_prefix(&PREFIX).and_then(|seed| <[u8; 32]>::try_from(seed).ok());
    seed.map(SeedSigner::from_seed).ok_or_else(|| refused("it is not an Ed25519 key"))
}

#[cfg(test)]
mod tests {
    use super::{BEGIN, END, release_signer};
    use seal::Signer as _;

    /// The key of RFC 8410, section 10.3.
    const RFC: &str = concat!("MC4CAQAwBQYDK2Vw", "BCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC");
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn the_key_of_the_standard_is_read_and_another_kind_is_named() {
        let pem = |body: &str| format!("{BEGIN}\n{body}\n{END}\n");
        assert_eq!(release_signer(&pem(RFC)).map(|key| key.public().to_pem()).ok().as_deref(), Some(PUBLIC));
        for odd in [String::new(), PUBLIC.to_owned(), pem("AAAA")] {
            assert!(release_signer(&odd).is_err(), "{odd}");
        }
    }
}
