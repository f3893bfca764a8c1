//! The run stream: token and tool deltas, cursors, replay; never truth.
