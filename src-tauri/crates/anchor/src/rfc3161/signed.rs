//! The envelope of a time stamp: CMS signed data with one signer, whose certificate is among what is signed.

use super::certificate::{self, Certificate};
use super::public_key::{Hash, Scheme};
use super::walk::{Algorithm, Walk, context, context_simple};
use super::{SHA256, SIGNED_DATA, STAMP};
use crate::Error;
use der::{Tag, asn1::ObjectIdentifier};
use sha2::Digest as _;

const STAMP_INFO: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.1.4");
const CONTENT_TYPE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.3");
const MESSAGE_DIGEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.4");
const SIGNING_CERTIFICATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.12");
const SIGNING_CERTIFICATE_V2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");
/// Certificates that are looked at in one time stamp.
const CERTIFICATES_MAX: usize = 16;

/// Signed data.
pub(super) struct Signed<'a> {
    /// The certificates that came along and could be read.
    pub(super) certificates: Vec<Certificate<'a>>,
    content: &'a [u8],
    signer_id: SignerId<'a>,
    digest: Algorithm<'a>,
    /// The attributes that are signed, as their element stands in the token.
    attributes: &'a [u8],
    algorithm: Algorithm<'a>,
    signature: &'a [u8],
}

/// How the signer's certificate is named beside the signature.
enum SignerId<'a> {
    /// By its issuer and number, as they stand in the certificate.
    Issued { issuer: &'a [u8], serial: &'a [u8] },
    /// By the id of its key.
    Key(&'a [u8]),
}

/// What is signed in a token: the bytes of a `TSTInfo`.
pub(super) fn content(token: &[u8]) -> Result<&[u8], Error> {
    Ok(Signed::read(token)?.content)
}

impl<'a> Signed<'a> {
    pub(super) fn read(token: &'a [u8]) -> Result<Self, Error> {
        let mut info = Walk::whole(STAMP, token, Tag::Sequence)?;
        if info.oid()? != SIGNED_DATA {
            return Err(info.bad("it is not signed data"));
        }
        let mut explicit = info.open(context(0))?;
        info.end()?;
        let mut data = explicit.open(Tag::Sequence)?;
        explicit.end()?;
        data.expect(Tag::Integer)?;
        data.expect(Tag::Set)?;
        let content = encapsulated(&mut data)?;
        let certificates = match data.optional(context(0))? {
            Some(item) => enclosed(item.value)?,
            None => Vec::new(),
        };
        data.optional(context(1))?;
        let mut signers = data.open(Tag::Set)?;
        data.end()?;
        let mut signer = signers.open(Tag::Sequence)?;
        signers.end()?;
        signer.expect(Tag::Integer)?;
        let signer_id = signer_id(&mut signer)?;
        let digest = signer.algorithm()?;
        let attributes = signer.expect(context(0))?.raw;
        let algorithm = signer.algorithm()?;
        let signature = signer.expect(Tag::OctetString)?.value;
        signer.optional(context(1))?;
        signer.end()?;
        Ok(Self { certificates, content, signer_id, digest, attributes, algorithm, signature })
    }

    /// The certificate that the signed attributes name by its hash, from among those that came along and those that the caller named.
    pub(super) fn signer(&self, named: &[Certificate<'a>]) -> Result<Certificate<'a>, Error> {
        let is_signer = self.is_named_signer()?;
        let mut known = self.certificates.iter().chain(named);
        let signer = known.find(|certificate| is_signer(certificate));
        let signer =
            signer.ok_or_else(|| Error::wrong(STAMP, "the certificate of its signer did not come along"))?;
        let fits = match self.signer_id {
            SignerId::Issued { issuer, serial } => signer.issuer == issuer && signer.serial == serial,
            SignerId::Key(id) => signer.key_id().is_some_and(|own| own == id),
        };
        if fits { Ok(signer.clone()) } else { Err(Error::wrong(STAMP, "it names two signers")) }
    }

    /// Whether the signature holds, and is of this content.
    pub(super) fn verify(&self, signer: &Certificate<'_>) -> Result<(), Error> {
        if *self.attribute(CONTENT_TYPE, Tag::ObjectIdentifier)? != *STAMP_INFO.as_bytes() {
            return Err(Error::wrong(STAMP, "what is signed is not a time stamp"));
        }
        let hash = Hash::of(&self.digest)?;
        if self.attribute(MESSAGE_DIGEST, Tag::OctetString)? != hash.digest(self.content) {
            return Err(Error::wrong(STAMP, "what is signed is another content"));
        }
        // What is signed are the attributes as a set, which in the token have a tag of their own.
        let mut signed = self.attributes.to_vec();
        if let Some(tag) = signed.first_mut() {
            *tag = 0x31;
        }
        let scheme = Scheme::of(&self.algorithm, Some(hash))?;
        scheme.verify(signer.public_key, &signed, self.signature, STAMP)
    }

    /// The value of a signed attribute that stands there once, with one value.
    fn attribute(&self, oid: ObjectIdentifier, tag: Tag) -> Result<&'a [u8], Error> {
        self.find(oid, tag)?
            .ok_or_else(|| Error::wrong(STAMP, format!("it lacks the signed attribute {oid}")))
    }

    fn find(&self, wanted: ObjectIdentifier, tag: Tag) -> Result<Option<&'a [u8]>, Error> {
        let mut attributes = Walk::whole(STAMP, self.attributes, context(0))?;
        let mut found = None;
        while !attributes.is_empty() {
            let mut attribute = attributes.open(Tag::Sequence)?;
            let oid = attribute.oid()?;
            let mut values = attribute.open(Tag::Set)?;
            attribute.end()?;
            if oid != wanted {
                continue;
            }
            let value = values.expect(tag)?.value;
            values.end()?;
            if found.replace(value).is_some() {
                return Err(attributes.bad("a signed attribute stands there twice"));
            }
        }
        Ok(found)
    }

    /// Tells whether a certificate is the first that the signed attributes name.
    fn is_named_signer(&self) -> Result<impl Fn(&Certificate<'a>) -> bool, Error> {
        let (value, is_second) = match self.find(SIGNING_CERTIFICATE_V2, Tag::Sequence)? {
            Some(value) => (value, true),
            None => (self.attribute(SIGNING_CERTIFICATE, Tag::Sequence)?, false),
        };
        let mut named = Walk::new(STAMP, value)?.open(Tag::Sequence)?.open(Tag::Sequence)?;
        let algorithm = if is_second && let Some(item) = named.optional(Tag::Sequence)? {
            Some(Hash::of(&Walk::new(STAMP, item.raw)?.algorithm()?)?)
        } else {
            is_second.then(|| Hash::of(&Algorithm { oid: SHA256, parameters: None })).transpose()?
        };
        let hash = named.expect(Tag::OctetString)?.value;
        Ok(move |certificate: &Certificate<'a>| match algorithm {
            Some(algorithm) => algorithm.digest(certificate.raw) == hash,
            // The first version of the attribute knows SHA-1 alone. Nobody finds a second certificate to a given hash of it.
            None => sha1::Sha1::digest(certificate.raw).as_slice() == hash,
        })
    }
}

/// The content, as the bytes that are signed.
fn encapsulated<'a>(data: &mut Walk<'a>) -> Result<&'a [u8], Error> {
    let mut encapsulated = data.open(Tag::Sequence)?;
    if encapsulated.oid()? != STAMP_INFO {
        return Err(data.bad("its content is not a time stamp"));
    }
    let mut explicit = encapsulated.open(context(0))?;
    encapsulated.end()?;
    let content = explicit.expect(Tag::OctetString)?.value;
    explicit.end()?;
    Ok(content)
}

/// The certificates that came along. They stand in any order, and what is no certificate that can be read is passed over.
fn enclosed(value: &[u8]) -> Result<Vec<Certificate<'_>>, Error> {
    let mut set = Walk::new(STAMP, value)?;
    let mut raw = Vec::new();
    while !set.is_empty() {
        raw.push(set.next()?.raw);
        if raw.len() > CERTIFICATES_MAX {
            return Err(set.bad("too many certificates came along"));
        }
    }
    Ok(certificate::all(raw.into_iter()))
}

fn signer_id<'a>(signer: &mut Walk<'a>) -> Result<SignerId<'a>, Error> {
    if let Some(key) = signer.optional(context_simple(0))? {
        return Ok(SignerId::Key(key.value));
    }
    let mut issued = signer.open(Tag::Sequence)?;
    let issuer = issued.expect(Tag::Sequence)?.raw;
    let serial = issued.expect(Tag::Integer)?.value;
    issued.end()?;
    Ok(SignerId::Issued { issuer, serial })
}
