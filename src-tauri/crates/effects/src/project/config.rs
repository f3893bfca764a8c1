//! A repository's configuration, read as far as its remotes go, and the address of one in one spelling.

/// More remotes than anybody has.
const REMOTES_MAX: usize = 256;
/// Longer than any address.
const ADDRESS_BYTES_MAX: usize = 2_048;

/// The address of `origin`, or else of the only remote there is.
pub(super) fn address(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    let remotes = remotes(text)?;
    let origin = remotes.iter().find(|(name, _)| name == "origin");
    let only = || remotes.first().filter(|_| remotes.len() == 1);
    normalised(&origin.or_else(only)?.1)
}

/// The first address of every remote; none where the text is no configuration.
fn remotes(text: &str) -> Option<Vec<(String, String)>> {
    let mut remotes: Vec<(String, String)> = Vec::new();
    let mut remote: Option<String> = None;
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Some(remotes) };
        match first {
            '#' | ';' => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
            '[' => (remote, rest) = section(rest.get(1..)?)?,
            _ => {
                let (name, value, after) = variable(rest)?;
                rest = after;
                let Some(of) = remote.as_ref().filter(|_| name.eq_ignore_ascii_case("url")) else { continue };
                if remotes.len() < REMOTES_MAX && !remotes.iter().any(|(known, _)| known == of) {
                    remotes.push((of.clone(), value?));
                }
            }
        }
    }
}

/// What follows the bracket of a section: the remote's name where it is one, and the text behind it.
fn section(text: &str) -> Option<(Option<String>, &str)> {
    let name = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.')))?;
    let (word, rest) = text.split_at(name);
    let rest = rest.trim_start_matches([' ', '\t']);
    if let Some(rest) = rest.strip_prefix(']') {
        // The old spelling `[remote.name]`, whose name has no case.
        let old = word.get(..7).filter(|start| start.eq_ignore_ascii_case("remote.")).and(word.get(7..));
        return Some((old.map(str::to_ascii_lowercase), rest));
    }
    let mut name = String::new();
    let mut chars = rest.strip_prefix('"')?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let rest = rest.get(at + 2..)?.strip_prefix(']')?;
                return Some((word.eq_ignore_ascii_case("remote").then_some(name), rest));
            }
            '\\' => name.push(chars.next()?.1),
            '\n' => return None,
            c => name.push(c),
        }
    }
    None
}

/// A variable: its name, its value where it has one, and the text behind it.
fn variable(text: &str) -> Option<(&str, Option<String>, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    match rest.chars().next() {
        None | Some('\n' | '#' | ';') => Some((name, None, rest)),
        Some('=') => value(rest.get(1..)?).map(|(value, rest)| (name, Some(value), rest)),
        Some(_) => None,
    }
}

/// A value to the end of its line, with its quotes, escapes and continued lines.
fn value(text: &str) -> Option<(String, &str)> {
    let (mut value, mut kept, mut quoted) = (String::new(), 0, false);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' if quoted => return None,
            '\n' => return Some((ended(value, kept), text.get(at..)?)),
            '"' => {
                quoted = !quoted;
                kept = value.len();
            }
            '#' | ';' if !quoted => {
                let rest = text.get(at..)?;
                return Some((
                    ended(value, kept),
                    rest.find('\n').map_or("", |end| rest.get(end..).unwrap_or("")),
                ));
            }
            '\\' => {
                match chars.next()?.1 {
                    '\n' => continue,
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    c @ ('"' | '\\') => value.push(c),
                    _ => return None,
                }
                kept = value.len();
            }
            c if c.is_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
            }
            c => {
                value.push(c);
                kept = value.len();
            }
        }
    }
    (!quoted).then(|| (ended(value, kept), ""))
}

/// A value without the blanks behind it.
fn ended(mut value: String, kept: usize) -> String {
    value.truncate(kept);
    value
}

/// Host and path of an address, without who asks and by which protocol; none of one on this machine.
fn normalised(address: &str) -> Option<String> {
    if address.len() > ADDRESS_BYTES_MAX || address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let address = address.split(['?', '#']).next()?;
    let (server, path, port) = match address.split_once("://") {
        Some((protocol, rest)) => {
            let port = match protocol.to_ascii_lowercase().as_str() {
                "https" => ":443",
                "http" => ":80",
                "ssh" | "git+ssh" | "ssh+git" => ":22",
                "git" => ":9418",
                _ => return None,
            };
            let (server, path) = rest.split_once('/')?;
            (server, path, port)
        }
        None => {
            // `server:path`, unless a slash comes first: then it is a folder.
            let (server, path) = scp(address)?;
            (server, path, "")
        }
    };
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server).to_ascii_lowercase();
    let server = if port.is_empty() { &server } else { server.strip_suffix(port).unwrap_or(&server) };
    let server = server.trim_end_matches(['.', ':']);
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    (!server.is_empty() && !path.is_empty()).then(|| format!("{server}/{path}"))
}

/// The two halves of `[user@]server:path`.
fn scp(address: &str) -> Option<(&str, &str)> {
    let after = address.rfind("]:").map_or(0, |bracket| bracket + 1);
    let colon = after + address.get(after..)?.find(':')?;
    let (server, path) = (address.get(..colon)?, address.get(colon + 1..)?);
    // One letter is a drive of another system.
    (!server.contains('/') && !server.contains('\\') && server.len() > 1).then_some((server, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> Option<String> {
        super::address(format!("[remote \"origin\"]\n\turl = {address}\n").as_bytes())
    }

    #[test]
    fn every_spelling_of_one_remote_is_one_address() {
        for spelling in [
            "https://code.example/Team/app.git",
            "https://code.example/Team/app",
            "https://code.example/Team/app/",
            "HTTPS://CODE.Example/Team/app.git/",
            "https://code.example:443/Team/app.git",
            concat!("https://alice:", "s3cret@code.example/Team/app.git"),
            "https://t0ken@code.example./Team/app.git?x=s3cret#y",
            "http://code.example:80//Team/app.git",
            "ssh://git@code.example/Team/app.git",
            "ssh://git@code.example:22/Team/app",
            "git+ssh://code.example/Team/app",
            "git://code.example:9418/Team/app.git",
            "git@code.example:Team/app.git",
            "git@CODE.example:/Team/app",
            "code.example:Team/app.git",
            "\"https://code.example/Team/app.git\" # where it lies",
            "https://code.example/Team/\\\napp.git ; continued",
        ] {
            assert_eq!(of(spelling).as_deref(), Some("code.example/Team/app"), "{spelling}");
        }
    }

    #[test]
    fn what_differs_stays_different_and_what_is_of_this_machine_is_none() {
        let all = [
            "https://code.example/Team/app",
            "https://code.example/team/app",
            "https://code.example/Team/app2",
            "https://code.example:8443/Team/app",
            "https://other.example/Team/app",
            "ssh://code.example:443/Team/app",
            "git@[2001:db8::1]:Team/app",
        ];
        let different: std::collections::BTreeSet<_> =
            all.iter().map(|address| of(address).unwrap()).collect();
        assert_eq!(different.len(), all.len(), "{different:?}");
        for none in [
            "",
            "/srv/app.git",
            "./app",
            "../app.git",
            "file:///srv/app.git",
            "C:\\\\app",
            "C:/app",
            "https://code.example/",
            "https://code.example",
            "ext::sh -c touch%20x",
            "https:///app",
            "https://alice@/app",
            "https://code.example/a b",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn the_remote_is_origin_or_the_only_one() {
        let two = "[remote \"b\"]\nurl = b.example:x\n[remote \"a\"]\nurl = a.example:x\n";
        assert_eq!(address(two.as_bytes()), None, "nobody can tell which");
        let origin = format!("{two}[REMOTE \"origin\"]\n\tURL = o.example:x\n\turl = p.example:x\n");
        assert_eq!(
            address(origin.as_bytes()).as_deref(),
            Some("o.example/x"),
            "the first address of `origin`"
        );
        let one = "[core]\n\tbare = false\n\tflag\n[remote \"up\\\"stream\"]\n\turl=u.example:x";
        assert_eq!(address(one.as_bytes()).as_deref(), Some("u.example/x"));
        let old = "[remote.Origin]url = o.example:x\n[remote \"Origin\"]\nurl = other.example:x\n";
        assert_eq!(address(old.as_bytes()).as_deref(), Some("o.example/x"));
    }

    #[test]
    fn what_is_no_configuration_names_nothing_and_nothing_else_of_one_is_heeded() {
        let good = "[remote \"origin\"]\nurl = o.example:x\n";
        for bad in [
            "[remote \"origin",
            "[remote \"or\nigin\"]\n",
            "[remote origin]\n",
            "= x\n",
            "url : x\n",
            "x = \"\n",
        ] {
            assert_eq!(address(format!("{good}{bad}").as_bytes()), None, "{bad}");
        }
        assert_eq!(address(&[good.as_bytes(), b"\0"].concat()), None);
        assert_eq!(address(&[good.as_bytes(), b"\xff"].concat()), None);
        let heeded =
            "[include]\n\tpath = /etc/other\n[url \"https://evil.example/\"]\n\tinsteadOf = o.example:\n";
        assert_eq!(address(format!("{heeded}{good}").as_bytes()).as_deref(), Some("o.example/x"));
        let many: String = (0..10_000).map(|n| format!("[remote \"r{n}\"]\nurl = o.example:{n}\n")).collect();
        assert_eq!(address(many.as_bytes()), None);
    }
}
