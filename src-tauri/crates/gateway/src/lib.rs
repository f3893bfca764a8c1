//! The same api over loopback HTTP, for whoever attaches to the process that holds the store.
