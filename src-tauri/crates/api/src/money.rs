//! Money, as a person writes it.

/// Most dollars that anything is set to.
const DOLLARS_MAX: u64 = 10_000;

/// US dollars, as a person writes them, in millionths.
///
/// # Errors
/// In words, for what is no sum of money up to 10,000 dollars.
pub fn dollars(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no sum of money; write US dollars up to {DOLLARS_MAX}, such as 2.50");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || whole.len() > 5 || part.len() > 6 {
        return Err(wrong());
    }
    let micros = format!("{whole}{part:0<6}").parse::<u64>().map_err(|_| wrong())?;
    if micros <= DOLLARS_MAX * 1_000_000 { Ok(micros) } else { Err(wrong()) }
}
