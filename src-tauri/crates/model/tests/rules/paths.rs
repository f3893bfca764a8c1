//! Paths and resources: any bytes a file system can hold, one spelling each.

use model::{Error, MemoryId, ReceiptId, RelPath, ResourceId, WorkspaceId};
use proptest::prelude::*;

fn workspace() -> WorkspaceId {
    WorkspaceId::new(uuid::Uuid::from_u128(3))
}

fn part() -> impl Strategy<Value = Vec<u8>> {
    let any_bytes = proptest::collection::vec(
        any::<u8>().prop_filter("no NUL, no slash", |b| *b != 0 && *b != b'/'),
        1..12,
    );
    any_bytes.prop_filter("no dot parts", |p| p != b"." && p != b"..")
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(part(), 0..5).prop_map(|parts| parts.join(&b'/'))
}

proptest! {
    #[test]
    fn any_bytes_of_a_path_round_trip_through_text_and_json(bytes in path()) {
        let path = RelPath::from_bytes(&bytes).expect("a path inside a workspace");
        prop_assert_eq!(path.as_bytes(), &bytes);
        let text = path.to_string();
        prop_assert!(text.is_ascii() && !text.contains(' '));
        prop_assert_eq!(text.parse::<RelPath>().expect("it reads what it wrote"), path.clone());
        let json = serde_json::to_string(&path).expect("it serialises");
        prop_assert_eq!(serde_json::from_str::<RelPath>(&json).expect("it reads back"), path.clone());
        let resource = ResourceId::File(workspace(), path);
        prop_assert_eq!(resource.to_string().parse::<ResourceId>().expect("it reads what it wrote"), resource);
    }

    #[test]
    fn any_text_is_one_spelling_or_refused(text in "\\PC{0,40}") {
        if let Ok(path) = text.parse::<RelPath>() {
            prop_assert_eq!(path.to_string(), text.clone());
        }
        if let Ok(resource) = text.parse::<ResourceId>() {
            prop_assert_eq!(resource.to_string(), text);
        }
    }

    #[test]
    fn any_bytes_make_a_path_that_stays_inside_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(path) = RelPath::from_bytes(&bytes) {
            let bad = |p: &[u8]| p.is_empty() || p == b"." || p == b".." || p.contains(&0);
            prop_assert!(path.is_root() || !path.as_bytes().split(|b| *b == b'/').any(bad));
        }
    }

    #[test]
    fn parent_join_and_within_agree(folder in path(), name in part()) {
        let folder = RelPath::from_bytes(&folder).expect("a path");
        let file = folder.join(&name).expect("a path");
        prop_assert_eq!(file.parent(), folder.clone());
        prop_assert_eq!(file.file_name(), name.as_slice());
        prop_assert!(file.is_within(&folder) && file.is_within(&RelPath::ROOT) && file.is_within(&file));
        prop_assert!(!folder.is_within(&file));
        let beside = RelPath::from_bytes(&[file.as_bytes(), b"x"].concat()).expect("a path");
        prop_assert!(!beside.is_within(&file), "a longer name is not inside");
    }

    #[test]
    fn other_resources_round_trip(
        host in "[a-z0-9.-]{1,20}", port in any::<u16>(), name in "[a-z0-9/_.-]{1,20}", word in "[a-z0-9_-]{1,20}",
        n in any::<u128>(),
    ) {
        let id = uuid::Uuid::from_u128(n);
        for resource in [
            ResourceId::Host(host, port),
            ResourceId::Ref(workspace(), name),
            ResourceId::Mcp(word.clone(), word.clone()),
            ResourceId::Secret(word),
            ResourceId::Memory(MemoryId::new(id)),
            ResourceId::Receipt(ReceiptId::new(id)),
            ResourceId::Rules,
            ResourceId::Skill("deploy".to_owned()),
            ResourceId::Schedule("morning".to_owned()),
            ResourceId::Skin("harbour".to_owned()),
            ResourceId::Gateway("family".to_owned()),
            ResourceId::Chat("family".to_owned(), "!room/1:example.com".to_owned()),
        ] {
            let json = serde_json::to_string(&resource).expect("it serialises");
            prop_assert_eq!(serde_json::from_str::<ResourceId>(&json).expect("it reads back"), resource);
        }
    }
}

#[test]
fn paths_that_leave_or_are_no_paths_are_refused() {
    for bad in ["/", "/etc", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\0b"] {
        assert_eq!(RelPath::from_bytes(bad.as_bytes()), Err(Error::Path(bad.to_owned())));
    }
    let long = vec![b'a'; model::limits::PATH_BYTES_MAX];
    assert!(RelPath::from_bytes(&long).is_ok());
    assert!(RelPath::from_bytes(&[long, vec![b'a']].concat()).is_err());
    for bad in ["%2e%2e", "a%2Fb", "%41", "%ff", "a%", "a b", "%00", "..%2f", "%2E"] {
        assert!(bad.parse::<RelPath>().is_err(), "`{bad}` is not how a path is written");
    }
}

#[test]
fn malformed_resources_are_refused() {
    let file = format!("file:{}/a", workspace());
    for bad in [
        "",
        "file",
        "file:",
        "file:a/b",
        "host:x",
        "host:x:70000",
        "host:x:080",
        "ref:x/y",
        "mcp:one",
        "secret:",
        "memory:mem_1",
        "receipt:",
        "http://x",
        "FILE:x",
    ] {
        assert_eq!(bad.parse::<ResourceId>(), Err(Error::Resource(bad.to_owned())));
    }
    assert!(file.parse::<ResourceId>().is_ok());
    assert!(format!("{file}/../b").parse::<ResourceId>().is_err());
}
