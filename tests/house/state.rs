//! What the serving rooms and the pages keep in memory (RA Artifact 2): every place is listed with its class and its
//! reason, and none of them is a run's. Whoever adds one says first what it is.

use super::syntax::holders;
use super::tree::{root, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Types by which a process keeps something between requests, wherever they stand in the type of a field or a static.
const KEPT: [&str; 17] = [
    "Mutex",
    "RwLock",
    "RefCell",
    "Cell",
    "UnsafeCell",
    "OnceLock",
    "OnceCell",
    "LazyLock",
    "LazyCell",
    "Condvar",
    "Semaphore",
    "Notify",
    "Barrier",
    "VecDeque",
    "BinaryHeap",
    "JoinHandle",
    "JoinSet",
];
/// Ends of queues: so called where parameters follow, since who sent a message is a `Sender` as well.
const ENDS: [&str; 5] = ["Sender", "SyncSender", "Receiver", "UnboundedSender", "UnboundedReceiver"];
/// The same in a page, at the level of a module.
const KEPT_IN_PAGES: [&str; 3] = ["= new ", "= [];", "= {};"];
/// The classes of the contract that a serving room may hold; what a runner owns is the kernel's.
const CLASSES: [&str; 3] = ["run_api", "presentation", "admission"];

/// Whether a word of a type says that something is kept; `has_parameters` where `<` follows it.
fn is_kept(word: &str, has_parameters: bool) -> bool {
    KEPT.contains(&word) || word.starts_with("Atomic") || (has_parameters && ENDS.contains(&word))
}

/// `path` and the name of what is kept there.
fn kept() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for source in sources() {
        let serving = ["gateway", "api", "wire"]
            .iter()
            .any(|room| source.path.starts_with(&format!("src-tauri/crates/{room}/src/")));
        let page = source.path.starts_with("ui/src/")
            && !source.path.contains("/test")
            && !source.path.contains(".test.");
        if serving && source.is_rust() {
            found.extend(holders(&source.text, is_kept).into_iter().map(|name| (source.path.clone(), name)));
        }
        for line in source.text.lines() {
            let declared = ["const ", "let ", "export const ", "export let "]
                .iter()
                .find_map(|word| line.strip_prefix(word));
            if let Some(rest) = declared.filter(|rest| {
                page && (KEPT_IN_PAGES.iter().any(|word| rest.contains(word)) || line.contains("let "))
            }) {
                let name = rest.split([':', ' ', '=']).next().unwrap_or_default();
                found.insert((source.path.clone(), name.to_owned()));
            }
        }
    }
    found
}

#[conforms::conforms(
    "RA-2-17",
    "RA-4.2-16",
    "RA-4.3a-2",
    "RA-4.3b-1",
    "RA-4.3c-1",
    "RA-4.3c-7",
    "RA-4.4c-3",
    "RA-4.4b-4",
    part = "RA-5.2-2",
    "RA-1.4-9",
    "RA-2-1",
    "RA-G-2",
    "RA-4.2-18",
    "HK-22-1"
)]
#[test]
fn whoever_serves_a_run_keeps_nothing_of_it() {
    let text =
        std::fs::read_to_string(root().join("tests/house/runtime_state.tsv")).expect("the list is there");
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut listed = BTreeMap::new();
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let [path, name, class, why] = columns[..] else { panic!("four columns: {row}") };
        assert!(CLASSES.contains(&class), "`{class}` is no class that a serving room may hold: {row}");
        assert!(why.len() > 20, "say why: {row}");
        let before = listed.insert((path.to_owned(), name.to_owned()), class);
        assert!(before.is_none(), "listed once: {row}");
    }
    let kept = kept();
    let unsaid: Vec<_> = kept.iter().filter(|place| !listed.contains_key(*place)).collect();
    assert!(
        unsaid.is_empty(),
        "say in tests/house/runtime_state.tsv what these are before they land: {unsaid:#?}"
    );
    let gone: Vec<_> = listed.keys().filter(|place| !kept.contains(*place)).collect();
    assert!(gone.is_empty(), "these are not there any more: {gone:#?}");
}

#[test]
fn what_is_kept_is_found_wherever_it_stands_in_a_type() {
    let text = "
        static mut LAST: u8 = 0;
        static ALL: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);
        type Door = Arc<Vec<Mutex<u8>>>;
        struct Rows(u8, Arc<[RwLock<u8>]>);
        struct Kept {
            plain: Vec<u8>,
            sender: Sender,
            inside: Arc<Vec<Mutex<u8>>>,
            queue: Option<mpsc::Sender<u8>>,
            hooks: Box<[(String, std::cell::RefCell<Vec<u8>>)]>,
            #[rustfmt::skip] flags: [ std::sync::atomic::AtomicBool ; 4 ],
        }
        enum Either { Queue { waits: Box<VecDeque<u8>> }, Locked(Arc<tokio::sync::Mutex<u8>>), Plain(u8) }
        fn f(turn: &Mutex<()>) { thread_local! { static HERE: std::cell::Cell<u8> = Cell::new(0); } }
        #[cfg(test)]
        mod tests { struct Twin { door: Mutex<u8> } }
    ";
    let found: Vec<String> = holders(text, is_kept).into_iter().collect();
    let said =
        ["ALL", "Door", "HERE", "LAST", "Locked", "Rows", "flags", "hooks", "inside", "queue", "waits"];
    assert_eq!(found, said);
}

#[conforms::conforms("RA-1.4-8", part = "RA-4.4d-3")]
#[test]
fn a_page_asks_its_host_by_one_door_and_keeps_only_its_looks() {
    let pages = sources().iter().filter(|s| s.path.starts_with("ui/src/") && !s.path.contains(".test."));
    for source in pages {
        let host = source.path.starts_with("ui/src/host/");
        for word in ["fetch(", "new EventSource(", "new WebSocket(", "new XMLHttpRequest("] {
            assert!(
                host || !says(&source.text, word),
                "`{word}` stands in {}: only ui/src/host talks to a host",
                source.path
            );
        }
        let looks = ["ui/src/screen/theme.ts", "ui/src/screen/notify.ts"].contains(&source.path.as_str())
            || source.path.starts_with("ui/src/test/");
        for word in ["localStorage", "sessionStorage", "indexedDB"] {
            // What lets it in is the page's own, and gone with its tab, as where it was while it takes another link. What a person has
            // begun to write, here or in a form of this tab, is said to nobody yet, and gone when it was taken (decision 197).
            let session = source.path == "ui/src/host/http.ts" && word == "sessionStorage";
            let drafts = source.path == "ui/src/screen/drafts.ts" && word.ends_with("Storage");
            // Which passkeys this device used, by identifiers that open nothing (decision 277).
            let remembered = source.path == "ui/src/host/webauthn.ts" && word == "localStorage";
            assert!(
                looks || session || drafts || remembered || !source.text.contains(word),
                "`{word}` stands in {}: a page keeps only how it looks and calls, its session, and drafts",
                source.path
            );
        }
    }
    // And the door leads to the table of commands, to notices and to sessions, and nowhere else.
    let door = sources().iter().find(|s| s.path == "ui/src/host/http.ts").expect("the door is there");
    let asked: Vec<&str> = ["ask(", "EventSource("]
        .iter()
        .flat_map(|word| door.text.split(*word).skip(1))
        .filter_map(|rest| rest.strip_prefix(['"', '`']))
        .filter_map(|rest| rest.split(['"', '`']).next())
        .collect();
    assert!(asked.len() >= 5, "{asked:?}");
    for path in asked {
        let known =
            ["/api/session", "/api/notices", "/api/${name}"].iter().any(|known| path.starts_with(known));
        assert!(known, "`{path}` is no path that a page may ask");
    }
}

/// Whether a text says this, and not as the end of a longer word.
fn says(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|letter| !letter.is_alphanumeric())
    })
}
