//! What keys look like in the wild, for those that nobody has named (rules as gitleaks publishes them).

use crate::redactor::Found;
use regex::Regex;
use std::sync::LazyLock;

/// Kind and pattern; group `s` is the secret, the rest stays.
const SHAPES: &[(&str, &str)] = &[
    (
        "private key",
        r"(?s)(?P<s>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z))",
    ),
    ("aws key", r"\b(?P<s>(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{16})\b"),
    ("github token", r"\b(?P<s>gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})\b"),
    ("gitlab token", r"\b(?P<s>glpat-[A-Za-z0-9_-]{20,})"),
    ("slack token", r"\b(?P<s>xox[abeprs]-[A-Za-z0-9-]{10,})"),
    ("google key", r"\b(?P<s>AIza[A-Za-z0-9_-]{35})"),
    ("stripe key", r"\b(?P<s>(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{16,})\b"),
    (
        "model provider key",
        r"\b(?P<s>sk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,})",
    ),
    ("registry token", r"\b(?P<s>npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}|cio[A-Za-z0-9]{32})\b"),
    ("json web token", r"\b(?P<s>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})"),
    (
        "authorization header",
        r"(?i)\bauthorization[\x22']?\s*[:=]\s*[\x22']?(?:bearer|basic|token)\s+(?P<s>[A-Za-z0-9._~+/=-]{6,})",
    ),
    ("password in an address", r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@]*:(?P<s>[^\s/@]{3,})@"),
    (
        "assigned secret",
        r"(?i)\b[a-z0-9_.-]*(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret)[a-z0-9_-]*[\x22']?\s*(?:[:=]|=>)\s*[\x22']?(?P<s>[^\s\x22',;<>{}\[\]$`]{8,})",
    ),
];

static COMPILED: LazyLock<Result<Vec<(&'static str, Regex)>, regex::Error>> =
    LazyLock::new(|| SHAPES.iter().map(|(kind, p)| Regex::new(p).map(|r| (*kind, r))).collect());

/// The text without what looks like a key, and how often each kind was found; none when there is nothing.
pub(crate) fn take_out(text: &str) -> Option<(String, Found)> {
    let Ok(shapes) = COMPILED.as_ref() else {
        // Fail closed: what cannot be searched for secrets is not shown.
        return Some((
            "[redacted: unsearchable text]".to_owned(),
            Found::from([("unsearchable text".to_owned(), 1)]),
        ));
    };
    let mut clean: Option<String> = None;
    let mut found = Found::new();
    for (kind, shape) in shapes {
        if let Some((rest, times)) = without(clean.as_deref().unwrap_or(text), kind, shape) {
            found.insert((*kind).to_owned(), times);
            clean = Some(rest);
        }
    }
    clean.map(|clean| (clean, found))
}

fn without(text: &str, kind: &str, shape: &Regex) -> Option<(String, u32)> {
    let mut clean = String::new();
    let mut from = 0;
    let mut times = 0;
    for secret in shape.captures_iter(text).filter_map(|c| c.name("s")) {
        // What was taken out already is no second find.
        if secret.as_str().starts_with("[redacted:") || secret.as_str().starts_with("[secret:") {
            continue;
        }
        clean.push_str(text.get(from..secret.start())?);
        clean.push_str("[redacted: ");
        clean.push_str(kind);
        clean.push(']');
        from = secret.end();
        times += 1;
    }
    clean.push_str(text.get(from..)?);
    (times > 0).then_some((clean, times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    fn check(text: &str, secret: &str) {
        let done = Redactor::default().text(text);
        assert!(!done.rest.contains(secret), "`{secret}` is still in `{}`", done.rest);
        assert!(done.summary().is_some());
        assert_eq!(Redactor::default().text(&done.rest).rest, done.rest, "redacting twice changes nothing");
    }

    #[test]
    fn every_shape_compiles() {
        assert_eq!(COMPILED.as_ref().map(Vec::len), Ok(SHAPES.len()));
    }

    #[test]
    fn values_that_look_like_secrets_are_taken_out() {
        let long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        check(
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----\n",
            "b3BlbnNz",
        );
        check("-----BEGIN RSA PRIVATE KEY-----\ncut off here", "cut off here");
        check("key AKIAIOSFODNN7EXAMPLE here", "AKIAIOSFODNN7EXAMPLE");
        check(&format!("ghp_{long}"), long);
        check(&format!("use sk-ant-{long}."), long);
        check(&format!("hf_{long}"), long);
        check("Authorization: Bearer abc.def-ghi", "abc.def-ghi");
        check("postgres://root:hunter22@db:5432/x", "hunter22");
        check("DB_PASSWORD=correcthorse", "correcthorse");
        check("\"client_secret\": \"s3cr3t-value\"", "s3cr3t-value");
        check(
            "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
            "dozjgNryP4J3",
        );
    }

    #[test]
    fn ordinary_text_and_handles_stay() {
        for text in [
            "the password policy says twelve characters",
            "secret:github is a handle",
            "API_KEY=$API_KEY",
            "password: <yours>",
            "https://example.org/a:b@c",
            "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ] {
            let done = Redactor::default().text(text);
            assert_eq!(done.rest, text);
            assert_eq!(done.summary(), None);
        }
    }
}
