//! A security key in software, spoken to in reports of 64 bytes as a real one is (CTAP 2.1): its greeting, its PIN by either
//! protocol, one passkey. What it says can be bent before it says it.

use crate::Authenticator;
use aes::Aes256;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey, ecdh};
use seal::webauthn::cbor::Item;
use sha2::{Digest as _, Sha256};
#[cfg(unix)]
use std::io::{Read as _, Write as _};
#[cfg(unix)]
use std::os::unix::net::UnixListener;
#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::sync::{Arc, Mutex};

const CHANNEL: [u8; 4] = [0x0b, 0xad, 0xca, 0xfe];
const TRIES: u32 = 8;

/// Whether anybody touches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// As soon as it blinks.
    Soon,
    /// Nobody does: it blinks until it is told to stop.
    Never,
}

/// A security key with one passkey.
pub struct PlainKey {
    /// Its passkey, as a browser would know it.
    pub passkey: Authenticator,
    /// Whether the passkey was made.
    pub made: bool,
    /// Its PIN, where it has one.
    pub pin: Option<String>,
    /// Protocols of the PIN that it knows, the preferred first.
    pub protocols: Vec<i64>,
    /// Whether its tokens are for one thing alone.
    pub binds: bool,
    pub touch: Touch,
    /// Wrong PINs that it still takes.
    pub tries: u32,
    /// What it says to this command instead, status and all.
    pub instead: Option<(u8, Vec<u8>)>,
    /// How often it was told to stop.
    pub cancelled: usize,
    wrong: u32,
    token: [u8; 32],
    /// What the token is for.
    bound: Option<(i64, String)>,
    waits: bool,
    begun: Option<(u8, usize, Vec<u8>)>,
}

impl PlainKey {
    /// A key with this PIN, which makes this passkey.
    pub fn new(passkey: Authenticator, pin: &str) -> Self {
        Self {
            passkey,
            made: false,
            pin: Some(pin.to_owned()),
            protocols: vec![2, 1],
            binds: true,
            touch: Touch::Soon,
            tries: TRIES,
            instead: None,
            cancelled: 0,
            wrong: 0,
            token: [0x70; 32],
            bound: None,
            waits: false,
            begun: None,
        }
    }

    /// What it answers to a report.
    pub fn hear(&mut self, report: &[u8; 64]) -> Vec<[u8; 64]> {
        if report[4] & 0x80 != 0 {
            let length = usize::from(u16::from_be_bytes([report[5], report[6]]));
            self.begun = Some((report[4] & 0x7f, length, report[7..].to_vec()));
        } else if let Some((_, _, message)) = self.begun.as_mut() {
            message.extend_from_slice(&report[5..]);
        }
        let Some((command, length, message)) = self.begun.take() else { return Vec::new() };
        if message.len() < length {
            self.begun = Some((command, length, message));
            return Vec::new();
        }
        let message = &message[..length];
        match (command, report[..4] == CHANNEL) {
            (0x06, _) => {
                let says = [message, CHANNEL.as_slice(), &[2, 1, 0, 0, 0x04]].concat();
                reports([0xff; 4], 0x06, &says)
            }
            (0x10, true) => self.answer(message),
            (0x11, true) => {
                self.cancelled += 1;
                if std::mem::take(&mut self.waits) { reports(CHANNEL, 0x10, &[0x2d]) } else { Vec::new() }
            }
            _ => reports(CHANNEL, 0x3f, &[0x01]),
        }
    }

    fn answer(&mut self, message: &[u8]) -> Vec<[u8; 64]> {
        let (command, parameters) = (message[0], &message[1..]);
        if let Some((_, says)) = self.instead.as_ref().filter(|(of, _)| *of == command) {
            return reports(CHANNEL, 0x10, says);
        }
        let parameters = match parameters {
            [] => Item::Map(Vec::new()),
            bytes => {
                let (map, rest) = Item::read(bytes).unwrap();
                assert!(rest.is_empty(), "something follows a command");
                map
            }
        };
        let mut is_touched = false;
        let came = match command {
            0x04 => Ok(self.info()),
            0x06 => self.pin(&parameters),
            0x01 => {
                is_touched = true;
                self.make(&parameters)
            }
            0x02 => {
                is_touched = up(&parameters);
                self.get(&parameters)
            }
            _ => Err(0x01),
        };
        let says = match came {
            Ok(body) => [[0_u8].as_slice(), body.as_slice()].concat(),
            Err(status) => vec![status],
        };
        let blinks = is_touched && says[0] == 0;
        if blinks && self.touch == Touch::Never {
            self.waits = true;
            return reports(CHANNEL, 0x3b, &[2]);
        }
        let mut all = Vec::new();
        if blinks {
            all.extend(reports(CHANNEL, 0x3b, &[1]));
            all.extend(reports(CHANNEL, 0x3b, &[2]));
            // What it says to somebody else goes by.
            all.extend(reports([9; 4], 0x10, &[0, 1, 2, 3]));
        }
        all.extend(reports(CHANNEL, 0x10, &says));
        all
    }

    fn info(&self) -> Vec<u8> {
        let options = match &self.pin {
            Some(_) => {
                vec![(text("clientPin"), vec![0xf5]), (text("pinUvAuthToken"), vec![flag(self.binds)])]
            }
            None => vec![(text("clientPin"), vec![0xf4])],
        };
        map(vec![
            (int(1), array(vec![text("U2F_V2"), text("FIDO_2_0"), text("FIDO_2_1")])),
            (int(3), bytes(&[0; 16])),
            (int(4), map(options)),
            (int(5), int(1_200)),
            (int(6), array(self.protocols.iter().map(|one| int(*one)).collect())),
        ])
    }

    fn pin(&mut self, given: &Item<'_>) -> Result<Vec<u8>, u8> {
        match number(given, 2).unwrap() {
            1 => Ok(map(vec![(int(3), int(i64::from(self.tries))), (int(4), vec![flag(self.wrong >= 3)])])),
            2 => {
                let point = agreement().public_key().to_sec1_point(false).as_bytes().to_vec();
                let key = vec![
                    (int(1), int(2)),
                    (int(3), int(-25)),
                    (int(-1), int(1)),
                    (int(-2), bytes(&point[1..33])),
                    (int(-3), bytes(&point[33..])),
                ];
                Ok(map(vec![(int(1), map(key))]))
            }
            5 => self.tell(given, None),
            9 if self.binds => {
                let Some(Item::Text(rp)) = of(given, 10) else { return Err(0x14) };
                self.tell(given, Some((number(given, 9).unwrap(), (*rp).to_owned())))
            }
            _ => Err(0x3e),
        }
    }

    /// The token, for the right PIN.
    fn tell(&mut self, given: &Item<'_>, bound: Option<(i64, String)>) -> Result<Vec<u8>, u8> {
        let Some(pin) = &self.pin else { return Err(0x35) };
        if self.tries == 0 {
            return Err(0x32);
        }
        if self.wrong >= 3 {
            return Err(0x34);
        }
        let protocol = number(given, 1).unwrap();
        assert!(self.protocols.contains(&protocol), "a protocol that it does not know");
        let secret = shared(protocol, of(given, 3).unwrap());
        let told = opened(protocol, &secret, raw(given, 6).unwrap());
        if told != Sha256::digest(pin.as_bytes()).as_slice()[..16] {
            (self.tries, self.wrong) = (self.tries - 1, self.wrong + 1);
            return Err(if self.tries == 0 {
                0x32
            } else if self.wrong >= 3 {
                0x34
            } else {
                0x31
            });
        }
        (self.tries, self.wrong, self.bound) = (TRIES, 0, bound);
        Ok(map(vec![(int(2), bytes(&sealed(protocol, &secret, &self.token)))]))
    }

    /// Whether the mark on a command is of the token, and the token for such a command.
    fn marked(
        &self,
        given: &Item<'_>,
        (mark, protocol): (i64, i64),
        hash: &[u8],
        right: (i64, &str),
    ) -> bool {
        let (Some(mark), Some(protocol)) = (raw(given, mark), number(given, protocol)) else { return false };
        let mut own = Hmac::<Sha256>::new_from_slice(&self.token).unwrap();
        own.update(hash);
        let own = own.finalize().into_bytes();
        let own = if protocol == 1 { &own.as_slice()[..16] } else { own.as_slice() };
        let is_right = |(for_what, rp): &(i64, String)| (*for_what, rp.as_str()) == right;
        own == mark && self.bound.as_ref().is_none_or(is_right)
    }

    fn make(&mut self, given: &Item<'_>) -> Result<Vec<u8>, u8> {
        let hash = raw(given, 1).unwrap();
        let Some(Item::Text(rp)) = of(given, 2).and_then(|rp| rp.member(&Item::Text("id"))) else {
            return Err(0x14);
        };
        if of(given, 8).is_none() {
            return Err(0x36);
        }
        if !self.marked(given, (8, 9), hash, (1, *rp)) {
            return Err(0x33);
        }
        if self.made && *rp == self.passkey.rp_id && ids(given, 5).contains(&self.passkey.credential_id) {
            return Err(0x19);
        }
        self.passkey.rp_id = (*rp).to_owned();
        self.made = true;
        // A statement of its maker, which nobody asked for.
        let statement = vec![
            (text("alg"), int(-7)),
            (text("sig"), bytes(&[7; 70])),
            (text("x5c"), array(vec![bytes(&[8; 300])])),
        ];
        let made = self.passkey.made();
        Ok(map(vec![(int(1), text("packed")), (int(2), bytes(&made)), (int(3), map(statement))]))
    }

    fn get(&mut self, given: &Item<'_>) -> Result<Vec<u8>, u8> {
        let (hash, up) = (raw(given, 2).unwrap(), up(given));
        let Some(Item::Text(rp)) = of(given, 1) else { return Err(0x14) };
        if up && of(given, 6).is_none() {
            return Err(0x36);
        }
        if of(given, 6).is_some() && !self.marked(given, (6, 7), hash, (2, *rp)) {
            return Err(0x33);
        }
        let id = self.passkey.credential_id.clone();
        if !self.made || *rp != self.passkey.rp_id || !ids(given, 3).contains(&id) {
            return Err(0x2e);
        }
        let passkey = map(vec![(text("id"), bytes(&id)), (text("type"), text("public-key"))]);
        if !up {
            let nothing = vec![(int(1), passkey), (int(2), bytes(&[0; 37])), (int(3), bytes(&[0; 8]))];
            return Ok(map(nothing));
        }
        if self.touch == Touch::Never {
            return Ok(Vec::new());
        }
        let (said, signature) = self.passkey.assert(hash);
        Ok(map(vec![(int(1), passkey), (int(2), bytes(&said)), (int(3), bytes(&signature))]))
    }

    /// Answers whoever connects to this socket, from now on.
    #[cfg(unix)]
    pub fn serve(self, socket: &Path) -> Arc<Mutex<Self>> {
        let (listener, key) = (UnixListener::bind(socket).unwrap(), Arc::new(Mutex::new(self)));
        let at = Arc::clone(&key);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(mut stream), mut report) = (stream, [0; 64]) else { return };
                while stream.read_exact(&mut report).is_ok() {
                    let said = at.lock().unwrap().hear(&report);
                    if said.iter().any(|one| stream.write_all(one).is_err()) {
                        break;
                    }
                }
            }
        });
        key
    }
}

fn up(given: &Item<'_>) -> bool {
    of(given, 5).and_then(|options| options.member(&Item::Text("up"))) != Some(&Item::Bool(false))
}

fn of<'i, 'a>(given: &'i Item<'a>, name: i64) -> Option<&'i Item<'a>> {
    given.member(&Item::Integer(name))
}

fn number(given: &Item<'_>, name: i64) -> Option<i64> {
    match of(given, name) {
        Some(Item::Integer(number)) => Some(*number),
        _ => None,
    }
}

fn raw<'a>(given: &Item<'a>, name: i64) -> Option<&'a [u8]> {
    match of(given, name) {
        Some(Item::Bytes(bytes)) => Some(*bytes),
        _ => None,
    }
}

fn ids(given: &Item<'_>, name: i64) -> Vec<Vec<u8>> {
    let Some(Item::Array(all)) = of(given, name) else { return Vec::new() };
    let id = |one: &Item<'_>| match one.member(&Item::Text("id")) {
        Some(Item::Bytes(id)) => id.to_vec(),
        _ => Vec::new(),
    };
    all.iter().map(id).collect()
}

/// A message in reports.
fn reports(channel: [u8; 4], command: u8, message: &[u8]) -> Vec<[u8; 64]> {
    let length = u16::try_from(message.len()).unwrap().to_be_bytes();
    let (first, rest) = message.split_at(message.len().min(57));
    let report = |head: &[u8], data: &[u8]| {
        let mut report = [0; 64];
        let all = [channel.as_slice(), head, data].concat();
        report[..all.len()].copy_from_slice(&all);
        report
    };
    let mut all = vec![report(&[command | 0x80, length[0], length[1]], first)];
    all.extend(rest.chunks(59).zip(0_u8..).map(|(part, number)| report(&[number], part)));
    all
}

/// Its half of a secret, always the same one.
fn agreement() -> SecretKey {
    SecretKey::from_slice(&[0x33; 32]).unwrap()
}

fn shared(protocol: i64, theirs: &Item<'_>) -> [u8; 32] {
    assert_eq!((number(theirs, 1), number(theirs, 3), number(theirs, -1)), (Some(2), Some(-25), Some(1)));
    let point = [[4_u8].as_slice(), raw(theirs, -2).unwrap(), raw(theirs, -3).unwrap()].concat();
    let theirs = PublicKey::from_sec1_bytes(&point).unwrap();
    let shared: ecdh::SharedSecret =
        ecdh::diffie_hellman(agreement().to_nonzero_scalar(), theirs.as_affine());
    let shared = shared.raw_secret_bytes().as_slice();
    if protocol == 1 {
        return Sha256::digest(shared).into();
    }
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(None, shared).expand(b"CTAP2 AES key", &mut key).unwrap();
    key
}

fn opened(protocol: i64, key: &[u8; 32], sealed: &[u8]) -> Vec<u8> {
    let (begin, sealed): ([u8; 16], &[u8]) = match protocol {
        1 => ([0; 16], sealed),
        _ => (sealed[..16].try_into().unwrap(), &sealed[16..]),
    };
    let mut cipher = cbc::Decryptor::<Aes256>::new(key.into(), (&begin).into());
    let mut all = Vec::new();
    for block in sealed.as_chunks::<16>().0 {
        let mut block = (*block).into();
        cipher.decrypt_block(&mut block);
        all.extend_from_slice(block.as_slice());
    }
    all
}

fn sealed(protocol: i64, key: &[u8; 32], token: &[u8; 32]) -> Vec<u8> {
    let begin: [u8; 16] = if protocol == 1 { [0; 16] } else { [0x55; 16] };
    let mut all = if protocol == 1 { Vec::new() } else { begin.to_vec() };
    let mut cipher = cbc::Encryptor::<Aes256>::new(key.into(), (&begin).into());
    for block in token.as_chunks::<16>().0 {
        let mut block = (*block).into();
        cipher.encrypt_block(&mut block);
        all.extend_from_slice(block.as_slice());
    }
    all
}

fn head(kind: u8, number: u64) -> Vec<u8> {
    let kind = kind << 5;
    match number {
        0..=23 => vec![kind | u8::try_from(number).unwrap()],
        24..=255 => vec![kind | 24, u8::try_from(number).unwrap()],
        _ => [[kind | 25].as_slice(), &u16::try_from(number).unwrap().to_be_bytes()].concat(),
    }
}

fn int(number: i64) -> Vec<u8> {
    if number < 0 { head(1, number.unsigned_abs() - 1) } else { head(0, number.unsigned_abs()) }
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    [head(2, bytes.len() as u64).as_slice(), bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    [head(3, text.len() as u64).as_slice(), text.as_bytes()].concat()
}

fn array(items: Vec<Vec<u8>>) -> Vec<u8> {
    [head(4, items.len() as u64), items.concat()].concat()
}

fn map(members: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<u8> {
    let all = members.iter().flat_map(|(key, value)| [key.as_slice(), value].concat());
    head(5, members.len() as u64).into_iter().chain(all).collect()
}

const fn flag(is: bool) -> u8 {
    if is { 0xf5 } else { 0xf4 }
}
