//! How a pseudo-gradient gets small: the largest of it, in 8 bits, and what was left out is added the next time.

use crate::Error;

/// Numbers of an adapter.
pub const PARAMETERS_MAX: usize = 1 << 26;

/// The largest number that is sent: what is further away is nobody's step.
const SCALE_MAX: f32 = 1e6;

/// How far a peer came in its own steps: what it began with, less what it has.
///
/// # Errors
/// They are not of the same length, or not numbers.
pub fn pseudo_gradient(before: &[f32], after: &[f32]) -> Result<Vec<f32>, Error> {
    if before.len() != after.len() || before.len() > PARAMETERS_MAX {
        return Err(Error::Peer("two adapters are of different lengths, or too long".to_owned()));
    }
    let difference: Vec<f32> = before.iter().zip(after).map(|(before, after)| before - after).collect();
    if difference.iter().all(|number| number.is_finite()) {
        Ok(difference)
    } else {
        Err(Error::Peer("an adapter has a place that is no number".to_owned()))
    }
}

/// Some places of a pseudo-gradient, each in 8 bits.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    /// Numbers of the whole.
    length: u32,
    /// What one of 127 is worth.
    scale: f32,
    /// Places in order, each once, and what stands there.
    places: Vec<(u32, i8)>,
}

impl Packed {
    /// Numbers of the whole.
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// Places and what stands there.
    pub fn numbers(&self) -> impl Iterator<Item = (u32, f32)> {
        self.places.iter().map(move |(place, level)| (*place, f32::from(*level) * self.scale))
    }

    /// Its length as a vector.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.numbers().map(|(_, number)| f64::from(number) * f64::from(number)).sum::<f64>().sqrt()
    }

    /// Its bytes: length, scale and number of places, then for each the distance from the last one and its level.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12 + self.places.len() * 2);
        bytes.extend(self.length.to_be_bytes());
        bytes.extend(self.scale.to_bits().to_be_bytes());
        bytes.extend(u32::try_from(self.places.len()).unwrap_or(u32::MAX).to_be_bytes());
        let mut next = 0_u32;
        for (place, level) in &self.places {
            let mut distance = place.wrapping_sub(next);
            while distance >= 0x80 {
                bytes.push((distance as u8) | 0x80);
                distance >>= 7;
            }
            bytes.push(distance as u8);
            bytes.push(level.to_be_bytes()[0]);
            next = place.wrapping_add(1);
        }
        bytes
    }

    /// Reads them, each spelling once.
    ///
    /// # Errors
    /// They are no such bytes, or of a whole of another length.
    pub fn from_bytes(bytes: &[u8], length: u32) -> Result<Self, Error> {
        let no = |words: &str| Error::Peer(words.to_owned());
        let mut rest = bytes;
        let mut word = || -> Option<u32> {
            let (first, others) = rest.split_first_chunk::<4>()?;
            rest = others;
            Some(u32::from_be_bytes(*first))
        };
        let (Some(own), Some(scale), Some(number)) = (word(), word(), word()) else {
            return Err(no("it is cut off"));
        };
        let scale = f32::from_bits(scale);
        if own != length || length as usize > PARAMETERS_MAX || number > length {
            return Err(no("it is of an adapter of another size"));
        }
        if !(scale.is_finite() && (0.0..=SCALE_MAX).contains(&scale)) || rest.len() < number as usize * 2 {
            return Err(no("its scale is no number, or it is cut off"));
        }
        let mut places = Vec::with_capacity(number as usize);
        let mut next = 0_u32;
        for _ in 0..number {
            let distance = varint(&mut rest).ok_or_else(|| no("a place of it is none"))?;
            let place = next.checked_add(distance).filter(|place| *place < length);
            let (place, (level, others)) =
                place.zip(rest.split_first()).ok_or_else(|| no("a place of it is outside"))?;
            places.push((place, i8::from_be_bytes([*level])));
            rest = others;
            next = place + 1;
        }
        if !rest.is_empty() {
            return Err(no("there is more than it says"));
        }
        Ok(Self { length, scale, places })
    }
}

/// Seven bits a byte, the lowest first, in as few bytes as can be.
fn varint(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u64;
    for at in 0..5 {
        let (byte, others) = rest.split_first()?;
        *rest = others;
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return if *byte == 0 && at > 0 { None } else { u32::try_from(number).ok() };
        }
    }
    None
}

/// What a peer keeps between rounds: all that it found and did not send yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressor {
    left: Vec<f32>,
}

impl Compressor {
    /// One that has sent everything.
    ///
    /// # Errors
    /// The adapter is too long.
    pub fn new(length: usize) -> Result<Self, Error> {
        if length == 0 || length > PARAMETERS_MAX {
            return Err(Error::Peer(format!("an adapter has between 1 and {PARAMETERS_MAX} numbers")));
        }
        Ok(Self { left: vec![0.0; length] })
    }

    /// One that goes on with what another process kept.
    ///
    /// # Errors
    /// It is none that [`Self::left`] gave.
    pub fn from_left(left: Vec<f32>) -> Result<Self, Error> {
        Self::new(left.len())?;
        if left.iter().all(|number| number.is_finite()) {
            Ok(Self { left })
        } else {
            Err(Error::Peer("what was left out has a place that is no number".to_owned()))
        }
    }

    /// What was not sent yet.
    #[must_use]
    pub fn left(&self) -> &[f32] {
        &self.left
    }

    /// Packs the `keep` largest places of what is left and of what is new; the rest is left for the next time, and what
    /// 8 bits cannot say of them as well.
    ///
    /// # Errors
    /// The gradient is of another length, or has a place that is no number.
    pub fn pack(&mut self, gradient: &[f32], keep: usize) -> Result<Packed, Error> {
        if gradient.len() != self.left.len() {
            return Err(Error::Peer("a gradient is of another length".to_owned()));
        }
        let bound = SCALE_MAX * 127.0;
        let all: Vec<f32> = self.left.iter().zip(gradient).map(|(left, new)| left + new).collect();
        if !all.iter().all(|number| number.is_finite() && number.abs() <= bound) {
            return Err(Error::Peer("a gradient has a place that is no number, or too large".to_owned()));
        }
        let mut order: Vec<(u32, f32)> = (0_u32..).zip(all.iter().copied()).collect();
        order.retain(|(_, number)| *number != 0.0);
        let keep = keep.min(order.len());
        let larger = |a: &(u32, f32), b: &(u32, f32)| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0));
        if keep > 0 && keep < order.len() {
            order.select_nth_unstable_by(keep - 1, larger);
        }
        order.truncate(keep);
        order.sort_unstable_by_key(|(place, _)| *place);
        let largest = order.iter().map(|(_, number)| number.abs()).fold(0.0_f32, f32::max);
        let scale = largest / 127.0;
        self.left = all;
        let mut places = Vec::with_capacity(order.len());
        for (place, number) in order {
            let level = if scale > 0.0 { (number / scale).round().clamp(-127.0, 127.0) as i8 } else { 0 };
            if level != 0 {
                places.push((place, level));
            }
        }
        let length = u32::try_from(gradient.len()).unwrap_or(u32::MAX);
        let packed = Packed { length, scale, places };
        self.add(&packed, -1.0);
        Ok(packed)
    }

    /// Takes back what was sent and not counted: the peer was late, or the round ended without it.
    pub fn take_back(&mut self, packed: &Packed) {
        self.add(packed, 1.0);
    }

    fn add(&mut self, packed: &Packed, times: f32) {
        for (place, number) in packed.numbers() {
            if let Some(left) = self.left.get_mut(place as usize) {
                *left += times * number;
            }
        }
    }
}
