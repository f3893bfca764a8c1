// Versions of SOUL.md: the text of each, and what it changed of the one before.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "~/ipc/client";
import type { Identity, SoulVersion } from "~/ipc/generated/identity";
import { Button } from "~/primitives/Button";
import { FileDiff } from "~/primitives/Diff";
import { Hash } from "~/primitives/Hash";
import { useParts } from "~/primitives/Parts";
import { Answer, Loading, Trouble } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import styles from "./Identity.module.css";
import { sizeOf } from "./words";

export function AttestedTag({ is }: { is: boolean }) {
  return is ? <StateTag tone="done" mark="done">Attested</StateTag> : <StateTag tone="unknown" mark="unknown">Not attested</StateTag>;
}

/** A text as it is kept, every character of it: what is signed are exactly these bytes. */
export function Text({ of, version }: { of: string; version: number }) {
  return <div className={styles.text} tabIndex={0} role="region" aria-label={`Text of version ${version}`}><Words of={of} /></div>;
}

export function Versions({ of: all }: { of: readonly SoulVersion[] }) {
  const { shown, rest } = useParts(all);
  return (
    <section className={styles.section} aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ul className={styles.versions}>
        {shown.map((one) => <Version key={one.version} of={one} />)}
      </ul>
      {rest}
    </section>
  );
}

function Version({ of: one }: { of: SoulVersion }) {
  const [seen, setSeen] = useState<"text" | "changes" | null>(null);
  const see = (what: "text" | "changes") => setSeen(seen === what ? null : what);
  return (
    <li>
      <div className={styles.head}>
        <b>Version {one.version}</b>
        <Time at={one.written_at} ago />
        <Hash of={one.soul_sha256} />
        <AttestedTag is={one.attested} />
        {one.task_id !== null && <Link to="/task/$id" params={{ id: one.task_id }}>Its task</Link>}
      </div>
      <div className={styles.buttons}>
        {one.version > 1 && <Button aria-expanded={seen === "changes"} onClick={() => see("changes")}>What version {one.version} changed</Button>}
        <Button aria-expanded={seen === "text"} onClick={() => see("text")}>Text of version {one.version}</Button>
      </div>
      {seen === "text" && <Then version={one.version} />}
      {seen === "changes" && <Difference from={one.version - 1} to={one.version} />}
    </li>
  );
}

function Then({ version }: { version: number }) {
  const asked = useAsk("identity.show", { version });
  return <Answer asked={asked} what={`version ${version}`} lines={3}>{({ soul }) => (soul === null ? <p>Its text was erased.</p> : <Text of={soul} version={version} />)}</Answer>;
}

/** What one version changed of another. */
export function Difference({ from, to }: { from: number; to: number }) {
  const before = useAsk("identity.show", { version: from });
  const after = useAsk("identity.show", { version: to });
  const error = before.error ?? after.error;
  if (error !== null) return <Trouble error={error} what="what was changed" again={() => { void before.refetch(); void after.refetch(); }} />;
  if (before.data === undefined || after.data === undefined) return <Loading what="what was changed" lines={3} />;
  const side = (of: Identity) => ({ text: of.soul, missing: of.soul === null ? "gone" : null, sha256: of.soul_sha256 ?? "", byteSize: of.soul === null ? null : sizeOf(of.soul) });
  return (
    <div className={styles.difference} tabIndex={0} role="region" aria-label={`What version ${to} changed of version ${from}`}>
      <FileDiff file={{ op: "write", path: "SOUL.md", to: null, before: side(before.data), after: side(after.data), outcome: "done", edits: [] }} />
    </div>
  );
}
