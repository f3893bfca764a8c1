-- What stands in what a look into a secret brought, one value a line: it is taken out of the words of the task before they are
-- indexed. Nothing stands for what is not known, or is no longer kept; then no more words of the task are indexed.
CREATE TABLE view_withheld (
  task_id     TEXT    NOT NULL,
  artifact_id TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  found       TEXT,
  PRIMARY KEY (task_id, artifact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_withheld_by_artifact ON view_withheld (artifact_id);
