-- What stands in what a look into a secret brought: it is taken out of the words of the task before they are indexed. An empty value
-- stands for what nobody can read any more; then no more words of the task are indexed.
CREATE TABLE view_withheld (
  task_id     TEXT NOT NULL,
  value       TEXT NOT NULL,
  artifact_id TEXT NOT NULL,
  PRIMARY KEY (task_id, value)
) STRICT, WITHOUT ROWID;
