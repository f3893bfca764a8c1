//! What looks like a key, below a folder in which commands run.

use crate::staged::{requested, stage, worlds};
use model::action::ChangeItem;
use model::receipt::ResultCode;

#[test]
fn what_looks_like_a_key_is_hidden_from_a_command_that_does_not_name_it_and_is_neither_changed_nor_gone() {
    for world in worlds() {
        let root = &world.root;
        let put = |name: &str, text: &str| {
            let at = root.join(name);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, text).unwrap();
        };
        put(".env", "KEYLINE env");
        put("sub/server.key", "KEYLINE key");
        put(".ssh/id_rsa", "KEYLINE ssh");
        put("conf/dev", "KEYLINE linked");
        put("notes.txt", "plain");
        std::os::unix::fs::symlink("../conf/dev", root.join("sub/.netrc")).unwrap();
        let all = "cat $(find . -type f) sub/.n*; ls -A .ss*; ln -s .e?? y; cat y; echo made > new.txt";
        let (request, staging) = stage(&world, all);
        let staging = staging.unwrap_or_else(|why| panic!("{why:?}"));
        assert!(staging.printed.contains("plain"), "{}", staging.printed);
        assert!(!staging.printed.contains("KEYLINE"), "{}", staging.printed);
        let hidden: Vec<String> =
            staging.reach.iter().flat_map(|reach| &reach.hidden).map(ToString::to_string).collect();
        assert_eq!(hidden, [".env", ".ssh", "conf/dev", "sub/server.key"]);
        assert_eq!(
            (
                staging.reach.as_ref().map_or(&[][..], |reach| reach.secrets.as_slice()),
                &staging.staged.look_first
            ),
            (&[][..], &None)
        );
        let changed: Vec<String> = staging.changes.iter().map(|one| one.path.to_string()).collect();
        assert_eq!(changed, ["new.txt", "y"], "nothing of what is hidden counts as deleted");
        let outcome = world.perform(&requested(&world, request, &staging));
        assert_eq!(outcome.result_code, ResultCode::Succeeded, "{:?}", outcome.error);
        assert!(outcome.observed.iter().any(|said| said.contains("hidden") && said.contains("`.env`")));
        assert_eq!(std::fs::read_to_string(root.join(".env")).unwrap(), "KEYLINE env");
        assert_eq!(std::fs::read_to_string(root.join(".ssh/id_rsa")).unwrap(), "KEYLINE ssh");

        let (_, named) = stage(&world, "cat ./.env; cat ../*/.ssh/id_rsa");
        let named = named.unwrap_or_else(|why| panic!("{why:?}"));
        assert!(named.printed.contains("KEYLINE env"), "what it names it sees: {}", named.printed);
        let secrets: Vec<String> =
            named.reach.iter().flat_map(|reach| &reach.secrets).map(ToString::to_string).collect();
        assert_eq!(secrets, [".env", ".ssh"]);
        assert!(named.staged.look_first.is_some(), "and a person sees first what it printed");

        let (_, written) = stage(&world, "echo mine > .e\"\"nv; rm -rf sub .s*h; true");
        // Where mounts cover it, it fails; where a copy stands in for it, nothing of it is taken.
        if let Ok(written) = written {
            let of_keys =
                |item: &ChangeItem| acts::changed_paths(item).any(|p| hidden.contains(&p.to_string()));
            assert!(!written.staged.items.iter().any(of_keys), "{:?}", written.staged.items);
        }
        assert_eq!(std::fs::read_to_string(root.join(".env")).unwrap(), "KEYLINE env");
    }
}
