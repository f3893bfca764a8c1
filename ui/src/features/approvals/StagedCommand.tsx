// What a command, or a tool of a server, did in a copy of the folder before anybody was asked: how it ended, and what it said.
import { capital, count } from "~/screen/words";
import { bytes } from "~/primitives/Diff";
import { Mark } from "~/primitives/Icon";
import { many } from "~/primitives/number";
import { Name, Words } from "~/primitives/Words";
import { type Packet, type Ran, callOf, quoted } from "./packet";
import { readable } from "./files";
import styles from "./Card.module.css";

/** What is on record of how it was run, as a person reads it. */
function inWords(note: string): string {
  return note.replace(/^staged by (.+), laid in (\d+) ms$/, "the copy was made in $2 ms ($1)").replace(/^the network was held$/, "it could reach no network");
}

export function StagedCommand({ packet, ran, changes }: { packet: Packet | null; ran: Ran; changes: number }) {
  const call = callOf(packet);
  const what = call === null ? { it: "command", said: "it printed", title: "What it printed", again: "the command does not run again" } : { it: "tool", said: "it answered", title: "What it answered", again: "the tool is not called again" };
  const end = call !== null ? "it answered" : ran.exitCode === null ? "it was stopped" : `exit code ${ran.exitCode}`;
  const left = ran.leftOut.reduce((sum, one) => sum + one.entries, 0);
  const shown = new TextEncoder().encode(ran.printed).length;
  return (
    <section className={styles.ran} aria-label={`What the ${what.it} did in a copy`}>
      <p>
        Already run in a copy of the folder, without the network: {end} after {took(ran.tookMs)}.{" "}
        {changes === 0 ? `It changed nothing. You are asked whether the model may see what ${what.said}.` : `Your folder is untouched. If you approve, exactly ${changes === 1 ? "this change is" : `these ${many(changes)} changes are`} copied over; ${what.again}.`}
      </p>
      {call !== null && (
        <figure>
          <figcaption><b><Words of={call.tool} /></b> of the server <b><Words of={call.server} /></b>, started as <code><Words of={call.argv.map(quoted).join(" ")} /></code>, with these arguments:</figcaption>
          <pre tabIndex={0} aria-label="Arguments"><Words of={call.given} /></pre>
        </figure>
      )}
      {ran.error !== "" && <p data-tone="grave"><Mark name="failed" /><span>It failed: <Words of={ran.error} /></span></p>}
      {ran.lookFirst !== "" && <p data-tone="grave"><Mark name="high" /><span>Read what {what.said} before you approve: <Words of={ran.lookFirst} /></span></p>}
      {left > 0 && (
        <p>
          <Mark name="moderate" />
          <span>
            {count(left, "changed file")} will not be copied, because the folder's own ignore rules name their places:{" "}
            {ran.leftOut.map((one, at) => <span key={one.path}>{at > 0 && ", "}{one.path === "" ? "elsewhere" : <code><Name of={readable(one.path)} /></code>} ({many(one.entries)})</span>)}
          </span>
        </p>
      )}
      {ran.notes.map((note) => <p key={note}><Mark name="low" /><span><Words of={capital(inWords(note))} /></span></p>)}
      {ran.printedBytes === 0 ? <p>{capital(what.said)} nothing.</p> : (
        <figure>
          <figcaption>{what.title}{shown < ran.printedBytes && `, the last ${bytes(shown)} of ${bytes(ran.printedBytes)}`}</figcaption>
          <pre tabIndex={0} aria-label={what.title}><Words of={ran.printed} /></pre>
        </figure>
      )}
    </section>
  );
}

function took(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
