-- What can be searched for: one row for each readable leaf or text. The words themselves are in the index.
CREATE TABLE view_search_docs (
  doc      INTEGER PRIMARY KEY,
  seq      INTEGER NOT NULL,
  kind     TEXT    NOT NULL,
  id       TEXT    NOT NULL,
  task_id  TEXT    NOT NULL,
  part     TEXT    NOT NULL,
  leaf     BLOB             CHECK (length(leaf) = 32),
  content  BLOB             CHECK (length(content) = 32),
  at       INTEGER NOT NULL,
  CHECK ((leaf IS NULL) <> (content IS NULL))
) STRICT;
CREATE INDEX view_search_docs_by_leaf ON view_search_docs (leaf) WHERE leaf IS NOT NULL;

CREATE VIRTUAL TABLE view_search USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2", prefix = '3'
);
CREATE VIRTUAL TABLE view_search_words USING fts5vocab (view_search, instance);

-- The claims of memory by their words. An index of its own, so that what is looked up for a context pack is as quick in a
-- store of a million events as in a small one.
CREATE TABLE view_memory_docs (
  doc        INTEGER PRIMARY KEY,
  record     TEXT    NOT NULL,
  leaf       BLOB    NOT NULL CHECK (length(leaf) = 32)
) STRICT;
CREATE INDEX view_memory_docs_by_leaf ON view_memory_docs (leaf);
CREATE VIRTUAL TABLE view_memory_search USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE view_memory_words USING fts5vocab (view_memory_search, instance);
