//! The table of commands, parameters, answers, topics; TypeScript comes from here.
