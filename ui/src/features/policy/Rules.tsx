// The rules as they are judged, and what history would have been without one, or under another profile.
import { useState } from "react";
import { capital, className, count, profileName, said, verdict } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { Backtested, RuleRow } from "~/ipc/generated/policy";
import type { PolicyVerdict, Profile, RuleEffect } from "~/ipc/generated/words";
import { Button, Segmented } from "~/primitives/Button";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateWord } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Link } from "@tanstack/react-router";
import table from "~/primitives/Table.module.css";
import styles from "./Policy.module.css";

const EFFECT: Readonly<Record<RuleEffect, PolicyVerdict>> = { forbid: "deny", ask: "require_approval", downgrade: "downgrade", permit: "allow" };
const ORDER = Object.keys(EFFECT);

export function Rules() {
  const profiles = useAsk("policy.profiles", {});
  const [profile, setProfile] = useState<Profile>("local_edit_allowed");
  const rules = useAsk("policy.rules", { profile }, { keep: true });
  const [at, setAt] = useState<string | null>(null);
  return (
    <Answer asked={profiles} what="the profiles" lines={12}>
      {(found) => (
        <div className={styles.screen}>
          <div className={`${styles.tools} ${styles.profiles}`}>
            <Segmented label="Profile" value={profile} onChange={setProfile} options={found.rows.map((one) => ({ value: one.profile, label: profileName(one.profile) }))} />
            <p>{capital(found.rows.find((one) => one.profile === profile)?.about ?? "")}</p>
          </div>
          <Answer asked={rules} what="the rules" isEmpty={(list) => list.rows.length === 0} empty={<Empty title="This profile has no rule" small />}>
            {(list) => {
              const rows = [...list.rows].sort((a, b) => ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect));
              const rule = rows.find((one) => one.name === at) ?? rows[0];
              return (
                <>
                  <div className={styles.rules}>
                    <table className={table.table}>
                      <thead><tr><th>Verdict</th><th className={styles.name}>Rule</th><th>Why</th></tr></thead>
                      <tbody>
                        {rows.map((one) => {
                          const word = verdict(EFFECT[one.effect]);
                          return (
                            <tr key={one.name} tabIndex={0} aria-selected={one === rule} onClick={() => setAt(one.name)} onKeyDown={(event) => event.key === "Enter" && setAt(one.name)}>
                              <td><StateWord tone={word.tone} mark={word.mark}>{word.word}</StateWord></td>
                              <td className={`${table.main} ${styles.name}`}><code>{one.name}</code></td>
                              <td>{capital(one.reason)}</td>
                            </tr>
                          );
                        })}
                      </tbody>
                    </table>
                    <p className={styles.order}>Deny overrides ask, and ask overrides allow. What no rule allows is denied, and so is every error.</p>
                  </div>
                  {rule !== undefined && (
                    <OneRule key={rule.name} rule={rule} profile={profile} digest={found.rows.find((one) => one.profile === profile)?.policy_set_sha256 ?? ""} />
                  )}
                </>
              );
            }}
          </Answer>
        </div>
      )}
    </Answer>
  );
}

function OneRule({ rule, digest, profile }: { rule: RuleRow; digest: string; profile: Profile }) {
  const word = verdict(EFFECT[rule.effect]);
  const test = useAct("policy.backtest");
  return (
    <aside className={styles.rule} aria-label="Rule">
      <header><StateWord tone={word.tone} mark={word.mark}>{word.word}</StateWord><code>{rule.name}</code></header>
      <p>{capital(rule.reason)}.</p>
      <Facts wide rows={[["Profile", profileName(profile)], ["Rules digest", <Hash key="digest" of={digest} />]]} />
      <h2>The rule in Cedar</h2>
      <pre>{rule.text}</pre>
      <h2>What if?</h2>
      <div className={styles.if}>
        <Button because={test.isPending ? "Testing against history" : null} onClick={() => test.mutate({ trial: { without: [rule.name] }, limit: 20 })}>Without this rule</Button>
        <Button because={test.isPending ? "Testing against history" : null} onClick={() => test.mutate({ profile, limit: 20 })}>Everything under this profile</Button>
      </div>
      {test.error !== null && <Failed error={test.error} />}
      {test.data !== undefined && <Told told={test.data} />}
      <p className={styles.note}>This test changes nothing.</p>
    </aside>
  );
}

export function Told({ told }: { told: Backtested }) {
  return (
    <div className={styles.told} role="status">
      <p><b>{count(told.judged, "action")} tested again</b>, {told.changed === 0 ? "none would change" : `${told.changed} would change`}{told.unreadable > 0 && `; ${told.unreadable} can no longer be read`}.</p>
      <ul>
        {told.counts.filter((turn) => turn.was !== turn.would).map((turn) => {
          const [was, would] = [verdict(turn.was), verdict(turn.would)];
          return (
            <li key={`${turn.was}>${turn.would}`}>
              <StateWord tone={was.tone} mark={was.mark}>{was.word}</StateWord> to <StateWord tone={would.tone} mark={would.mark}>{would.word}</StateWord>
              <span>{count(turn.acts, "action")}{turn.allowed > 0 && `, ${turn.allowed} you had approved`}{turn.refused > 0 && `, ${turn.refused} you had denied`}</span>
            </li>
          );
        })}
      </ul>
      <ul>
        {told.rows.map((row) => (
          <li key={row.action_request_id}>
            <Link to="/task/$id" params={{ id: row.task_id }} search={{ see: row.action_request_id }}><Words of={capital(said(row.summary))} /></Link>
            <span>{row.class !== null && `${className(row.class)}, `}<Time at={row.at} clock />{row.answered !== null && `, ${row.answered}`}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
