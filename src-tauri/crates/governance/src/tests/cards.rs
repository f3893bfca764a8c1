//! What a person sees: all of it, the gravest first, and nothing that hides.

use super::actions::any_items;
use super::changed::every_change;
use super::world::*;
use crate::approval::{self, packet_bytes, values};
use acts::Action;
use acts::ApprovalPacket;
use acts::{Line, LineKind, visible, visible_path};
use model::action::{ActionClass, ChangeItem, Prior, Program, Reach, ReadItem};
use model::approval::{StagedChange, StagedView};
use model::artifact::ArtifactRef;
use model::policy::{Profile, RiskBand, Verdict};
use model::{RelPath, UnixMs};
use proptest::prelude::*;
use regex::Regex;
use std::sync::LazyLock;

/// The Unicode tables of another library: whatever has no shape, or changes the order of what has.
static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    let classes = r"\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\p{White_Space}";
    Regex::new(&format!(r"[{classes}\p{{Noncharacter_Code_Point}}--\x20]")).expect("a pattern")
});

/// A card with every value that its signature covers.
struct Card {
    title: String,
    risk_band: RiskBand,
    lines: Vec<Line>,
    whole: Vec<String>,
}

fn card(packet: &ApprovalPacket) -> Card {
    let approval::Card { title, risk_band, lines, .. } = approval::card(packet);
    let bytes = packet_bytes(packet).expect("a packet");
    Card { title, risk_band, lines, whole: values(&bytes, "", 0, usize::MAX).expect("values").lines }
}

fn lines(card: &Card) -> Vec<&str> {
    let said = card.lines.iter().map(|line| line.text.as_str());
    said.chain(card.whole.iter().map(String::as_str)).chain([card.title.as_str()]).collect()
}

fn packet(action: Action) -> ApprovalPacket {
    Case::new(action).packet
}

#[test]
fn no_character_of_unicode_can_hide() {
    let shown: Vec<String> = ('\0'..=char::MAX)
        .filter(|c| HIDDEN.is_match(&c.to_string()) && visible(&c.to_string()).contains(*c))
        .map(|c| format!("{:x}", u32::from(c)))
        .collect();
    assert!(shown.is_empty(), "shown as they are: {shown:?}");
    assert_eq!(visible("Grüße, 世界 и мир"), "Grüße, 世界 и мир", "what has a shape stays");
}

#[test]
fn bidi_and_invisible_characters_are_written_out_on_the_card() {
    let evil = "invoice\u{202e}fdp.exe";
    let mut packet = packet(change(&[delete(evil), create("a\u{200b}b\nDELETE \"c\"")]));
    packet.goal = "tidy\u{2066} up\r\nrisk: none".to_owned();
    packet.action_request.reason = "\u{feff}because\u{e0041}".to_owned();
    packet.rationale = packet.action_request.reason.clone();
    let card = card(&packet);
    for line in lines(&card) {
        assert!(!HIDDEN.is_match(line), "{line:?}");
    }
    let all = lines(&card).join("\n");
    assert!(all.contains(r#"DELETE "invoice\u{202e}fdp.exe""#), "{all}");
    assert!(all.contains(r#"create "a\u{200b}b\u{a}DELETE \"c\"""#), "a name cannot begin a line: {all}");
    assert!(all.contains(r"tidy\u{2066} up\u{d}\u{a}risk: none"), "{all}");
    assert!(all.contains(r"\u{feff}because\u{e0041}"), "{all}");
}

#[test]
fn a_name_that_is_not_utf8_is_shown_byte_by_byte() {
    let raw = RelPath::from_bytes(b"a\xff\xe2\x80b").expect("a path");
    assert_eq!(visible_path(&raw), r#""a\xff\xe2\x80b""#);
    assert_eq!(visible_path(&path(r"a\xff")), r#""a\\xff""#, "and cannot be imitated");
}

/// What a staged command did at one place, where these bytes stood before.
fn staged(name: &str, effect: &str, before: Option<&str>) -> StagedChange {
    StagedChange { before_sha256: before.map(sha), ..StagedChange::bare(path(name), effect) }
}

#[test]
fn the_card_of_a_staged_command_shows_what_it_did_deletions_first_and_what_it_printed() {
    let request = staged_request();
    let mut packet = Case::of(request, Profile::LocalEditAllowed).packet;
    let change = |name: &str, effect: &str, text: &str| StagedChange {
        before_bytes: (effect != "create").then_some(3),
        after_sha256: (effect != "delete").then(|| sha("new")),
        after_bytes: (effect != "delete").then_some(4),
        text: Some(text.to_owned()),
        ..staged(name, effect, (effect != "create").then_some("old"))
    };
    let at = |n| ArtifactRef { artifact_id: id!(ArtifactId, n), sha256: sha("kept") };
    packet.staged = Some(StagedView {
        diff: at(71),
        transcript: at(72),
        changes: vec![
            change("gone", "delete", "-one\n"),
            change("kept", "replace", "-old\n+n\u{202e}ew\n"),
            change("new", "create", "+made\n"),
        ],
        printed: "all\u{1b}[2Jgood\n".to_owned(),
        printed_bytes: 10,
    });
    let card = card(&packet);
    for line in lines(&card) {
        assert!(!HIDDEN.is_match(line), "{line:?}");
    }
    let all = lines(&card).join("\n");
    for word in
        ["has ALREADY RUN", "exactly these 3 changes", "DELETE \"gone\"", "    -old", "n\\u{202e}ew", "| all"]
    {
        assert!(all.contains(word), "`{word}` is not in {all}");
    }
    let place = |word: &str| all.find(word).expect("it is there");
    assert!(
        place("DELETE \"gone\"") < place("OVERWRITE \"kept\"")
            && place("OVERWRITE") < place("create \"new\"")
    );
    packet.action_request.staged = None;
    packet.action_request.not_staged = Some("it asks for the network".to_owned());
    let all = lines(&self::card(&packet)).join("\n");
    assert!(all.contains("NOT TRIED BEFOREHAND, because it asks for the network"), "{all}");
}

#[test]
fn a_link_in_place_of_something_is_a_loss_and_names_what_is_lost() {
    let mut packet = Case::of(staged_request(), Profile::LocalEditAllowed).packet;
    let change = |name: &str, effect: &str, before: Option<&str>, bytes: Option<u64>| StagedChange {
        before_bytes: bytes,
        after_sha256: Some(sha("new")),
        ..staged(name, effect, before)
    };
    let at = |n| ArtifactRef { artifact_id: id!(ArtifactId, n), sha256: sha("kept") };
    packet.staged = Some(StagedView {
        diff: at(71),
        transcript: at(72),
        changes: vec![
            change("file", "link", Some("bytes"), Some(5)),
            change("link", "link", Some("target"), None),
            change("was-link", "replace", Some("target"), None),
            change("fresh", "link", None, None),
        ],
        printed: String::new(),
        printed_bytes: 0,
    });
    let card = card(&packet);
    let kind = |words: &str| {
        let line = card.lines.iter().find(|line| line.text.contains(words));
        line.unwrap_or_else(|| panic!("`{words}` is not on the card: {:?}", lines(&card))).kind
    };
    assert_eq!(kind("OVERWRITE \"file\" (5 bytes) with a link"), LineKind::Destructive);
    assert_eq!(kind("OVERWRITE \"link\" (a link) with a link"), LineKind::Destructive);
    assert_eq!(kind("OVERWRITE \"was-link\" (a link become"), LineKind::Destructive);
    assert_eq!(kind("put \"fresh\" as a link"), LineKind::Effect);
    assert_eq!(kind(&format!("sha256 before {}", sha("bytes"))), LineKind::Destructive);
    assert_eq!(lines(&card).iter().filter(|line| line.contains("sha256 before")).count(), 3);
}

#[test]
fn what_destroys_comes_first_and_in_words() {
    let card =
        card(&packet(change(&[create("new"), delete("gone"), overwrite("kept"), rename("from", "to")])));
    let effects: Vec<(LineKind, &str)> = card
        .lines
        .iter()
        .filter(|line| matches!(line.kind, LineKind::Destructive | LineKind::Effect))
        .map(|line| (line.kind, line.text.split(' ').next().expect("a word")))
        .collect();
    use LineKind::{Destructive, Effect};
    let wanted = [(Destructive, "DELETE"), (Destructive, "OVERWRITE"), (Effect, "create"), (Effect, "MOVE")];
    assert_eq!(effects, wanted);
    assert_eq!(card.lines[0].kind, LineKind::Risk);
    assert!(card.lines[0].text.starts_with("moderate risk: "), "{}", card.lines[0].text);
    assert_eq!(card.title, "delete 1 file, overwrite 1 file, move 1 file, create 1 file");
}

#[test]
fn a_folder_with_nothing_in_it_goes_quietly_and_last() {
    let empty = ChangeItem::Delete { path: path("empty"), prior: Prior::EmptyFolder };
    let card = card(&packet(change(&[empty, rename("from", "to")])));
    let effects: Vec<(LineKind, &str)> = card
        .lines
        .iter()
        .filter(|line| matches!(line.kind, LineKind::Destructive | LineKind::Effect))
        .map(|line| (line.kind, line.text.split(' ').next().expect("a word")))
        .collect();
    assert_eq!(effects, [(LineKind::Effect, "MOVE"), (LineKind::Effect, "remove")]);
    assert_eq!(card.risk_band, RiskBand::Low, "{}", card.lines[0].text);
    assert!(card.lines[0].text.contains("nothing is lost"), "{}", card.lines[0].text);
}

#[test]
fn a_card_tells_what_a_command_does_not_see_and_what_it_can_read() {
    let mut packet = packet(command(&["sh", "-c", "cat .env"], true));
    packet.action_request.reach = Some(Reach {
        hidden: vec![path("server.key")],
        secrets: vec![path(".env")],
        programs: vec![Program {
            name: "sh".to_owned(),
            path: "/usr/bin/dash".to_owned(),
            sha256: sha("dash"),
        }],
        ..Reach::default()
    });
    let all = lines(&card(&packet)).join("\n");
    for told in [
        "it can READ \".env\"",
        "hidden from it, because",
        "\"server.key\"",
        "\"sh\" is /usr/bin/dash",
        "sha256 of /usr/bin/dash: ",
    ] {
        assert!(all.contains(told), "`{told}` is not on the card: {all}");
    }
}

#[test]
fn a_card_tells_its_policy_in_words_and_its_times_as_a_terminal_and_a_page_read_them() {
    let mut packet = packet(change(&[create("new")]));
    packet.policy_result.policy_profile = Profile::LocalEditAllowed;
    (packet.requested_at, packet.expires_at) = (UnixMs(1_795_539_245_000), UnixMs(1_795_539_845_000));
    let card = approval::card(&packet);
    let told: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    assert!(told.iter().any(|line| line.starts_with("policy \"ask before edits\": ")), "{told:?}");
    assert!(told.contains(&"asked at 2026-11-24 16:54:05Z and expires at 2026-11-24 17:04:05Z"), "{told:?}");
    // Names of profiles stand in names of rules alone, which a person types as they are.
    let named = told.iter().filter(|line| !line.starts_with("rules: "));
    let raw: Vec<_> = named
        .filter(|line| {
            Profile::ALL.iter().any(|one| line.contains(one.as_str()) && one.as_str().contains('_'))
        })
        .collect();
    assert!(raw.is_empty(), "{raw:?}");
}

#[test]
fn no_card_tells_a_time_in_milliseconds_or_a_class_of_acts_by_its_spelling() {
    let spelled: Vec<&str> =
        ActionClass::ALL.iter().map(|one| one.as_str()).filter(|one| one.contains('_')).collect();
    let is_plain = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.all(|word| word != "ms") && !spelled.iter().any(|one| text.contains(one))
    };
    for action in every_kind() {
        for profile in Profile::ALL {
            let got = evaluate(action.clone(), *profile);
            assert!(is_plain(&got.reasoning_summary), "{}", got.reasoning_summary);
            if got.verdict != Verdict::RequireApproval {
                continue;
            }
            let card = approval::card(&Case::under(action.clone(), *profile).packet);
            // Rules are told by their names, which a person types as they are.
            for line in card.lines.iter().filter(|line| !line.text.starts_with("rules: ")) {
                assert!(is_plain(&line.text), "{}", line.text);
            }
        }
    }
    let card = approval::card(&packet(command(&["make"], false)));
    assert!(card.lines.iter().any(|line| line.text == "for at most 1 second"), "{:?}", card.lines);
}

/// Files are left out: a terminal and a page show them by their names, with both of their texts.
#[test]
fn no_digest_stands_in_what_a_card_tells_of_the_act() {
    let has_digest = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    for action in every_kind() {
        let is_files = matches!(action, Action::Change(_) | Action::Rollback(_));
        let is_asked =
            evaluate(action.clone(), Profile::ExternalPublishGated).verdict == Verdict::RequireApproval;
        if is_files || !is_asked {
            continue;
        }
        let card = approval::card(&packet(action.clone()));
        let (act, rest) = card.lines.split_at(card.act_lines + 1);
        for line in act {
            assert!(!has_digest(&line.text), "{}", line.text);
        }
        if matches!(action, Action::Vcs(_)) && card.title.starts_with("commit ") {
            assert!(rest.iter().any(|line| line.text.starts_with("file 1, ") && has_digest(&line.text)));
        }
    }
}

#[test]
fn a_reason_that_the_proposer_did_not_give_is_not_put_into_its_mouth() {
    let mut packet = packet(change(&[create("new")]));
    assert!(lines(&card(&packet)).join("\n").contains("says why"));
    packet.rationale = packet.goal.clone();
    assert!(!lines(&card(&packet)).join("\n").contains("says why"));
}

#[test]
fn what_cannot_be_undone_is_marked_as_such() {
    let card = card(&packet(command(&["curl", "-T", "data", "https://example.org"], true)));
    assert_eq!(card.risk_band, RiskBand::Critical);
    let marked: Vec<&str> = card
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Unrecoverable)
        .map(|line| line.text.as_str())
        .collect();
    let wanted = [
        "WITH the network: what it sends cannot be taken back",
        "it may reach ANY public host",
        "afterwards: can be undone only in part: what it sends cannot be taken back, and what a program changes is not \
         all kept",
    ];
    assert_eq!(marked, wanted);
    for word in ["curl", "-T", "data", "https://example.org"] {
        let quoted = format!("\"{word}\"");
        assert!(card.lines.iter().any(|line| line.text.ends_with(&quoted)), "{quoted}");
    }
}

#[test]
fn nothing_of_a_large_change_set_is_cut() {
    let items: Vec<_> = (0..2000).map(|at| delete(&format!("folder/file-{at}"))).collect();
    let card = card(&packet(change(&items)));
    for at in 0..2000 {
        let name = format!("DELETE \"folder/file-{at}\" ");
        assert!(card.lines.iter().any(|line| line.text.starts_with(&name)), "{name}");
    }
    let long = "x".repeat(100_000);
    let card = self::card(&packet(command(&["echo", &long], false)));
    assert!(card.lines.iter().any(|line| line.text.contains(&long)));
}

#[test]
fn every_field_of_a_packet_shows_on_its_card() {
    let search =
        ReadItem::Search { path: path(".ssh"), pattern: "KEY".to_owned(), glob: Some("*".to_owned()) };
    let look = Action::Observe(acts::Observe {
        items: vec![search, ReadItem::List { path: path(".ssh"), recursive: true }],
    });
    let actions = [
        look,
        change(&[create("a"), overwrite("b"), delete("c"), rename("d", "e")]),
        remember("a claim"),
        fetch(),
        send(),
        commit(),
        move_ref(true),
        move_ref(false),
        delete_ref(),
    ];
    for action in actions {
        let packet = packet(action);
        let before = card(&packet);
        for (pointer, changed) in every_change(&packet) {
            assert_ne!(card(&changed).whole, before.whole, "{pointer}");
        }
        let acts = packet.action_request.clone();
        for (pointer, action) in every_change(&acts.action) {
            let mut changed = packet.clone();
            changed.action_request.action = action;
            assert_ne!(card(&changed).lines, before.lines, "{pointer} of the action, for a person");
        }
    }
}

#[test]
fn a_card_says_which_names_may_look_like_others() {
    let packet = |name: &str| {
        let mut packet = Case::new(change(&[create("a")])).packet;
        packet.action_request = request(change(&[create(name)]));
        packet
    };
    let looks = |name: &str| -> Vec<LineKind> {
        let lines = card(&packet(name)).lines;
        lines.iter().filter(|line| line.text.contains("LOOK at the name")).map(|line| line.kind).collect()
    };
    assert_eq!(looks("p\u{430}ypal.txt"), [LineKind::Unrecoverable], "a Cyrillic letter among Latin ones");
    assert_eq!(looks("e\u{301}te\u{301}.txt"), [LineKind::Fact], "accents of their own");
    assert_eq!(looks("\u{e9}t\u{e9}.txt"), []);
}

/// Reads [`visible`] back.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('\\') => out.push('\\'),
            Some('u') => {
                let hex: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                let code = u32::from_str_radix(&hex, 16).expect("hexadecimal");
                out.push(char::from_u32(code).expect("a character"));
            }
            other => panic!("`\\{other:?}` is never written"),
        }
    }
    out
}

proptest! {
    #[test]
    fn visible_text_says_exactly_what_the_text_was(text in any::<String>()) {
        let shown = visible(&text);
        prop_assert!(!HIDDEN.is_match(&shown));
        prop_assert_eq!(unescape(&shown), text);
    }

    #[test]
    fn no_card_hides_anything_whatever_the_names(items in any_items(), goal in any::<String>()) {
        let request = request(change(&items));
        let mut packet = Case::new(change(&[create("a")])).packet;
        packet.action_request = request;
        packet.goal = goal;
        let card = card(&packet);
        for line in lines(&card) {
            prop_assert!(!HIDDEN.is_match(line));
        }
        let effects = card.lines.iter().filter(|line| {
            matches!(line.kind, LineKind::Destructive | LineKind::Effect)
        });
        let kinds: Vec<bool> = effects.map(|line| line.kind == LineKind::Destructive).collect();
        prop_assert_eq!(kinds.len(), items.len());
        prop_assert!(kinds.windows(2).all(|pair| pair[0] >= pair[1]), "destructive lines come first");
    }
}
