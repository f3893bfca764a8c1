//! Tables folded from events; disposable, rebuildable byte for byte; every list query and full-text search.
