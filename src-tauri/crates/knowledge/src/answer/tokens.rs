//! Sentences and texts as tokens that can be compared: words by their stems, numbers by their value, names and paths as
//! they are written.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word of a language, by its stem.
    Word,
    /// A number, without what groups its digits.
    Number,
    /// A path, an address, an option, a name with digits in it, a quotation or a span of code: it has to stand somewhere
    /// as it is written.
    Exact,
    /// A word with a capital letter within a sentence.
    Name,
    /// A mark that parts what stands before it from what follows: `,` `;` `:` `(` `)`.
    Mark,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// As it was written, in small letters; of an exact one, as it was written.
    pub(super) raw: String,
    /// What is compared.
    pub(super) key: String,
}

/// Endings of file names; what ends otherwise and has a dot is code.
const ENDINGS: &str = "7z avi bak bin bmp c cc cfg conf cpp cs css csv db dat diff doc docx env epub exe gif go gz h hpp htm \
    html ico ini ipynb java jpeg jpg js json jsonl jsx key kt lock log lua m4a md mdx mjs mkv mov mp3 mp4 mpg ndjson odt \
    ogg old pdf pem php pl png ppt pptx ps1 py r rb rs rst rtf scss sh sql sqlite svg swift tar tex tif tiff toml ts tsv \
    tsx ttf txt vue wasm wav webm webp xls xlsx xml yaml yml zip zsh";

/// Numbers as words.
const COUNTED: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// Whether something written is the path of a file or folder, or an address.
pub(super) fn is_path(raw: &str) -> bool {
    if raw.contains("://") || (raw.contains('/') && raw.chars().any(char::is_alphanumeric)) {
        return true;
    }
    let ending =
        raw.rsplit_once('.').filter(|(name, _)| !name.is_empty()).map(|(_, ending)| ending.to_lowercase());
    ending.is_some_and(|ending| ENDINGS.split_whitespace().any(|known| known == ending))
}

/// The tokens of a text, in their order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    let mut is_first = true;
    while let Some(first) = rest.chars().next() {
        if let Some((inside, after)) = span(rest) {
            quoted(inside, &mut tokens);
            rest = after;
            is_first = false;
            continue;
        }
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '“' | '”'))
            .unwrap_or(rest.len());
        let (chunk, after) = rest.split_at_checked(end.max(first.len_utf8())).unwrap_or((rest, ""));
        rest = after;
        word(chunk, &mut is_first, &mut tokens);
    }
    units(&mut tokens);
    tokens
}

/// What stands between two marks of code or quotation, and what follows.
fn span(rest: &str) -> Option<(&str, &str)> {
    let (open, close) = match rest.chars().next()? {
        '`' => ('`', '`'),
        '"' => ('"', '"'),
        '“' => ('“', '”'),
        _ => return None,
    };
    rest.strip_prefix(open)?.split_once(close).filter(|(inside, _)| !inside.trim().is_empty())
}

fn quoted(inside: &str, tokens: &mut Vec<Token>) {
    let key = inside.trim().trim_end_matches(['.', ',']).to_owned();
    tokens.push(Token { kind: Kind::Exact, raw: key.clone(), key });
}

/// A chunk without white space: marks at its ends, and what is between.
fn word(chunk: &str, is_first: &mut bool, tokens: &mut Vec<Token>) {
    let chunk = chunk.trim_matches(['*', '_', '#', '|', '>', '~', '\'', '’', '‘']);
    let core = chunk.trim_start_matches(['(', '[', '{', '<', '→', '–', '—']);
    if core.len() < chunk.len() {
        tokens.push(mark());
    }
    let core = core.trim_end_matches(['.', '!', '?', '…', '*', '_', '\'', '’']);
    let body = core.trim_end_matches([',', ';', ':', ')', ']', '}', '.', '!', '?', '*', '_', '\'', '’', '"']);
    if body.chars().any(char::is_alphanumeric) {
        plain(body, is_first, tokens);
    }
    if body.len() < core.len() || !body.chars().any(char::is_alphanumeric) {
        tokens.push(mark());
    }
}

fn mark() -> Token {
    Token { kind: Kind::Mark, raw: ",".to_owned(), key: String::new() }
}

fn plain(body: &str, is_first: &mut bool, tokens: &mut Vec<Token>) {
    if let Some(number) =
        body.strip_prefix('\u{2212}').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        *is_first = false;
        tokens.push(Token { kind: Kind::Word, raw: "minus".to_owned(), key: stem("minus") });
        plain(number, is_first, tokens);
        return;
    }
    if body == "°C" {
        tokens.push(Token { kind: Kind::Word, raw: "degrees".to_owned(), key: stem("degrees") });
        return;
    }
    if let Some((number, unit)) = measured(body) {
        *is_first = false;
        plain(number, is_first, tokens);
        tokens.push(Token { kind: Kind::Name, raw: unit.to_owned(), key: unit.to_owned() });
        return;
    }
    // `1,Ann,Oslo` is three; `1,250` is one.
    if body.contains(',')
        && !body.split(',').skip(1).all(|group| group.len() == 3 && group.chars().all(|c| c.is_ascii_digit()))
        && !is_path(body)
    {
        for part in body.split(',').filter(|part| part.chars().any(char::is_alphanumeric)) {
            *is_first = false;
            plain(part, is_first, tokens);
        }
        return;
    }
    let lower = body.to_lowercase();
    let has_digit = body.chars().any(|c| c.is_ascii_digit());
    let has_letter = body.chars().any(char::is_alphabetic);
    let was_first = std::mem::take(is_first);
    let has_dot = body.split('.').filter(|part| !part.is_empty()).count() > 1;
    if is_path(body) || body.starts_with("--") || (has_dot && has_letter) {
        tokens.push(Token { kind: Kind::Exact, raw: body.to_owned(), key: body.to_owned() });
    } else if has_digit && !has_letter && !body.contains(['-', ':', '/']) {
        let key: String = body.trim_end_matches('%').replace(',', "");
        // `312.00` is 312, and `1.24.00` a version.
        let key =
            key.strip_suffix(".00").filter(|whole| !whole.contains('.')).map_or(key.clone(), str::to_owned);
        tokens.push(Token { kind: Kind::Number, raw: lower, key });
    } else if has_digit {
        // `R-77`, `2026-07`, `09:13`, `3rd`.
        tokens.push(Token { kind: Kind::Exact, raw: body.to_owned(), key: body.to_owned() });
    } else if let Some(number) = COUNTED.iter().position(|word| *word == lower) {
        tokens.push(Token { kind: Kind::Number, raw: lower, key: number.to_string() });
    } else {
        // `e-mailed` is one word; `well-known` is two.
        let is_one = body.contains('-') && super::verbs::family(&lower).is_some();
        let parts = body.split(|c: char| !(is_one || c.is_alphanumeric() || matches!(c, '\'' | '’')));
        for part in parts.filter(|part| !part.is_empty()) {
            let is_name = !was_first && part.chars().next().is_some_and(char::is_uppercase) && part != "I";
            let raw = part.to_lowercase();
            let key = stem(raw.trim_end_matches("'s").trim_end_matches("’s"));
            tokens.push(Token { kind: if is_name { Kind::Name } else { Kind::Word }, raw, key });
        }
    }
}

/// An amount of money or of bytes with its unit: `€75.40`, `412M`, `6.3GB`.
fn measured(body: &str) -> Option<(&str, &'static str)> {
    let is_number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
    };
    for (sign, unit) in [("€", "eur"), ("£", "pound"), ("$", "usd")] {
        let number = body.strip_prefix(sign).or_else(|| body.strip_suffix(sign));
        if let Some(number) = number.filter(|number| is_number(number)) {
            return Some((number, unit));
        }
    }
    for (letter, unit) in [("K", "kb"), ("M", "mb"), ("G", "gb"), ("T", "tb")] {
        for end in ["", "B", "iB"] {
            let number = body.strip_suffix(end).and_then(|rest| rest.strip_suffix(letter));
            if let Some(number) = number.filter(|number| is_number(number)) {
                return Some((number, unit));
            }
        }
    }
    None
}

/// Months, of which the first three letters are short for them.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Units and months by one name each, and a currency behind its number: `EUR 75.40` is `75.40 euros`.
fn units(tokens: &mut [Token]) {
    for token in tokens.iter_mut().filter(|token| matches!(token.kind, Kind::Word | Kind::Name)) {
        let unit = match token.raw.as_str() {
            "euro" | "euros" | "eur" => "eur",
            "pound" | "pounds" | "gbp" => "pound",
            "dollar" | "dollars" | "usd" => "usd",
            _ => continue,
        };
        token.key = unit.to_owned();
    }
    let is_number = |token: Option<&Token>| token.is_some_and(|token| token.kind == Kind::Number);
    for at in 0..tokens.len() {
        let before = is_number(at.checked_sub(1).and_then(|at| tokens.get(at)));
        let behind = is_number(tokens.get(at + 1));
        let Some(token) = tokens.get_mut(at) else { continue };
        // `No. 2390`.
        if behind && token.kind == Kind::Word && token.raw == "no" {
            token.raw = "number".to_owned();
            token.key = stem("number");
        }
        let is_month = token.raw.len() == 3 && matches!(token.kind, Kind::Word | Kind::Name);
        if let Some(month) = MONTHS
            .iter()
            .find(|month| is_month && (before || behind) && month.starts_with(token.raw.as_str()))
        {
            token.key = stem(month);
        }
        if behind && !before && matches!(token.key.as_str(), "eur" | "pound" | "usd") {
            tokens.swap(at, at + 1);
        }
    }
}

/// The day, month and year of a date in figures, as words have them: `2024-10-09` is `9 October 2024`.
pub(super) fn dated(exact: &str) -> Vec<String> {
    let mut digits = exact.split(|c: char| !c.is_ascii_digit());
    let mut all = Vec::new();
    while let Some(year) = digits.next() {
        let mut rest = digits.clone();
        let (Some(month), Some(day)) = (rest.next(), rest.next()) else { break };
        let number: usize = month.parse().unwrap_or_default();
        let is_date = year.len() == 4 && year.starts_with(['1', '2']) && month.len() == 2 && day.len() == 2;
        if let Some(name) = number.checked_sub(1).and_then(|at| MONTHS.get(at)).filter(|_| is_date) {
            all.extend([year.to_owned(), stem(name), day.trim_start_matches('0').to_owned()]);
        }
    }
    all
}

/// A word without its endings, so that `files` is `file` and `renamed`, `renames` and `rename` are one.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    let hisses = |short: &str| ["s", "x", "z", "ch", "sh"].iter().any(|end| short.ends_with(end));
    for (ending, least) in [("ing", 4), ("ied", 3), ("ies", 3), ("ed", 3), ("es", 3), ("s", 3)] {
        let Some(short) = stem.strip_suffix(ending).filter(|short| short.chars().count() >= least) else {
            continue;
        };
        match ending {
            "ied" | "ies" => stem = format!("{short}y"),
            "es" if !hisses(short) => continue,
            "s" if short.ends_with(['s', 'u', 'i']) => continue,
            _ => stem = short.to_owned(),
        }
        break;
    }
    if stem.chars().count() > 3 {
        stem = stem.strip_suffix('e').unwrap_or(&stem).to_owned();
    }
    let mut chars = stem.chars().rev();
    if let (Some(last), Some(before)) = (chars.next(), chars.next())
        && last == before
        && !matches!(last, 'l' | 's' | 'e' | 'o')
        && stem.chars().count() > 3
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<(Kind, String)> {
        tokens(text).into_iter().map(|token| (token.kind, token.key)).collect()
    }

    #[test]
    fn words_numbers_and_what_must_stand_as_it_is_written_are_told_apart() {
        assert_eq!(
            keys("I renamed **3** files, `a b.txt`, to out/x.png (1,250 EUR) for Bob.").as_slice(),
            [
                (Kind::Word, "i".to_owned()),
                (Kind::Word, "renam".to_owned()),
                (Kind::Number, "3".to_owned()),
                (Kind::Word, "fil".to_owned()),
                (Kind::Mark, String::new()),
                (Kind::Exact, "a b.txt".to_owned()),
                (Kind::Mark, String::new()),
                (Kind::Word, "to".to_owned()),
                (Kind::Exact, "out/x.png".to_owned()),
                (Kind::Mark, String::new()),
                (Kind::Number, "1250".to_owned()),
                (Kind::Name, "eur".to_owned()),
                (Kind::Mark, String::new()),
                (Kind::Word, "for".to_owned()),
                (Kind::Name, "bob".to_owned()),
            ]
        );
        assert_eq!(keys("R-77 two")[0], (Kind::Exact, "R-77".to_owned()));
        assert_eq!(keys("two")[0], (Kind::Number, "2".to_owned()));
        for alike in [
            ["files", "file"],
            ["renamed", "renames"],
            ["stopped", "stop"],
            ["copies", "copy"],
            ["passes", "pass"],
            ["writing", "write"],
        ] {
            assert_eq!(stem(alike[0]), stem(alike[1]), "{alike:?}");
        }
    }
}
