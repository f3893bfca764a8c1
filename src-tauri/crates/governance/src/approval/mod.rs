//! A person's yes or no: what they are shown, what they sign, what is checked (HK-8.9, HK-16.7, governance.md 2).

mod card;
mod decision;
mod lookalikes;
mod machine;
mod packet;
mod passkey;
mod reach;
mod staged;
mod values;

pub use card::{Card, card};
pub(crate) use decision::belongs;
pub use decision::{answer, sign, verify, verify_denial};
pub use machine::{host_of_asking, machine_enrolment, machine_of, sign_at_machine};
pub use packet::{PacketInput, build_packet, packet_bytes};
pub use passkey::{
    COUNTER, Passkey, passkey, rp_id_of, sign_in_payload, sign_passkey, verify_by_passkey, verify_sign_in,
};
pub use values::{Values, values};
