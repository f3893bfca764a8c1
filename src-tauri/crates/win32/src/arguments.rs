//! The words of a command as Windows takes them: one line of text, which each program takes apart by itself, and names of programs
//! with the ends that are left out.

use std::fmt;

/// Units of UTF-16 that one line may have, without the zero behind it.
const LINE_UNITS_MAX: usize = 32_766;
/// What a line for the shell of Windows may have: it cuts off the rest.
const SHELL_UNITS_MAX: usize = 8_191;
/// What is left out at the end of a program's name, in the order in which it is tried.
const ENDS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Why a command has no line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsayable(String);

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsayable {}

/// The line for a program and its arguments, in UTF-16 with a zero behind it, which `CommandLineToArgvW` and the C library of
/// Microsoft take apart into the same words again.
///
/// # Errors
/// A word holds a zero, the program's name a quote, or the line would be too long.
pub fn command_line(program: &[u16], arguments: &[Vec<u16>]) -> Result<Vec<u16>, Unsayable> {
    let mut line = quoted_name(program)?;
    for argument in arguments {
        line.push(unit(' '));
        line.extend(quoted(argument));
    }
    ended(line, LINE_UNITS_MAX)
}

/// The line for a batch file, which the shell of Windows reads and takes apart by rules of its own.
///
/// # Errors
/// As [`command_line`], and for what the shell would read as more than a word: there is no sure way to quote it.
pub fn batch_line(shell: &[u16], file: &[u16], arguments: &[Vec<u16>]) -> Result<Vec<u16>, Unsayable> {
    let mut line = quoted_name(shell)?;
    // Nothing that a person has set to run first, no variables that are filled in late, then the command in quotes.
    line.extend(wide(" /e:ON /v:OFF /d /s /c \""));
    line.extend(plain_for_shell(file, true)?);
    for argument in arguments {
        line.push(unit(' '));
        line.extend(plain_for_shell(argument, false)?);
    }
    line.push(unit('"'));
    ended(line, SHELL_UNITS_MAX)
}

/// Whether a program is a batch file, by its name.
#[must_use]
pub fn is_batch(program: &str) -> bool {
    let name = program.to_ascii_lowercase();
    name.ends_with(".bat") || name.ends_with(".cmd")
}

/// The places at which a program of this name may lie, in the order in which they are looked at: below the folder where the
/// command begins when the name has a folder in it, else in the folders of the path, which are separated by `;`. Unlike Windows
/// itself it never looks into the folder where the command begins for a name alone.
#[must_use]
pub fn candidates(name: &str, begins: &str, path: &str) -> Vec<String> {
    let name = name.replace('/', "\\");
    let has_drive = name.chars().nth(1) == Some(':');
    let at: Vec<String> = if name.starts_with('\\') || has_drive {
        vec![name]
    } else if name.contains('\\') {
        vec![format!("{}\\{name}", begins.trim_end_matches('\\'))]
    } else if name.is_empty() || name.contains(':') {
        Vec::new()
    } else {
        let folders = path.split(';').filter(|folder| !folder.is_empty());
        folders.map(|folder| format!("{}\\{name}", folder.trim_end_matches('\\'))).collect()
    };
    at.into_iter().flat_map(|at| with_ends(&at)).collect()
}

/// A place as it is named where its name has an end of a program, else with each of them.
fn with_ends(at: &str) -> Vec<String> {
    let lower = at.to_ascii_lowercase();
    if ENDS.iter().any(|end| lower.ends_with(end)) {
        return vec![at.to_owned()];
    }
    ENDS.iter().map(|end| format!("{at}{end}")).collect()
}

fn unit(sign: char) -> u16 {
    let mut units = [0; 2];
    sign.encode_utf16(&mut units).first().copied().unwrap_or_default()
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn shown(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

fn ended(mut line: Vec<u16>, most: usize) -> Result<Vec<u16>, Unsayable> {
    if line.contains(&0) {
        return Err(Unsayable("a word of the command holds a zero".to_owned()));
    }
    if line.len() > most {
        let say =
            format!("the command has more than {most} letters, which Windows does not take; make it shorter");
        return Err(Unsayable(say));
    }
    line.push(0);
    Ok(line)
}

/// The first word, in which a quote cannot be said.
fn quoted_name(program: &[u16]) -> Result<Vec<u16>, Unsayable> {
    if program.contains(&unit('"')) {
        return Err(Unsayable(format!("`{}` holds a quote; no program has such a name", shown(program))));
    }
    Ok([&[unit('"')][..], program, &[unit('"')]].concat())
}

/// A word. Backslashes count double before a quote and nowhere else.
fn quoted(word: &[u16]) -> Vec<u16> {
    let (quote, slash) = (unit('"'), unit('\\'));
    let needs = |of: &u16| [' ', '\t', '\n', '\u{b}', '"'].iter().any(|sign| unit(*sign) == *of);
    if !word.is_empty() && !word.iter().any(needs) {
        return word.to_vec();
    }
    let mut said = vec![quote];
    let mut slashes = 0;
    for one in word {
        if *one == slash {
            slashes += 1;
        } else {
            if *one == quote {
                said.extend(std::iter::repeat_n(slash, slashes + 1));
            }
            slashes = 0;
        }
        said.push(*one);
    }
    said.extend(std::iter::repeat_n(slash, slashes));
    said.push(quote);
    said
}

/// A word that the shell of Windows takes as it is: what it gives a meaning, also within quotes, is refused.
fn plain_for_shell(word: &[u16], is_name: bool) -> Result<Vec<u16>, Unsayable> {
    let text = shown(word);
    let means = |sign: char| sign.is_control() || "\"%!^&|<>".contains(sign);
    if let Some(sign) = text.chars().find(|sign| means(*sign)) {
        return Err(Unsayable(format!(
            "`{text}` has `{}`, which a batch file would not get as it is; call another program, or leave it out",
            sign.escape_default()
        )));
    }
    let is_plain = |sign: char| sign.is_alphanumeric() || r"#$*+-./:?@\_".contains(sign);
    if !is_name && !text.is_empty() && text.chars().all(is_plain) {
        return Ok(word.to_vec());
    }
    // A backslash before the closing quote would take it along in programs that the file starts.
    let slashes = word.iter().rev().take_while(|one| **one == unit('\\')).count();
    let tail: Vec<u16> = std::iter::repeat_n(unit('\\'), slashes).collect();
    Ok([&[unit('"')][..], word, &tail, &[unit('"')]].concat())
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn said(program: &str, arguments: &[&str]) -> Result<String, Unsayable> {
        let arguments: Vec<Vec<u16>> = arguments.iter().map(|word| wide(word)).collect();
        let line = command_line(&wide(program), &arguments)?;
        assert_eq!(line.last(), Some(&0));
        Ok(shown(line.get(..line.len() - 1).unwrap_or_default()))
    }

    fn in_shell(arguments: &[&str]) -> Result<String, Unsayable> {
        let arguments: Vec<Vec<u16>> = arguments.iter().map(|word| wide(word)).collect();
        let line = batch_line(&wide("cmd.exe"), &wide(r"C:\n\npm.cmd"), &arguments)?;
        Ok(shown(line.get(..line.len() - 1).unwrap_or_default()))
    }

    /// Takes a line apart as `CommandLineToArgvW` is described to do.
    fn apart(line: &str) -> Vec<String> {
        let mut signs = line.chars().peekable();
        let mut words = vec![String::new()];
        // The first word ends with its second quote and has no backslashes that mean more.
        assert_eq!(signs.next(), Some('"'));
        words[0].extend(signs.by_ref().take_while(|sign| *sign != '"'));
        let (mut is_quoted, mut is_open) = (false, false);
        while let Some(sign) = signs.next() {
            match sign {
                ' ' | '\t' if !is_quoted => is_open = false,
                _ => {
                    if !std::mem::replace(&mut is_open, true) {
                        words.push(String::new());
                    }
                    let word = words.last_mut().expect("one");
                    match sign {
                        '\\' => {
                            let mut slashes = 1;
                            while signs.next_if_eq(&'\\').is_some() {
                                slashes += 1;
                            }
                            if signs.peek() == Some(&'"') {
                                word.extend(std::iter::repeat_n('\\', slashes / 2));
                                if slashes % 2 == 1 {
                                    word.extend(signs.next());
                                }
                            } else {
                                word.extend(std::iter::repeat_n('\\', slashes));
                            }
                        }
                        '"' if is_quoted && signs.next_if_eq(&'"').is_some() => word.push('"'),
                        '"' => is_quoted = !is_quoted,
                        other => word.push(other),
                    }
                }
            }
        }
        words
    }

    #[test]
    fn a_line_is_taken_apart_into_the_words_that_it_was_made_of() {
        let words: [&[&str]; 6] = [
            &["/c", "echo", "hello"],
            &["", " ", "a b", "\t"],
            &[r#"say "hi""#, r#"\"#, r"\\", r#"\""#, r#"a\\"b"#],
            &[r"C:\with space\", r"C:\no\", r"\\host\share\"],
            &["*", "%PATH%", "^&|<>", "é ü", "\u{1f600}"],
            &["line\nbreak", "\"\"", "\" \\\" \\"],
        ];
        for arguments in words {
            let line = said(r"C:\a b\x.exe", arguments).expect("a line");
            let mut wanted = vec![r"C:\a b\x.exe".to_owned()];
            wanted.extend(arguments.iter().map(|word| (*word).to_owned()));
            assert_eq!(apart(&line), wanted, "{line}");
        }
        // Each letter, as others have it.
        let line = said("x", &["/c", "a b", r#"q"q"#, r"end\", r"end \"]).expect("a line");
        assert_eq!(line, r#""x" /c "a b" "q\"q" end\ "end \\""#);
    }

    #[test]
    fn what_no_line_can_say_is_refused() {
        assert!(said("x", &["a\0b"]).is_err() && said("x\"y", &[]).is_err());
        assert!(said("x", &[&"y".repeat(40_000)]).is_err_and(|why| why.to_string().contains("shorter")));
        assert!(said("x", &[&"y".repeat(30_000)]).is_ok());
    }

    #[test]
    fn a_batch_file_gets_plain_words_alone_and_never_a_second_command() {
        assert_eq!(
            in_shell(&["run", "a b", r"C:\x\", r"C:\x y\"]).expect("a line"),
            r#""cmd.exe" /e:ON /v:OFF /d /s /c ""C:\n\npm.cmd" run "a b" C:\x\ "C:\x y\\"""#
        );
        for bad in ["a&calc", "%PATH%", "a\"&b", "x|y", "a>b", "a<b", "^", "!x!", "a\nb", "a\r"] {
            let refused = in_shell(&["run", bad]);
            assert!(refused.is_err_and(|why| why.to_string().contains("batch file")), "{bad}");
        }
        assert!(in_shell(&[&"y".repeat(9_000)]).is_err());
        assert!(is_batch("npm.CMD") && is_batch(r"C:\x.bat") && !is_batch("cmd.exe") && !is_batch("cmd"));
    }

    #[test]
    fn a_name_is_looked_for_on_the_path_and_never_where_the_command_begins() {
        let path = r"C:\Windows\System32;;C:\Git\";
        assert_eq!(
            candidates("git", r"C:\w", path),
            [
                r"C:\Windows\System32\git.com",
                r"C:\Windows\System32\git.exe",
                r"C:\Windows\System32\git.bat",
                r"C:\Windows\System32\git.cmd",
                r"C:\Git\git.com",
                r"C:\Git\git.exe",
                r"C:\Git\git.bat",
                r"C:\Git\git.cmd",
            ]
        );
        assert_eq!(candidates("git.EXE", r"C:\w", r"C:\Git"), [r"C:\Git\git.EXE"]);
        assert_eq!(candidates("./tool.exe", r"C:\w\", path), [r"C:\w\.\tool.exe"]);
        assert_eq!(candidates(r"D:\x\tool.bat", r"C:\w", path), [r"D:\x\tool.bat"]);
        // What is no program by its end is none, also where it is there: a text beside a program of its name.
        assert_eq!(
            candidates("a.txt", r"C:\w", r"C:\p").first().map(String::as_str),
            Some(r"C:\p\a.txt.com")
        );
        assert!(candidates("", r"C:\w", path).is_empty() && candidates("a.exe:b", r"C:\w", path).is_empty());
    }
}
