//! Commands behind the walls of this machine.

use crate::support::{self, World};
use acts::Action;
use effects::{Outcome, Progress, Sandbox};
use model::receipt::{ResultCode, SandboxLevel};
use model::{RelPath, ResourceId};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");

/// The walls, tried once: the best of this machine, and those of a machine without bubblewrap.
fn walls() -> Vec<Sandbox> {
    static WALLS: OnceLock<Vec<Sandbox>> = OnceLock::new();
    let walls = WALLS.get_or_init(|| {
        let walls = vec![Sandbox::probe(Path::new(EXEC)), Sandbox::probe_without_namespaces(Path::new(EXEC))];
        for walls in &walls {
            println!("walls: {} ({})", walls.level(), walls.why());
        }
        walls
    });
    walls.clone()
}

fn worlds() -> impl Iterator<Item = World> {
    walls().into_iter().map(World::with)
}

fn command(argv: &[&str], timeout_ms: u64) -> Action {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    Action::Command(acts::Command {
        argv,
        cwd: RelPath::ROOT,
        network: false,
        timeout_ms,
        hosts: Vec::new(),
        secrets: Vec::new(),
    })
}

fn run(world: &World, script: &str) -> (Outcome, Value) {
    run_action(world, command(&["sh", "-c", script], 20_000))
}

fn run_action(world: &World, action: Action) -> (Outcome, Value) {
    let request = world.request(action);
    let outcome = world.perform(&request);
    let said =
        outcome.outputs.first().map_or(Value::Null, |output| serde_json::from_slice(&output.bytes).unwrap());
    (outcome, said)
}

fn changed(outcome: &Outcome) -> Vec<String> {
    let name = |c: &model::receipt::Change| match c.resource.clone().into_shown().unwrap().parse() {
        Ok(ResourceId::File(_, path)) => path.to_string(),
        other => panic!("{other:?}"),
    };
    outcome.changes.iter().map(name).collect()
}

#[test]
fn the_machine_gives_walls_and_says_which() {
    let [best, without] = &walls()[..] else { panic!("two kinds of walls") };
    let bwrap = Path::new("/usr/bin/bwrap").exists();
    match best.level() {
        SandboxLevel::NamespacesLandlock => assert!(bwrap),
        SandboxLevel::Landlock => {
            assert!(!bwrap || best.why().contains("bubblewrap does not work"), "{}", best.why())
        }
        other => panic!("tests of containment need walls; this machine gives {other}: {}", best.why()),
    }
    assert_eq!(without.level(), SandboxLevel::Landlock, "{}", without.why());
    let none = Sandbox::probe(Path::new("/nowhere/hermit-exec"));
    assert_eq!(none.level(), SandboxLevel::Unconfined);
    assert!(none.why().contains("/nowhere/hermit-exec"));
}

#[test]
fn a_command_runs_in_its_folder_and_what_it_changed_is_in_the_outcome() {
    for world in worlds() {
        world.put("sub/old", "old");
        world.put("gone", "gone");
        world.put("same", "same");
        let (outcome, said) =
            run(&world, "pwd; echo new > sub/new; echo more >> sub/old; rm gone; touch same; mkdir e");
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?} {said}");
        assert_eq!(
            said["stdout"].as_str().unwrap().trim(),
            world.root.canonicalize().unwrap().to_str().unwrap()
        );
        assert_eq!(changed(&outcome), ["gone", "e", "sub/new", "sub/old"]);
        assert_eq!(outcome.kept.len(), 2, "{:?}", outcome.kept);
        assert_eq!(outcome.ran.exit_code, Some(0));
        assert!(outcome.ran.executable_sha256.is_some());
        assert_eq!(outcome.sandbox_level, world.executors.sandbox().level());
        let told = outcome.observed.iter().find(|line| line.starts_with("sandbox: ")).unwrap();
        assert!(told.contains("refused: write outside, read outside"), "what was tried is on record: {told}");
    }
}

#[test]
fn an_undone_command_leaves_the_tree_as_it_was() {
    for world in worlds() {
        world.put("a/keep.sh", "#!/bin/sh\n");
        std::fs::set_permissions(world.at("a/keep.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o750))
            .unwrap();
        world.put("b/c/d", "deep");
        world.put("plain", "plain");
        world.put("folder/x", "x");
        let before = world.tree();
        let script = "rm -r a b; mkdir -p n/m; echo 1 > n/m/1; rm plain; mkdir plain; echo 2 > plain/2; rm -r folder; echo f > folder";
        let request = world.request(command(&["sh", "-c", script], 20_000));
        let outcome = world.perform(&request);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
        let after = world.tree();
        assert_ne!(before, after);
        let receipt = support::receipt(&world, &request, &outcome);
        let items = effects::plan_rollback(&receipt, &support::current(&world, &receipt)).unwrap();
        let undo = world.request(Action::Rollback(acts::Rollback {
            receipt_id: receipt.receipt_id,
            also: vec![],
            partly: vec![],
            left: vec![],
            items,
        }));
        let undone = world.perform(&undo);
        assert_eq!(undone.result_code, ResultCode::Succeeded, "{undone:?}");
        assert_eq!(world.tree(), before);
    }
}

#[test]
fn a_command_cannot_write_outside() {
    for world in worlds() {
        let outside = world.folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("file"), "theirs").unwrap();
        let there = outside.to_str().unwrap();
        let home = "/usr/hermit-was-here";
        let (outcome, said) = run(
            &world,
            &format!(
                "echo x > {there}/new; echo x > {there}/file; rm -rf {there}; echo x > {home}; echo x > /etc/h; echo x > /h; exit 3"
            ),
        );
        assert_eq!(outcome.result_code, ResultCode::Failed, "{said}");
        assert_eq!(outcome.ran.exit_code, Some(3));
        assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "theirs");
        assert!(!outside.join("new").exists());
        for path in [home, "/etc/h", "/h"] {
            assert!(!Path::new(path).exists(), "{path}");
        }
        assert!(outcome.changes.is_empty());
    }
}

#[test]
fn a_command_cannot_read_the_ledger_folder_or_the_secrets_of_the_machine() {
    for world in worlds() {
        std::fs::write(world.store.join("ledger.db"), "the ledger").unwrap();
        let store = world.store.to_str().unwrap();
        let (_, said) = run(
            &world,
            &format!("cat {store}/ledger.db /etc/shadow; ls {store} /root /home; cat /proc/1/environ"),
        );
        assert!(!said["stdout"].as_str().unwrap().contains("the ledger"), "{said}");
        assert!(!said["stdout"].as_str().unwrap().contains("root:"), "{said}");
        assert!(!said["stdout"].as_str().unwrap().contains("spool"), "{said}");
    }
}

#[test]
fn a_link_out_of_the_workspace_leads_a_command_nowhere() {
    for world in worlds() {
        let outside = world.folder.path().join("outside");
        std::fs::write(&outside, "theirs").unwrap();
        std::os::unix::fs::symlink(&outside, world.at("link")).unwrap();
        let (_, said) = run(&world, "cat link; echo mine > link");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
        assert!(!said["stdout"].as_str().unwrap().contains("theirs"));
    }
}

#[test]
fn a_command_without_the_network_opens_no_socket() {
    for world in worlds() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        listener.set_nonblocking(true).unwrap();
        let script = format!(
            "import socket\nfor f in (socket.AF_INET, socket.AF_INET6, socket.AF_PACKET, socket.AF_NETLINK):\n try:\n  socket.socket(f, socket.SOCK_STREAM if f < 16 else socket.SOCK_RAW)\n  print('open', f)\n except OSError as e:\n  print('refused', f, e.errno)\ntry:\n socket.create_connection(('127.0.0.1', {port}), 1)\n print('connected')\nexcept OSError as e:\n print('no', e.errno)\n"
        );
        let (outcome, said) = run_action(&world, command(&["python3", "-c", &script], 20_000));
        let stdout = said["stdout"].as_str().unwrap();
        if outcome.ran.executable_sha256.is_some() {
            assert_eq!(stdout.matches("refused").count(), 4, "{said}");
            assert!(!stdout.contains("connected"));
        }
        let (_, said) = run_action(
            &world,
            command(&["bash", "-c", &format!("echo hi > /dev/tcp/127.0.0.1/{port}")], 20_000),
        );
        assert_ne!(said["exit_code"], 0);
        assert!(listener.accept().is_err(), "somebody came through");
    }
}

/// Processes of the machine whose command line holds a word.
fn alive(word: &str) -> Vec<PathBuf> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            std::fs::read(path.join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
        })
        .filter(|path| !path.ends_with(std::process::id().to_string()))
        .collect()
}

#[test]
fn a_command_leaves_no_process_behind() {
    for world in worlds() {
        let word = format!("86399.{}", std::process::id());
        let script = format!(
            "(setsid sleep {word} > /dev/null 2>&1 &) ; sleep {word} & nohup sleep {word} > /dev/null 2>&1 & echo ok"
        );
        let (outcome, said) = run(&world, &script);
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{said}");
        let mut left = alive(&word);
        for _ in 0..200 {
            if left.is_empty() {
                break;
            }
            std::thread::yield_now();
            left = alive(&word);
        }
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_command_that_runs_too_long_or_is_cancelled_is_ended_with_all_its_children() {
    for world in worlds() {
        let word = format!("86398.{}", std::process::id());
        let (outcome, _) = run_action(
            &world,
            command(&["sh", "-c", &format!("echo x > made; sleep {word} & sleep {word}")], 300),
        );
        assert_eq!(outcome.result_code, ResultCode::Partial, "{outcome:?}");
        assert!(outcome.error.as_ref().unwrap().contains("longer than 0.3 seconds"));
        assert_eq!(changed(&outcome), ["made"]);
        let request = world.request(command(&["sh", "-c", &format!("echo begun; sleep {word}")], 60_000));
        let begun = std::cell::Cell::new(false);
        let outcome = world.perform_with(&request, &|| begun.get(), &mut |progress| {
            begun.set(begun.get() || matches!(progress, Progress::Stdout(b"begun\n")));
        });
        assert!(outcome.error.unwrap().contains("cancelled"));
        let mut left = alive(&word);
        for _ in 0..200 {
            if left.is_empty() {
                break;
            }
            std::thread::yield_now();
            left = alive(&word);
        }
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_command_that_fills_memory_fails_and_the_host_lives() {
    for walls in walls() {
        let world = World::with(walls.with_memory(256 << 20));
        let (outcome, said) = run(&world, "head -c 2000000000 /dev/zero | tail -c 2000000000 | wc -c");
        let filled = said["stdout"].as_str().unwrap().trim() == "2000000000";
        assert!(!filled, "{said} {outcome:?}");
    }
}

#[test]
fn dangerous_calls_are_refused() {
    for world in worlds() {
        let (_, said) = run(
            &world,
            "unshare -U true && echo userns; unshare -m true && echo mountns; mount -t tmpfs none /tmp && echo mounted; true",
        );
        assert_eq!(said["stdout"], "", "{said}");
    }
}

#[test]
fn long_output_keeps_its_beginning_and_its_end_and_says_what_is_missing() {
    for world in worlds() {
        let (outcome, said) =
            run(&world, "echo first; head -c 9000000 /dev/zero | tr '\\0' 'x'; echo; echo last");
        let stdout = said["stdout"].as_str().unwrap();
        assert!(stdout.starts_with("first\n") && stdout.ends_with("last\n"));
        assert!(stdout.contains("hermit left out"));
        assert!(said["stdout_left_out"].as_u64().unwrap() > 4_000_000, "{}", said["stdout_left_out"]);
        assert_eq!(said["stdout_bytes"], 9_000_012);
        assert!(outcome.observed.iter().any(|line| line.contains("standard output were left out")));
    }
}

#[test]
fn the_environment_is_small_and_the_home_is_private() {
    let outside = std::env::temp_dir().join(format!("hermit-contained-{}", std::process::id()));
    let name = outside.file_name().unwrap().to_str().unwrap();
    for world in worlds() {
        let line = format!("env | sort; echo h > $HOME/h; echo t > $TMPDIR/{name}; ls -A $HOME");
        let (_, said) = run(&world, &line);
        let stdout = said["stdout"].as_str().unwrap();
        assert!(!stdout.contains("CARGO"), "{stdout}");
        assert!(stdout.ends_with("h\n"), "{said}");
        assert!(!outside.exists() && !Path::new("/tmp").join(name).exists());
    }
}

#[test]
fn a_program_that_is_not_there_never_started() {
    for world in worlds() {
        let request = world.request(command(&["no-such-program-anywhere"], 5_000));
        let before = world.witness(&request);
        let outcome = world.perform(&request);
        assert_eq!(outcome.result_code, ResultCode::Failed);
        assert!(outcome.error.as_ref().unwrap().contains("could not be started"), "{outcome:?}");
        world.ended(&request);
        assert!(world.executors.settle(&request, &before).is_certain());
    }
}

/// Perl speaks to the kernel directly, and is part of every Debian.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_refused_call_is_refused_by_number() {
    let calls = [
        ("ptrace", "101, 0, 0, 0, 0"),
        ("process_vm_readv", "310, $$, 0, 0, 0, 0, 0"),
        ("mount", "165, 0, 0, 0, 0, 0"),
        ("chroot", "161, 0"),
        ("init_module", "175, 0, 0, 0"),
        ("kexec_load", "246, 0, 0, 0, 0"),
        ("keyctl", "250, 0, 0, 0, 0, 0"),
        ("perf_event_open", "298, 0, 0, 0, 0, 0"),
        ("setns", "308, 0, 0"),
        ("bpf", "321, 0, 0, 0"),
        ("userfaultfd", "323, 0"),
        ("io_uring_setup", "425, 1, 0"),
        ("unshare of users", "272, 0x10000000"),
        ("clone of users", "56, 0x10000000, 0, 0, 0, 0"),
        ("socket of the internet", "41, 2, 1, 0"),
        ("socket of packets", "41, 17, 3, 0"),
        ("socket of virtual machines", "41, 40, 1, 0"),
        ("typing into a terminal", "16, 0, 0x5412, 0"),
        ("a socket of this machine", "41, 1, 1, 0"),
        ("a pair of sockets that send anywhere", "53, 1, 2, 0, my $d = pack('x8')"),
        ("clone3", "435, 0, 0"),
        ("open_tree_attr", "467, -1, 0, 0, 0, 0"),
        ("the second table", "0x40000027"),
    ];
    let script: String = calls
        .iter()
        .map(|(name, call)| format!("$! = 0; syscall({call}); print '{name}=', $! + 0, \"\\n\";"))
        .chain(["$! = 0; my $p = pack('x8'); my $s = syscall(53, 1, 1, 0, $p); print 'pair=', $s < 0 ? $! + 0 : 0, \"\\n\";"
            .to_owned()])
        .collect();
    for world in worlds() {
        let (outcome, said) = run_action(&world, command(&["perl", "-e", &script], 20_000));
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{said}");
        let stdout = said["stdout"].as_str().unwrap();
        for (name, _) in calls {
            // The last ones are unknown to the machine rather than forbidden: programs have another way then.
            let errno = if matches!(name, "clone3" | "open_tree_attr" | "the second table") { 38 } else { 1 };
            assert!(stdout.lines().any(|line| line == format!("{name}={errno}")), "{name}: {stdout}");
        }
        assert!(stdout.ends_with("pair=0\n"), "{stdout}");
    }
}

/// What a process shares with others where no namespace stands around it.
#[cfg(target_arch = "x86_64")]
#[test]
fn without_namespaces_no_other_process_and_no_memory_of_others_is_reached() {
    let other = std::process::id();
    let calls = [
        ("shmget", "29, 0x4865, 4096, 01600".to_owned()),
        ("shmat", "30, 0, 0, 0".to_owned()),
        ("msgget", "68, 0x4865, 01600".to_owned()),
        ("semget", "64, 0x4865, 1, 01600".to_owned()),
        ("mq_open", "240, my $n = 'hermit-was-here', 0102, 0600, 0".to_owned()),
        ("prlimit64", format!("302, {other}, 1, 0, my $l = pack('x16')")),
        ("setpriority", format!("141, 0, {other}, 5")),
        ("setpriority of all of a user", "141, 2, 0, 5".to_owned()),
        ("ioprio_set", format!("251, 1, {other}, 0x6000")),
        ("sched_setaffinity", format!("203, {other}, 8, my $m = pack('Q', 1)")),
        ("sched_setscheduler", format!("144, {other}, 0, my $q = pack('x4')")),
        ("sched_setparam", format!("142, {other}, my $r = pack('x4')")),
        ("pidfd_open", format!("434, {other}, 0")),
        ("move_pages", format!("279, {other}, 0, 0, 0, 0, 0")),
        ("setsid", "112".to_owned()),
    ];
    let script: String = calls
        .iter()
        .map(|(name, call)| format!("$! = 0; my $r{0} = syscall({call}); print '{name}=', $r{0} < 0 ? $! + 0 : 0, \"\\n\";", name.len()))
        .chain([format!("print 'line=', (open(F, '<', '/proc/{other}/cmdline') ? 1 : 0), \"\\n\"; print 'own=', (open(F, '<', '/proc/self/status') ? 1 : 0), \"\\n\";")])
        .chain(["print 'limit=', syscall(302, 0, 7, 0, my $o = pack('x16')), \"\\n\"; print 'nice=', syscall(141, 0, 0, 5), \"\\n\";".to_owned()])
        .collect();
    let world = World::with(Sandbox::probe_without_namespaces(Path::new(EXEC)));
    let (outcome, said) = run_action(&world, command(&["perl", "-e", &script], 20_000));
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{said}");
    let stdout = said["stdout"].as_str().unwrap();
    for (name, _) in &calls {
        assert!(stdout.lines().any(|line| line == format!("{name}=1")), "{name}: {stdout}");
    }
    assert!(stdout.ends_with("line=0\nown=1\nlimit=0\nnice=0\n"), "{stdout}");
}

/// A daemon of the person's own, which does what it is told.
#[test]
fn a_socket_of_a_daemon_is_reached_by_no_command_neither_outside_nor_in_the_folder() {
    for world in worlds() {
        let inside = std::os::unix::net::UnixListener::bind(world.at("daemon")).unwrap();
        let outside = std::os::unix::net::UnixListener::bind(world.folder.path().join("daemon")).unwrap();
        let datagrams = std::os::unix::net::UnixDatagram::bind(world.at("datagrams")).unwrap();
        inside.set_nonblocking(true).unwrap();
        outside.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let script = format!(
            "use Socket; for my $at ('daemon', '{}') {{ socket(my $s, AF_UNIX, SOCK_STREAM, 0) && connect($s, \
             sockaddr_un($at)) && print \"reached $at\\n\" }} socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) && \
             send($a, 'x', 0, sockaddr_un('datagrams')) && print \"sent\\n\"; print \"tried\\n\"",
            world.folder.path().join("daemon").display()
        );
        let (_, said) = run_action(&world, command(&["perl", "-e", &script], 20_000));
        assert_eq!(said["stdout"], "tried\n", "{said}");
        assert!(inside.accept().is_err() && outside.accept().is_err(), "somebody came through");
        assert!(datagrams.recv(&mut [0; 8]).is_err(), "something came through");
    }
}

#[test]
fn a_command_signals_nobody_outside_and_writes_no_endless_file() {
    for world in worlds() {
        let script =
            format!("kill -0 {} && echo reached; truncate -s 3G big; ls -s big; true", std::process::id());
        let (_, said) = run(&world, &script);
        assert!(!said["stdout"].as_str().unwrap().contains("reached"), "{said}");
        assert!(std::fs::metadata(world.at("big")).map_or(0, |m| m.len()) < 3 << 30, "{said}");
    }
}

#[test]
fn a_command_that_makes_a_folder_of_rules_is_told_to_have_done_so() {
    let told = |outcome: &effects::Outcome| {
        outcome.observed.iter().any(|line| line.contains("sub/.Hermit`, where files say what Hermit may do"))
    };
    for world in worlds() {
        let (outcome, said) = run(&world, "mkdir sub && echo x > sub/plain");
        assert!(!told(&outcome), "{said} {:?}", outcome.observed);
        let (outcome, said) = run(&world, "mkdir sub/.Hermit && echo x > sub/.Hermit/policy.rules");
        assert!(told(&outcome), "{said} {:?}", outcome.observed);
    }
}

#[test]
fn hermits_store_inside_the_workspace_is_covered_or_the_command_refused() {
    for walls in walls() {
        let world = World::with(walls.clone());
        world.put("own/ledger.db", "the ledger");
        let workspace = effects::Workspace::open(&world.root, world.id).unwrap().without(&world.at("own"));
        let executors = effects::Executors::new(
            workspace,
            world.shelf.clone(),
            world.traps.clone(),
            std::sync::Arc::new(support::StillClock),
            effects::Spool::new(world.at("own/spool")),
            walls.clone(),
        );
        let request =
            world.request(command(&["sh", "-c", "cat own/ledger.db; echo x > own/new; ls -A own"], 20_000));
        let outcome = executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
        let said =
            outcome.outputs.first().map_or(String::new(), |o| String::from_utf8(o.bytes.clone()).unwrap());
        assert!(!said.contains("the ledger"), "{said}");
        assert!(!world.at("own/new").exists());
        assert!(outcome.changes.is_empty(), "{outcome:?}");
        if walls.level() == SandboxLevel::Landlock {
            assert!(outcome.error.unwrap().contains("cannot hide"));
        } else {
            assert_eq!(outcome.ran.exit_code, Some(0), "{said}");
        }
    }
}
