//! Words by which a sentence that cites is judged.

/// Who speaks of what they did.
pub(super) const FIRST_PERSON: &str = "i we i've we've i'm hermit assistant agent";
/// Words that compare, order, limit or say what has changed: they are no manner of speaking, and stand in the record as well.
pub(super) const WEIGHTY: &str = "cheaper cheapest faster fastest slower slowest larger largest smaller smallest more less fewer \
    most least higher highest lower lowest better best worse worst newer older oldest longer longest shorter shortest stronger \
    strongest first last second twice same different only both no longer again earlier later before after until half double \
    instead still already yet new old left either neither";
/// Verbs by which a text is told of.
pub(super) const TELLS: &str = "according says said states reads lists shows contains reports mentions describes titled title titles \
    ends begins opens includes called listed named mentioned described stated reported noted scheduled addressed excluded \
    included entered asks";
/// Those of them by which a sentence says that a text says so.
pub(super) const SAYS: &str = "according says said states claims reads lists shows contains reports mentions describes answered answers includes begins \
    starts ends columns";
/// Verbs in the past that put something in other words.
pub(super) const SOFT: &str = "gave told took got went came held used kept had";
/// Words of what did not go well: who leaves them all out tells another thing.
pub(super) const TROUBLE: &str = "error errors failed failure denied refused required missing unable cannot";
/// Parts of words of a fault: who tells of one needs one.
pub(super) const AILS: &str = "error fail fault bug crash broken invalid corrupt exception panic abort";
/// What a text is called.
pub(super) const TEXTS: &str = "file document summary table letter translation report script list section draft page text note \
    notes readme config configuration item commit";
/// What words of an act are called.
pub(super) const WORDS: &str = "file document summary table letter translation report script list section draft page text note \
    notes readme config configuration item commit mail email message comment event query reply invitation request";
/// Words that say nothing of what is spoken of.
pub(super) const LITTLE: &str = "id url api readme down afterwards finally currently";
/// Words that lead to a recipient, a place or a purpose.
pub(super) const LEADS: &str = "to with for on at by from into onto in via through against of";
/// Forms of `to be`.
pub(super) const BE: &str = "was were is are be been being wasn't weren't isn't aren't got it's that's";
/// Words of what is to come, or could be.
pub(super) const MODALS: &str = "could can to will would should may might must";
/// Words between a helper and its verb.
pub(super) const ADVERBS: &str = "not now also already all both then";
/// What is numbered rather than counted.
pub(super) const NUMBERED: &str = "line row column page port step chapter version item place";
/// Words by which a sentence speaks of what was so before.
pub(super) const THEN: &str =
    "was were had wasn't weren't before previously originally initially formerly earlier old until used said";
