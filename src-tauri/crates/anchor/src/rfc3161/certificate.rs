//! A certificate, with the bytes of what is compared or signed in it.

use super::public_key::Scheme;
use super::walk::{Walk, context};
use super::{STAMP, walk::Algorithm};
use crate::Error;
use der::{Decode as _, Tag, asn1::ObjectIdentifier, oid::AssociatedOid};
use model::UnixMs;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectKeyIdentifier};

const CERTIFICATE: &str = "certificate";
const TIME_STAMPING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.8");
const ANY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");

/// A certificate that could be read.
#[derive(Clone)]
pub(super) struct Certificate<'a> {
    /// All its bytes.
    pub(super) raw: &'a [u8],
    /// Who issued it: the bytes of the name.
    pub(super) issuer: &'a [u8],
    /// Whose it is: the bytes of the name.
    pub(super) owner: &'a [u8],
    /// Its number.
    pub(super) serial: &'a [u8],
    /// The key: `SubjectPublicKeyInfo` in DER.
    pub(super) public_key: &'a [u8],
    body: &'a [u8],
    algorithm: Algorithm<'a>,
    signature: &'a [u8],
    read: x509_cert::Certificate,
}

/// Those of these certificates in DER that can be read.
pub(super) fn all<'a>(certificates: impl Iterator<Item = &'a [u8]>) -> Vec<Certificate<'a>> {
    certificates.filter_map(|raw| Certificate::read(raw).ok()).collect()
}

impl<'a> Certificate<'a> {
    fn read(raw: &'a [u8]) -> Result<Self, Error> {
        let read = x509_cert::Certificate::from_der(raw)
            .map_err(|e| Error::malformed(CERTIFICATE, e.to_string()))?;
        let mut whole = Walk::whole(CERTIFICATE, raw, Tag::Sequence)?;
        let body = whole.expect(Tag::Sequence)?;
        let algorithm = whole.algorithm()?;
        let signature = whole.expect(Tag::BitString)?.value;
        whole.end()?;
        let [0, signature @ ..] = signature else {
            return Err(whole.bad("its signature is not of whole bytes"));
        };
        let mut parts = Walk::new(CERTIFICATE, body.value)?;
        parts.optional(context(0))?;
        let serial = parts.expect(Tag::Integer)?.value;
        if parts.algorithm()? != algorithm {
            return Err(parts.bad("it names two ways in which it is signed"));
        }
        let issuer = parts.expect(Tag::Sequence)?.raw;
        parts.expect(Tag::Sequence)?;
        let owner = parts.expect(Tag::Sequence)?.raw;
        let public_key = parts.expect(Tag::Sequence)?.raw;
        Ok(Self { raw, issuer, owner, serial, public_key, body: body.raw, algorithm, signature, read })
    }

    /// The name of whose it is.
    pub(super) fn subject(&self) -> String {
        self.read.tbs_certificate().subject().to_string()
    }

    /// The id of its key, if it says one.
    pub(super) fn key_id(&self) -> Option<Vec<u8>> {
        Some(self.extension::<SubjectKeyIdentifier>().ok()??.1.0.as_bytes().to_vec())
    }

    pub(super) fn is_valid_at(&self, time: UnixMs) -> bool {
        let validity = self.read.tbs_certificate().validity();
        let ms = |time: &x509_cert::time::Time| time.to_unix_duration().as_millis();
        // The last second counts whole.
        u128::try_from(time.0).is_ok_and(|at| {
            ms(&validity.not_before) <= at && at <= ms(&validity.not_after).saturating_add(999)
        })
    }

    /// Whether its key may sign time stamps and nothing else, as RFC 3161 wants it.
    pub(super) fn is_for_time_stamps(&self) -> Result<(), Error> {
        let refused = |reason: &str| Error::wrong(STAMP, format!("the certificate of its signer {reason}"));
        self.knows_what_is_critical()?;
        match self.extension::<ExtendedKeyUsage>()? {
            Some((true, usage)) if usage.0 == [TIME_STAMPING] => {}
            _ => return Err(refused("is not for time stamps alone")),
        }
        match self.extension::<KeyUsage>()? {
            Some((_, usage)) if !usage.digital_signature() && !usage.non_repudiation() => {
                Err(refused("is for a key that signs nothing"))
            }
            _ => Ok(()),
        }
    }

    /// Whether it may issue certificates that have so many others of issuers below it.
    pub(super) fn may_issue(&self, below: usize) -> bool {
        let Ok(Some((_, basic))) = self.extension::<BasicConstraints>() else { return false };
        let Ok(key) = self.extension::<KeyUsage>() else { return false };
        let Ok(usage) = self.extension::<ExtendedKeyUsage>() else { return false };
        basic.ca
            && basic.path_len_constraint.is_none_or(|most| below <= usize::from(most))
            && key.is_none_or(|(_, key)| key.key_cert_sign())
            && usage
                .is_none_or(|(_, usage)| usage.0.iter().any(|one| [TIME_STAMPING, ANY_USAGE].contains(one)))
            && self.knows_what_is_critical().is_ok()
    }

    /// Whether this one signed that one.
    pub(super) fn issued(&self, other: &Certificate<'_>) -> bool {
        other.issuer == self.owner
            && Scheme::of(&other.algorithm, None)
                .and_then(|scheme| scheme.verify(self.public_key, other.body, other.signature, CERTIFICATE))
                .is_ok()
    }

    /// Whether every extension that one has to know is known here.
    fn knows_what_is_critical(&self) -> Result<(), Error> {
        let known = [BasicConstraints::OID, KeyUsage::OID, ExtendedKeyUsage::OID];
        let extensions = self.read.tbs_certificate().extensions().into_iter().flatten();
        for extension in extensions.filter(|extension| extension.critical) {
            if !known.contains(&extension.extn_id) {
                return Err(Error::unsupported(format!(
                    "a certificate with the extension {}",
                    extension.extn_id
                )));
            }
        }
        Ok(())
    }

    /// An extension, and whether one has to know it. One that stands there twice is refused.
    fn extension<T: for<'b> der::Decode<'b, Error = der::Error> + AssociatedOid>(
        &self,
    ) -> Result<Option<(bool, T)>, Error> {
        let found = self.read.tbs_certificate().get_extension::<T>();
        found.map_err(|_| Error::malformed(CERTIFICATE, "an extension is malformed or stands there twice"))
    }
}
