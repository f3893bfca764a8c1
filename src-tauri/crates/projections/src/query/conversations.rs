//! Lists of conversations.

use super::{Ask, Cursor, Page, Query};
use crate::Error;
use crate::rows::{ConversationRow, ViewRow as _};
use model::ConversationId;
use rusqlite::params;

/// When something was said last, and among those of one moment the place in the log: one number, which a cursor holds. A clock
/// that was far off changes the order and loses no row.
const USED: &str = "((max(0, min(updated_at, 8796093022207)) << 20) | (seq & 1048575))";

impl Query {
    /// Conversations with their focus (HK-13.6-13).
    ///
    /// # Errors
    /// As every list.
    pub fn conversations(&self, ask: Ask) -> Result<Page<ConversationRow>, Error> {
        self.list([], ask)
    }

    /// One conversation.
    ///
    /// # Errors
    /// As every list.
    pub fn conversation(&self, conversation: ConversationId) -> Result<Option<ConversationRow>, Error> {
        self.one("conversation_id", conversation)
    }

    /// Conversations, those first in which something was said or done last.
    ///
    /// # Errors
    /// As every list.
    pub fn conversations_by_use(&self, ask: Ask) -> Result<Page<ConversationRow>, Error> {
        let text = format!(
            "SELECT {}, {USED} FROM view_conversations WHERE {USED} < ?1 ORDER BY {USED} DESC LIMIT ?2",
            ConversationRow::COLUMNS
        );
        let before = ask.after.map_or(i64::MAX, |after| i64::try_from(after.0).unwrap_or(i64::MAX));
        let most = i64::try_from(ask.rows() + 1).unwrap_or(1);
        let mut rows = self.read(|conn| {
            let mut found = conn.prepare_cached(&text)?;
            let mut read = found.query(params![before, most])?;
            let mut rows = Vec::new();
            while let Some(row) = read.next()? {
                let used: i64 = row.get(row.as_ref().column_count() - 1)?;
                rows.push((ConversationRow::read(row, Some(conn))?, u64::try_from(used).unwrap_or(0)));
            }
            Ok(rows)
        })?;
        let more = rows.len() > ask.rows();
        rows.truncate(ask.rows());
        let next = rows.last().filter(|_| more).map(|(_, used)| Cursor(*used));
        Ok(Page { rows: rows.into_iter().map(|(row, _)| row).collect(), next })
    }
}
