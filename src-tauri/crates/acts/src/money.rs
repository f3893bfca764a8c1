//! Money in words, one way for every room.

/// Millionths of a US dollar as a person reads them: cents where they are whole, else four digits; never more than it is.
pub fn money(micros: u64) -> String {
    let (dollars, part) = (micros / 1_000_000, micros % 1_000_000);
    match part % 10_000 {
        0 => format!("${dollars}.{:02}", part / 10_000),
        _ => format!("${dollars}.{:04}", part / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cents_are_cents_and_less_is_told_as_far_as_it_goes() {
        for (micros, text) in [
            (0, "$0.00"),
            (99, "$0.0000"),
            (30_000, "$0.03"),
            (1_250_000, "$1.25"),
            (1_234_567, "$1.2345"),
            (12_000_100, "$12.0001"),
        ] {
            assert_eq!(money(micros), text);
        }
    }
}
