//! The model port and its providers: context in, proposals out; has no door to effects.
