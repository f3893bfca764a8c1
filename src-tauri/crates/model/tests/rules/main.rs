//! The nouns from outside: what is written down keeps its form and its meaning.

mod events;
mod ids;
mod names;
mod objects;
mod paths;
mod tables;
