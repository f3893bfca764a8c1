//! CTAPHID: messages in reports of 64 bytes, on a channel of one's own (CTAP 2.1, 11.2).

use crate::{Device, Error, Moment, REPORT, Watch, random};
use std::time::{Duration, Instant};

/// The longest message: a first report and 128 that follow it.
const MESSAGE_MAX: usize = 7_609;
/// Bytes of a message in its first report, and in each that follows.
const FIRST: usize = 57;
const NEXT: usize = 59;

const INIT: u8 = 0x06;
const CBOR: u8 = 0x10;
const CANCEL: u8 = 0x11;
const KEEPALIVE: u8 = 0x3b;
const ERROR: u8 = 0x3f;
/// Marks the first report of a message.
const BEGINS: u8 = 0x80;
const EVERYBODY: [u8; 4] = [0xff; 4];
/// What a key says of itself: it speaks CTAP2.
const SPEAKS_CBOR: u8 = 0x04;
/// What a key says of a touch in a keepalive.
const WANTS_TOUCH: u8 = 2;
const CHANNEL_BUSY: u8 = 0x06;

/// How often whoever watches is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// A key that works says so every tenth of a second; one that says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(3);
/// How long a touch is waited for, and what needs none, however often the key says that it works.
const TOUCH: Duration = Duration::from_secs(60);
const WORK: Duration = Duration::from_secs(10);
/// How long a key may take to say that it has stopped.
const STOPS: Duration = Duration::from_secs(1);

/// What a command waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Somebody who touches the key.
    Touch,
    /// The key alone.
    Work,
}

/// A channel of one's own to a key.
pub(crate) struct Channel<'d> {
    device: &'d mut dyn Device,
    id: [u8; 4],
}

impl<'d> Channel<'d> {
    /// Asks a key for a channel.
    pub(crate) fn open(device: &'d mut dyn Device) -> Result<Self, Error> {
        let mut nonce = [0; 8];
        random(&mut nonce)?;
        let mut channel = Self { device, id: EVERYBODY };
        channel.send(INIT, &nonce)?;
        let until = Instant::now() + SILENCE;
        while Instant::now() < until {
            // What is answered to others, on the channel that all of them share, is passed over.
            let Some((INIT, answer)) = channel.message(until)? else { continue };
            let Some(said) = answer.strip_prefix(&nonce) else { continue };
            let [a, b, c, d, _, _, _, _, says, ..] = *said else {
                return Err(Error::unreadable("its greeting is too short"));
            };
            channel.id = [a, b, c, d];
            return if says & SPEAKS_CBOR == 0 { Err(Error::Old) } else { Ok(channel) };
        }
        Err(Error::Gone)
    }

    /// One command of CTAP2 and its answer, without the status. Whoever watches is told what the key is at, and may end it.
    pub(crate) fn ask(&mut self, request: &[u8], what: For, watch: Watch<'_>) -> Result<Vec<u8>, Error> {
        self.send(CBOR, request)?;
        let begun = Instant::now();
        let (mut heard, mut moment) = (begun, Moment::Working);
        let mut ended: Option<(Error, Instant)> = None;
        loop {
            match self.message(Instant::now() + LOOK)? {
                Some((CBOR, answer)) => {
                    return match (ended, answer.split_first()) {
                        (Some((why, _)), _) => Err(why),
                        (None, Some((0, rest))) => Ok(rest.to_vec()),
                        (None, Some((status, _))) => Err(Error::of(*status)),
                        (None, None) => Err(Error::unreadable("its answer is empty")),
                    };
                }
                Some((KEEPALIVE, said)) => {
                    heard = Instant::now();
                    moment = if said == [WANTS_TOUCH] { Moment::Touch } else { Moment::Working };
                }
                Some((ERROR, why)) if why == [CHANNEL_BUSY] => return Err(Error::Busy),
                Some((ERROR, _)) => return Err(Error::Gone),
                Some(_) => return Err(Error::unreadable("it answers something else")),
                None if heard.elapsed() > SILENCE => {
                    return Err(ended.map_or(Error::Gone, |(why, _)| why));
                }
                None => {}
            }
            match &ended {
                Some((why, since)) if since.elapsed() > STOPS => return Err(why.clone()),
                Some(_) => {}
                None => {
                    let why = if what == For::Touch && begun.elapsed() > TOUCH {
                        Error::TimedOut
                    } else if what == For::Work && begun.elapsed() > WORK {
                        Error::Gone
                    } else if watch(moment) {
                        continue;
                    } else {
                        Error::Cancelled
                    };
                    self.send(CANCEL, &[])?;
                    ended = Some((why, Instant::now()));
                }
            }
        }
    }

    fn send(&mut self, command: u8, message: &[u8]) -> Result<(), Error> {
        let length = u16::try_from(message.len()).map_err(|_| Error::TooLong)?;
        if message.len() > MESSAGE_MAX {
            return Err(Error::TooLong);
        }
        let [high, low] = length.to_be_bytes();
        let (first, rest) = message.split_at(message.len().min(FIRST));
        self.write(&[command | BEGINS, high, low], first)?;
        for (part, number) in rest.chunks(NEXT).zip(0_u8..) {
            self.write(&[number], part)?;
        }
        Ok(())
    }

    fn write(&mut self, head: &[u8], data: &[u8]) -> Result<(), Error> {
        let mut report = [0; REPORT];
        for (place, byte) in report.iter_mut().zip(self.id.iter().chain(head).chain(data)) {
            *place = *byte;
        }
        self.device.write(&report).map_err(|_| Error::Gone)
    }

    /// The next whole message on this channel, when one begins by then.
    fn message(&mut self, until: Instant) -> Result<Option<(u8, Vec<u8>)>, Error> {
        loop {
            let Some([_, _, _, _, command, high, low, data @ ..]) = self.report(until)? else {
                return Ok(None);
            };
            // The rest of something that was begun before this channel was.
            if command & BEGINS == 0 {
                continue;
            }
            let length = usize::from(u16::from_be_bytes([high, low]));
            if length > MESSAGE_MAX {
                return Err(Error::unreadable("its message is too long"));
            }
            let mut message = data.to_vec();
            let mut number = 0_u8;
            let until = Instant::now() + SILENCE;
            while message.len() < length {
                let next = self.report(until)?.ok_or(Error::Gone)?;
                let [_, _, _, _, place, data @ ..] = next;
                if place != number {
                    return Err(Error::unreadable("parts of its message are missing"));
                }
                message.extend_from_slice(&data);
                number = number.wrapping_add(1);
            }
            message.truncate(length);
            return Ok(Some((command & !BEGINS, message)));
        }
    }

    /// The next report on this channel, when one comes by then.
    fn report(&mut self, until: Instant) -> Result<Option<[u8; REPORT]>, Error> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            match self.device.read(left) {
                Ok(Some(report)) if report.starts_with(&self.id) => return Ok(Some(report)),
                Ok(_) => {}
                Err(_) => return Err(Error::Gone),
            }
        }
    }
}
