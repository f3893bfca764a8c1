//! What machines say to each other that learn together: whole or not at all, in order, and of nobody who is not paired.

use crate::nodes::{NOW, One, two};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mesh::{Capabilities, Command, Delivered, Error, Happened, NodeId, PARCEL_BYTES_MAX, State, Step};
use seal::Digest;

fn say(one: &mut One, to: NodeId, content: Vec<u8>) -> Result<Step, Error> {
    let step = one.node.handle(Happened::Said(Command::Training { to, content }), NOW, &mut one.chance)?;
    one.facts.extend(step.facts.clone());
    Ok(step)
}

#[test]
fn the_largest_content_comes_piece_by_piece_and_a_larger_one_is_refused_before_anything_is_sent() {
    let (mut one, mut other) = two();
    // Until it says that it understands them, nothing goes to it.
    assert_eq!(say(&mut one, other.id, vec![1]), Err(Error::NotHeard(other.id)));
    let relays = vec!["wss://relay.example".to_owned()];
    let told = Command::Tell { can: Capabilities::default(), load: 0, relays };
    let told = other.does(Happened::Said(told));
    one.hears(&told);
    let content: Vec<u8> = (0..PARCEL_BYTES_MAX).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let said = say(&mut one, other.id, content.clone()).unwrap();
    let (mut bytes, mut count) = (Vec::new(), 0);
    for delivered in other.hears(&said).deliver {
        let Delivered::Training { from, part } = delivered else { panic!("{delivered:?}") };
        assert_eq!((from, part.index, part.count, part.whole), (one.id, count, 15, Digest::of(&content)));
        bytes.extend(STANDARD.decode(&part.data).unwrap());
        count += 1;
    }
    assert!(bytes == content);
    for wrong in [vec![1; PARCEL_BYTES_MAX + 1], Vec::new()] {
        assert_eq!(say(&mut one, other.id, wrong), Err(Error::TooLarge));
    }
    let stranger = NodeId(Digest::of(b"nobody"));
    assert_eq!(say(&mut one, stranger, vec![1]), Err(Error::NotPaired(stranger)));
    for node in [&one, &other] {
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state());
    }
}
