//! What is asked of the room as a whole.
