// Which clocks are asked, and the wallet of this instance. Nothing is set until a person sets it.
import { useState } from "react";
import { useAct, useAsk, useHost } from "~/ipc/client";
import type { ClockSettings, SetClocks } from "~/ipc/generated/anchors";
import { Begun } from "~/primitives/Begun";
import { Button } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Facts } from "~/primitives/Facts";
import { Select, TextArea, TextField } from "~/primitives/Field";
import { many } from "~/primitives/number";
import { Answer, Failed, Said } from "~/primitives/States";
import { Words } from "~/primitives/Words";
import { capital, count } from "~/screen/words";
import styles from "./Anchors.module.css";
import { addresses, wholeFrom } from "./words";

const DEPTH_MAX = 1_000;
/** A year. */
const HOURS_MAX = 366 * 24;
const AS_IT_IS = "as it is";

export function Clocks() {
  const asked = useAsk("anchors.clocks", {});
  return (
    <section className={styles.section} aria-labelledby="clocks">
      <h2 id="clocks">Clocks</h2>
      <Answer asked={asked} what="which clocks are asked" lines={6}>
        {(by) => (
          <>
            <Now by={by} />
            <Begun of={by} by={(all) => all}>{(base, saved) => <Form by={base} saved={saved} />}</Begun>
            {by.bitcoin_node !== null && <Wallet />}
          </>
        )}
      </Answer>
    </section>
  );
}

/** What holds now, in words. */
function Now({ by }: { by: ClockSettings }) {
  if (by.authorities.length === 0 && by.calendars.length === 0 && by.bitcoin_node === null) {
    return <p>No clock is set. Nothing of your log leaves this machine, and nobody but you can say when it was there.</p>;
  }
  return (
    <p>
      {by.every_hours === 0 ? "No head is anchored by itself. " : `The newest head is anchored by itself every ${count(by.every_hours, "hour")} while Hermit is open, by clocks that cost nothing. `}
      {by.calendars.length > 0 && by.bitcoin_node === null && !by.has_headers_file && "Without a Bitcoin node or a file of its headers, what calendars say stays pending. "}
      {(by.calendars.length > 0 || by.bitcoin_node !== null) && `A head counts as anchored when ${count(by.depth, "block")} of Bitcoin ${by.depth === 1 ? "stands" : "stand"}, its own among them.`}
    </p>
  );
}

function Form({ by, saved }: { by: ClockSettings; saved: () => void }) {
  const host = useHost();
  const set = useAct("anchors.set_clocks", { taken: saved });
  const secrets = useAsk("secrets.list", {}).data?.secrets ?? [];
  const [authorities, setAuthorities] = useState(by.authorities.join("\n"));
  const [calendars, setCalendars] = useState(by.calendars.join("\n"));
  const [node, setNode] = useState(by.bitcoin_node ?? "");
  const [secret, setSecret] = useState(AS_IT_IS);
  const [cookie, setCookie] = useState("");
  const [headers, setHeaders] = useState("");
  const [depth, setDepth] = useState(String(by.depth));
  const [hours, setHours] = useState(String(by.every_hours));
  const login = by.has_bitcoin_secret ? "As it is: a secret" : by.has_bitcoin_cookie ? "As it is: its cookie file" : "As it is: none";
  // A page in a browser names no place of the machine that runs Hermit.
  const isBrowser = host.files !== undefined;
  const blocks = wholeFrom(depth, 1, DEPTH_MAX);
  const every = wholeFrom(hours, 0, HOURS_MAX);
  const list = (now: string, was: readonly string[]) => (addresses(now).join(" ") === was.join(" ") ? null : addresses(now));
  const [asked, calendar] = [list(authorities, by.authorities), list(calendars, by.calendars)];
  const wanted: SetClocks = {
    ...(asked === null ? {} : { authorities: asked }),
    ...(calendar === null ? {} : { calendars: calendar }),
    ...(node.trim() === (by.bitcoin_node ?? "") ? {} : { bitcoin_node: node.trim() }),
    ...(secret === AS_IT_IS ? {} : { bitcoin_secret: secret }),
    ...(cookie.trim() === "" ? {} : { bitcoin_cookie: cookie.trim() }),
    ...(headers.trim() === "" ? {} : { headers_file: headers.trim() }),
    ...(blocks === null || blocks === by.depth ? {} : { depth: blocks }),
    ...(every === null || every === by.every_hours ? {} : { every_hours: every }),
  };
  const because = set.isPending ? "Saving" : blocks === null ? `Name a number of blocks from 1 to ${many(DEPTH_MAX)}` : every === null ? `Name a number of hours up to ${many(HOURS_MAX)}` : Object.keys(wanted).length === 0 ? "Nothing is changed yet" : null;
  return (
    <form className={styles.form} aria-label="Clocks" onSubmit={(event) => { event.preventDefault(); if (because === null) set.mutate(wanted); }}>
      <TextArea label="Time-stamp authorities" rows={2} value={authorities} spellCheck={false} placeholder="https://freetsa.org/tsr" hint="Addresses, one a line (RFC 3161). They are asked in this order, until one answers." onChange={(event) => setAuthorities(event.target.value)} />
      <TextArea label="Calendars of OpenTimestamps" rows={3} value={calendars} spellCheck={false} placeholder={"https://alice.btc.calendar.opentimestamps.org\nhttps://bob.btc.calendar.opentimestamps.org"} hint="Addresses, one a line. All of them are asked, free of charge. They are run by others, who see 32 bytes and your address." onChange={(event) => setCalendars(event.target.value)} />
      <details open={by.bitcoin_node !== null || undefined}>
        <summary>A Bitcoin node of your own</summary>
        <div className={styles.form}>
          <TextField label="Address of the node" mono value={node} spellCheck={false} placeholder="http://127.0.0.1:8332" hint="It says whether a block holds an anchor, and pays for an anchor of your own. Empty for none." onChange={(event) => setNode(event.target.value)} />
          <Select
            label="Its name and password" value={secret} onChange={(event) => setSecret(event.target.value)}
            options={[{ value: AS_IT_IS, label: login }, { value: "", label: "None" }, ...secrets.map(({ handle }) => ({ value: handle, label: `secret:${handle}` }))]}
          />
          {isBrowser
            ? <div className={styles.form}><p>A cookie file, or a file of headers where you have no node, is named at a terminal: a page in a browser names no place of this machine. Stop Hermit, run one of these, and start it again:</p><Copyable text="hermit anchor clocks set --bitcoin-cookie ~/.bitcoin/.cookie" /><Copyable text="hermit anchor clocks set --headers-file FILE" /></div>
            : (
              <>
                <TextField label="Or its cookie file" mono value={cookie} spellCheck={false} placeholder="/home/you/.bitcoin/.cookie" hint={`On the machine that runs Hermit. ${by.has_bitcoin_cookie ? "One is set, and stays while this is empty." : "None is set."}`} onChange={(event) => setCookie(event.target.value)} />
                <TextField label="A file of Bitcoin's headers" mono value={headers} spellCheck={false} placeholder="/home/you/headers.bin" hint={`Where you have no node. ${by.has_headers_file ? "One is set, and stays while this is empty." : "None is set."}`} onChange={(event) => setHeaders(event.target.value)} />
              </>
            )}
        </div>
      </details>
      <div className={styles.pair}>
        <TextField label="Blocks that must stand" inputMode="numeric" value={depth} hint="With the block that holds it. More blocks are harder to undo." onChange={(event) => setDepth(event.target.value)} />
        <TextField label="By itself, every so many hours" inputMode="numeric" value={hours} hint="0 for never. It asks you each time, unless you allowed it from now on." onChange={(event) => setHours(event.target.value)} />
      </div>
      <div className={styles.buttons}><Button type="submit" because={because}>Save clocks</Button></div>
      {because !== null && !set.isPending && <p className={styles.note}>{because}.</p>}
      {set.error !== null && <Failed error={set.error} />}
    </form>
  );
}

/** Asked when a person asks: it speaks with their node. */
function Wallet() {
  const look = useAct("anchors.wallet");
  const satoshi = (sum: number | null) => (sum === null ? "Not known" : `${many(sum)} satoshi`);
  return (
    <section className={styles.section} aria-labelledby="wallet">
      <h3 id="wallet">Wallet of this instance</h3>
      <p>An anchor of your own is paid from it. Anchors at authorities and calendars need no money.</p>
      <div className={styles.buttons}><Button because={look.isPending ? "Asking your node" : null} onClick={() => look.mutate({})}>Ask your node what it holds</Button></div>
      {look.data !== undefined && (
        <>
          <Facts wide rows={[["Holds", satoshi(look.data.balance)], ["An anchor costs", satoshi(look.data.fee)]]} />
          {look.data.address !== null && <Copyable text={look.data.address} />}
          {look.data.says !== null && <Said tone="note"><Words of={capital(look.data.says)} />.</Said>}
        </>
      )}
      {look.error !== null && <Failed error={look.error} />}
    </section>
  );
}
