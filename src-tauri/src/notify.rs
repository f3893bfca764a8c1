//! Native notifications. Their buttons open the exact card or refuse; a yes never comes from one, because nothing
//! shows that a person pressed it. Where the server is missing, or has no buttons, a small window takes its place.

use crate::store::Store;
use crate::surfaces::Surfaces;
use crate::waiting::{Asked, Waiting, plain};
use crate::window;
use notify_rust::{Hint, Notification, Timeout, Urgency};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::{AppHandle, Manager as _};
use wire::approvals::Deny;

/// Characters of the words in a notification; the card has all of them.
const CHARS_MAX: usize = 160;
/// Notifications that come at once; what is more, the tray counts.
const AT_ONCE_MAX: usize = 4;

/// Numbers under which notifications stand, by approval.
static SHOWN: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Why there are no notifications here, and why they have no buttons.
pub fn lacks() -> (Option<String>, Option<String>) {
    match capabilities() {
        Ok(found) if found.iter().any(|one| one == "actions") => (None, None),
        Ok(_) => (None, Some("the notification server of this desktop shows no buttons".to_owned())),
        Err(why) => (Some(why.clone()), Some(why)),
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn capabilities() -> Result<Vec<String>, String> {
    notify_rust::get_capabilities().map_err(|e| format!("no notification server answers here ({e})"))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn capabilities() -> Result<Vec<String>, String> {
    // Notifications are shown; their buttons are not heard.
    Ok(Vec::new())
}

/// Tells what waits now and did not wait before; takes back what waits no longer.
pub fn changed(app: &AppHandle, before: &Waiting, now: &Waiting) {
    let fresh = fresh(before, now);
    for gone in before.approvals.iter().filter(|old| !now.approvals.iter().any(|one| one.id == old.id)) {
        take_back(&gone.id);
    }
    for gone in before.schedules.iter().filter(|old| !now.schedules.iter().any(|one| one.id == old.id)) {
        take_back(&About::Schedule.key(&gone.id));
    }
    if now.approvals.is_empty() {
        window::notice_away(app);
    }
    if app.state::<Surfaces>().lacks().notifications.is_none() {
        paused_now(before, now).into_iter().for_each(|one| tell(app, About::Schedule, one));
    }
    if fresh.is_empty() {
        return;
    }
    let lacks = app.state::<Surfaces>().lacks();
    if lacks.notifications.is_none() {
        fresh.iter().for_each(|asked| tell(app, About::Approval, asked));
    }
    if lacks.actions.is_some() {
        window::notice(app);
    }
}

/// What is told: what did not wait before, and does not wait quietly.
fn fresh<'n>(before: &Waiting, now: &'n Waiting) -> Vec<&'n Asked> {
    let was = |asked: &&Asked| !before.approvals.iter().any(|old| old.id == asked.id);
    now.approvals.iter().filter(was).filter(|asked| !asked.is_quiet).take(AT_ONCE_MAX).collect()
}

/// Schedules that paused themselves since.
fn paused_now<'n>(before: &Waiting, now: &'n Waiting) -> Vec<&'n Asked> {
    let was = |one: &&Asked| !before.schedules.iter().any(|old| old.id == one.id);
    now.schedules.iter().filter(was).take(AT_ONCE_MAX).collect()
}

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// An approval, by its identifier.
    Approval,
    /// A schedule that paused itself, by its name.
    Schedule,
}

impl About {
    /// What the number of a notification stands under.
    fn key(self, id: &str) -> String {
        match self {
            Self::Approval => id.to_owned(),
            Self::Schedule => format!("schedule:{id}"),
        }
    }
}

fn tell(app: &AppHandle, about: About, asked: &Asked) {
    let (app, asked) = (app.clone(), asked.clone());
    // The thread stays until the notification is answered or gone.
    let _ = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
        let handle = match notification(about, &asked).show() {
            Ok(handle) => handle,
            Err(error) => return tracing::warn!(%error, "a notification could not be shown"),
        };
        #[cfg(all(unix, not(target_os = "macos")))]
        {
            shown().insert(about.key(&asked.id), handle.id());
            handle.wait_for_action(|action| chosen(&app, about, &asked.id, action));
        }
        #[cfg(not(all(unix, not(target_os = "macos"))))]
        drop((handle, app));
    });
}

/// What it says: the act or the schedule; of an act its risk, and who asks.
fn body(asked: &Asked) -> String {
    let mut lines = vec![escaped(&plain(&asked.words, CHARS_MAX))];
    if !asked.risk.is_empty() {
        lines.push(format!("{} risk", asked.risk));
    }
    lines.extend(asked.who.iter().map(|line| escaped(line)));
    lines.join("\n")
}

fn notification(about: About, asked: &Asked) -> Notification {
    let mut notification = Notification::new();
    notification
        .appname("Hermit")
        .summary("Hermit waits for you")
        .body(&body(asked))
        .icon("hermit-desktop")
        .timeout(Timeout::Never)
        .action("default", "Review")
        .action("review", "Review");
    // A schedule is resumed nowhere but where its runs are seen.
    if about == About::Approval {
        notification.action("deny", "Deny");
    }
    #[cfg(all(unix, not(target_os = "macos")))]
    notification
        .hint(Hint::Category("im.received".to_owned()))
        .hint(Hint::DesktopEntry("Hermit".to_owned()))
        .urgency(if matches!(asked.risk.as_str(), "high" | "critical") {
            Urgency::Critical
        } else {
            Urgency::Normal
        });
    notification
}

/// Servers may read a body as markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn chosen(app: &AppHandle, about: About, id: &str, action: &str) {
    match (action, about) {
        // It may still stand there; once the card is answered it is taken back.
        ("default" | "review", About::Approval) => window::card(app, id),
        ("default" | "review", About::Schedule) => window::main(app, Some(&format!("/schedules?of={id}"))),
        ("deny", About::Approval) => {
            shown().remove(id);
            deny(app, id);
        }
        // Closed, or expired: nothing was said.
        _ => _ = shown().remove(&about.key(id)),
    }
}

fn deny(app: &AppHandle, approval: &str) {
    let said = Deny {
        approval: approval.to_owned(),
        feedback: None,
        surface: Some("notification".to_owned()),
        stop: false,
    };
    let store = Arc::clone(&app.state::<Arc<Store>>());
    if let Err(error) = store.session().and_then(|session| session.call(&said)) {
        tracing::warn!(%error, "a no from a notification was not taken");
        // A person believes that they answered: the card says why they did not, and takes what is missing.
        window::card(app, approval);
    }
}

/// The last window was closed where no tray is: says that the work goes on, and how to have Hermit back.
pub fn without_window(app: &AppHandle, waiting: &Waiting) {
    let (app, words) = (app.clone(), waiting.words());
    let _ = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
        let shown = Notification::new()
            .appname("Hermit")
            .summary("Hermit goes on without a window")
            .body(&format!("{words}. This desktop has no tray; start Hermit again to have its window back."))
            .icon("hermit-desktop")
            .action("default", "Open")
            .action("open", "Open")
            .action("quit", "Quit")
            .show();
        #[cfg(all(unix, not(target_os = "macos")))]
        match shown {
            Ok(handle) => handle.wait_for_action(|action| match action {
                "default" | "open" => window::main(&app, None),
                "quit" => app.exit(0),
                _ => {}
            }),
            Err(error) => tracing::warn!(%error, "a notification could not be shown"),
        }
        #[cfg(not(all(unix, not(target_os = "macos"))))]
        drop((shown, app));
    });
}

/// What was answered is asked no longer, wherever it was answered: the notification goes, and says nothing more.
#[cfg(all(unix, not(target_os = "macos")))]
fn take_back(approval: &str) {
    const SERVER: &str = "org.freedesktop.Notifications";
    let Some(id) = shown().remove(approval) else { return };
    let close = move || {
        zbus::blocking::Connection::session()?.call_method(
            Some(SERVER),
            "/org/freedesktop/Notifications",
            Some(SERVER),
            "CloseNotification",
            &id,
        )
    };
    // The desktop may take its time, and what happens next shall not wait for it.
    let _ = std::thread::Builder::new().name("notification".to_owned()).spawn(move || {
        if let Err(error) = close() {
            tracing::debug!(%error, "a notification could not be taken back");
        }
    });
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn take_back(approval: &str) {
    shown().remove(approval);
}

fn shown() -> std::sync::MutexGuard<'static, BTreeMap<String, u32>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked {
            id: "apr_1".to_owned(),
            words: "mv".to_owned(),
            risk: "low".to_owned(),
            is_quiet: false,
            who: Vec::new(),
        }
    }

    #[test]
    fn a_notification_says_which_task_of_the_tree_and_which_agent_asks() {
        let who = vec!["Part of: tidy <b>all</b>".to_owned(), "Asked by: gpt-9".to_owned()];
        let of_a_part = notification(About::Approval, &Asked { who, ..asked() });
        assert_eq!(of_a_part.body, "mv\nlow risk\nPart of: tidy &lt;b&gt;all&lt;/b&gt;\nAsked by: gpt-9");
        assert_eq!(notification(About::Approval, &asked()).body, "mv\nlow risk");
    }

    #[test]
    fn words_in_a_notification_are_no_markup() {
        assert_eq!(escaped("<b>a & b</b>"), "&lt;b&gt;a &amp; b&lt;/b&gt;");
    }

    #[test]
    fn what_hermit_began_by_itself_waits_without_a_notification() {
        let asked = |id: &str, is_quiet| Asked {
            id: id.to_owned(),
            words: "mv".to_owned(),
            risk: "low".to_owned(),
            is_quiet,
            who: Vec::new(),
        };
        let now =
            Waiting { approvals: vec![asked("apr_1", true), asked("apr_2", false)], ..Waiting::default() };
        let told: Vec<&str> = fresh(&Waiting::default(), &now).iter().map(|one| one.id.as_str()).collect();
        assert_eq!(told, ["apr_2"]);
        assert!(fresh(&now, &now).is_empty(), "what waited before is not told again");
    }

    #[test]
    fn no_button_of_a_notification_says_yes() {
        let asked = asked();
        let actions = notification(About::Approval, &asked).actions;
        assert_eq!(actions, ["default", "Review", "review", "Review", "deny", "Deny"]);
        let of_schedule = notification(About::Schedule, &Asked { risk: String::new(), ..asked });
        assert_eq!(of_schedule.actions, ["default", "Review", "review", "Review"], "nor resumes anything");
        assert_eq!(of_schedule.body, "mv");
    }

    #[test]
    fn a_schedule_that_paused_itself_is_told_once() {
        let one = Asked {
            id: "morning".to_owned(),
            words: "The schedule morning paused itself".to_owned(),
            risk: String::new(),
            is_quiet: false,
            who: Vec::new(),
        };
        let now = Waiting { schedules: vec![one], count: 1, ..Waiting::default() };
        let told = |before: &Waiting| paused_now(before, &now).len();
        assert_eq!((told(&Waiting::default()), told(&now)), (1, 0));
        assert!(fresh(&Waiting::default(), &now).is_empty(), "it is no approval");
    }
}
