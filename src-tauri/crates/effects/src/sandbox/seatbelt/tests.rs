//! Profiles of every shape, byte for byte, and names that try to end their quotes.

use super::*;
use crate::workspace::names;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn folder() -> Shape {
    Shape {
        folder: Some("/Users/ann/notes".into()),
        private: Some("/Users/ann/Library/Application Support/hermit/run/private".into()),
        cpu_seconds: 60,
        file_bytes: 1024,
        ..Shape::default()
    }
}

/// The profile of a shape, as the best of ways writes it.
fn profile(shape: &Shape) -> Result<String, String> {
    super::profile(shape, Stays::ALL[0])
}

fn shapes() -> [(&'static str, Shape, &'static str); 9] {
    let hidden = Shape {
        covered: vec!["/Users/ann/notes/deep/.env".into(), "/Users/ann/notes/.ssh".into()],
        kept: vec!["/Users/ann/notes/.hermit".into()],
        ..folder()
    };
    let staged = Shape { folder: Some("/Users/ann/hermit/staged/tree".into()), ..folder() };
    let home = "/Users/ann/Library/Application Support/hermit/home/claude";
    let tools = vec!["/Users/ann/.rustup".into(), "/Users/ann/.cargo/bin".into()];
    let git = Shape { read_only: true, changed: vec!["/Users/ann/notes/.git".into()], ..folder() };
    [
        ("git", git, include_str!("golden/git.sb")),
        ("nowhere", Shape::default(), include_str!("golden/nowhere.sb")),
        ("folder", folder(), include_str!("golden/folder.sb")),
        ("read_only", Shape { read_only: true, ..folder() }, include_str!("golden/read_only.sb")),
        ("hidden", hidden, include_str!("golden/hidden.sb")),
        ("staged", staged.clone(), include_str!("golden/staged.sb")),
        ("staged_tools", Shape { reads: tools, ..staged }, include_str!("golden/staged_tools.sb")),
        ("proxy", Shape { proxy: Some(49152), ..folder() }, include_str!("golden/proxy.sb")),
        (
            "guest",
            Shape { proxy: Some(49152), home: Some(home.into()), ..folder() },
            include_str!("golden/guest.sb"),
        ),
    ]
}

#[test]
fn the_profile_of_every_shape_is_the_one_that_was_read_by_a_person() {
    for (name, shape, golden) in shapes() {
        let made = profile(&shape).unwrap();
        assert!(made == golden, "golden/{name}.sb is not what is made now:\n{made}");
    }
}

/// Whoever left the group would outlive its command, and a call that starts a program can say so where no rule sees it.
#[test]
fn nobody_leaves_the_group_of_a_command_and_an_older_system_may_know_another_way() {
    let made = |stays| super::profile(&folder(), stays).unwrap();
    let denied = |stays| -> Vec<String> {
        let made = made(stays);
        made.lines().filter(|line| line.contains("syscall-unix")).map(str::to_owned).collect()
    };
    let leaves = "(deny syscall-unix (syscall-number 82) (syscall-number 147))";
    assert_eq!(
        denied(Stays::WithoutSpawn),
        [leaves, "(deny syscall-unix (with errno 78) (syscall-number 244))"]
    );
    assert_eq!(denied(Stays::Refused), [leaves, "(deny syscall-unix (syscall-number 244))"]);
    assert!(denied(Stays::Open).is_empty());
    // What is kept from programs is told, and they differ in nothing else.
    let rest = |stays| made(stays).lines().filter(|line| !line.contains("syscall-unix")).collect::<String>();
    for stays in Stays::ALL {
        assert_eq!(rest(stays), rest(Stays::Open));
        assert_eq!(stays.costs().is_some(), stays != Stays::Open, "{stays:?}");
    }
}

/// A compiler that cannot start its linker says so in words that name no sandbox.
#[test]
fn a_program_that_could_start_no_other_is_explained_and_nothing_else_is() {
    let by = |stays| {
        let seatbelt = Some(Seatbelt { program: "/x".into(), stays });
        Sandbox { seatbelt, ..Sandbox::none(String::new()) }
    };
    let cargo = b"error: could not execute process `rustc -vV` (never executed)\n\nCaused by:\n  Function not implemented (os error 78)\n";
    for printed in
        [&cargo[..], b"clang: error: unable to execute command: posix_spawn failed", b"os error 78"]
    {
        let told = by(Stays::WithoutSpawn).may_have_kept_from(printed).unwrap();
        assert!(told.starts_with("sandbox: ") && told.contains("compilers"), "{told}");
        assert_eq!(by(Stays::Open).may_have_kept_from(printed), None, "nothing was kept from it");
        assert_eq!(Sandbox::none(String::new()).may_have_kept_from(printed), None);
    }
    for printed in [&b""[..], b"error: test failed", b"Function not"] {
        assert_eq!(by(Stays::WithoutSpawn).may_have_kept_from(printed), None);
    }
}

/// A text of the language, read by its own rules: whole lists, words, and texts in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    List(Vec<Node>),
    Word(String),
    Text(String),
}

fn read(text: &str) -> Result<Vec<Node>, String> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let node = match letter {
            '(' => {
                open.push(Vec::new());
                continue;
            }
            ')' => Node::List(open.pop().ok_or("a bracket too many")?),
            '"' => {
                let mut found = String::new();
                loop {
                    match letters.next().ok_or("a text without an end")? {
                        '"' => break,
                        '\\' => found.push(letters.next().ok_or("a backslash at the end")?),
                        other => found.push(other),
                    }
                }
                Node::Text(found)
            }
            ';' => return Err("a comment".to_owned()),
            blank if blank.is_whitespace() => continue,
            first => {
                let mut word = String::from(first);
                while let Some(next) = letters.next_if(|c| !c.is_whitespace() && !"()\"".contains(*c)) {
                    word.push(next);
                }
                Node::Word(word)
            }
        };
        open.last_mut().ok_or("a bracket too many")?.push(node);
    }
    match (open.pop(), open.is_empty()) {
        (Some(nodes), true) => Ok(nodes),
        _ => Err("a bracket too few".to_owned()),
    }
}

/// The rules without their texts, and the texts.
fn parted(nodes: &[Node], texts: &mut BTreeSet<String>) -> String {
    let told: Vec<String> = nodes
        .iter()
        .map(|node| match node {
            Node::List(inner) => format!("({})", parted(inner, texts)),
            Node::Word(word) => word.clone(),
            Node::Text(text) => {
                texts.insert(text.clone());
                "TEXT".to_owned()
            }
        })
        .collect();
    told.join(" ")
}

/// Shapes that name one place everywhere that a place can be named.
fn everywhere(place: &Path) -> Shape {
    Shape {
        folder: Some(place.to_path_buf()),
        private: Some(place.to_path_buf()),
        home: Some(place.to_path_buf()),
        reads: vec![place.to_path_buf()],
        covered: vec![place.to_path_buf()],
        kept: vec![place.to_path_buf()],
        ..Shape::default()
    }
}

fn names_of() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        4 => Just('a'),
        3 => prop::sample::select(vec!['"', '\\', '(', ')', ';', '#', '|', '\'', ' ', '.', '*', '$', '`']),
        1 => prop::sample::select(vec!['\n', '\r', '\t', '\u{0}', '\u{7f}', '\u{2028}', 'é', '\u{202e}']),
    ];
    prop::collection::vec(letter, 1..24).prop_map(|letters| letters.into_iter().collect())
}

/// The expression about a place in any case, as the profile's language reads it.
fn expression(place: &Path) -> String {
    match read(&any_case(place).unwrap()).unwrap().as_slice() {
        [Node::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_kept_name_is_kept_in_whatever_case_and_no_other_is(
        name in names_of(),
        other in prop::sample::select(vec![".hermit", "Notes.d", "a(b)*[c]^$", "A\\d+", "x{2}|y"]),
        capitals in prop::collection::vec(any::<bool>(), 24),
    ) {
        for name in [name.as_str(), other] {
            let place = PathBuf::from(format!("/a.b/{name}"));
            if any_case(&place).is_err() {
                continue;
            }
            let found = regex::Regex::new(&expression(&place)).unwrap();
            let cased = |(letter, is_capital): (char, &bool)| match is_capital {
                true => letter.to_ascii_uppercase(),
                false => letter.to_ascii_lowercase(),
            };
            let spelled: String = name.chars().zip(&capitals).map(cased).collect();
            for kept in [format!("/a.b/{spelled}"), format!("/a.b/{spelled}/deep/file"), format!("/a.b/{name}")] {
                prop_assert!(found.is_match(&kept), "{:?} is not kept by {}", kept, found);
            }
            for open in [
                format!("/a.b/{spelled}x"),
                format!("/a.b/x{spelled}"),
                format!("/acb/{spelled}"),
                format!("/A.B/{spelled}"),
                format!("/x/a.b/{spelled}"),
                "/a.b".to_owned(),
                "/a.b/".to_owned(),
            ] {
                prop_assert!(!found.is_match(&open), "{:?} is kept by {}", open, found);
            }
        }
    }

    #[test]
    fn no_name_ends_its_quotes_or_adds_a_rule(name in names_of()) {
        // What parts names here is in none.
        prop_assume!(!name.contains(std::path::MAIN_SEPARATOR));
        let place = PathBuf::from(format!("/a/{name}"));
        let plain = profile(&everywhere(Path::new("/a/b"))).unwrap();
        let mut of_plain = BTreeSet::new();
        let rules = parted(&read(&plain).unwrap(), &mut of_plain);
        if let Ok(made) = profile(&everywhere(&place)) {
            let mut texts = BTreeSet::new();
            let made = parted(&read(&made).unwrap(), &mut texts);
            prop_assert_eq!(made, rules);
            prop_assert!(texts.contains(place.to_str().unwrap()));
            of_plain.remove("/a/b");
            texts.remove(place.to_str().unwrap());
            prop_assert!(of_plain.remove(&expression(Path::new("/a/b"))));
            prop_assert!(texts.remove(&expression(&place)));
            prop_assert_eq!(texts, of_plain);
        } else {
            let refused = name.chars().any(char::is_control) || matches!(name.as_str(), "." | "..");
            prop_assert!(refused, "a plain name was refused: {:?}", name);
        }
    }
}

#[test]
fn an_injection_stays_a_name_and_what_has_no_sure_spelling_is_refused() {
    let bad = "/tmp/x\") (allow default) (allow file-read* (subpath \"/";
    let made = profile(&everywhere(Path::new(&format!("{bad}y")))).unwrap();
    let mut texts = BTreeSet::new();
    let rules = parted(&read(&made).unwrap(), &mut texts);
    assert!(!rules.contains("(allow default)") && rules.contains("(deny default)"), "{rules}");
    assert!(texts.iter().any(|text| text.contains("(allow default)")), "{texts:?}");

    for (place, why) in [
        ("/a/../b", "`..`"),
        ("/a/./b", "`.`"),
        ("/a//b", "empty"),
        ("/a/", "empty"),
        ("a/b", "no whole path"),
        ("", "no whole path"),
        ("/", "whole disk"),
        ("/a\nb", "control character"),
        ("/a\u{0}b", "control character"),
    ] {
        let said = quoted(Path::new(place), false).unwrap_err();
        assert!(said.contains(why) && !said.contains('\n'), "{place:?}: {said}");
    }
    assert_eq!(quoted(Path::new("/"), true).unwrap(), "\"/\"");
    // Some systems have no such name at all.
    if let Ok(place) = names::below(Path::new("/a"), b"b\xff") {
        assert!(quoted(&place, false).unwrap_err().contains("not UTF-8"));
    }
}

#[test]
fn a_profile_that_would_be_too_long_is_refused() {
    let reads = (0..4_000).map(|n| PathBuf::from(format!("/{}/{n}", "a".repeat(100)))).collect();
    assert!(profile(&Shape { reads, ..Shape::default() }).unwrap_err().contains("choose a smaller folder"));
}

#[test]
fn nothing_allows_everything_of_a_kind_that_reaches_out() {
    for (name, shape, _) in shapes() {
        let nodes = read(&profile(&shape).unwrap()).unwrap();
        for rule in &nodes {
            let Node::List(rule) = rule else { panic!("{name}: {rule:?}") };
            let words: Vec<&str> = rule
                .iter()
                .filter_map(|node| match node {
                    Node::Word(word) => Some(word.as_str()),
                    _ => None,
                })
                .collect();
            let has_filter = rule.iter().any(|node| matches!(node, Node::List(_)));
            let reaches = words.iter().any(|word| {
                ["file-", "network", "mach-", "sysctl", "signal", "ipc", "iokit"]
                    .iter()
                    .any(|of| word.starts_with(of))
            });
            assert!(words[0] != "allow" || has_filter || !reaches, "{name}: {rule:?}");
        }
        let network = nodes.iter().filter(|rule| format!("{rule:?}").contains("network")).count();
        assert_eq!(network, usize::from(shape.proxy.is_some()), "{name}");
    }
}

/// A name that some disk takes for Hermit's own folder, letter by letter: only those of ASCII in the other case, so that the rule
/// about them leaves none out. Signs that are not seen are no letters; APFS does not skip them.
#[test]
fn no_letter_that_a_disk_takes_for_one_of_hermits_own_name_is_left_out() {
    let own = acts::sensitive_paths::CAPABILITY_FOLDER;
    let found = regex::Regex::new(&expression(Path::new(&format!("/a/{own}")))).unwrap();
    let mut others = 0;
    // Its capital is `I`, so it is asked about as well; no disk of macOS takes it for an `i`.
    for letter in (0..=0xFFFF_u32).filter_map(char::from_u32).filter(|letter| *letter != '\u{131}') {
        let folded = model::file_name::folded(letter.to_string().as_bytes());
        for (at, of) in own.char_indices().filter(|(_, of)| of.is_alphabetic() && folded == of.to_string()) {
            let spelled = |(n, c): (usize, char)| if n == at { letter } else { c };
            let name: String = own.char_indices().map(spelled).collect();
            assert!(found.is_match(&format!("/a/{name}")), "{name:?} would be another folder");
            others += usize::from(letter != of);
        }
    }
    assert_eq!(others, 6, "a capital of each letter is the same there, and nothing else is");
}
