//! The app of a release in its real window, started by the installed one in its own place.

use super::room::{room, until};
use crate::journeys::desktop_program;
use crate::journeys::updated::{HEALTHY, Maker};
use std::fs;
use std::path::Path;
use testkit::Killed;

#[test]
fn the_app_of_a_release_opens_its_window_in_the_place_of_the_installed_one_and_that_it_came_up_is_kept() {
    let Some(room) = room("an updated app") else { return };
    let program = desktop_program().expect("it is built");
    let maker = Maker::new();
    let system = maker.system();
    let release = maker.made_with("999.1.0", HEALTHY.as_bytes(), ("log", &system), &[program.to_owned()]);
    let (code, screen) = maker.apply(&release, None);
    assert_eq!(code, 0, "{screen}");
    // Only what is started from now on needs it, and it is as large as all of this.
    fs::remove_dir_all(&release).expect("it goes");
    let start = |program: &Path| {
        let mut app = room.command(program);
        app.env("HERMIT_HOME", maker.stage.home()).env("XDG_STATE_HOME", maker.stage.at("state"));
        app.env_remove("HERMIT_STARTED_BY").env_remove("APPIMAGE").env_remove("APPDIR");
        let app = app.spawn().expect("it starts");
        (app.id(), Killed(app))
    };
    let kept = maker.stage.home().canonicalize().expect("a store").join("programs");
    let runs = |process: u32| fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let is_its = |process: u32| runs(process).starts_with(&kept);
    let (process, app) = start(program);
    until("the app of the release runs", || is_its(process));
    until("its window is there", || room.window("Hermit").is_some());
    until("that it came up is kept", || maker.shown()["now"]["app"]["healthy"] == true);
    drop(app);
    // From then on it is started without being asked or counted.
    let (process, app) = start(program);
    until("it runs again", || is_its(process));
    until("its window is there again", || room.window("Hermit").is_some());
    assert_eq!(maker.shown()["now"]["app"]["starts"], 1);
    let left = runs(process);
    drop(app);
    // One that was left and is begun by its path, as at a log-in, gives its place to the installed one.
    let (code, screen) = maker.back(&[]);
    assert_eq!(code, 0, "{screen}");
    let (process, app) = start(&left);
    let installed = program.canonicalize().expect("it is built");
    until("the installed app runs", || runs(process) == installed);
    until("its own window is there", || room.window("Hermit").is_some());
    drop(app);
}
