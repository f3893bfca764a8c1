//! Text on its way to a terminal: nothing in it may move the cursor, change colours, or look like something else.

/// Text with every character that has no plain shape written out; line breaks and tabs stay when `lines` is said.
pub fn plain(text: &str) -> String {
    escape(text, false)
}

/// As [`plain`], line breaks kept: for text that is a paragraph.
pub fn paragraph(text: &str) -> String {
    escape(text, true)
}

fn escape(text: &str, breaks: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if breaks => out.push(c),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Controls, and format characters that reorder or hide what stands beside them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

/// A time as a person reads it: UTC, to the second.
pub fn time(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days since 1970, after Howard Hinnant's public-domain algorithm.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Bytes as a person reads them.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes / 1_048_576),
        _ => format!("{} GiB", bytes / 1_073_741_824),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil_dates() {
        assert_eq!(time(0), "1970-01-01 00:00:00Z");
        assert_eq!(time(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(time(1_790_000_000_000), "2026-09-21 14:13:20Z");
        assert_eq!(time(-1_000), "1969-12-31 23:59:59Z");
    }

    #[test]
    fn nothing_in_a_text_reaches_the_terminal_as_a_command() {
        assert_eq!(plain("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(plain("x\u{202e}y\nz"), "x\\u{202e}y\\u{a}z");
        assert_eq!(paragraph("x\ny\r"), "x\ny\\u{d}");
    }
}
