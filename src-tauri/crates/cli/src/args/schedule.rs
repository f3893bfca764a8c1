//! Verbs about schedules.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit schedule`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A schedule begins a task by itself: at a time of day, after a period, once, or when something happens: files change, a branch \
moves, another schedule's task ends, a program calls a hook, a resource of a tool server changes. It gives no authority: what its task wants to \
change is judged and asked about as always, and waits for you in `hermit approvals list`.

It runs while Hermit is open: the app, or `hermit serve`. Times that were missed are on record, and made up for as you said.")]
pub enum ScheduleVerb {
    /// Shows a card with a schedule and its next times, and keeps it after your yes.
    Add(Box<ScheduleAdd>),
    /// Lists schedules, and how each stands.
    List,
    /// Shows a schedule, its next times and its runs.
    Show {
        /// Its name.
        schedule: String,
    },
    /// Tells how a time is read, and its next times; keeps nothing.
    Preview {
        /// The time, such as "every weekday at 8:30".
        time: String,
        /// The time zone, such as Europe/Berlin; that of this machine unless you name one.
        #[arg(long, value_name = "ZONE")]
        zone: Option<String>,
    },
    /// Tells what the last runs of a schedule would ask you today: each of their acts judged by your policy as it is now, and by the
    /// standing grants that name the schedule.
    Asks {
        /// Its name.
        schedule: String,
        /// The newest runs that are looked at, 1 to 20; 10 unless you say otherwise.
        #[arg(long, value_name = "N")]
        runs: Option<u32>,
    },
    /// Tells what became of each time of a month, and which are to come.
    Calendar {
        /// One schedule alone.
        schedule: Option<String>,
        /// The month, such as 2026-11; this one unless you name one.
        #[arg(long, value_name = "YEAR-MONTH")]
        month: Option<String>,
        /// The time zone, such as Europe/Berlin; that of this machine unless you name one.
        #[arg(long, value_name = "ZONE")]
        zone: Option<String>,
    },
    /// Makes the secret of the hook that a schedule waits for, in place of the one before, and tells it once.
    Secret {
        /// The schedule's name.
        schedule: String,
    },
    /// Pauses a schedule: its times pass, each on record.
    Pause {
        /// Its name.
        schedule: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Resumes a schedule that is paused.
    Resume {
        /// Its name.
        schedule: String,
    },
    /// Begins the task of a schedule now, beside its times.
    Run {
        /// Its name.
        schedule: String,
    },
    /// Removes a schedule; its history stays.
    Rm {
        /// Its name.
        schedule: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}

/// `hermit schedule add`.
#[derive(Debug, Args)]
pub struct ScheduleAdd {
    /// When: "every weekday at 8:30", "every 15 minutes", "on the first of each month at noon", "tomorrow at 9", or a cron
    /// expression such as "30 8 * * MON-FRI"; or what it waits for: "when files change", "when a file matching *.pdf lands here",
    /// "when main moves", "after NAME", "when NAME fails", "when the hook NAME is called", "when the resource docs://rates of the
    /// server NAME changes, every 10 minutes", "when the machine NAME is silent for 30 minutes", "when the machine NAME sends a message",
    /// "when a Nostr event of kind 1 by KEY comes at wss://relay.example".
    pub time: String,
    /// What is to be done each time.
    #[arg(value_name = "GOAL")]
    pub words: Option<String>,
    /// A name of a-z, 0-9 and single `-` between them, such as morning-mail. A schedule that has it already is changed; without
    /// it, a new one gets a name of its own.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The folder to work in; the current folder unless you name one.
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// A playbook that comes with Hermit, one that you adopted, or the path of one.
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model")]
    pub playbook: Option<String>,
    /// A parameter of the playbook; repeat it for several.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// The model: `box:NAME` or `openai:URL#NAME`.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// The time zone, such as Europe/Berlin; that of this machine unless you name one.
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// Of a schedule that waits for files: which, such as "*.pdf" or "scans/**"; repeat it for several.
    #[arg(long = "glob", value_name = "GLOB")]
    pub globs: Vec<String>,
    /// Of a schedule that waits for files: how many seconds one must have been left alone; 2 unless you say otherwise.
    #[arg(long, value_name = "SECONDS")]
    pub quiet_seconds: Option<u32>,
    /// What becomes of times that this machine misses: `newest` makes up for the last of them (unless you say otherwise), `skip`
    /// for none, a number for so many.
    #[arg(long, value_name = "skip|newest|N", default_value = "newest")]
    pub missed: String,
    /// Skips a time that is seen later than so many minutes.
    #[arg(long, value_name = "MINUTES")]
    pub grace: Option<u32>,
    /// Policy profile of its tasks; local_edit_allowed unless you name one. `hermit policy profiles` shows them.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The most turns each run may use.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// The most US dollars each run may spend on models; 5 unless you say otherwise.
    #[arg(long, value_name = "DOLLARS")]
    pub cost: Option<f64>,
    /// The conversation that its tasks report into.
    #[arg(long, value_name = "CONVERSATION")]
    pub conversation: Option<String>,
    /// Reports only runs that changed something, asked you, were denied something or failed. The others are on record: their tasks,
    /// their receipts, and the calendar.
    #[arg(long)]
    pub quiet: bool,
    /// What bounds its runs beside the budget of each.
    #[command(flatten)]
    pub limits: ScheduleLimits,
}

/// What bounds the runs of a schedule, beside the budget of each.
#[derive(Debug, Args)]
pub struct ScheduleLimits {
    /// What becomes of a time while the run before is at work: `skip` passes it over (unless you say otherwise), `queue` begins it
    /// when that one rests, `end-older` ends that one, also where it waits for you.
    #[arg(long, value_name = "skip|queue|end-older")]
    pub overlap: Option<String>,
    /// Begins up to so many minutes later than its time, always by the same delay: not everything begins at once then.
    #[arg(long, value_name = "MINUTES")]
    pub jitter: Option<u32>,
    /// Runs that begin within any hour, 1 to 20.
    #[arg(long, value_name = "N")]
    pub per_hour: Option<u32>,
    /// Ends a run after so many minutes, whatever it is at; what was done stays, with its receipts.
    #[arg(long, value_name = "MINUTES")]
    pub ends_after: Option<u32>,
    /// The hours in which a run begins, such as 8-18, 8:30-17:45 or 22-6.
    #[arg(long, value_name = "FROM-UNTIL")]
    pub hours: Option<String>,
    /// What must be so for a run to begin: `mains` (mains power), `network`, `idle` (nobody is at the computer) or `unmetered`
    /// (the network is not metered); repeat it for several. What this machine cannot tell counts as so.
    #[arg(long, value_name = "CONDITION")]
    pub only: Vec<String>,
    /// Per cent that the battery must have more than for a run to begin, such as 30.
    #[arg(long, value_name = "PERCENT")]
    pub battery_above: Option<u32>,
    /// Runs that begin in a day.
    #[arg(long, value_name = "N")]
    pub day_runs: Option<u32>,
    /// The most turns that the runs of a day use together.
    #[arg(long, value_name = "N")]
    pub day_iterations: Option<u32>,
    /// The most tokens that the runs of a day use together.
    #[arg(long, value_name = "N")]
    pub day_tokens: Option<u64>,
    /// The most US dollars that the runs of a day spend on models together.
    #[arg(long, value_name = "DOLLARS")]
    pub day_cost: Option<f64>,
    /// The most minutes that the runs of a day work together.
    #[arg(long, value_name = "MINUTES")]
    pub day_minutes: Option<u32>,
}
