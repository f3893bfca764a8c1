//! The requirement table, the report of what is proven, and golden data that strangers' tools check too.

mod table;
