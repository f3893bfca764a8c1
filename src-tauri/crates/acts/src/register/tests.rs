//! The card of what a server of tools is registered with.

use super::*;
use model::Digest;
use model::action::Program;
use model::server_part::{ServerPrompt, ServerResource};
use model::tool_server::{ServerLaunch, ToolManifest};

fn lines(hosts: &[&str], resources: usize) -> Vec<Line> {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    let (argv, url, secrets) = (vec!["notes".to_owned()], None, BTreeMap::new());
    let (variables, package) = (BTreeMap::new(), None);
    let (reads, pins) = (Vec::new(), Vec::new());
    let launch = ServerLaunch { argv, url, secrets, variables, hosts, reads, pins, package };
    let resource = |at: usize| {
        let (title, description, media_type) = (None, None, None);
        ServerResource {
            uri: format!("note://{at}"),
            name: "note".to_owned(),
            title,
            description,
            media_type,
        }
    };
    let (title, description, arguments) = (None, None, Vec::new());
    let prompts = vec![ServerPrompt { name: "review".to_owned(), title, description, arguments }];
    let resources = (0..resources).map(resource).collect();
    let manifest = ToolManifest { resources, prompts, ..ToolManifest::default() };
    of_server(&ServerRegistration { server: "notes".to_owned(), launch, manifest }, None, &BTreeMap::new())
}

#[test]
fn a_card_says_what_is_registered_beside_tools_and_that_resources_are_read_without_asking() {
    let risks = |hosts: &[&str], resources| -> Vec<String> {
        let risks = lines(hosts, resources).into_iter().filter(|line| line.kind == LineKind::Risk);
        risks.map(|line| line.text).collect()
    };
    let first = "let tasks use 0 tools and 2 resources and 1 prompt of the server \"notes\"";
    assert_eq!(risks(&[], 2), [first, "tasks read its 2 resources without asking you"]);
    let over = "tasks read its 2 resources as your profile allows looks over the network";
    assert_eq!(risks(&["notes.example:443"], 2), [first, over]);
    assert_eq!(risks(&[], 0), ["let tasks use 0 tools and 1 prompt of the server \"notes\""]);
}

#[test]
fn a_program_of_other_bytes_is_told_in_words_and_the_digests_are_details() {
    let registration = |bytes: &[u8]| {
        let (name, path, sha256) = ("notes".to_owned(), "/opt/notes".to_owned(), Digest::of(bytes));
        let (pins, package) = (vec![Program { name, path, sha256 }], None);
        let (argv, url, secrets) = (vec!["notes".to_owned()], None, BTreeMap::new());
        let (variables, hosts, reads) = (BTreeMap::new(), Vec::new(), Vec::new());
        let launch = ServerLaunch { argv, url, secrets, variables, hosts, reads, pins, package };
        ServerRegistration { server: "notes".to_owned(), launch, manifest: ToolManifest::default() }
    };
    let (now, was) = (registration(b"new"), registration(b"old"));
    let told: Vec<String> =
        of_server(&now, Some(&was), &BTreeMap::new()).into_iter().map(|line| line.text).collect();
    let changed = "the file \"/opt/notes\" CHANGED: it holds other bytes than then";
    assert!(told.iter().any(|line| line == changed), "{told:?}");
    assert!(told.iter().all(|line| !line.contains("sha256")), "{told:?}");
    let same: Vec<Line> = of_server(&now, Some(&now), &BTreeMap::new());
    assert!(same.iter().all(|line| !line.text.contains("CHANGED")), "{same:?}");
    let one = Register::Server { registration: now, was: Some(was), terms: BTreeMap::new() };
    let [new, old] = [b"new", b"old"].map(|bytes| Digest::of(bytes));
    assert_eq!(
        one.details(),
        [
            format!("sha256 of \"/opt/notes\": {new}"),
            format!("when it was registered: sha256 of \"/opt/notes\": {old}"),
        ]
    );
}
