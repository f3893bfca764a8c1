-- Vectors of memory records by one embedding model (memory.md 2). Nothing here is truth: the file may be deleted, and is
-- made again. A vector tells about its text, so it goes with it.

-- Which model they are of, and how far they are made.
CREATE TABLE vectors_of (
  one      INTEGER PRIMARY KEY CHECK (one = 1),
  log_id   TEXT    NOT NULL,
  model    TEXT,
  probe    BLOB,
  common    INTEGER NOT NULL,
  -- Every record up to this place in the log has its vector, or has none to have.
  through  INTEGER NOT NULL,
  -- Why the last try failed, in words; none when it did not.
  trouble  TEXT
) STRICT;

-- By project, an empty text for what holds in every one; no bytes for a text that the model refuses.
CREATE TABLE vectors (
  project    TEXT NOT NULL,
  memory_id  TEXT NOT NULL,
  numbers    BLOB,
  PRIMARY KEY (project, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_by_memory ON vectors (memory_id);
