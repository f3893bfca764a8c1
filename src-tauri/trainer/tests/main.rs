//! The program that trains, with a llama of two layers that the tests make themselves. `HERMIT_TRAINER_STEPS` makes the
//! runs longer.

mod exporting;
mod learning;
mod llama;
mod plain_loop;
mod real;
mod refusing;
mod tiny;
mod together;
