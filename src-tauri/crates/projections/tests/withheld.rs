//! What repeats a secret is found by no words: in a part, in a follower, in memory, and where a text is cut off.

use crate::rebuilding::again;
use crate::store::Store;
use crate::views::Desk;
use crate::world::{Place, World, looked_into_a_secret};
use model::artifact::{ArtifactKind, ArtifactRef, EvidenceRef};
use model::body::{ArtifactExpired, MemoryPromoted, SuccessorBegan};
use model::ingress::{Channel, ContinuationAnchor, IngressRecord};
use model::limits::INLINE_ARTIFACT_BYTES_MAX;
use model::policy::Verdict;
use model::task::TaskStatus;
use model::{ArtifactId, Body, ConversationId, TaskId, UnixMs};
use projections::rows::MemoryRow;
use projections::tables;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use words::successor::PatchKind;

/// A store with one conversation, in which tasks begin, look, say and remember.
struct Talk {
    store: Store,
    world: World,
    conversation: ConversationId,
    inbox: TaskId,
}

impl Talk {
    fn new() -> Self {
        let (mut store, mut world) = (Store::new(), World::new());
        let (conversation, inbox, opened) = world.conversation();
        store.commit(vec![opened], &[], &[]);
        Self { store, world, conversation, inbox }
    }

    /// A task of its own, a part of another, or one that follows another.
    fn begins(&mut self, part_of: Option<TaskId>, follows: Option<TaskId>) -> TaskId {
        let (task, ingress) = (self.world.fresh("task"), self.world.fresh("ing"));
        let mut created = self.world.task(task, part_of, self.conversation, ingress);
        if let Body::TaskCreated(b) = &mut created.body {
            b.task.continuation_anchor = follows.map(|anchor_task_id| ContinuationAnchor {
                anchor_task_id,
                anchor_kind: "completed_outcome".into(),
                selection_reason: "it was named".to_owned().into(),
                outcome_status: TaskStatus::Completed,
                outcome_summary: "it ended".to_owned().into(),
                source_artifact_refs: vec![],
            });
        }
        self.store.commit(vec![created], &[], &[]);
        task
    }

    fn says(&mut self, task: TaskId, text: &str) -> ArtifactId {
        let bytes = text.as_bytes().to_vec();
        let (made, said) = self.world.artifact(Place::task(task), ArtifactKind::Answer, &bytes, vec![]);
        self.store.commit(vec![said], &[bytes], &[]);
        made.artifact_id
    }

    /// A look of this task into a file of keys.
    fn looks(&mut self, task: TaskId, secret: &str) -> ArtifactRef {
        let bytes = secret.as_bytes().to_vec();
        let kind = ArtifactKind::ActionResult;
        let (made, mut looked) = self.world.artifact(Place::task(task), kind, &bytes, vec![]);
        looked_into_a_secret(&mut looked);
        self.store.commit(vec![looked], &[bytes], &[]);
        made
    }

    /// Words come into the conversation, with what is kept of the work that they begin.
    fn hears(&mut self, text: &str, work: &Value, with: impl FnOnce(&mut IngressRecord)) -> ArtifactRef {
        let (place, bytes) = (Place::task(self.inbox), work.to_string().into_bytes());
        let (made, message) = self.world.artifact(place, ArtifactKind::Message, &bytes, vec![]);
        let (_, mut received) = self.world.ingress(self.conversation, self.inbox, Channel::System);
        if let Body::IngressReceived(b) = &mut received.body {
            b.record.raw_text = text.to_owned().into();
            b.record.normalized_text = text.to_owned().into();
            b.record.referenced_artifact_refs = vec![made.artifact_id];
            with(&mut b.record);
        }
        // More than this lies in a file.
        let blobs: Vec<Vec<u8>> =
            Some(bytes).filter(|bytes| bytes.len() <= INLINE_ARTIFACT_BYTES_MAX).into_iter().collect();
        self.store.commit(vec![message, received], &blobs, &[]);
        made
    }

    /// What a look brought is no longer kept.
    fn lets_go(&mut self, task: TaskId, made: &ArtifactRef) {
        self.store.conn.execute_batch("DROP TRIGGER IF EXISTS blobs_stay").expect("it goes");
        self.store.conn.execute("DELETE FROM blobs WHERE digest = ?1", [made.sha256.0]).expect("it goes");
        let body = ArtifactExpired { artifact_id: made.artifact_id, reason: "old".into() };
        let expired = self.world.draft(Place::task(task), body);
        self.store.commit(vec![expired], &[], &[]);
    }

    /// A claim that rests on an artifact becomes memory, by the event of a task.
    fn remembers(&mut self, task: TaskId, claim: &str, on: ArtifactId) {
        let mut record = self.world.memory(Place::task(task), None);
        record.claim = claim.to_owned().into();
        record.evidence_refs = vec![EvidenceRef { artifact_id: on, ..self.world.evidence() }];
        let promoted = self.world.draft(Place::task(task), MemoryPromoted { record });
        self.store.commit(vec![promoted], &[], &[]);
    }

    /// How often each of these words stands in an index, which is the same folded anew.
    fn stand<const N: usize>(&self, index: &str, terms: [&str; N]) -> [i64; N] {
        let count = |term: &str| {
            self.store.get::<i64>(&format!("SELECT count(*) FROM {index} WHERE term = '{term}'"))
        };
        let found = terms.map(count);
        let live = tables(&self.store.conn).expect("it reads");
        again(&self.store.conn);
        assert_eq!(tables(&self.store.conn).expect("it reads"), live);
        found
    }
}

const SEARCH: &str = "view_search_words";
const MEMORY: &str = "view_memory_words";

#[test]
fn what_a_part_looked_into_is_found_by_no_words_of_the_tasks_it_comes_from_and_of_those_that_follow() {
    let mut talk = Talk::new();
    let parent = talk.begins(None, None);
    talk.says(parent, "an ostrich came before");
    let part = talk.begins(Some(parent), None);
    let made = talk.looks(part, "PET=flamingo\n");
    talk.says(parent, "the parent has a Flamingo and a pelican");
    let follower = talk.begins(None, Some(parent));
    talk.says(follower, "the follower has a FLAMINGO and a kestrel");
    let later = talk.begins(Some(follower), None);
    talk.says(later, "its part has a flamingo and a heron");
    let stranger = talk.begins(None, None);
    talk.says(stranger, "a book on birds with a flamingo and a raven");
    let words = ["ostrich", "pelican", "kestrel", "heron", "raven", "flamingo"];
    assert_eq!(
        talk.stand(SEARCH, words),
        [1, 1, 1, 1, 1, 1],
        "the stranger's alone, who comes from none of them"
    );
    talk.lets_go(part, &made);
    assert_eq!(
        talk.stand(SEARCH, words),
        [1, 0, 0, 0, 1, 1],
        "whoever folds anew cannot know what to take out"
    );
    talk.says(follower, "an albatross");
    assert_eq!(talk.stand(SEARCH, ["albatross"]), [0]);
}

#[test]
fn what_a_conversation_holds_of_work_that_comes_from_a_look_is_found_by_its_other_words_alone() {
    let mut talk = Talk::new();
    let parent = talk.begins(None, None);
    let made = talk.looks(parent, "PET=flamingo\n");
    let part = "feed the Flamingo and the ostrich";
    let work = json!({ "goal": part, "parent_task_id": parent.to_string(), "continuation_anchor": null });
    talk.hears(part, &work, |record| record.parent_task_id = Some(parent));
    let again = "feed the flamingo and the pelican again";
    let anchor = json!({ "anchor_task_id": parent.to_string(), "anchor_kind": "completed_outcome" });
    let kept = talk.hears(again, &json!({ "goal": again, "continuation_anchor": anchor }), |_| ());
    talk.hears("a flamingo and a kestrel?", &json!(null), |record| record.chosen_task_id = Some(parent));
    let other = "a book on the flamingo and the raven";
    talk.hears(other, &json!({ "goal": other, "parent_task_id": null }), |_| ());
    let words = ["ostrich", "pelican", "kestrel", "raven", "flamingo"];
    assert_eq!(talk.stand(SEARCH, words), [2, 2, 1, 2, 2], "of other work, and nowhere else");
    let inbox = talk.inbox;
    talk.lets_go(inbox, &kept);
    assert_eq!(talk.stand(SEARCH, words), [2, 0, 1, 2, 2], "nobody can tell what it came from");
    talk.lets_go(parent, &made);
    assert_eq!(talk.stand(SEARCH, words), [0, 0, 0, 2, 2]);
}

#[test]
fn a_message_that_names_a_task_at_the_begin_of_a_line_is_told_without_what_that_looked_into() {
    let mut talk = Talk::new();
    let parent = talk.begins(None, None);
    talk.looks(parent, "PET=flamingo\n");
    let made = talk.says(parent, "what was seen");
    for named in [parent.to_string(), made.to_string()] {
        talk.hears(
            "the flamingo and the heron",
            &json!({ "goal": format!("go on with\n{named}\n") }),
            |_| (),
        );
    }
    assert_eq!(talk.stand(SEARCH, ["heron", "flamingo"]), [2, 0]);
}

#[test]
fn what_a_chat_is_told_of_a_question_or_an_act_is_found_by_its_other_words_alone() {
    let mut talk = Talk::new();
    let task = talk.begins(None, None);
    talk.looks(task, "PET=flamingo\n");
    let (step, planned) = talk.world.step(task);
    let (place, attempt) = talk.world.attempt(task, step, 1);
    let (question, asked) = talk.world.question(place);
    let (act, proposed) = talk.world.action(place, Verdict::RequireApproval);
    let (approval, waits) = talk.world.approval(place, act);
    let drafts = [planned, attempt, asked].into_iter().chain(proposed).chain([waits]);
    talk.store.commit(drafts.collect(), &[], &[]);
    for about in [format!("question:{question}"), format!("approval:{approval}")] {
        let change = json!({ "text": "is it the flamingo, or the crane?" }).to_string();
        let work = json!({ "reasoning": { "change": change }, "idempotency_key": format!("message:home:1:{about}:1") });
        talk.hears("send a message", &work, |_| ());
    }
    assert_eq!(talk.stand(SEARCH, ["crane", "flamingo"]), [2, 0]);
}

#[test]
fn words_that_came_in_by_two_messages_are_gone_when_one_is_no_longer_kept() {
    let mut talk = Talk::new();
    let (task, place) = (talk.begins(None, None), Place::task(talk.inbox));
    let bytes = format!("a pelican of {task}").into_bytes();
    let (note, made) = talk.world.artifact(place, ArtifactKind::Message, &bytes, vec![]);
    talk.store.commit(vec![made], &[bytes], &[]);
    let work = json!({ "goal": "an ostrich", "parent_task_id": task.to_string() });
    let stays = note.artifact_id;
    let gone = talk.hears("an ostrich", &work, |record| record.referenced_artifact_refs.push(stays));
    let words = ["ostrich", "pelican"];
    assert_eq!(talk.stand(SEARCH, words), [2, 1]);
    let inbox = talk.inbox;
    talk.lets_go(inbox, &gone);
    assert_eq!(talk.stand(SEARCH, words), [0, 1]);
    talk.lets_go(inbox, &note);
    assert_eq!(talk.stand(SEARCH, words), [0, 0]);
}

#[test]
fn a_message_that_is_no_longer_kept_and_by_which_nothing_came_in_leaves_nothing() {
    let mut talk = Talk::new();
    let (task, inbox) = (talk.begins(None, None), talk.inbox);
    let bytes = format!("a pelican of {task}").into_bytes();
    let (note, made) = talk.world.artifact(Place::task(inbox), ArtifactKind::Message, &bytes, vec![]);
    talk.store.commit(vec![made], &[bytes], &[]);
    assert_eq!(talk.stand(SEARCH, ["pelican"]), [1]);
    talk.lets_go(inbox, &note);
    assert_eq!(talk.stand(SEARCH, ["pelican"]), [0]);
}

#[test]
fn words_of_a_message_that_is_too_large_to_tell_what_it_names_are_not_found() {
    let mut talk = Talk::new();
    let parent = talk.begins(None, None);
    talk.looks(parent, "PET=flamingo\n");
    let anchor = json!({ "anchor_task_id": parent.to_string(), "anchor_kind": "completed_outcome" });
    let goal = "feed the flamingo and the ostrich again";
    let work = |more: usize| json!({ "goal": goal, "done_when": ["x".repeat(more)], "continuation_anchor": &anchor });
    talk.hears(goal, &work(INLINE_ARTIFACT_BYTES_MAX), |_| ());
    assert_eq!(talk.stand(SEARCH, ["ostrich", "flamingo"]), [0, 0]);
    talk.hears(goal, &work(1), |_| ());
    assert_eq!(talk.stand(SEARCH, ["ostrich", "flamingo"]), [2, 0]);
}

#[test]
fn who_proposes_what_was_found_behind_a_look_says_it_without_the_values() {
    let mut talk = Talk::new();
    let (looker, asker) = (talk.begins(None, None), talk.begins(None, None));
    let made = talk.looks(looker, "PET=flamingo\n");
    let seen = talk.says(looker, "what was seen");
    let work = json!({ "reasoning": json!({ "lines": ["a flamingo, and an ostrich"], "from": [seen.to_string()] }).to_string() });
    talk.hears("Ask what is to be remembered", &work, |_| ());
    talk.says(asker, "an albatross before");
    let place = Place::task(asker);
    let (_, request) = talk.world.artifact(place, ArtifactKind::ActionRequest, b"{}", vec![seen]);
    talk.store.commit(vec![request], &[b"{}".to_vec()], &[]);
    talk.says(asker, "is the flamingo to be remembered, with the pelican?");
    let words = ["ostrich", "albatross", "pelican", "flamingo"];
    assert_eq!(talk.stand(SEARCH, words), [1, 1, 1, 0]);
    talk.lets_go(looker, &made);
    assert_eq!(talk.stand(SEARCH, words), [0, 1, 0, 0]);
    talk.says(asker, "a kestrel");
    assert_eq!(talk.stand(SEARCH, ["kestrel"]), [0]);
}

#[test]
fn what_a_task_says_of_a_change_that_it_proposes_is_found_by_its_other_words_alone() {
    let mut talk = Talk::new();
    let task = talk.begins(None, None);
    let made = talk.looks(task, "PET=flamingo\n");
    let (act, asked) = talk.world.action(Place::task(task), Verdict::RequireApproval);
    talk.store.commit(asked, &[], &[]);
    for (trial, proposed_by) in [("own", None), ("proposed", Some(act))] {
        let began = SuccessorBegan {
            trial_id: trial.to_owned(),
            kind: PatchKind::Policy,
            patch: talk.world.some_ref(),
            about: format!("the {trial} one asks less for the flamingo").into(),
            tasks: vec![],
            seed: 1,
            wall_ms: 1,
            cpu_ms: 1,
            memory_bytes: 1,
            disk_bytes: 1,
            processes: 1,
            tokens: 1,
            began_at: UnixMs(1),
            group: None,
            proposed_by,
            left_out: None,
        };
        let began = talk.world.draft(Place::task(talk.inbox), began);
        talk.store.commit(vec![began], &[], &[]);
    }
    let words = ["own", "proposed", "flamingo"];
    assert_eq!(talk.stand(SEARCH, words), [1, 1, 1], "a person may say what they like");
    talk.lets_go(task, &made);
    assert_eq!(talk.stand(SEARCH, words), [1, 0, 1]);
}

#[test]
fn a_claim_that_repeats_a_secret_is_found_by_its_other_words_and_by_none_where_the_values_are_not_known() {
    let mut talk = Talk::new();
    let (looker, promoter) = (talk.begins(None, None), talk.begins(None, None));
    let made = talk.looks(looker, "PET=flamingo\n");
    let evidence = talk.says(looker, "what was seen");
    talk.remembers(promoter, "the flamingo has a name, Olga", evidence);
    let elsewhere = talk.says(promoter, "a book");
    talk.remembers(promoter, "Rex is a dog", elsewhere);
    let words = ["olga", "rex", "flamingo"];
    assert_eq!((talk.stand(MEMORY, words), talk.stand(SEARCH, words)), ([1, 1, 0], [1, 1, 0]));
    talk.lets_go(looker, &made);
    assert_eq!((talk.stand(MEMORY, words), talk.stand(SEARCH, words)), ([0, 1, 0], [0, 1, 0]));
    talk.remembers(promoter, "the flamingo is called Ida", evidence);
    talk.remembers(promoter, "Leo is a lion", elsewhere);
    assert_eq!(talk.stand(MEMORY, ["ida", "flamingo", "leo"]), [0, 0, 1]);
    let held = "SELECT count(*) FROM view_memories JOIN view_memory_docs ON record = memory_id";
    assert_eq!(talk.store.get::<i64>(held), 4, "each is listed, and can be read");
}

#[test]
fn a_claim_that_another_task_asks_about_is_without_what_the_task_that_its_evidence_names_looked_into() {
    let mut talk = Talk::new();
    let (looker, asker) = (talk.begins(None, None), talk.begins(None, None));
    talk.looks(looker, "PET=flamingo\n");
    let line = talk.says(asker, "a line of a card");
    let mut record = talk.world.memory(Place::task(asker), None);
    record.claim = "the flamingo has a name, Olga".to_owned().into();
    let capture_method = format!("a person said to a task at work (task {looker})");
    record.evidence_refs = vec![EvidenceRef { artifact_id: line, capture_method, ..talk.world.evidence() }];
    let promoted = talk.world.draft(Place::task(asker), MemoryPromoted { record });
    talk.store.commit(vec![promoted], &[], &[]);
    let words = ["olga", "flamingo"];
    assert_eq!((talk.stand(MEMORY, words), talk.stand(SEARCH, words)), ([1, 0], [1, 0]));
}

#[test]
fn no_part_of_a_secret_stays_where_a_text_is_cut_off() {
    let mut talk = Talk::new();
    let task = talk.begins(None, None);
    let before = "a ".repeat(8 * 1024 - 2);
    talk.says(task, &format!("{before}ostrich"));
    assert_eq!(talk.stand(SEARCH, ["ostr"]), [1], "16 KiB of a text are indexed");
    talk.looks(task, "PET=flamingo\n");
    talk.says(task, &format!("{before}flamingo"));
    assert_eq!(talk.stand(SEARCH, ["flam", "flamingo"]), [0, 0]);
    talk.says(task, &format!("{before}albatross"));
    assert_eq!(talk.stand(SEARCH, ["alba", "albatross"]), [1, 0], "and no more of them");
}

#[test]
fn a_secret_that_is_said_encoded_is_found_by_no_words() {
    let mut talk = Talk::new();
    let task = talk.begins(None, None);
    talk.says(task, "before it the pelican was ZmxhbWluZ28");
    talk.looks(task, "PET=flamingo\n");
    talk.says(task, "an ostrich says UEVUPWZsYW1pbmdvCg== of it, in short ZmxhbWluZ28");
    talk.says(task, "a kestrel spells 666c616d696e676f, and 66:6c:61:6d:69:6e:67:6f");
    talk.says(task, "a heron links to /?q=fl%61mingo and asks");
    let told = ["pelican", "ostrich", "kestrel", "heron", "asks"];
    assert_eq!(talk.stand(SEARCH, told), [1; 5]);
    let encoded = ["zmxhbwluz28", "uevupwzsyw1pbmdvcg", "666c616d696e676f", "6d", "61mingo", "flamingo"];
    assert_eq!(talk.stand(SEARCH, encoded), [1, 0, 0, 0, 0, 0], "what was said before the look stays");
    talk.looks(task, "data:\n  pet: YWxiYXRyb3NzLTc=\n");
    talk.says(task, "a raven has decoded it, and it is Albatross-7");
    assert_eq!(talk.stand(SEARCH, ["raven", "albatross"]), [1, 0]);
}

/// A task looks into a file of keys.
fn looks(desk: &mut Desk, task: TaskId, secret: &str) {
    let (place, bytes) = (Place::task(task), secret.as_bytes().to_vec());
    let (made, mut looked) = desk.world.artifact(place, ArtifactKind::ActionResult, &bytes, vec![]);
    looked_into_a_secret(&mut looked);
    desk.put_with(vec![looked], vec![(made.sha256, bytes)]);
}

/// The task of the desk, which looks into nothing, remembers this.
fn remembers(desk: &mut Desk, claim: &str) -> MemoryRow {
    let mut record = desk.world.memory(desk.place, None);
    record.claim = claim.to_owned().into();
    let id = record.memory_id;
    for body in knowledge::memory::promoted(record) {
        desk.say(body);
    }
    desk.query.memory(id).expect("it reads").expect("it is there")
}

#[test]
fn a_claim_repeats_what_another_task_looked_into_before_it_and_nothing_that_one_looked_into_since() {
    let mut desk = Desk::new();
    let (looker, ingress) = (desk.world.fresh("task"), desk.world.fresh("ing"));
    let begun = desk.world.task(looker, None, desk.conversation, ingress);
    desk.put(vec![begun]);
    let bird = concat!("pel", "ican42kestrel");
    let before = remembers(&mut desk, &format!("the bird is {bird}"));
    looks(&mut desk, looker, &format!("BIRD={bird}\n"));
    let repeats = remembers(&mut desk, &format!("the bird is {bird}-too"));
    let other = remembers(&mut desk, "the bird has a cage");
    let repeating = |desk: &Desk| {
        desk.query.memories_repeating(&[&before, &repeats, &other, &repeats]).expect("it reads")
    };
    assert_eq!(repeating(&desk), BTreeSet::from([repeats.memory_id]));
    // What goes on behind it, and the value again, were looked into later.
    looks(&mut desk, looker, &format!("LONGER={bird}-too\n"));
    looks(&mut desk, looker, &format!("AGAIN={bird}\n"));
    assert_eq!(repeating(&desk), BTreeSet::from([repeats.memory_id]));
}
