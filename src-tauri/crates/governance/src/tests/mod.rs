//! Checks of this room.
