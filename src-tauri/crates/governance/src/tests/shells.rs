//! What a shell would be told to run, and what nobody can say for sure.

use acts::shell::simple_commands;

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_shell_is_read_command_by_command_and_what_is_not_known_for_sure_is_refused() {
    let read = |script: &str| simple_commands(&words(&["sh", "-c", script]));
    let names = |script: &str| -> Vec<String> {
        let found = read(script).unwrap_or_else(|why| panic!("{script}: {why}"));
        found
            .iter()
            .map(|one| one.words.iter().map(|w| w.as_deref().unwrap_or("<?>")).collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(names("cargo test"), ["cargo test"]);
    assert_eq!(
        names("cargo test && rm -rf / || ls;pwd\nid & who | wc -l"),
        ["cargo test", "rm -rf /", "ls", "pwd", "id", "who", "wc -l"]
    );
    assert_eq!(names(r#"echo 'a && b' "c; d" e\;f ''"#), ["echo a && b c; d e;f "]);
    assert_eq!(names("ls *.rs ~/x {a,b} a=b"), ["ls <?> <?> <?> a=b"]);
    assert_eq!(names("'if' x"), ["if x"], "a quoted word is no keyword");
    for script in [
        "",
        ";",
        "a &&",
        "&& a",
        "a | | b",
        "a ;; b",
        "a & ; b",
        "echo $(id)",
        "echo `id`",
        "echo \"$HOME\"",
        "a > f",
        "a < f",
        "a 2>&1",
        "a &> f",
        "a |& b",
        "cat <<E\nx\nE",
        "(a)",
        "f() { a; }",
        "if a; then b; fi",
        "! a",
        "{ a; }",
        "X=1 a",
        "X+=1 a",
        "a[0]=1 b",
        "while a; do b; done",
        "echo 'x",
        "echo \"x",
        "echo \\",
        "a # b",
        "echo \u{7}",
        "time a",
        "function f",
        "a \\\nb",
        "[[ a ]]",
        "for i in a; do b; done",
        "case a in b) c;; esac",
        "echo \"!x\"",
    ] {
        assert!(read(script).is_err(), "`{script}` is read as {:?}", read(script));
    }
    for argv in
        [&["sh", "-s"][..], &["bash", "-lc", "ls"], &["sh"], &["sh", "-c", "ls", "x"], &["bash", "--norc"]]
    {
        assert!(simple_commands(&words(argv)).is_err(), "{argv:?}");
    }
    assert_eq!(
        simple_commands(&words(&["/bin/ls", "&&", "rm"])).map(|all| all.len()),
        Ok(1),
        "no shell, no grammar"
    );
}
