//! SSH signatures over bytes (OpenSSH PROTOCOL.sshsig), checkable with `ssh-keygen -Y verify`.

use crate::{Digest, Error, PublicKey, Signature, Signer, encoding};

/// The namespace of bundle signatures.
pub const NAMESPACE: &str = "hermit-proof@v1";

const WHAT: &str = "SSH signature";
const MAGIC: &[u8] = b"SSHSIG";
const HASH: &[u8] = b"sha256";
const KEY_TYPE: &[u8] = b"ssh-ed25519";
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----\n";
/// `ssh-keygen` breaks its lines here.
const LINE: usize = 70;

/// Signs `message` for `namespace` and returns the armoured signature, as `ssh-keygen -Y sign` writes it.
///
/// # Errors
/// [`Error::Malformed`] for an empty namespace, or whatever the signer says.
pub fn sign(message: &[u8], namespace: &str, signer: &dyn Signer) -> Result<String, Error> {
    sign_digest(Digest::of(message), namespace, signer)
}

/// [`sign`] for a message of which only the SHA-256 is at hand: an SSH signature covers no more than that.
///
/// # Errors
/// As [`sign`].
pub fn sign_digest(message: Digest, namespace: &str, signer: &dyn Signer) -> Result<String, Error> {
    let signature = signer.sign(&preimage(message, namespace)?)?;
    armor(&signer.public(), namespace, &signature)
}

/// Checks an armoured signature over `message`. Only the spelling that [`sign`] writes is accepted.
///
/// # Errors
/// [`Error::Malformed`], [`Error::Untrusted`] when another key signed, [`Error::Signature`] when the signature, or
/// its namespace, is not the expected one.
pub fn verify(armored: &str, message: &[u8], namespace: &str, key: &PublicKey) -> Result<(), Error> {
    verify_digest(armored, Digest::of(message), namespace, key)
}

/// [`verify`] for a message of which only the SHA-256 is at hand.
///
/// # Errors
/// As [`verify`].
pub fn verify_digest(armored: &str, message: Digest, namespace: &str, key: &PublicKey) -> Result<(), Error> {
    let body = armored.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let body = body.ok_or_else(|| Error::malformed(WHAT, "it is not an `SSH SIGNATURE` block"))?;
    let blob = encoding::b64_decode(WHAT, &body.replace('\n', ""))?;
    let (signer, signature) = parts(&blob)?;
    if signer != *key {
        return Err(Error::Untrusted { what: WHAT });
    }
    // Writing it again settles namespace, reserved field, hash name and line breaks at once.
    if armor(&signer, namespace, &signature)? != armored {
        return Err(Error::Signature { what: WHAT });
    }
    key.verify(&preimage(message, namespace)?, &signature).map_err(|_| Error::Signature { what: WHAT })
}

/// The key as it stands in `authorized_keys`: `ssh-ed25519 AAAA…`, without a comment.
#[must_use]
pub fn public_key_line(key: &PublicKey) -> String {
    format!("ssh-ed25519 {}", encoding::b64(&key_blob(key)))
}

/// The key's fingerprint as `ssh-keygen -l` shows it: `SHA256:…`.
#[must_use]
pub fn fingerprint(key: &PublicKey) -> String {
    let text = encoding::b64(&Digest::of(&key_blob(key)).0);
    format!("SHA256:{}", text.trim_end_matches('='))
}

/// One line of an `allowed_signers` file that lets `principal` sign for `namespace`, with its final newline.
///
/// # Errors
/// [`Error::Malformed`] when a name would break the line.
pub fn allowed_signers_line(principal: &str, namespace: &str, key: &PublicKey) -> Result<String, Error> {
    let odd = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '"' | ',' | '*' | '?' | '!' | '#' | '\\')
    };
    for name in [principal, namespace] {
        if name.is_empty() || name.contains(odd) {
            return Err(Error::malformed("allowed_signers line", format!("`{name}` cannot stand in it")));
        }
    }
    Ok(format!("{principal} namespaces=\"{namespace}\" {}\n", public_key_line(key)))
}

fn key_blob(key: &PublicKey) -> Vec<u8> {
    [string(KEY_TYPE), string(key.as_bytes())].concat()
}

fn armor(key: &PublicKey, namespace: &str, signature: &Signature) -> Result<String, Error> {
    if namespace.is_empty() {
        return Err(Error::malformed(WHAT, "its namespace is empty"));
    }
    let signature = [string(KEY_TYPE), string(&signature.0)].concat();
    let blob = [
        MAGIC.to_vec(),
        1_u32.to_be_bytes().to_vec(),
        string(&key_blob(key)),
        string(namespace.as_bytes()),
        string(b""),
        string(HASH),
        string(&signature),
    ]
    .concat();
    let mut text = String::from(BEGIN);
    for (at, character) in encoding::b64(&blob).chars().enumerate() {
        if at > 0 && at % LINE == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push('\n');
    text.push_str(END);
    Ok(text)
}

fn preimage(message: Digest, namespace: &str) -> Result<Vec<u8>, Error> {
    if namespace.is_empty() {
        return Err(Error::malformed(WHAT, "its namespace is empty"));
    }
    let hash = string(&message.0);
    Ok([MAGIC.to_vec(), string(namespace.as_bytes()), string(b""), string(HASH), hash].concat())
}

/// Who signed, and the signature; everything else is settled by writing it again.
fn parts(blob: &[u8]) -> Result<(PublicKey, Signature), Error> {
    let mut reader = encoding::Reader::new(WHAT, blob);
    if reader.take(MAGIC.len())? != MAGIC || reader.array()? != 1_u32.to_be_bytes() {
        return Err(Error::malformed(WHAT, "it is not version 1"));
    }
    let key = next(&mut reader)?;
    let mut key = encoding::Reader::new(WHAT, key);
    if next(&mut key)? != KEY_TYPE {
        return Err(Error::malformed(WHAT, "its key is not Ed25519"));
    }
    let public: [u8; 32] = fixed(next(&mut key)?)?;
    let (_namespace, _reserved, _hash) = (next(&mut reader)?, next(&mut reader)?, next(&mut reader)?);
    let mut signature = encoding::Reader::new(WHAT, next(&mut reader)?);
    let _key_type = next(&mut signature)?;
    let raw: [u8; 64] = fixed(next(&mut signature)?)?;
    Ok((PublicKey::from_bytes(public)?, Signature(raw)))
}

fn next<'a>(reader: &mut encoding::Reader<'a>) -> Result<&'a [u8], Error> {
    let length = u32::from_be_bytes(reader.array()?);
    reader.take(usize::try_from(length).unwrap_or(usize::MAX))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::malformed(WHAT, format!("a part has {} bytes, not {N}", bytes.len())))
}

/// An SSH string: its length in four bytes, then the bytes.
fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), bytes].concat()
}
