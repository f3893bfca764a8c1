//! What is held true? working state, beliefs, memory promotion, context packing and precedence.
