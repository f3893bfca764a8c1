// Words that are spoken, written down by the browser or the system where it can: they stand in the field like words that were
// typed, may be changed before they are sent, and are sent with the mark that they were spoken. Hermit never gets the sound.
import { useEffect, useRef, useState } from "react";
import { Button } from "~/primitives/Button";
import { Words } from "~/primitives/Words";
import styles from "./Enclosing.module.css";

/** What the platform tells of what was said; what is final changes no more. */
interface Heard { resultIndex: number; results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }> }

/** The platform's recogniser (Web Speech API), as far as it is used here. */
interface Recogniser {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  processLocally?: boolean;
  start(): void;
  abort(): void;
  stop(): void;
  onresult: ((heard: Heard) => void) | null;
  onerror: ((failed: { error: string }) => void) | null;
  onend: (() => void) | null;
}
interface Recognisers { new (): Recogniser; available?: (of: { langs: string[]; processLocally: boolean }) => Promise<string> }

/** The platform's recogniser, where it has one. */
function platform(): Recognisers | undefined {
  const here = globalThis as { SpeechRecognition?: Recognisers; webkitSpeechRecognition?: Recognisers };
  return here.SpeechRecognition ?? here.webkitSpeechRecognition;
}

/** Whether the sound stays on this machine, as far as the platform says so. */
async function isLocal(of: Recognisers, lang: string): Promise<boolean> {
  try {
    return (await of.available?.({ langs: [lang], processLocally: true })) === "available";
  } catch {
    return false;
  }
}

const AGREED = "hermit.dictation.agreed";
const hasAgreed = () => {
  try {
    return localStorage.getItem(AGREED) === "yes";
  } catch {
    return false;
  }
};
const agree = () => {
  try {
    localStorage.setItem(AGREED, "yes");
  } catch {
    // It is asked again the next time.
  }
};

const WHY: Readonly<Record<string, string>> = {
  "not-allowed": "The microphone is not allowed for this page. Allow it in the browser's or the system's settings, then press Dictate again.",
  "service-not-allowed": "Dictation is not allowed for this page. Allow it in the browser's or the system's settings, then press Dictate again.",
  "audio-capture": "No microphone was found. Connect one, then press Dictate again.",
  "no-speech": "Nothing was heard. Press Dictate again and speak.",
  network: "The service that writes the words down cannot be reached. Type instead, or try again when you are online.",
  "language-not-supported": "Dictation is not available in the language of your browser.",
};

/** Speaks into a field. Where the platform has no dictation there is no button. */
export function Dictate({ text, onSpoken }: { text: string; onSpoken: (text: string) => void }) {
  const recognisers = platform();
  const [at, setAt] = useState<Recogniser | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [guess, setGuess] = useState("");
  const [why, setWhy] = useState<string | null>(null);
  // What the field holds now: words come in long after the recogniser was started.
  const now = useRef({ text, onSpoken });
  useEffect(() => { now.current = { text, onSpoken }; });
  useEffect(() => () => at?.abort(), [at]);
  if (recognisers === undefined) return null;

  const lang = navigator.language;
  const begin = (local: boolean) => {
    const one = new recognisers();
    one.lang = lang;
    one.continuous = true;
    one.interimResults = true;
    if (local) one.processLocally = true;
    one.onresult = ({ resultIndex, results }) => {
      const heard = Array.from({ length: results.length - resultIndex }, (_, n) => results[resultIndex + n]).filter((one) => one !== undefined);
      const words = (final: boolean) => heard.filter((one) => one.isFinal === final).map((one) => one[0]?.transcript.trim() ?? "").filter(Boolean).join(" ");
      const said = words(true);
      if (said !== "") {
        const before = now.current.text.trimEnd();
        now.current.onSpoken(before === "" ? said : `${before} ${said}`);
      }
      setGuess(words(false));
    };
    one.onerror = ({ error }) => setWhy(error === "aborted" ? null : (WHY[error] ?? `Dictation ended: ${error}.`));
    one.onend = () => { setAt(null); setGuess(""); };
    setWhy(null);
    try {
      one.start();
      setAt(one);
    } catch (thrown) {
      setWhy(`Dictation could not start: ${thrown instanceof Error ? thrown.message : String(thrown)}.`);
    }
  };
  const press = async () => {
    if (at !== null) return at.stop();
    const local = await isLocal(recognisers, lang);
    if (!local && !hasAgreed()) setAsking(true);
    else begin(local);
  };
  return (
    <>
      <Button look="quiet" icon="microphone" aria-pressed={at !== null} onClick={() => void press()}>{at === null ? "Dictate" : "Stop dictating"}</Button>
      {isAsking && (
        <div className={styles.asked} role="group" aria-label="Before you dictate">
          <p>Your browser may send the sound to its maker, who writes the words down. Hermit gets the words alone, marked as spoken, and they allow nothing: a card is answered by hand.</p>
          <Button onClick={() => { agree(); setAsking(false); begin(false); }}>Dictate</Button>
          <Button look="quiet" onClick={() => setAsking(false)}>Type instead</Button>
        </div>
      )}
      {(guess !== "" || why !== null) && <p className={styles.why} role="status">{why ?? <>Hearing: <Words of={guess} /></>}</p>}
    </>
  );
}
