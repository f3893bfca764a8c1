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

/** Whether the person let the browser's maker hear them, as long as the page is open. */
let hasAgreed = false;

const WHY: Readonly<Record<string, string>> = {
  "not-allowed": "The microphone is not allowed for this page. Allow it in the browser's or the system's settings, then press Dictate again.",
  "service-not-allowed": "Dictation is not allowed for this page. Allow it in the browser's or the system's settings, then press Dictate again.",
  "audio-capture": "No microphone was found. Connect one, then press Dictate again.",
  "no-speech": "Nothing was heard. Press Dictate again and speak.",
  network: "The service that writes the words down cannot be reached. Type instead, or try again when you are online.",
  "language-not-supported": "Dictation is not available in the language of your browser.",
};

/** Speaks into a field. Where the platform has no dictation there is no button. Listening ends with the field and with its words. */
export function Dictate({ text, onSpoken }: { text: string; onSpoken: (text: string) => void }) {
  const recognisers = platform();
  const at = useRef<Recogniser | null>(null);
  const [isOn, setOn] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [guess, setGuess] = useState("");
  const [why, setWhy] = useState<string | null>(null);
  const isHere = useRef(true);
  // What the field holds now: words come in long after the recogniser was started.
  const now = useRef({ text, onSpoken });
  useEffect(() => { now.current = { text, onSpoken }; });
  const end = () => {
    const one = at.current;
    at.current = null;
    setOn(false);
    setGuess("");
    one?.abort();
  };
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
      const one = at.current;
      at.current = null;
      one?.abort();
    };
  }, []);
  // Words that were sent are over: what is still being heard belongs to no other message.
  const was = useRef(text);
  useEffect(() => {
    if (was.current !== "" && text === "") end();
    was.current = text;
  }, [text]);
  if (recognisers === undefined) return null;

  const lang = navigator.language;
  const begin = (local: boolean) => {
    const one = new recognisers();
    const isOver = () => at.current !== one;
    one.lang = lang;
    one.continuous = true;
    one.interimResults = true;
    if (local) one.processLocally = true;
    one.onresult = ({ resultIndex, results }) => {
      if (isOver()) return;
      const heard = Array.from({ length: results.length - resultIndex }, (_, n) => results[resultIndex + n]).filter((one) => one !== undefined);
      const words = (final: boolean) => heard.filter((one) => one.isFinal === final).map((one) => one[0]?.transcript.trim() ?? "").filter(Boolean).join(" ");
      const said = words(true);
      if (said !== "") {
        const before = now.current.text.trimEnd();
        const whole = before === "" ? said : `${before} ${said}`;
        // Several may come before the field was drawn again.
        now.current = { ...now.current, text: whole };
        now.current.onSpoken(whole);
      }
      setGuess(words(false));
    };
    one.onerror = ({ error }) => { if (!isOver()) setWhy(error === "aborted" ? null : (WHY[error] ?? `Dictation ended: ${error}.`)); };
    one.onend = () => { if (!isOver()) end(); };
    setWhy(null);
    at.current = one;
    try {
      one.start();
      setOn(true);
    } catch (thrown) {
      at.current = null;
      setWhy(`Dictation could not start: ${thrown instanceof Error ? thrown.message : String(thrown)}.`);
    }
  };
  const press = async () => {
    if (at.current !== null) return at.current.stop();
    setStarting(true);
    const local = await isLocal(recognisers, lang);
    if (!isHere.current) return;
    setStarting(false);
    if (!local && !hasAgreed) setAsking(true);
    else begin(local);
  };
  return (
    <>
      <Button look="quiet" icon="microphone" aria-pressed={isOn} because={isStarting ? "Starting" : null} onClick={() => void press()}>{isOn ? "Stop dictating" : "Dictate"}</Button>
      {isAsking && (
        <div className={styles.asked} role="group" aria-label="Before you dictate">
          <p>Your browser may send the sound to its maker, who writes the words down. Hermit gets only the words, and marks them as spoken. Spoken words approve nothing: you approve on the card.</p>
          <Button onClick={() => { hasAgreed = true; setAsking(false); begin(false); }}>Dictate</Button>
          <Button look="quiet" onClick={() => setAsking(false)}>Type instead</Button>
        </div>
      )}
      {(guess !== "" || why !== null) && <p className={styles.why} role="status">{why ?? <>Hearing: <Words of={guess} /></>}</p>}
    </>
  );
}
