//! What models cost, from one instant to another, and what is set aside for calls that are not settled.

use super::Query;
use crate::Error;
use model::{TaskId, UnixMs};

/// What one model has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentOn {
    /// The protocol that it speaks.
    pub provider: String,
    /// Its name.
    pub model: String,
    /// Tokens read and written.
    pub tokens: u64,
    /// Money, in millionths of a US dollar.
    pub cost_micros: u64,
}

impl Query {
    /// What was settled from `begins` on and before `ends`, by model, the dearest first.
    ///
    /// # Errors
    /// As every list.
    pub fn spent(&self, begins: UnixMs, ends: UnixMs) -> Result<Vec<SpentOn>, Error> {
        self.read(|conn| {
            let mut found = conn.prepare_cached(
                "SELECT provider, model, sum(tokens), sum(cost_micros) FROM view_spent \
                 WHERE at >= ?1 AND at < ?2 GROUP BY provider, model ORDER BY 4 DESC, 3 DESC, 2, 1",
            )?;
            let rows = found.query_map([begins.0, ends.0], |row| {
                let (tokens, cost): (i64, i64) = (row.get(2)?, row.get(3)?);
                let (tokens, cost_micros) = (tokens.unsigned_abs(), cost.unsigned_abs());
                Ok(SpentOn { provider: row.get(0)?, model: row.get(1)?, tokens, cost_micros })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Money that is set aside for calls that are not settled, by task.
    ///
    /// # Errors
    /// As every list.
    pub fn set_aside(&self) -> Result<Vec<(TaskId, u64)>, Error> {
        self.read(|conn| {
            let text = "SELECT task_id, cost_micros FROM view_asking WHERE cost_micros > 0";
            let mut found = conn.prepare_cached(text)?;
            let rows = found.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
            let mut all = Vec::new();
            for row in rows {
                let (task, cost) = row?;
                let task = task.parse().map_err(|_| Error::Row {
                    table: "view_asking",
                    why: format!("`task_id` holds `{task}`"),
                })?;
                all.push((task, cost.unsigned_abs()));
            }
            Ok(all)
        })
    }
}
