//! The focus of a conversation: one at most, moved by a person or by its task's end, never by the background.

use crate::store::Store;
use crate::world::{Place, World};
use model::attempt::AttemptStatus;
use model::body::{FocusChanged, TaskInputAdded};
use model::ingress::{Channel, IngressResolution};
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::task::TaskStatus;
use model::{ConversationId, TaskId};

struct Scene {
    store: Store,
    world: World,
    conversation: ConversationId,
    inbox: TaskId,
}

impl Scene {
    fn new() -> Self {
        let (mut store, mut world) = (Store::new(), World::new());
        let (conversation, inbox, opened) = world.conversation();
        store.commit(vec![opened], &[], &[]);
        Self { store, world, conversation, inbox }
    }

    /// A new task that a message of this channel asked for.
    fn task(&mut self, channel: Channel) -> TaskId {
        let (ingress, received) = self.world.ingress(self.conversation, self.inbox, channel);
        let task = self.world.fresh("task");
        let bound = self.world.bound(ingress, self.inbox, IngressResolution::StartNewRoot, Some(task));
        let created = self.world.task(task, None, self.conversation, ingress);
        self.store.commit(vec![received, bound, created], &[], &[]);
        task
    }

    fn moves(&mut self, task: TaskId, path: &[TaskStatus]) {
        for pair in path.windows(2) {
            let draft = self.world.status(task, pair[0], pair[1]);
            self.store.commit(vec![draft], &[], &[]);
        }
    }

    fn focus(&self) -> Option<TaskId> {
        let text: Option<String> = self.store.get("SELECT focus_task_id FROM view_conversations");
        text.map(|text| text.parse().expect("a task"))
    }
}

use TaskStatus::{Blocked, Completed, Created, Ready, Running};

#[conforms::conforms("HK-13.6-13", "HK-13.6-15", "HK-13.6-16")]
#[test]
fn a_conversation_has_many_open_tasks_and_one_focus() {
    let mut scene = Scene::new();
    let (first, second) = (scene.task(Channel::App), scene.task(Channel::Cli));
    assert_eq!(scene.store.get::<i64>("SELECT open_tasks FROM view_conversations"), 2);
    assert_eq!(scene.focus(), Some(second), "the newest message is what the person has in mind");
    let last: String = scene.store.get("SELECT last_focus FROM view_conversations");
    assert_eq!(last, first.to_string());
    let body = FocusChanged {
        conversation_id: scene.conversation,
        focus_task_id: Some(first),
        reason: "switched by hand".into(),
    };
    let switched = scene.world.draft(Place::task(scene.inbox), body);
    scene.store.commit(vec![switched], &[], &[]);
    assert_eq!(scene.focus(), Some(first));
    // More than one cannot even be written.
    let two = "INSERT INTO view_conversations SELECT * FROM view_conversations";
    assert!(scene.store.conn.execute(two, []).is_err());
}

#[conforms::conforms("HK-13.6-17")]
#[test]
fn background_progress_never_steals_the_focus() {
    let mut scene = Scene::new();
    let (background, focus) = (scene.task(Channel::App), scene.task(Channel::App));
    scene.moves(background, &[Created, Ready, Running]);
    let (step, planned) = scene.world.step(background);
    let (place, created) = scene.world.attempt(background, step, 1);
    let (action, mut drafts) = scene.world.action(place, Verdict::RequireApproval);
    let (approval, asked) = scene.world.approval(place, action);
    let (grant, granted) = scene.world.grant(place, action, Some(approval));
    drafts.splice(0..0, [planned, created]);
    drafts.extend([asked, scene.world.yes(place, approval), granted]);
    drafts.extend(scene.world.effect(place, action, grant, ResultCode::Succeeded));
    drafts.push(scene.world.receipt(place, action, ResultCode::Succeeded, None).1);
    drafts.push(scene.world.moved(place, AttemptStatus::Created, AttemptStatus::Leased));
    drafts.push(scene.world.iteration(place, 1));
    for draft in drafts {
        scene.store.commit(vec![draft], &[], &[]);
        assert_eq!(scene.focus(), Some(focus));
    }
    scene.moves(background, &[Running, Blocked, Running, Completed]);
    assert_eq!(scene.focus(), Some(focus));
    for channel in [Channel::Scheduler, Channel::Webhook, Channel::Mcp, Channel::System] {
        scene.task(channel);
        assert_eq!(scene.focus(), Some(focus), "{channel} is not a person");
    }
}

#[test]
fn the_end_of_the_focused_task_leaves_none_and_remembers_it() {
    let mut scene = Scene::new();
    let task = scene.task(Channel::App);
    scene.moves(task, &[Created, Ready, Running, Completed]);
    assert_eq!(scene.focus(), None);
    let last: String = scene.store.get("SELECT last_focus FROM view_conversations");
    assert_eq!(last, task.to_string(), "a follow-up can be anchored to it");
    assert_eq!(scene.store.get::<i64>("SELECT open_tasks FROM view_conversations"), 0);
    scene.moves(task, &[Completed, TaskStatus::RolledBack]);
    assert_eq!(scene.store.get::<i64>("SELECT open_tasks FROM view_conversations"), 0);
}

#[test]
fn a_persons_note_moves_the_focus_and_idle_talk_does_not() {
    let mut scene = Scene::new();
    let (first, second) = (scene.task(Channel::App), scene.task(Channel::App));
    for (how, to, expected) in [
        (IngressResolution::ChatOnly, None, second),
        (IngressResolution::PendingDisambiguation, None, second),
        (IngressResolution::Control, Some(first), second),
        (IngressResolution::Approval, Some(first), first),
        (IngressResolution::AppendNote, Some(second), second),
        (IngressResolution::ForkChild, Some(first), first),
    ] {
        let (ingress_id, received) = scene.world.ingress(scene.conversation, scene.inbox, Channel::App);
        let bound = scene.world.bound(ingress_id, scene.inbox, how, to);
        let text = crate::world::words("more", 1);
        let added = to.map(|task| {
            scene.world.draft(
                Place::task(task),
                TaskInputAdded { about_task_id: task, ingress_id, text, trust_tier: None, encloses: None },
            )
        });
        scene.store.commit([received, bound].into_iter().chain(added).collect(), &[], &[]);
        assert_eq!(scene.focus(), Some(expected), "{how}");
    }
}
