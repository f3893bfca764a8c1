use super::*;
use crate::command::removal::remove_tree;
use crate::system::file_identity::TELLS_CHANGES;
use std::fs;
use std::time::Instant;

struct World {
    project: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { project: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    fn book(&self) -> SkillBook {
        SkillBook::new(SkillPlaces { store: None, home: Some(self.home.path().to_owned()) })
    }

    fn find(&self) -> FoundSkills {
        self.book().find(Some(self.project.path()), None)
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let at = self.project.path().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(&at, text).unwrap();
        at
    }

    fn skill(&self, place: &str, name: &str) -> PathBuf {
        self.put(&format!("{place}/{name}/SKILL.md"), &text(name))
    }
}

fn text(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n# {name}\n")
}

fn why(found: &FoundSkills, folder: &str) -> String {
    let one = found.skills.iter().find(|one| one.folder == folder).expect(folder);
    one.skill.clone().expect_err(folder)
}

#[test]
fn skills_are_found_in_the_project_and_in_the_persons_own_folders_in_the_order_of_places() {
    let world = World::new();
    for place in [".claude/skills", ".agents/skills", ".hermit/skills"] {
        world.skill(place, "deploy");
    }
    world.put(".agents/skills/notes.txt", "no folder");
    world.put(".agents/skills/empty/readme.md", "no SKILL.md");
    let own = world.home.path().join(".agents/skills/mine");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("SKILL.md"), text("mine")).unwrap();
    let found = world.find();
    let places: Vec<(SkillPlace, &str)> = found.skills.iter().map(|s| (s.place, s.folder.as_str())).collect();
    use SkillPlace::{OwnAgents, ProjectAgents, ProjectClaude, ProjectHermit};
    let expected = [
        (ProjectHermit, "deploy"),
        (ProjectAgents, "deploy"),
        (ProjectClaude, "deploy"),
        (OwnAgents, "mine"),
    ];
    assert_eq!(places, expected);
    assert_eq!(found.left_out, [""; 0]);
    let digests: BTreeSet<Digest> =
        found.skills.iter().filter(|s| s.folder == "deploy").map(|s| s.skill.clone().unwrap().1).collect();
    assert_eq!(digests.len(), 1, "the same bytes are the same skill, wherever they lie");
    let only = world.book().find(Some(world.project.path()), Some(&BTreeSet::from(["mine".to_owned()])));
    assert_eq!(only.skills.len(), 1);
}

#[test]
fn what_is_broken_is_said_and_nothing_else_is_lost() {
    let world = World::new();
    world.skill(".agents/skills", "good");
    world.put(".agents/skills/no-front/SKILL.md", "# just text");
    world.put(".agents/skills/other/SKILL.md", &text("another"));
    world.put(".agents/skills/huge/SKILL.md", &format!("{}{}", text("huge"), "x".repeat(70_000)));
    world.skill(".agents/skills", "many");
    for n in 0..300 {
        world.put(&format!(".agents/skills/many/f{n}"), "x");
    }
    world.skill(".agents/skills", "deep");
    world.put(".agents/skills/deep/1/2/3/4/5/6/7/8/9/10/f", "x");
    world.skill(".agents/skills", "large");
    world.put(".agents/skills/large/big.bin", &"x".repeat(9 * 1024 * 1024));
    world.put(".agents/skills/bytes/SKILL.md", "");
    fs::write(world.project.path().join(".agents/skills/bytes/SKILL.md"), [0xff, 0xfe, 0]).unwrap();
    world.skill(".agents/skills", "unseen");
    world.put(".agents/skills/unseen/a\u{200b}b", "x");
    let found = world.find();
    assert_eq!(found.skills.iter().filter(|one| one.skill.is_ok()).count(), 1, "the good one is there");
    for (folder, words) in [
        ("no-front", "does not begin"),
        ("other", "give both the same"),
        ("huge", "move parts of it"),
        ("many", "more than 256 files"),
        ("deep", "flatten"),
        ("large", "8 MiB"),
        ("bytes", "no UTF-8"),
        ("unseen", "rename"),
    ] {
        assert!(why(&found, folder).contains(words), "{folder}: {}", why(&found, folder));
    }
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_out_of_a_folder_nor_into_one() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    let secret = world.home.path().join("secret.txt");
    fs::write(&secret, "hidden").unwrap();
    let good = world.skill(".agents/skills", "good");
    world.skill(".agents/skills", "linked");
    symlink(&secret, world.project.path().join(".agents/skills/linked/notes.md")).unwrap();
    symlink(good.parent().unwrap(), world.project.path().join(".agents/skills/alias")).unwrap();
    let main = world.project.path().join(".agents/skills/main-link");
    fs::create_dir(&main).unwrap();
    symlink(&good, main.join("SKILL.md")).unwrap();
    let elsewhere = world.home.path().join("elsewhere/skills/foreign");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("SKILL.md"), text("foreign")).unwrap();
    symlink(world.home.path().join("elsewhere"), world.project.path().join(".claude")).unwrap();
    let found = world.find();
    assert!(why(&found, "linked").contains("`notes.md` is a link"), "{}", why(&found, "linked"));
    assert!(why(&found, "main-link").contains("is a link"), "{}", why(&found, "main-link"));
    assert_eq!(found.skills.iter().filter(|one| one.skill.is_ok()).count(), 1);
    assert!(found.left_out.iter().any(|why| why.contains("alias") && why.contains("is a link")), "{found:?}");
    assert!(found.left_out.iter().any(|why| why.contains(".claude")), "{found:?}");
    assert!(!format!("{found:?}").contains("foreign"));
}

#[test]
fn every_byte_and_every_name_makes_another_skill_also_when_its_times_are_set_back() {
    let world = World::new();
    let main = world.skill(".agents/skills", "deploy");
    let script = world.put(".agents/skills/deploy/run.sh", "one");
    let book = world.book();
    let digest = || book.find(Some(world.project.path()), None).skills[0].skill.clone().unwrap().1;
    let first = digest();
    assert_eq!(digest(), first);
    let then = fs::metadata(&script).unwrap().modified().unwrap();
    fs::write(&script, "two").unwrap();
    fs::File::options().write(true).open(&script).unwrap().set_modified(then).unwrap();
    let second = digest();
    assert_ne!(second, first, "the same length, the same time, other bytes");
    fs::remove_file(&script).unwrap();
    fs::write(script.with_file_name("run2.sh"), "two").unwrap();
    assert_ne!(digest(), second);
    fs::write(&main, format!("{} ", text("deploy"))).unwrap();
    assert_ne!(digest(), second);
    let read = book.read(Some(world.project.path()), SkillPlace::ProjectAgents, "deploy").unwrap();
    assert_eq!((read.sha256, read.files["run2.sh"].as_slice()), (digest(), b"two".as_slice()));
    assert_eq!(skill_body(&read.text), "# deploy\n ");
    assert!(book.read(Some(world.project.path()), SkillPlace::ProjectAgents, "../deploy").is_err());
}

#[test]
fn files_are_laid_out_for_commands_and_set_right_when_somebody_changed_them_there() {
    let world = World::new();
    world.skill(".agents/skills", "deploy");
    world.put(".agents/skills/deploy/scripts/run.sh", "#!/bin/sh\necho hi\n");
    let read = world.book().read(Some(world.project.path()), SkillPlace::ProjectAgents, "deploy").unwrap();
    let shelf = world.home.path().join("shelf");
    let place = SkillBook::lay_out(&shelf, &read).unwrap();
    let script = place.join("scripts/run.sh");
    assert_eq!(fs::read_to_string(&script).unwrap(), "#!/bin/sh\necho hi\n");
    assert!(fs::metadata(&script).unwrap().permissions().readonly());
    // Windows removes no file by itself that is only to be read.
    remove_tree(script.parent().unwrap()).unwrap();
    fs::create_dir(script.parent().unwrap()).unwrap();
    fs::write(&script, "#!/bin/sh\nrm -rf /\n").unwrap();
    fs::write(place.join("more"), "x").unwrap();
    assert_eq!(SkillBook::lay_out(&shelf, &read).unwrap(), place);
    assert_eq!(fs::read_to_string(&script).unwrap(), "#!/bin/sh\necho hi\n");
    assert!(!place.join("more").exists());
    let cleared = SkillBook::clear(&shelf, read.sha256);
    assert!(cleared.is_ok() && !place.exists(), "trust that is taken back leaves no files for commands");
    assert!(SkillBook::clear(&shelf, read.sha256).is_ok(), "nor does it fail where there are none");
    assert_eq!(fs::read_dir(&shelf).unwrap().count(), 0, "and nothing lies aside");
}

#[test]
fn whoever_lays_out_a_skill_at_the_same_time_finds_it_whole_and_what_is_the_same_stays() {
    let world = World::new();
    world.skill(".agents/skills", "deploy");
    for n in 0..100 {
        world.put(&format!(".agents/skills/deploy/scripts/{n}.sh"), "#!/bin/sh\necho hi\n");
    }
    let read = world.book().read(Some(world.project.path()), SkillPlace::ProjectAgents, "deploy").unwrap();
    let shelf = world.home.path().join("shelf");
    let start = std::sync::Barrier::new(8);
    let whole = |place: &Path| fs::read_dir(place.join("scripts")).map(Iterator::count).unwrap_or_default();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                let place = SkillBook::lay_out(&shelf, &read).expect("it is laid out");
                assert_eq!(whole(&place), 100);
            });
        }
    });
    assert_eq!(fs::read_dir(&shelf).unwrap().count(), 1, "one folder, and nothing aside");
    let place = SkillBook::lay_out(&shelf, &read).unwrap();
    let open = Dir::open_ambient_dir(&place, ambient_authority()).unwrap();
    SkillBook::lay_out(&shelf, &read).unwrap();
    assert!(open.exists("scripts/7.sh"), "what a command has open is not taken away from it");
    assert!(place.to_string_lossy().contains(&read.sha256.to_string()), "no other skill has this folder");
}

#[test]
fn folders_count_as_files_do_so_that_a_skill_of_nothing_but_folders_ends_soon() {
    let world = World::new();
    world.skill(".agents/skills", "hollow");
    for outer in 0..20 {
        for inner in 0..20 {
            let at = format!(".agents/skills/hollow/{outer}/{inner}");
            fs::create_dir_all(world.project.path().join(at)).unwrap();
        }
    }
    let found = world.find();
    assert!(why(&found, "hollow").contains("more than 256 files and folders"), "{}", why(&found, "hollow"));
}

#[test]
fn a_hundred_skills_of_a_megabyte_are_listed_within_bounds_and_soon_when_nothing_changed() {
    let world = World::new();
    let block = "x".repeat(1024 * 1024);
    for n in 0..100 {
        let name = format!("skill-{n}");
        world.skill(".agents/skills", &name);
        world.put(&format!(".agents/skills/{name}/data.txt"), &block);
    }
    for n in 100..260 {
        world.skill(".agents/skills", &format!("skill-{n}"));
    }
    let book = world.book();
    let find = || {
        let begun = Instant::now();
        let found = book.find(Some(world.project.path()), None);
        (found, begun.elapsed())
    };
    let (found, cold) = find();
    assert_eq!(found.skills.len(), SKILLS_MAX, "no more than so many of one place");
    assert!(found.left_out.iter().any(|why| why.contains("more than 200")), "{:?}", found.left_out);
    let mut sorted: Vec<String> = (0..260).map(|n| format!("skill-{n}")).collect();
    sorted.sort();
    let names: Vec<&str> = found.skills.iter().map(|one| one.folder.as_str()).collect();
    assert_eq!(names, sorted[..SKILLS_MAX], "the first by name");
    let only = BTreeSet::from([sorted[259].clone(), "absent".to_owned(), "../skills/skill-1".to_owned()]);
    let named = book.find(Some(world.project.path()), Some(&only));
    assert_eq!(named.skills.len(), 1, "one that is named is found behind all others: {:?}", named.left_out);
    assert_eq!(named.left_out, [""; 0]);
    std::thread::sleep(SETTLED);
    find();
    let (again, mut warm) = find();
    assert_eq!(again, found);
    // On a busy machine the best of several counts.
    for _ in 0..10 {
        if TELLS_CHANGES && warm >= Duration::from_secs(1) {
            warm = warm.min(find().1);
        }
    }
    println!("200 skills, 100 of them of 1 MB: {cold:?} when read, {warm:?} when nothing changed");
    // Where the system does not tell what was changed, all of it is read each time.
    assert!(!TELLS_CHANGES || warm < Duration::from_secs(1), "{warm:?}");
}
