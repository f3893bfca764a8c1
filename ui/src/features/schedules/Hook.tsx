// The hook that a schedule waits for: where it is called, how a call is signed, and what became of calls.
import type { ScheduleHook } from "~/ipc/generated/schedules";
import type { CallRefused } from "~/ipc/generated/words";
import { useHost } from "~/ipc/client";
import { lookUp } from "~/ipc/words";
import { Facts } from "~/primitives/Facts";
import { Words } from "~/primitives/Words";
import { capital, count } from "~/screen/words";
import styles from "./Schedules.module.css";

const REFUSED: Readonly<Record<CallRefused, string>> = {
  signature: "was not signed with its secret", time: "was signed more than 5 minutes before or after it came", too_large: "was larger than 64 KiB", too_many: "came with too many others",
};

/** A call by hand; the secret stands in the variable `SECRET`. */
const call = (url: string) => [
  "body='{\"what\":\"deployed\"}'; id=msg_$(openssl rand -hex 8); at=$(date +%s)",
  "key=$(printf %s \"${SECRET#whsec_}\" | base64 -d | od -An -v -tx1 | tr -d ' \\n')",
  "sig=$(printf %s \"$id.$at.$body\" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$key -binary | base64)",
  "curl -H \"webhook-id: $id\" -H \"webhook-timestamp: $at\" -H \"webhook-signature: v1,$sig\" \\",
  `  --data-binary "$body" ${url}`,
].join("\n");

export function Hook({ hook, schedule }: { hook: ScheduleHook; schedule: string }) {
  const { kind } = useHost();
  // In the app's own window the page has no address that a program could call, and at a name for other devices only pages come in.
  const here = window.location.origin;
  const isLocal = /^http:\/\/(127\.0\.0\.1|localhost):/.test(here);
  const url = `${isLocal ? here : "http://127.0.0.1:PORT"}${hook.path}`;
  return (
    <section aria-label={`Hook ${hook.name}`}>
      <h3>Hook</h3>
      {!hook.has_secret && <p role="status">No call is taken until it has a secret. Make one at a terminal, which tells it once: <code>hermit schedule secret {schedule}</code></p>}
      <Facts wide rows={[
        ["Called at", <span key="url"><code><Words of={url} /></code>{kind === "http" && !isLocal && " on the computer that runs Hermit. The address of this page takes no calls."}</span>],
        ["Signed", "As Standard Webhooks, or as GitHub, which takes the secret as it is"],
        ["Calls", `${capital(count(hook.called, "call"))}${hook.waiting === 0 ? "" : `, ${hook.waiting} of them wait for a run`}`],
        hook.refused === 0 ? null : ["Refused", `${capital(count(hook.refused, "call"))}${hook.last_refused === null ? "" : `; the last one ${lookUp(REFUSED, hook.last_refused, hook.last_refused)}`}`],
        ["New secret", <code key="secret">hermit schedule secret {schedule}</code>],
      ]} />
      <details>
        <summary>A call by hand</summary>
        <pre className={styles.example}>{call(url)}</pre>
      </details>
    </section>
  );
}
