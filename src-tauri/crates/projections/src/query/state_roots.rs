//! Roots of state: what changed since the last ones, what they were at any of them, and the records a root is over.

use super::{Ask, Cursor, Is, Order, Page, Query};
use crate::rows::{ConversationRow, MemoryRow, StateRootRow, ViewRow};
use crate::{Error, schema};
use model::knowledge::MemoryType;
use model::state_root::{Frontier, StateRoot, StateSubject};
use model::{Digest, UnixMs};
use rusqlite::types::Value;
use rusqlite::{Connection, params};

/// The roots that changed behind a place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootsSince {
    /// The place up to which that is said.
    pub through: u64,
    /// What changed, in the order of its texts.
    pub roots: Vec<StateRoot>,
    /// Whether more changed behind that place.
    pub more: bool,
}

/// One point of the time line of memory: an event that stated roots of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPoint {
    /// The number of the event, from 0.
    pub number: u64,
    /// The place in the log up to which it tells the state.
    pub through: u64,
    /// The root over all subjects.
    pub state_root: Digest,
    /// The number of the event in the store's own stream.
    pub task_seq: u64,
    /// When it was stated.
    pub at: UnixMs,
}

/// Records that were in force after the event in a place of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryThen {
    /// The place in the log.
    pub through: u64,
    /// Of this kind.
    pub memory_type: Option<MemoryType>,
    /// That hold in this project, those that hold everywhere among them.
    pub project: Option<Digest>,
}

const POINT: &str = "SELECT number, through, state_root, task_seq, at FROM view_state_roots WHERE";

impl Query {
    /// The roots of at most `most` subjects that changed behind the place `after`, those first that changed longest ago.
    /// Nothing is gone over but what changed, and the records in force of a project whose memory did.
    ///
    /// # Errors
    /// As every list.
    pub fn roots_since(&self, after: u64, most: usize) -> Result<RootsSince, Error> {
        self.read(|conn| {
            let one = conn.unchecked_transaction()?;
            let head = schema::version(&one)?.map_or(0, |(_, head)| head);
            let mut through = u64::try_from(head).unwrap_or(0);
            let said = conversations_since(&one, after, most)?;
            let changed = projects_since(&one, after, most)?;
            let mut places: Vec<u64> =
                said.iter().map(|(at, _)| *at).chain(changed.iter().map(|(at, _)| *at)).collect();
            places.sort_unstable();
            // The first place for which there is no room any more is the business of the next.
            let more = places.get(most).copied();
            if let Some(next) = more {
                through = next.saturating_sub(1);
            }
            let mut all: Vec<StateRoot> =
                said.into_iter().filter(|(at, _)| *at <= through).map(|(_, root)| root).collect();
            for (_, project) in changed.into_iter().filter(|(at, _)| *at <= through) {
                all.push(memory_root(&one, project, through)?);
            }
            all.sort_by_cached_key(|root| root.subject.to_string());
            Ok(RootsSince { through, roots: all, more: more.is_some() })
        })
    }

    /// The root of a project's memory as its records say after the event in a place of the log.
    ///
    /// # Errors
    /// As every list.
    pub fn memory_root(&self, project: Option<Digest>, through: u64) -> Result<StateRoot, Error> {
        self.read(|conn| memory_root(conn, project, through))
    }

    /// The newest root of a subject that an event up to this number stated.
    ///
    /// # Errors
    /// As every list.
    pub fn stated_root(&self, subject: StateSubject, number: u64) -> Result<Option<StateRootRow>, Error> {
        let text = format!(
            "SELECT {} FROM view_state_roots WHERE subject = ?1 AND number <= ?2 ORDER BY number DESC LIMIT 1",
            StateRootRow::COLUMNS
        );
        self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut rows = found.query(params![subject.to_string(), int(number)])?;
            rows.next()?.map(|row| StateRootRow::read(row, Some(conn))).transpose()
        })
    }

    /// The newest root of every subject that events up to this number stated, in the order of their texts.
    ///
    /// # Errors
    /// As every list.
    pub fn stated_roots(&self, number: u64) -> Result<Vec<StateRoot>, Error> {
        let text = format!(
            "SELECT {}, max(number) FROM view_state_roots WHERE number <= ?1 GROUP BY subject ORDER BY subject",
            StateRootRow::COLUMNS
        );
        self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut rows = found.query(params![int(number)])?;
            let mut roots = Vec::new();
            while let Some(row) = rows.next()? {
                let StateRootRow { subject, size, root, .. } = StateRootRow::read(row, None)?;
                roots.push(StateRoot { subject, size, root });
            }
            Ok(roots)
        })
    }

    /// Events that stated a root of memory, as a list.
    ///
    /// # Errors
    /// As every list.
    pub fn memory_points(&self, ask: Ask) -> Result<Page<MemoryPoint>, Error> {
        let (beyond, order) = match ask.order {
            Order::Newest => (" AND number < ?", " ORDER BY number DESC"),
            Order::Oldest => (" AND number > ?", " ORDER BY number"),
        };
        let mut text = format!("{POINT} subject GLOB 'memory:*'");
        let mut values = Vec::new();
        if let Some(after) = ask.after {
            text.push_str(beyond);
            values.push(Value::Integer(int(after.0)));
        }
        text.push_str(" GROUP BY number");
        text.push_str(order);
        text.push_str(" LIMIT ?");
        values.push(Value::Integer(i64::try_from(ask.rows() + 1).unwrap_or(1)));
        let mut rows = self.points(&text, values)?;
        let more = rows.len() > ask.rows();
        rows.truncate(ask.rows());
        let next = rows.last().filter(|_| more).map(|point| Cursor(point.number));
        Ok(Page { rows, next })
    }

    /// The newest event that stated roots, of those up to this number of the store's own stream.
    ///
    /// # Errors
    /// As every list.
    pub fn rooted_within(&self, task_seq: u64) -> Result<Option<MemoryPoint>, Error> {
        let text = format!("{POINT} task_seq <= ? ORDER BY number DESC LIMIT 1");
        Ok(self.points(&text, vec![Value::Integer(int(task_seq))])?.pop())
    }

    /// The newest event that stated roots until then, and the oldest of all.
    ///
    /// # Errors
    /// As every list.
    pub fn rooted_until(&self, at: UnixMs) -> Result<(Option<MemoryPoint>, Option<MemoryPoint>), Error> {
        let text = format!("{POINT} at <= ? ORDER BY number DESC LIMIT 1");
        let found = self.points(&text, vec![Value::Integer(at.0)])?.pop();
        Ok((found, self.points(&format!("{POINT} 1 ORDER BY number LIMIT 1"), Vec::new())?.pop()))
    }

    /// An event that stated roots, by its number.
    ///
    /// # Errors
    /// As every list.
    pub fn rooted(&self, number: u64) -> Result<Option<MemoryPoint>, Error> {
        Ok(self.points(&format!("{POINT} number = ? LIMIT 1"), vec![Value::Integer(int(number))])?.pop())
    }

    fn points(&self, text: &str, values: Vec<Value>) -> Result<Vec<MemoryPoint>, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let mut rows = found.query(rusqlite::params_from_iter(values))?;
            let mut points = Vec::new();
            while let Some(row) = rows.next()? {
                let number = |at: usize| row.get::<_, i64>(at).map(|n| u64::try_from(n).unwrap_or(0));
                let state_root: String = row.get(2)?;
                let state_root = state_root.parse().map_err(|e: <Digest as std::str::FromStr>::Err| {
                    Error::Row { table: "view_state_roots", why: e.to_string() }
                })?;
                points.push(MemoryPoint {
                    number: number(0)?,
                    through: number(1)?,
                    state_root,
                    task_seq: number(3)?,
                    at: UnixMs(row.get(4)?),
                });
            }
            Ok(points)
        })
    }

    /// Records that were in force after the event in a place of the log, as a list; what they came to since stands in them.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_then(&self, then: MemoryThen, ask: Ask) -> Result<Page<MemoryRow>, Error> {
        let MemoryThen { through, memory_type, project } = then;
        let project = project.map(|hash| Is::TextOrEmpty("project_hash", hash.to_string()));
        let conditions = [
            Some(Is::UpTo("seq", int(through))),
            Some(Is::OverOrEmpty("ended_seq", int(through))),
            Is::some("memory_type", memory_type),
            project,
        ];
        self.list(conditions, ask)
    }

    /// Records that were added behind a place in the log, as a list, whatever they came to.
    ///
    /// # Errors
    /// As every list.
    pub fn memories_added(&self, then: MemoryThen, ask: Ask) -> Result<Page<MemoryRow>, Error> {
        let MemoryThen { through, memory_type, project } = then;
        let project = project.map(|hash| Is::TextOrEmpty("project_hash", hash.to_string()));
        self.list([Some(Is::Over("seq", int(through))), Is::some("memory_type", memory_type), project], ask)
    }

    /// Places in the log of the events that are the leaves of a subject, at most `most`, as they were after the event in the
    /// place `through`.
    ///
    /// # Errors
    /// As every list.
    pub fn leaves_of(&self, subject: StateSubject, through: u64, most: u32) -> Result<Vec<u64>, Error> {
        let (text, value) = match subject {
            StateSubject::Conversation(id) => (
                "SELECT seq FROM view_messages WHERE conversation_id IS ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3",
                Some(id.to_string()),
            ),
            StateSubject::Memory(project) => (
                "SELECT seq FROM view_memories WHERE project_hash IS ?1 AND seq <= ?2 \
                 AND (ended_seq IS NULL OR ended_seq > ?2) ORDER BY seq LIMIT ?3",
                project.map(|hash| hash.to_string()),
            ),
        };
        self.read(|conn| {
            let mut found = conn.prepare_cached(text)?;
            let mut rows = found.query(params![value, int(through), most])?;
            let mut places = Vec::new();
            while let Some(row) = rows.next()? {
                places.push(u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0));
            }
            Ok(places)
        })
    }
}

fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Conversations in which something was said behind a place, each with the place of its newest message: one more than `most`.
fn conversations_since(conn: &Connection, after: u64, most: usize) -> Result<Vec<(u64, StateRoot)>, Error> {
    let text = format!(
        "SELECT {} FROM view_conversations WHERE last_message > ?1 ORDER BY last_message LIMIT ?2",
        ConversationRow::COLUMNS
    );
    let mut found = conn.prepare_cached(&text)?;
    let mut rows = found.query(params![int(after), i64::try_from(most).unwrap_or(0) + 1])?;
    let mut roots = Vec::new();
    while let Some(row) = rows.next()? {
        let row = ConversationRow::read(row, None)?;
        let edge = row.edge.unwrap_or_default();
        let subject = StateSubject::Conversation(row.conversation_id);
        roots.push((row.last_message, StateRoot { subject, size: edge.size(), root: edge.root() }));
    }
    Ok(roots)
}

/// Projects whose memory changed behind a place, each with the place where it first did; none for the memory that holds in
/// every project. One more than `most`, and then so many that none of one place is missing.
fn projects_since(conn: &Connection, after: u64, most: usize) -> Result<Vec<(u64, Option<Digest>)>, Error> {
    let text = "SELECT project_hash, min(place) AS first FROM (\
                SELECT project_hash, seq AS place FROM view_memories WHERE seq > ?1 UNION ALL \
                SELECT project_hash, ended_seq FROM view_memories WHERE ended_seq > ?1) \
                GROUP BY project_hash ORDER BY first";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query(params![int(after)])?;
    let mut projects: Vec<(u64, Option<Digest>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let hash: Option<String> = row.get(0)?;
        let place = u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        if projects.len() > most && projects.last().is_some_and(|(last, _)| *last != place) {
            break;
        }
        projects.push((place, hash.map(|hash| digest(&hash)).transpose()?));
    }
    Ok(projects)
}

/// The root over the records of a project that are in force after the event in a place.
fn memory_root(conn: &Connection, project: Option<Digest>, through: u64) -> Result<StateRoot, Error> {
    let text = "SELECT state_leaf FROM view_memories WHERE project_hash IS ?1 AND seq <= ?2 \
                AND (ended_seq IS NULL OR ended_seq > ?2) ORDER BY seq";
    let mut found = conn.prepare_cached(text)?;
    let mut rows = found.query(params![project.map(|hash| hash.to_string()), int(through)])?;
    let mut tree = Frontier::new();
    while let Some(row) = rows.next()? {
        let leaf: String = row.get(0)?;
        tree.push(digest(&leaf)?);
    }
    Ok(StateRoot { subject: StateSubject::Memory(project), size: tree.size(), root: tree.root() })
}

fn digest(text: &str) -> Result<Digest, Error> {
    let wrong = |why: String| Error::Row { table: "view_memories", why };
    text.parse().map_err(|e: <Digest as std::str::FromStr>::Err| wrong(e.to_string()))
}
