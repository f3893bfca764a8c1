// The closing answer of a model, sentence by sentence, each with what shows it: receipts, what was seen, words to compare it with, or nothing.
import type { ReactNode } from "react";
import type { AnswerCheck, AnswerSentence } from "~/ipc/generated/answer";
import { ToCompare, Unverified } from "~/primitives/Tag";
import { Prose, Words } from "~/primitives/Words";
import { isBare, quotesOf } from "./answer";
import styles from "./CheckedAnswer.module.css";

/** `cite` shows a receipt. Where nothing is shown at all, one mark stands above the answer instead of one behind each sentence. */
export function CheckedAnswer({ check, cite }: { check: AnswerCheck; cite: (receipt: string) => ReactNode }) {
  const bare = isBare(check);
  return (
    <>
      {check.sentences.map((one, at) => (
        <span key={at} className={styles.sentence} data-support={one.support}>
          {one.gap}<Prose of={one.plain ?? one.text} />{!bare && <Support of={one} cite={cite} />}
        </span>
      ))}
    </>
  );
}

const NAMED = 3;

/** What shows a sentence. Where the model proposed the record, or not each word is the record's, the record's own words stand beside it. */
function Support({ of, cite }: { of: AnswerSentence; cite: (receipt: string) => ReactNode }) {
  switch (of.support) {
    case "receipt": return <>{of.receipts.slice(0, NAMED).map(cite)}{of.receipts.length > NAMED && <span className={styles.source}>and {of.receipts.length - NAMED} more</span>}<Quotes of={of} /></>;
    case "evidence": return <>{of.sources.slice(0, of.cited ? NAMED : 1).map((source) => <span key={source.artifact_id} className={styles.source} title={`${of.cited ? "The model cites what the agent saw" : "These words stand in what the agent saw"}: ${source.title}`}><Words of={source.title} /></span>)}<Quotes of={of} /></>;
    case "absence": return <span className={styles.source} title="No receipt of this task says otherwise">no receipt says otherwise</span>;
    case "unverified": return of.near !== null ? <span className={styles.mark} title={`It is told like what is on record, and not every word of it is${of.because === null ? "" : `: ${of.because}`}`}><ToCompare /><Quotes of={of} /></span> : <span className={styles.mark} title={`Nothing on record shows this${of.because === null ? "" : `: ${of.because}`}`}><Unverified />{quotesOf(of).length > 0 && <> compare with <Quotes of={of} /></>}</span>;
    case "claimless": return null;
  }
}

function Quotes({ of }: { of: AnswerSentence }) {
  return <>{quotesOf(of).map((quote) => <q key={quote} className={styles.quote} title="What the record says, in its own words"><Words of={quote} /></q>)}</>;
}
