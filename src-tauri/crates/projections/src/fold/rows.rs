//! Rows while events are folded: each is read at most once, changed here, and written once at the end of the batch.
//!
//! Nearly every event changes the row of its task, its message or its conversation. Of a log that is folded anew all
//! rows are made here, so that none is looked for in the tables before some had to be written there.

use super::Seen;
use rusqlite::{Connection, OptionalExtension, ToSql, params_from_iter};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::LazyLock;

/// Rows of one table that are kept before all of them are written: memory stays bounded.
const KEPT_MAX: usize = 4_096;

/// A row of a view, as the fold changes it.
pub(crate) trait Row: Clone {
    /// What it is found by.
    type Key: Clone + Eq + Hash + Ord;
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];
    /// Those of the key, which come first.
    const KEY: &'static [&'static str];
    /// The statement that reads a row.
    fn select() -> &'static str;
    /// The statement that writes a new one.
    fn insert() -> &'static str;
    fn key(&self) -> Self::Key;
    fn bound(key: &Self::Key) -> Vec<&dyn ToSql>;
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self>;
    fn values(&self) -> Vec<&dyn ToSql>;
    /// The columns that are not what they were.
    fn changed(&self, before: &Self) -> Vec<(&'static str, &dyn ToSql)>;
    fn among(rows: &Rows) -> &RefCell<Held<Self>>;
}

struct Kept<R> {
    row: R,
    /// The row as it stands in the table, where it does.
    stored: Option<R>,
}

/// Rows of one table.
pub(crate) struct Held<R: Row> {
    rows: HashMap<R::Key, Kept<R>>,
    /// Whether the table itself is empty.
    all: bool,
}

impl<R: Row> Held<R> {
    const fn new(rows: HashMap<R::Key, Kept<R>>, all: bool) -> Self {
        Self { rows, all }
    }

    /// Reads the row of a key, unless it is here; answers whether there is one.
    fn load(&mut self, conn: &Connection, key: &R::Key) -> rusqlite::Result<bool> {
        if self.rows.contains_key(key) || self.all {
            return Ok(self.rows.contains_key(key));
        }
        let mut found = conn.prepare_cached(R::select())?;
        let Some(row) = found.query_row(params_from_iter(R::bound(key)), R::read).optional()? else {
            return Ok(false);
        };
        self.keep(conn, Kept { stored: Some(row.clone()), row })?;
        Ok(true)
    }

    fn keep(&mut self, conn: &Connection, kept: Kept<R>) -> rusqlite::Result<()> {
        if self.rows.len() >= KEPT_MAX {
            self.write(conn)?;
        }
        self.rows.insert(kept.row.key(), kept);
        Ok(())
    }

    /// Writes what is new or was changed, and forgets all. In the order of their keys, rows go to pages side by side.
    fn write(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<(R::Key, Kept<R>)> = self.rows.drain().collect();
        rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut insert = None;
        for (key, Kept { row, stored }) in &rows {
            self.all = false;
            if let Some(stored) = stored {
                update::<R>(conn, key, &row.changed(stored))?;
                continue;
            }
            let insert = match &mut insert {
                Some(insert) => insert,
                None => insert.insert(conn.prepare_cached(R::insert())?),
            };
            insert.execute(params_from_iter(row.values()))?;
        }
        Ok(())
    }
}

fn select<R: Row>() -> String {
    format!("SELECT {} FROM {} WHERE {}", R::COLUMNS.join(", "), R::TABLE, by_key::<R>())
}

fn insert<R: Row>() -> String {
    let marks: Vec<String> = (1..=R::COLUMNS.len()).map(|n| format!("?{n}")).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", R::TABLE, R::COLUMNS.join(", "), marks.join(", "))
}

/// The condition that finds a row by its key.
fn by_key<R: Row>() -> String {
    let all: Vec<String> = R::KEY.iter().zip(1..).map(|(column, n)| format!("{column} = ?{n}")).collect();
    all.join(" AND ")
}

fn update<R: Row>(
    conn: &Connection,
    key: &R::Key,
    changed: &[(&str, &dyn ToSql)],
) -> rusqlite::Result<usize> {
    if changed.is_empty() {
        return Ok(0);
    }
    let behind = R::KEY.len() + 1;
    let set: Vec<String> =
        changed.iter().zip(behind..).map(|((column, _), n)| format!("{column} = ?{n}")).collect();
    let text = format!("UPDATE {} SET {} WHERE {}", R::TABLE, set.join(", "), by_key::<R>());
    let values = R::bound(key).into_iter().chain(changed.iter().map(|(_, value)| *value));
    conn.prepare_cached(&text)?.execute(params_from_iter(values))
}

impl Seen<'_> {
    /// Makes a row; answers whether there was none of its key.
    pub(super) fn add<R: Row>(&self, row: R) -> rusqlite::Result<bool> {
        let mut held = R::among(self.rows).borrow_mut();
        if held.load(self.conn, &row.key())? {
            return Ok(false);
        }
        held.keep(self.conn, Kept { row, stored: None })?;
        Ok(true)
    }

    /// Lends a row to be changed; answers nothing where there is none.
    pub(super) fn change<R: Row, T>(
        &self,
        key: R::Key,
        with: impl FnOnce(&mut R) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let mut held = R::among(self.rows).borrow_mut();
        held.load(self.conn, &key)?;
        Ok(held.rows.get_mut(&key).map(|kept| with(&mut kept.row)))
    }

    /// The keys of the rows of which something holds: as told by `holds` where they are here, else by the question.
    pub(super) fn all_of<R: Row>(
        &self,
        holds: impl Fn(&R) -> bool,
        (question, value): (&str, &dyn ToSql),
        read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<R::Key>,
    ) -> rusqlite::Result<Vec<R::Key>> {
        let held = R::among(self.rows).borrow();
        let here = held.rows.iter().filter(|(_, kept)| holds(&kept.row)).map(|(key, _)| key.clone());
        let mut keys: Vec<R::Key> = here.collect();
        if !held.all {
            let mut found = self.conn.prepare_cached(question)?;
            for key in found.query_map([value], read)? {
                let key = key?;
                if !held.rows.contains_key(&key) {
                    keys.push(key);
                }
            }
        }
        Ok(keys)
    }
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident in $table:literal as $held:ident by $($key:ident: $of:ty),+; {
        $($column:ident: $kind:ty),+ $(,)?
    })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Default)]
            pub(crate) struct $row { $(pub $key: $of,)+ $(pub $column: $kind),+ }

            impl Row for $row {
                type Key = ($($of,)+);
                const TABLE: &'static str = $table;
                const COLUMNS: &'static [&'static str] = &[$(stringify!($key),)+ $(stringify!($column)),+];
                const KEY: &'static [&'static str] = &[$(stringify!($key)),+];

                fn select() -> &'static str {
                    static TEXT: LazyLock<String> = LazyLock::new(select::<$row>);
                    &TEXT
                }

                fn insert() -> &'static str {
                    static TEXT: LazyLock<String> = LazyLock::new(insert::<$row>);
                    &TEXT
                }

                fn key(&self) -> Self::Key {
                    ($(self.$key.clone(),)+)
                }

                fn bound(($($key,)+): &Self::Key) -> Vec<&dyn ToSql> {
                    vec![$($key),+]
                }

                fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
                    let mut columns = 0..;
                    let mut next = || columns.next().unwrap_or_default();
                    Ok(Self { $($key: row.get::<usize, _>(next())?,)+ $($column: row.get::<usize, _>(next())?),+ })
                }

                fn values(&self) -> Vec<&dyn ToSql> {
                    vec![$(&self.$key,)+ $(&self.$column),+]
                }

                fn changed(&self, before: &Self) -> Vec<(&'static str, &dyn ToSql)> {
                    let mut changed: Vec<(&'static str, &dyn ToSql)> = Vec::new();
                    $(if self.$column != before.$column {
                        changed.push((stringify!($column), &self.$column));
                    })+
                    changed
                }

                fn among(rows: &Rows) -> &RefCell<Held<Self>> {
                    &rows.$held
                }
            }
        )+

        /// The rows of a batch.
        pub(crate) struct Rows { $($held: RefCell<Held<$row>>),+ }

        impl Rows {
            /// None yet; `all` says that the tables are empty.
            pub fn new(all: bool) -> Self {
                Self { $($held: RefCell::new(Held::new(HashMap::new(), all))),+ }
            }

            /// Writes what is new or was changed.
            pub fn write(&self, conn: &Connection) -> rusqlite::Result<()> {
                $(self.$held.borrow_mut().write(conn)?;)+
                Ok(())
            }
        }
    };
}

rows! {
    Task in "view_tasks" as tasks by task_id: String; {
        seq: i64, conversation_id: String, title: [u8; 32], goal: [u8; 32], status: String, run_status: String,
        reason: String, priority: String, owner: String, profile: String, channel: String, contract_ref: String,
        ingress_id: String, parent_task_id: Option<String>, anchor_task_id: Option<String>,
        workspace_id: Option<String>, labels: String, depends_on: String, created_at: i64, updated_at: i64,
        deadline_at: Option<i64>, ended_at: Option<i64>, rolled_back: bool, cancel_requested: bool,
        pause_requested: bool, attempt_id: Option<String>, attempt_status: Option<String>,
        termination: Option<String>, attempts: i64, iterations: i64, open_approvals: i64, open_questions: i64,
        unread_inputs: i64, unknown_effects: i64, receipts: i64, tokens_reserved: i64, tokens_used: i64,
        cost_reserved: i64, cost_used: i64, wall_ms: i64,
    }

    Step in "view_steps" as steps by step_id: String; {
        seq: i64, task_id: String, kind: String, title: [u8; 32], contract_ref: String, status: String,
        reason: String, depends_on: String, max_attempts: u32, attempts: i64, created_at: i64, updated_at: i64,
    }

    Attempt in "view_attempts" as attempts by attempt_id: String; {
        seq: i64, task_id: String, step_id: String, attempt_no: u32, status: String, phase: String, reason: String,
        started_at: i64, finished_at: Option<i64>, lease_id: Option<String>, lease_expires_at: Option<i64>,
        context_pack_ref: Option<String>, working_state_ref: Option<String>, environment_ref: Option<String>,
        resume_from: Option<String>, policy_version: Option<String>, checkpoint: u32, iterations: u32,
        termination: Option<String>, summary: Option<[u8; 32]>, answer_ref: Option<String>,
    }

    /// A turn of the loop.
    Iteration in "view_iterations" as turns by attempt_id: String, iteration: u32; {
        seq: i64, task_id: String, pack_ref: Option<String>, pack_tokens: Option<u32>, pack_items: Option<u32>,
        pack_omissions: Option<u32>, request_ref: Option<String>, provider: Option<String>, model: Option<String>,
        remote: Option<bool>, response_ref: Option<String>, answer_ref: Option<String>, tokens_in: Option<i64>,
        tokens_out: Option<i64>, cost_micros: Option<i64>, finish_reason: Option<String>, failures: i64,
        rejections: i64, trouble: Option<[u8; 32]>, decision: Option<[u8; 32]>, tool: Option<String>,
        tool_input: Option<String>, tool_output: Option<String>, error: Option<[u8; 32]>,
        summary: Option<[u8; 32]>, completed_at: Option<i64>,
    }

    Artifact in "view_artifacts" as artifacts by artifact_id: String; {
        seq: i64, task_id: String, class: String, kind: String, uri: [u8; 32], alias: Option<[u8; 32]>,
        content_hash: String, media_type: String, byte_size: i64, created_at: i64, producer: String,
        retention: String, trust_tier: String, sensitivity: String, produced_by: Option<String>, inputs: String,
        state: String, uses: i64, sealed_at: Option<i64>, sealed_by: Option<String>, memory_id: Option<String>,
        compacted_into: Option<String>,
    }

    Conversation in "view_conversations" as conversations by conversation_id: String; {
        seq: i64, inbox_task_id: String, title: [u8; 32], opened_at: i64, updated_at: i64,
        focus_task_id: Option<String>, focus_reason: String, focus_at: Option<i64>, last_focus: Option<String>,
        open_tasks: i64,
    }

    /// A line of a conversation.
    Message in "view_messages" as messages by seq: i64; {
        conversation_id: String, task_id: Option<String>, role: String, kind: String, ref_id: String,
        text: Option<[u8; 32]>, artifact_ref: Option<String>, note: String, at: i64,
    }

    Ingress in "view_ingress" as ingress by ingress_id: String; {
        seq: i64, conversation_id: String, channel: String, text: [u8; 32], status: String, resolution: String,
        actor: Option<String>, chosen_task_id: Option<String>, candidates: String, rationale: Option<[u8; 32]>,
        waits_for: Option<String>, absorbed_at: Option<i64>, boundary: Option<String>, created_at: i64,
        updated_at: i64,
    }
}

impl Seen<'_> {
    /// Changes the row of a task; a task without one answers nothing.
    pub(super) fn task<T>(
        &self,
        task: &str,
        with: impl FnOnce(&mut Task) -> T,
    ) -> rusqlite::Result<Option<T>> {
        self.change((task.to_owned(),), with)
    }

    /// Changes the row of a task, where there is one, and notes when.
    pub(super) fn touch_task(&self, task: &str, with: impl FnOnce(&mut Task)) -> rusqlite::Result<()> {
        let at = self.at();
        self.task(task, |row| {
            with(row);
            row.updated_at = at;
        })
        .map(drop)
    }

    /// The task that a row of another view belongs to.
    pub(super) fn task_of(&self, question: &str, id: &str) -> rusqlite::Result<Option<String>> {
        self.conn.prepare_cached(question)?.query_row([id], |row| row.get(0)).optional()
    }
}
