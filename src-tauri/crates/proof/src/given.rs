//! What a receiver has beside keys: a checkpoint from before, certificates of time-stamp authorities, headers of Bitcoin.

use crate::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The longest file of certificates that is read.
pub const AUTHORITY_BYTES_MAX: u64 = 1024 * 1024;
/// The longest file of block headers that is read: as many lines of hexadecimal as the reader of headers takes, and more.
pub const HEADERS_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Certificates that a caller may name.
const AUTHORITIES_MAX: usize = 64;

/// What the caller has beside keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// A checkpoint of the log from before, a signed note.
    pub held: Option<&'a [u8]>,
    /// Files of certificates of time-stamp authorities, each PEM (one certificate or several) or DER.
    pub authorities: &'a [Vec<u8>],
    /// A file of headers of Bitcoin: 80 bytes each, or a line of hexadecimal each.
    pub bitcoin_headers: Option<&'a [u8]>,
}

/// What clocks are believed by, once it was read.
pub(crate) struct Clocks {
    authorities: Vec<Vec<u8>>,
    headers: Option<anchor::bitcoin::Headers>,
}

impl Clocks {
    /// Reads what the caller gave.
    ///
    /// # Errors
    /// [`Error::Given`].
    pub(crate) fn of(given: &Given<'_>) -> Result<Self, Error> {
        let mut authorities = Vec::new();
        for file in given.authorities {
            authorities.extend(certificates(file)?);
        }
        if authorities.len() > AUTHORITIES_MAX {
            let why = format!("there are more than {AUTHORITIES_MAX}");
            return Err(Error::Given { what: CERTIFICATES, why });
        }
        let headers = given.bitcoin_headers.map(anchor::bitcoin::Headers::read).transpose();
        let headers = headers.map_err(|e| Error::Given { what: "headers of Bitcoin", why: e.to_string() })?;
        Ok(Self { authorities, headers })
    }

    pub(crate) fn trust(&self) -> anchor::Trust<'_> {
        anchor::Trust { authorities: &self.authorities, headers: self.headers.as_ref() }
    }
}

const CERTIFICATES: &str = "certificates of a time-stamp authority";
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The certificates of a file as DER: all blocks of a PEM file, or the file itself.
fn certificates(file: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let refused = |why: &str| Error::Given { what: CERTIFICATES, why: why.to_owned() };
    // DER of a certificate begins with a sequence.
    if file.first() == Some(&0x30) {
        return Ok(vec![file.to_vec()]);
    }
    let text = std::str::from_utf8(file).map_err(|_| refused("the file is neither PEM nor DER"))?;
    let mut all = Vec::new();
    for block in text.split(BEGIN).skip(1) {
        let (body, _) = block.split_once(END).ok_or_else(|| refused("a PEM block does not end"))?;
        let body: String = body.split_ascii_whitespace().collect();
        all.push(STANDARD.decode(body).map_err(|_| refused("a PEM block is no base64"))?);
    }
    if all.is_empty() { Err(refused("no certificate is in the file")) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_read_as_pem_and_as_der() {
        let pem = format!("of somebody\n{BEGIN}\nMAMC\nAQE=\n{END}\r\n{BEGIN}\r\nMAMCAQI=\r\n{END}\n");
        let der = [vec![0x30, 3, 2, 1, 1], vec![0x30, 3, 2, 1, 2]];
        assert_eq!(certificates(pem.as_bytes()).unwrap(), der);
        assert_eq!(certificates(&der[0]).unwrap(), der[..1]);
        let no_end = format!("{BEGIN}\nMAMC\n");
        let no_base64 = format!("{BEGIN}\n?\n{END}\n");
        for odd in ["", "nothing", &no_end, &no_base64] {
            assert!(matches!(certificates(odd.as_bytes()), Err(Error::Given { .. })), "{odd}");
        }
        let many = vec![der[0].clone(); AUTHORITIES_MAX + 1];
        assert!(Clocks::of(&Given { authorities: &many, ..Given::default() }).is_err());
    }
}
