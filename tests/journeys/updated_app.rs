//! The desktop app of a release, through the built programs: the installed app starts it in its own place, leaves it by itself where it
//! does not come up, and is told of by `hermit update`. What a package manager owns is not written, and the command for it is told.

use super::programs::desktop_program;
use super::stage::{Ran, Stage};
use super::updated::{CRASHES, HEALTHY, Maker, is_refused};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Answers the installed app, and then says what it was asked.
const ANSWERS: &str = r#"#!/bin/sh
if [ "$1" = successor-health ]; then
  printf '{"healthy":"%s","events":0}\n' "$(sha256sum "$0" | cut -d' ' -f1)"
  exit 0
fi
echo "the updated app: $*"
"#;

/// The installed app; none, with the reason said, where none was built or a system starts no other.
fn installed() -> Option<&'static Path> {
    if std::env::consts::OS == "macos" {
        conforms::skip("an app is a folder on macOS, and the installed one starts no other there");
        return None;
    }
    let found = desktop_program();
    if found.is_none() {
        conforms::lacks("`hermit-desktop`, which `npm test` builds,");
    }
    found
}

/// A release with an app that is this text.
fn release(maker: &Maker, version: &str, app: &str) -> PathBuf {
    let folder = maker.stage.at(&format!("app-{version}"));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("hermit-desktop");
    fs::write(&file, app).expect("a file");
    maker.made_with(version, HEALTHY.as_bytes(), ("log", &maker.system()), &[file])
}

/// The installed app, on a machine without a display: by itself it opens nothing and ends.
fn app(maker: &Maker, program: &Path, words: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    command.env("HERMIT_HOME", maker.stage.home()).env("XDG_STATE_HOME", maker.stage.at("state"));
    for name in
        ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "HERMIT_STARTED_BY", "HERMIT_FAULT"]
    {
        command.env_remove(name);
    }
    command.env_remove("APPIMAGE").env_remove("APPDIR");
    Stage::ran(&mut command)
}

/// Whether the installed app gave its place to that of the release.
fn is_updated(maker: &Maker, program: &Path) -> bool {
    let ran = app(maker, program, &["hermit://open"]);
    let told = ran.out.trim() == "the updated app: hermit://open";
    assert!(told || ran.code != 0, "without a display an app of its own ends: {ran:?}");
    told
}

#[test]
fn the_app_of_a_release_is_started_in_the_place_of_the_installed_one_and_goes_with_its_program() {
    let Some(program) = installed() else { return };
    let maker = Maker::new();
    assert!(!is_updated(&maker, program), "there is no update");
    let first = release(&maker, "999.1.0", ANSWERS);
    // One changed byte of the app is refused as one of anything else.
    let signed = first.join("programs/hermit-desktop");
    let whole = fs::read(&signed).expect("a file");
    let mut changed = whole.clone();
    changed[20] ^= 1;
    fs::write(&signed, changed).expect("a file");
    is_refused(
        maker.check(&first, Some("key.pem")),
        5,
        &["programs/hermit-desktop", "not those that were signed"],
    );
    fs::write(&signed, whole).expect("a file");
    let (code, screen) = maker.apply(&first, None);
    assert!(code == 0 && screen.contains("Its app is kept beside it"), "{code}: {screen}");
    assert_eq!(maker.shown()["now"]["app"]["healthy"], false, "nobody has started it");
    assert!(is_updated(&maker, program));
    assert_eq!(maker.shown()["now"]["app"]["starts"], 1);
    let programs = fs::read_dir(maker.stage.home().join("programs")).expect("programs");
    let mut folders = programs.map(|entry| entry.expect("a program").path());
    let kept = folders.find(|folder| folder.join("hermit-desktop").is_file()).expect("its app");
    // Who changes its file has an app that is not started, and the installed one goes on.
    let kept = kept.join("hermit-desktop");
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(&kept, ANSWERS.replace("the updated app", "another app")).expect("a file");
    let ran = app(&maker, program, &["hermit://open"]);
    assert!(!ran.out.contains("another app"), "{ran:?}");
    let failed = maker.shown()["now"]["app"]["failed"].clone();
    assert!(failed.as_str().is_some_and(|why| why.contains("another than was adopted")), "{failed}");
    assert_eq!(maker.shown()["at_work"], "999.1.0", "its program stays at work");

    // The next one is started, and who goes back goes back with both. (The program here is a script that updates nothing itself.)
    assert_eq!(maker.back(&[]).0, 0);
    let (code, screen) = maker.apply(&release(&maker, "999.2.0", &format!("{ANSWERS}# two\n")), None);
    assert_eq!(code, 0, "{screen}");
    assert!(is_updated(&maker, program));
    let (code, screen) = maker.back(&[]);
    assert_eq!(code, 0, "{screen}");
    assert!(!is_updated(&maker, program), "the app before it was left, and the installed one goes on");
}

#[test]
fn an_app_that_does_not_come_up_is_left_by_itself_and_the_installed_one_goes_on() {
    let Some(program) = installed() else { return };
    let maker = Maker::new();
    // One that cannot even answer.
    let (code, screen) = maker.apply(&release(&maker, "999.1.0", CRASHES), None);
    assert_eq!(code, 0, "{screen}");
    assert!(!is_updated(&maker, program));
    let failed = maker.shown()["now"]["app"]["failed"].clone();
    assert!(failed.as_str().is_some_and(|why| why.contains("ended at its start")), "{failed}");
    assert_eq!(maker.back(&[]).0, 0);
    // One that answers, and whose window never comes: three starts are waited for.
    let (code, screen) = maker.apply(&release(&maker, "999.2.0", ANSWERS), None);
    assert_eq!(code, 0, "{screen}");
    for start in 1..=3 {
        assert!(is_updated(&maker, program), "start {start}");
    }
    assert!(!is_updated(&maker, program));
    let shown = maker.shown();
    let failed = shown["now"]["app"]["failed"].as_str().unwrap_or_default();
    assert!(failed.contains("3 times and did not come up"), "{shown}");
    assert_eq!(shown["at_work"], "999.2.0", "its program came up, and stays at work");
}

#[test]
fn a_package_that_owns_the_app_is_named_with_the_command_that_renews_it_and_a_release_at_hand_is_told() {
    let Some(program) = installed() else { return };
    let mut maker = Maker::new();
    // A package manager that says that every file is of its package.
    let programs = maker.stage.at("managers");
    fs::create_dir_all(&programs).expect("a folder");
    let dpkg = programs.join("dpkg");
    fs::write(&dpkg, "#!/bin/sh\n[ \"$1\" = -S ] && echo \"hermit: $2\"\n").expect("a file");
    fs::set_permissions(&dpkg, fs::Permissions::from_mode(0o755)).expect("a mode");
    let path = std::env::var("PATH").unwrap_or_default();
    maker.stage.tells("PATH", format!("{}:{path}", programs.display()));
    // The app tells where it lies when it is started.
    app(&maker, program, &["--hidden"]);
    let deb = maker.stage.at("Hermit_999.1.0_amd64.deb");
    fs::write(&deb, "a package").expect("a file");
    let system = maker.system();
    let release = maker.made_with("999.1.0", HEALTHY.as_bytes(), ("log", &system), &[deb]);
    let said = maker.check(&release, Some("key.pem")).ends(0).json();
    assert_eq!(said["package"]["manager"], "dpkg", "{said}");
    let command = said["package"]["command"].as_str().unwrap_or_default();
    let wanted =
        format!("sudo apt install '{}'", release.join("programs/Hermit_999.1.0_amd64.deb").display());
    assert_eq!(command, wanted);
    let (code, screen) = maker.apply(&release, None);
    assert!(code == 0 && screen.contains("sudo apt install"), "{code}: {screen}");
    assert!(screen.contains("It brought no app for this machine"), "{screen}");
    assert_eq!(maker.shown()["at_hand"], json!(null), "it is at work");
    // What was checked with the pinned key and is newer is told from then on, also to the page of settings.
    assert_eq!(maker.back(&[]).0, 0);
    let next = maker.made_with("999.2.0", HEALTHY.as_bytes(), ("log", &system), &[]);
    maker.check(&next, None).ends(0);
    assert_eq!(maker.shown()["at_hand"]["version"], "999.2.0");
    let told = maker.stage.hermit(&["doctor"]).json()["update"].clone();
    assert_eq!(
        (&told["at_work"], &told["at_hand"]),
        (&json!(env!("CARGO_PKG_VERSION")), &json!("999.2.0")),
        "{told}"
    );
    let command = told["command"].as_str().unwrap_or_default();
    assert!(command.contains("update apply") && command.contains("999.2.0"), "{told}");
    assert!(told["left"].as_str().is_some_and(|why| why.contains("999.1.0")), "{told}");
    fs::remove_dir_all(&next).expect("it goes");
    assert_eq!(maker.shown()["at_hand"], json!(null), "a release that is gone is not told");
}
