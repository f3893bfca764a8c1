//! The rules of the house, each as a test: doors, rooms, frozen migrations, sizes, and what no source may hold.

mod catalogue;
pub mod clean_room;
mod commands;
mod diagrams;
mod doors;
mod layers;
mod lints;
mod locks;
mod lost;
mod migrations;
mod owners;
mod pages;
mod purity;
mod rooms;
mod shipping;
mod size;
mod sources;
mod state;
mod syntax;
mod systems;
pub mod tree;
mod unused;
mod words;
mod writing;
