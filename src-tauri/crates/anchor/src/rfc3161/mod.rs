//! Time stamps of an authority: RFC 3161, in CMS (RFC 5652), bound to the certificate of its signer by RFC 5035.

mod certificate;
mod path;
mod public_key;
mod signed;
mod walk;

use crate::{Error, error::shown};
use der::{Tag, asn1::ObjectIdentifier};
use model::UnixMs;
use seal::Digest;
use walk::{Item, Walk, context, context_simple, number};

const STAMP: &str = "time stamp";
/// The longest answer of an authority, in bytes.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024;
const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
const SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");

/// What an authority is asked: to stamp this digest, to say the nonce again, and to send its certificate along. As DER, to be sent
/// as `application/timestamp-query`.
#[must_use]
pub fn request(digest: &Digest, nonce: u64) -> Vec<u8> {
    // SEQUENCE { 1, { { sha256, NULL }, digest }, nonce, TRUE }
    let mut request = vec![2, 1, 1, 0x30, 0x31, 0x30, 0x0d, 6, 9];
    request.extend(SHA256.as_bytes());
    request.extend([5, 0, 4, 32]);
    request.extend(digest.as_bytes());
    let digits: Vec<u8> = nonce.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    let sign = if digits.first().is_none_or(|first| *first >= 0x80) { 1 } else { 0 };
    request.extend([2, short_length(digits.len() + sign)]);
    request.extend(std::iter::repeat_n(0, sign));
    request.extend(digits);
    request.extend([1, 1, 0xff]);
    let mut whole = vec![0x30, short_length(request.len())];
    whole.extend(request);
    whole
}

/// A length below 128, in the one byte that DER gives it.
fn short_length(length: usize) -> u8 {
    u8::try_from(length).unwrap_or(0x7f)
}

/// A time stamp as it was read. [`TimeStamp::verify`] says who vouches for it.
#[derive(Debug, Clone)]
pub struct TimeStamp {
    /// What was stamped.
    pub digest: Digest,
    /// The nonce that the authority said again; none when it said none, or one that [`request`] cannot have made.
    pub nonce: Option<u64>,
    /// When, as the authority says, rounded up to a millisecond.
    pub gen_time: UnixMs,
    /// How far off that may be, rounded up to a millisecond; none when it does not say.
    pub accuracy_ms: Option<u64>,
    /// The number of the stamp, in hex.
    pub serial: String,
    /// The authority's rules for it, as an object identifier.
    pub policy: String,
    /// The token: CMS signed data in DER.
    token: Vec<u8>,
}

/// Who vouches for a time stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The name in the signer's certificate.
    pub signer: String,
    /// The name of the authority, among those that the caller named, that its certificate leads to; none when it leads to none.
    pub authority: Option<String>,
}

impl TimeStamp {
    /// The latest time at which the digest existed, by what the authority says.
    #[must_use]
    pub fn not_after(&self) -> UnixMs {
        self.gen_time.plus_ms(self.accuracy_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0))
    }

    /// Checks the signature, that the stamp names the certificate of its signer, that this one is for time stamps and nothing else
    /// and was valid then, and looks for a path to one of these certificates in DER.
    ///
    /// # Errors
    /// Something of this does not hold, or is signed in a way that is not known here.
    pub fn verify(&self, authorities: &[Vec<u8>]) -> Result<Vouched, Error> {
        let signed = signed::Signed::read(&self.token)?;
        let named = certificate::all(authorities.iter().map(Vec::as_slice));
        let signer = signed.signer(&named)?;
        signed.verify(&signer)?;
        signer.is_for_time_stamps()?;
        if !signer.is_valid_at(self.gen_time) {
            return Err(Error::wrong(STAMP, "the certificate of its signer was not valid at its time"));
        }
        let authority = path::authority(&signer, &signed.certificates, &named, self.gen_time);
        Ok(Vouched { signer: shown(&signer.subject()), authority: authority.map(|name| shown(&name)) })
    }
}

/// Reads the answer of an authority: DER of a `TimeStampResp`, as `openssl ts -verify -in` reads it.
///
/// # Errors
/// The authority refused, or the bytes are malformed. No signature is checked.
pub fn read(response: &[u8]) -> Result<TimeStamp, Error> {
    if response.len() > RESPONSE_BYTES_MAX {
        return Err(Error::malformed(STAMP, "it is too long"));
    }
    let mut response = Walk::whole(STAMP, response, Tag::Sequence)?;
    let mut status = response.open(Tag::Sequence)?;
    let granted = number(STAMP, status.expect(Tag::Integer)?.value)?;
    let said = status.optional(Tag::Sequence)?;
    let failure = status.optional(Tag::BitString)?;
    status.end()?;
    // 0 is granted, 1 is granted with changes, which what follows shows.
    if !matches!(granted, Some(0 | 1)) {
        return Err(Error::Refused { says: refusal(granted, said, failure) });
    }
    let token = response.expect(Tag::Sequence)?;
    response.end()?;
    let content = signed::content(token.raw)?;
    let info = Info::read(content)?;
    Ok(TimeStamp {
        digest: info.digest,
        nonce: info.nonce,
        gen_time: info.gen_time,
        accuracy_ms: info.accuracy_ms,
        serial: info.serial,
        policy: info.policy,
        token: token.raw.to_vec(),
    })
}

/// What a refusal says: its words if it has any, and else its number.
fn refusal(status: Option<u64>, said: Option<Item<'_>>, failure: Option<Item<'_>>) -> String {
    let words = said.and_then(|said| {
        let mut texts = Walk::new(STAMP, said.value).ok()?;
        let text = texts.expect(Tag::Utf8String).ok()?;
        std::str::from_utf8(text.value).ok().map(shown)
    });
    let status = status.map_or_else(|| "an unknown status".to_owned(), |status| format!("status {status}"));
    let failure =
        failure.map_or_else(String::new, |bits| format!(", failure bits {}", hex::encode(bits.raw)));
    match words {
        Some(words) => format!("{words} ({status}{})", shown(&failure)),
        None => format!("{status}{}", shown(&failure)),
    }
}

/// What is signed: `TSTInfo`.
struct Info {
    digest: Digest,
    nonce: Option<u64>,
    gen_time: UnixMs,
    accuracy_ms: Option<u64>,
    serial: String,
    policy: String,
}

impl Info {
    fn read(content: &[u8]) -> Result<Self, Error> {
        let mut info = Walk::whole(STAMP, content, Tag::Sequence)?;
        if number(STAMP, info.expect(Tag::Integer)?.value)? != Some(1) {
            return Err(info.bad("its version is not 1"));
        }
        let policy = info.oid()?.to_string();
        let mut imprint = info.open(Tag::Sequence)?;
        let algorithm = imprint.algorithm()?;
        if algorithm.oid != SHA256 || algorithm.parameters.is_some() {
            return Err(Error::unsupported("a time stamp of another digest than SHA-256"));
        }
        let digest = Digest::try_from(imprint.expect(Tag::OctetString)?.value)
            .map_err(|_| info.bad("its digest is not 32 bytes"))?;
        imprint.end()?;
        let serial = info.expect(Tag::Integer)?.value;
        // RFC 3161 allows 160 bits.
        if serial.len() > 21 {
            return Err(info.bad("its serial number is too long"));
        }
        let gen_time = general_time(info.expect(Tag::GeneralizedTime)?.value)?;
        let accuracy_ms = info.optional(Tag::Sequence)?.map(|item| accuracy(item.value)).transpose()?;
        if info.optional(Tag::Boolean)?.is_some_and(|item| item.value != [0xff]) {
            return Err(info.bad("it says by default that it is not ordered"));
        }
        let nonce = info.optional(Tag::Integer)?.map(|item| number(STAMP, item.value)).transpose()?.flatten();
        info.optional(context(0))?;
        if let Some(extensions) = info.optional(context(1))? {
            no_critical(extensions.value)?;
        }
        info.end()?;
        Ok(Self { digest, nonce, gen_time, accuracy_ms, serial: hex::encode(serial), policy })
    }
}

/// No extension of the stamp is known here, so none may have to be.
fn no_critical(extensions: &[u8]) -> Result<(), Error> {
    let mut extensions = Walk::new(STAMP, extensions)?;
    while !extensions.is_empty() {
        let mut extension = extensions.open(Tag::Sequence)?;
        extension.oid()?;
        if extension.optional(Tag::Boolean)?.is_some() {
            return Err(Error::unsupported("a time stamp with an extension that one has to know"));
        }
        extension.expect(Tag::OctetString)?;
        extension.end()?;
    }
    Ok(())
}

/// Seconds, milliseconds and microseconds, in milliseconds, rounded up.
fn accuracy(value: &[u8]) -> Result<u64, Error> {
    const DAY_S: u64 = 24 * 60 * 60;
    let mut parts = Walk::new(STAMP, value)?;
    let mut part = |tag, max| -> Result<u64, Error> {
        let Some(item) = parts.optional(tag)? else { return Ok(0) };
        let part = number(STAMP, item.value)?.filter(|part| *part <= max);
        part.ok_or_else(|| Error::malformed(STAMP, "its accuracy is none"))
    };
    let seconds = part(Tag::Integer, DAY_S)?;
    let millis = part(context_simple(0), 999)?;
    let micros = part(context_simple(1), 999)?;
    parts.end()?;
    Ok(seconds * 1000 + millis + u64::from(micros > 0))
}

/// `YYYYMMDDhhmmss[.s…]Z`, rounded up to a millisecond.
fn general_time(value: &[u8]) -> Result<UnixMs, Error> {
    let bad = || Error::malformed(STAMP, "its time is not one of RFC 3161");
    let text = std::str::from_utf8(value).ok().and_then(|text| text.strip_suffix('Z')).ok_or_else(bad)?;
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() != 14 || !is_number(whole) {
        return Err(bad());
    }
    let mut ms = 0;
    if let Some(fraction) = fraction {
        if !is_number(fraction) || fraction.ends_with('0') || fraction.len() > 12 {
            return Err(bad());
        }
        let (shown, beyond) = fraction.split_at_checked(3).unwrap_or((fraction, ""));
        ms = format!("{shown:0<3}").parse::<i64>().map_err(|_| bad())? + i64::from(!beyond.is_empty());
    }
    let part =
        |from: usize, length: usize| whole.get(from..from + length).and_then(|part| part.parse::<u16>().ok());
    let small = |from| part(from, 2).and_then(|part| u8::try_from(part).ok());
    let time = (|| {
        let (year, month, day) = (part(0, 4)?, small(4)?, small(6)?);
        der::DateTime::new(year, month, day, small(8)?, small(10)?, small(12)?).ok()
    })();
    let since = time.ok_or_else(bad)?.unix_duration().as_secs();
    Ok(UnixMs(i64::try_from(since).map_err(|_| bad())? * 1000 + ms))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on stops")]
    use super::*;

    #[test]
    fn a_time_is_rounded_up_and_has_one_spelling() {
        assert_eq!(general_time(b"19700101000001Z").unwrap(), UnixMs(1000));
        assert_eq!(general_time(b"20240229120000.5Z").unwrap(), UnixMs(1_709_208_000_500));
        assert_eq!(general_time(b"20240229120000.0001Z").unwrap(), UnixMs(1_709_208_000_001));
        for wrong in [
            "20240230120000Z",
            "20240229120000",
            "20240229120000.Z",
            "20240229120000.10Z",
            "202402291200Z",
            "20240229120000+0100",
            "19690101000000Z",
            "2024022912000\u{660}Z",
        ] {
            assert!(general_time(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_nonce_is_written_in_its_shortest_form() {
        for (nonce, bytes) in [(0, vec![2, 1, 0]), (0x7f, vec![2, 1, 0x7f]), (0x80, vec![2, 2, 0, 0x80])] {
            let request = request(&Digest::ZERO, nonce);
            assert!(request.ends_with(&[bytes, vec![1, 1, 0xff]].concat()), "{nonce}");
            assert_eq!(usize::from(request[1]), request.len() - 2);
        }
    }
}
