//! The mean of what peers sent, which a few of them cannot move: no vector is longer than the middle one, and at each
//! place the largest and the smallest are left out.

use super::compress::Packed;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a mean is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robust {
    /// Peers of a hundred that may be poisoned: so many are left out at either end of each place.
    pub trim_percent: u8,
    /// Whether a vector is cut to the length of the middle one.
    pub clip: bool,
}

impl Default for Robust {
    fn default() -> Self {
        Self { trim_percent: 20, clip: true }
    }
}

impl Robust {
    /// Peers that are left out at either end, of so many.
    #[must_use]
    pub fn trimmed(&self, peers: usize) -> usize {
        (peers * usize::from(self.trim_percent)).div_ceil(100)
    }
}

/// The mean of sparse vectors of the same length, where a place that a peer did not send is zero there. What only as
/// many peers sent as are left out moves nothing.
///
/// # Errors
/// There are too few to leave that many out, or they are of different lengths.
pub fn robust_mean(sent: &[&Packed], length: u32, robust: Robust) -> Result<Vec<f32>, Error> {
    let trimmed = robust.trimmed(sent.len());
    if sent.len() <= trimmed * 2 || robust.trim_percent >= 50 {
        return Err(Error::Peer(format!(
            "{} peers are too few for a mean that leaves {trimmed} out at either end",
            sent.len()
        )));
    }
    if sent.iter().any(|packed| packed.length() != length) {
        return Err(Error::Peer("it is of an adapter of another size".to_owned()));
    }
    let mut norms: Vec<f64> = sent.iter().map(|packed| packed.norm()).collect();
    let own = norms.clone();
    norms.sort_by(f64::total_cmp);
    let middle = norms.get((norms.len() - 1) / 2).copied().unwrap_or_default();
    let mut places: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (packed, norm) in sent.iter().zip(own) {
        let times = if robust.clip && norm > middle { middle / norm } else { 1.0 };
        for (place, number) in packed.numbers() {
            places.entry(place).or_default().push(f64::from(number) * times);
        }
    }
    let mut mean = vec![0.0_f32; length as usize];
    for (place, mut numbers) in places {
        numbers.resize(sent.len(), 0.0);
        numbers.sort_by(f64::total_cmp);
        let kept = numbers.get(trimmed..numbers.len() - trimmed).unwrap_or_default();
        if let Some(at) = mean.get_mut(place as usize) {
            *at =
                (kept.iter().sum::<f64>() / f64::from(u32::try_from(kept.len()).unwrap_or(u32::MAX))) as f32;
        }
    }
    Ok(mean)
}
