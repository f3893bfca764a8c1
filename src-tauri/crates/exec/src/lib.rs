//! Hermit-exec: puts itself behind the walls, then becomes the command.
