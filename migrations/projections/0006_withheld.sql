-- What stands in what a look into a secret brought, one value a line: it is taken out of the words of every task that comes from the
-- same first one, before they are indexed. Nothing stands for what is not known, or is no longer kept; then no more words of those
-- tasks are indexed.
CREATE TABLE view_withheld (
  root        TEXT    NOT NULL,
  artifact_id TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  found       TEXT,
  PRIMARY KEY (root, artifact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_withheld_by_artifact ON view_withheld (artifact_id);
-- The first task that a part or a follower comes from. A task that is not here comes from none.
CREATE TABLE view_descent (
  task_id TEXT NOT NULL PRIMARY KEY,
  root    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX view_descent_by_root ON view_descent (root);
-- Events whose words may repeat what tasks of a root found, by their places in the log: claims of memory that rest on it, and what stands in
-- a conversation of work that comes from there. Of what is kept whole of a message only its content, by the number of that document.
CREATE TABLE view_word_roots (
  seq   INTEGER NOT NULL,
  root  TEXT    NOT NULL,
  first INTEGER NOT NULL,
  PRIMARY KEY (seq, root)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_word_roots_by_root ON view_word_roots (root, seq);
-- Roots of tasks that acts of another root rest on, from a place of the log on.
CREATE TABLE view_told (
  root    TEXT    NOT NULL,
  of_root TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (root, of_root)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_told_by_of ON view_told (of_root);
-- Where a conversation received what is kept whole in a message. Once that is gone, nobody can tell whose finds those words repeat.
CREATE TABLE view_word_messages (
  artifact_id TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (artifact_id, seq)
) STRICT, WITHOUT ROWID;
