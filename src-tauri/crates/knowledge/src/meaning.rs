//! Vectors of texts by which memory is found by meaning (memory.md 2): what is asked of an embedding model, what of its
//! answer is taken, and how alike two vectors are.
//!
//! A server of models does not say which weights it has. So each request holds one sentence that is always the same, and
//! its vector is the key of all others: vectors of a model that answers it otherwise are never compared with these. A vector
//! is kept as whole numbers, and compared by them, so that the same vectors always give the same order.

use seal::Digest;

/// Numbers of a vector at most.
pub const DIMENSION_MAX: usize = 4_096;

/// Letters of a text that are embedded: models of this kind read a few sentences.
const LETTERS_MAX: usize = 480;

/// Likeness is counted in millionths.
const ONE: f64 = 1e6;

/// From here on two vectors of one sentence are of the same model: the same weights on another processor differ less, other
/// weights more.
const SAME: i64 = 990_000;

/// How far a text has to rise above what sentences about different things have in common, in percent of the rest: the
/// nearest few a little, further ones clearly.
const NEAREST: usize = 5;
const RISE_PERCENT: i64 = 5;
const FURTHER_RISE_PERCENT: i64 = 20;

/// Sentences about different things: the first is the key of a model's vectors, and how alike it finds them all is what
/// unrelated texts have in common for it.
pub const PROBES: [&str; 8] = [
    "The lighthouse keeper counted nine ships before the fog came in.",
    "Invoices are sent to customers on the first working day of a month.",
    "A violin needs new strings after about a year of practice.",
    "The parser refuses a file whose header has no version.",
    "Tomatoes grow best in a warm place with a little shade.",
    "The committee postponed its vote on the new bridge.",
    "Her grandmother taught her to bake bread with rye.",
    "Each night a backup of the database is copied to another city.",
];

/// The direction of a text's meaning as one model takes it, in whole numbers from -127 to 127.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    numbers: Vec<i8>,
    /// The sum of their squares, never 0.
    square: i64,
}

impl Vector {
    /// The vector of what a model answered.
    ///
    /// # Errors
    /// In words: when it is empty, too long, holds what is no number, or points nowhere.
    pub fn of(answered: &[f32]) -> Result<Self, String> {
        if answered.is_empty() || answered.len() > DIMENSION_MAX {
            return Err(format!(
                "a vector of {} numbers; there are from 1 to {DIMENSION_MAX}",
                answered.len()
            ));
        }
        if answered.iter().any(|number| !number.is_finite()) {
            return Err("a vector that holds what is no number".to_owned());
        }
        let largest = answered.iter().fold(0_f32, |largest, number| largest.max(number.abs()));
        let scaled = |number: &f32| (f64::from(*number) / f64::from(largest) * 127.0).round() as i8;
        Self::whole(answered.iter().map(scaled).collect())
            .filter(|_| largest > 0.0)
            .ok_or_else(|| "a vector of nothing but zeros".to_owned())
    }

    /// The vector that these bytes keep; none where they are no such vector.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::whole(bytes.iter().map(|byte| i8::from_le_bytes([*byte])).collect())
    }

    fn whole(numbers: Vec<i8>) -> Option<Self> {
        let square = numbers.iter().map(|number| i64::from(*number) * i64::from(*number)).sum();
        (square > 0).then_some(Self { numbers, square })
    }

    /// Its bytes, one for each number.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.numbers.len()
    }

    /// How alike two are, from -1,000,000 to 1,000,000; vectors of different lengths have nothing in common.
    pub fn likeness(&self, other: &Self) -> i64 {
        if self.numbers.len() != other.numbers.len() {
            return 0;
        }
        let both: i64 = self
            .numbers
            .iter()
            .zip(&other.numbers)
            .map(|(one, other)| i64::from(i32::from(*one) * i32::from(*other)))
            .sum();
        // Exact up to here; a root and a quotient are rounded the same way on every machine.
        (both as f64 / (self.square as f64 * other.square as f64).sqrt() * ONE).round() as i64
    }

    /// Whether two vectors of the same sentence are of the same model.
    pub fn is_of_the_same_model(&self, other: &Self) -> bool {
        self.dimension() == other.dimension() && self.likeness(other) >= SAME
    }
}

/// The vectors of an answer, one for each of `texts`, all of one length.
///
/// # Errors
/// In words, when it has more or fewer, or one of them is none.
pub fn taken(answered: &[Vec<f32>], texts: usize) -> Result<Vec<Vector>, String> {
    if answered.len() != texts {
        return Err(format!("{} vectors for {texts} texts", answered.len()));
    }
    let vectors: Vec<Vector> = answered.iter().map(|one| Vector::of(one)).collect::<Result<_, _>>()?;
    match vectors.iter().any(|one| Some(one.dimension()) != vectors.first().map(Vector::dimension)) {
        true => Err("vectors of different lengths".to_owned()),
        false => Ok(vectors),
    }
}

/// How alike a model finds sentences about different things, by its vectors of [`PROBES`].
pub fn common(probes: &[Vector]) -> i64 {
    let pairs = probes.iter().enumerate().flat_map(|(at, one)| {
        probes.iter().skip(at.saturating_add(1)).map(move |other| one.likeness(other).max(0))
    });
    let (count, sum) = pairs.fold((0_i64, 0_i64), |(count, sum), likeness| (count + 1, sum + likeness));
    sum / count.max(1)
}

/// Whether the text that stands at this place among the nearest, from 0, has something to do with what was asked for, by how
/// alike the model finds them, and what unrelated texts have in common for it.
pub const fn is_near(likeness: i64, place: usize, common: i64) -> bool {
    let rise = if place < NEAREST { RISE_PERCENT } else { FURTHER_RISE_PERCENT };
    likeness >= common + (ONE as i64 - common) * rise / 100
}

/// The key of all vectors of a model: its name, and what it answers to the first of [`PROBES`].
pub fn key(model: &str, probe: &Vector) -> Digest {
    let mut bytes = model.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend(probe.to_bytes());
    Digest::of(&bytes)
}

/// What of a text is embedded: its first letters, on one line.
pub fn embedded(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LETTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_is_no_vector_is_refused_in_words() {
        for (wrong, says) in [
            (vec![], "0 numbers"),
            (vec![0.1; DIMENSION_MAX + 1], "4097 numbers"),
            (vec![0.1, f32::NAN], "no number"),
            (vec![f32::INFINITY, 0.1], "no number"),
            (vec![0.0, -0.0], "zeros"),
        ] {
            let said = Vector::of(&wrong).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
        let two = [vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(taken(&two, 2).unwrap().len(), 2);
        assert!(taken(&two, 3).unwrap_err().contains("2 vectors for 3 texts"));
        assert!(taken(&two, 1).unwrap_err().contains("2 vectors for 1 texts"));
        assert!(taken(&[vec![1.0], vec![1.0, 2.0]], 2).unwrap_err().contains("different lengths"));
    }

    #[test]
    fn likeness_is_of_directions_and_bytes_keep_it() {
        let of = |numbers: &[f32]| Vector::of(numbers).unwrap();
        let (one, same, across) = (of(&[3.0, 4.0]), of(&[0.003, 0.004]), of(&[-4.0, 3.0]));
        assert!(one.likeness(&same) > 999_900 && one.likeness(&across).abs() < 6_000);
        assert!(one.likeness(&of(&[-3.0, -4.0])) < -999_900);
        assert_eq!(one.likeness(&of(&[1.0])), 0);
        assert_eq!(Vector::from_bytes(&one.to_bytes()), Some(one.clone()));
        assert!(Vector::from_bytes(&[0, 0]).is_none() && Vector::from_bytes(&[]).is_none());
        assert!(one.is_of_the_same_model(&same) && !one.is_of_the_same_model(&across));
        assert_ne!(key("a", &one), key("b", &one));
        assert_ne!(key("a", &one), key("a", &across));
    }

    #[test]
    fn what_unrelated_texts_have_in_common_is_no_likeness() {
        let of = |numbers: &[f32]| Vector::of(numbers).unwrap();
        let apart = [of(&[1.0, 0.0, 0.0]), of(&[0.0, 1.0, 0.0]), of(&[0.0, 0.0, 1.0])];
        assert_eq!((common(&apart), common(&[])), (0, 0));
        assert!(is_near(50_000, 4, 0) && !is_near(49_999, 4, 0));
        assert!(is_near(200_000, 5, 0) && !is_near(199_999, 5, 0), "further ones have to rise more");
        // For a model that finds everything alike, more of it means nothing.
        let close = [of(&[1.0, 0.1, 0.0]), of(&[1.0, 0.0, 0.1]), of(&[1.0, -0.1, 0.0])];
        let common = common(&close);
        assert!((980_000..1_000_000).contains(&common), "{common}");
        assert!(!is_near(common, 0, common) && is_near(1_000_000, 0, common));
    }

    #[test]
    fn a_text_is_embedded_by_its_first_letters_on_one_line() {
        assert_eq!(embedded(" a\n b\tc "), "a b c");
        assert_eq!(embedded(&"ä".repeat(2_000)).chars().count(), LETTERS_MAX);
    }
}
