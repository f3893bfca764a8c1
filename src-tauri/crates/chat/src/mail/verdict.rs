//! Whether the mail server found that a message is from whom it says, as it wrote into `Authentication-Results` (RFC 8601).

/// Whether the results of a trusted server say that this domain sent the message. Only the topmost header of that server
/// counts: a server takes those out that came with the message under its name, and puts its own above everything.
pub(super) fn is_verified<'h>(results: impl Iterator<Item = &'h str>, server: &str, domain: &str) -> bool {
    let mut own = results.map(parts).filter(|parts| {
        let named = parts.first().and_then(|first| first.split_whitespace().next());
        named.is_some_and(|named| named.eq_ignore_ascii_case(server))
    });
    let Some(parts) = own.next() else { return false };
    let results: Vec<Vec<(String, String)>> = parts.iter().skip(1).map(|part| pairs(part)).collect();
    let of = |method: &'static str| {
        results.iter().filter(move |pairs| pairs.first().is_some_and(|(name, _)| method_of(name) == method))
    };
    let passes = |pairs: &&Vec<(String, String)>| pairs.first().is_some_and(|(_, result)| result == "pass");
    let says = |pairs: &[(String, String)], property: &str| {
        let found = pairs.iter().skip(1).find(|(name, _)| name == property);
        found.map(|(_, value)| value.rsplit('@').next().unwrap_or_default().to_owned())
    };
    if of("dmarc").any(|pairs| pairs.first().is_some_and(|(_, result)| result == "fail")) {
        return false;
    }
    let dmarc =
        of("dmarc").filter(passes).any(|pairs| says(pairs, "header.from").is_some_and(|d| d == domain));
    let dkim = of("dkim").filter(passes).any(|pairs| {
        let signer = says(pairs, "header.d").or_else(|| says(pairs, "header.i"));
        signer.is_some_and(|signer| is_aligned(domain, &signer))
    });
    dmarc || dkim
}

/// Whether a domain is the signer's, or below it. A signer has two labels at least: nobody signs for `com`.
fn is_aligned(domain: &str, signer: &str) -> bool {
    signer.contains('.')
        && (domain == signer || domain.strip_suffix(signer).is_some_and(|above| above.ends_with('.')))
}

/// The method's name, without its version.
fn method_of(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// The parts between semicolons, in small letters, without comments. Quotes keep what is inside together.
fn parts(header: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in header.chars() {
        if escaped {
            escaped = false;
            // Inside quotes, what would end a word stands for nothing that is compared.
            if depth == 0 {
                part.push(if c.is_alphanumeric() { c } else { '_' });
            }
            continue;
        }
        match c {
            '\\' if quoted || depth > 0 => escaped = true,
            '"' if depth == 0 => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            ';' if !quoted => parts.push(std::mem::take(&mut part)),
            c if quoted && (c.is_whitespace() || c == ';' || c == '=') => part.push('_'),
            c => part.extend(c.to_lowercase()),
        }
    }
    parts.push(part);
    // A comment or a quotation that never ends hides what follows: nothing of it counts.
    if quoted || depth > 0 {
        parts.truncate(1)
    }
    parts
}

/// `name=value` pairs of a part; blanks around `=` are none.
fn pairs(part: &str) -> Vec<(String, String)> {
    let mut tight = part.split_whitespace().collect::<Vec<_>>().join(" ");
    while tight.contains(" =") || tight.contains("= ") {
        tight = tight.replace(" =", "=").replace("= ", "=");
    }
    let pairs = tight.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::is_verified;

    fn says(headers: &[&str], domain: &str) -> bool {
        is_verified(headers.iter().copied(), "mx.example.org", domain)
    }

    #[test]
    fn a_pass_of_the_trusted_server_for_this_domain_counts() {
        assert!(says(&["mx.example.org; dmarc=pass (p=none) header.from=Kim.Example"], "kim.example"));
        assert!(says(
            &[" MX.example.org 1;\r\n spf=fail; dkim/1 = pass header.d=kim.example"],
            "kim.example"
        ));
        assert!(says(&["mx.example.org; dkim=pass header.i=@kim.example"], "mail.kim.example"));
        assert!(says(
            &["other.example; dkim=fail", "mx.example.org; dkim=pass header.d=kim.example"],
            "kim.example"
        ));
    }

    #[test]
    fn nothing_else_does() {
        for header in [
            "evil.example; dmarc=pass header.from=kim.example",
            "mx.example.org.evil.example; dmarc=pass header.from=kim.example",
            "mx.example.org; dmarc=pass header.from=evil.example",
            "mx.example.org; dmarc=pass",
            "mx.example.org; dmarc=fail header.from=kim.example; dkim=pass header.d=kim.example",
            "mx.example.org; dkim=pass header.d=example",
            "mx.example.org; dkim=pass header.d=notkim.example",
            "mx.example.org; dkim=neutral header.d=kim.example",
            "mx.example.org; spf=pass smtp.mailfrom=kim.example",
            "mx.example.org; (dkim=pass header.d=kim.example)",
            "mx.example.org (; dkim=pass header.d=kim.example",
            "mx.example.org; spf=fail reason=\"; dkim=pass header.d=kim.example\"",
            "mx.example.org; spf=fail reason=\"a\\\"; dkim=pass header.d=kim.example\"",
            "mx.example.org; none",
            "",
        ] {
            assert!(!says(&[header], "kim.example"), "{header}");
        }
    }

    #[test]
    fn a_header_that_came_with_the_message_stands_below_and_does_not_count() {
        let own = "mx.example.org; dkim=none";
        assert!(!says(&[own, "mx.example.org; dkim=pass header.d=kim.example"], "kim.example"));
    }
}
