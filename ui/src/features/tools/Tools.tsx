// Servers of tools, and skills beside them: what each says of its tools, which files and hosts it has, and what a person said that a tool may do.
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useFirst } from "~/screen/first";
import { quoted } from "~/features/approvals/packet";
import { Screen } from "~/screen/Screen";
import { capital, className, count, plain, result, said } from "~/screen/words";
import { useAct, useAsk } from "~/ipc/client";
import type { LastCall, Server, Shown, Tool, Words as Said } from "~/ipc/generated/tools";
import type { ToolServerState } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { Button, Segmented } from "~/primitives/Button";
import { Copyable } from "~/primitives/Copyable";
import { Facts } from "~/primitives/Facts";
import { Hash } from "~/primitives/Hash";
import { Answer, Empty, Failed } from "~/primitives/States";
import { StateTag } from "~/primitives/Tag";
import { Time } from "~/primitives/Time";
import { Words } from "~/primitives/Words";
import { Classify } from "./Classify";
import { Login } from "./Login";
import { Skills } from "./Skills";
import styles from "./Tools.module.css";

const LOOK: Readonly<Record<ToolServerState, { tone: "done" | "waiting" | "failed"; mark: "done" | "waiting" | "deny" }>> = {
  ready: { tone: "done", mark: "done" }, changed: { tone: "waiting", mark: "waiting" }, disabled: { tone: "failed", mark: "deny" }, unreadable: { tone: "failed", mark: "deny" },
};

const TABS = ["servers", "skills"] as const;
type Tab = (typeof TABS)[number];

export function Tools({ of, at }: { of?: string | undefined; at?: string | undefined }) {
  const navigate = useNavigate();
  const tab: Tab = TABS.find((one) => one === at) ?? "servers";
  return (
    <Screen
      title="Tools"
      sub={(
        <Segmented<Tab>
          label="Which" value={tab} onChange={(to) => void navigate({ to: "/tools", search: to === "servers" ? {} : { tab: to }, replace: true })}
          options={[{ value: "servers", label: "Servers (MCP)" }, { value: "skills", label: "Skills" }]}
        />
      )}
    >
      {tab === "servers" ? <Servers of={of} /> : <Skills of={of} />}
    </Screen>
  );
}

function Servers({ of }: { of?: string | undefined }) {
  const asked = useAsk("tools.list", {});
  const navigate = useNavigate();
  const chosen = useFirst(asked.data?.servers ?? [], (one) => one.server, of);
  return (
    <Answer asked={asked} what="servers of tools" isEmpty={(found) => found.servers.length === 0} empty={<Empty title="No servers of tools">A model can use the tools of an MCP server in any task. Hermit asks you about each call until you say what a tool may do.<Adding /></Empty>}>
      {(found) => {
        return (
          <div className={styles.screen}>
            <nav aria-label="Servers" className={styles.servers}>
              <ul>
                {found.servers.map((one) => (
                  <li key={one.server}>
                    <Link to="/tools" search={{ of: one.server }} aria-current={one.server === chosen?.server ? "true" : undefined}>
                      <b><Words of={one.server} /></b><State server={one} /><span>{count(one.tools.length, "tool")}</span>
                    </Link>
                  </li>
                ))}
              </ul>
              <Adding />
            </nav>
            {chosen !== undefined && <One key={chosen.server} server={chosen} gone={() => void navigate({ to: "/tools" })} />}
          </div>
        );
      }}
    </Answer>
  );
}

function State({ server }: { server: Server }) {
  const look = lookUp(LOOK, server.state, LOOK.unreadable);
  return <StateTag tone={look.tone} mark={look.mark}>{capital(server.state)}</StateTag>;
}

/** How a server is added. It starts a program, so only a person at a terminal does it. */
function Adding() {
  return (
    <details className={styles.adding}>
      <summary>Add a server</summary>
      <p>Adding a server starts a program on this computer, so you do it in a terminal. Hermit starts it without network, with the folder read-only, and asks you before it registers anything.</p>
      <Copyable text="hermit tools add NAME -- PROGRAM ARGUMENTS" />
      <p>Set its variables with <code>--env NAME=VALUE</code>, and give it a secret with <code>--secret NAME=HANDLE</code>.</p>
      <p>A server that runs elsewhere:</p>
      <Copyable text="hermit tools add NAME --url URL" />
      <p>If that server wants you to log in, do that first:</p>
      <Copyable text="hermit tools login NAME --url URL" />
      <p>From a file of Claude Desktop, Cursor or VS Code:</p>
      <Copyable text="hermit tools import FILE" />
    </details>
  );
}

function One({ server, gone }: { server: Server; gone: () => void }) {
  const asked = useAsk("tools.show", { server: server.server }, { enabled: server.state !== "unreadable" });
  const disable = useAct("tools.disable");
  const remove = useAct("tools.remove");
  const [forget, setForget] = useState(false);
  const failed = disable.error ?? remove.error;
  return (
    <section className={styles.one} aria-label={server.server}>
      <header>
        <h2><Words of={server.server} /></h2><State server={server} />
        <span className={styles.space} />
        {server.state !== "disabled" && <Button because={disable.isPending ? "Disabling" : null} onClick={() => disable.mutate({ server: server.server, reason: "disabled on the page" })}>Disable</Button>}
        {forget
          ? <Button look="danger" because={remove.isPending ? "Forgetting" : null} onClick={() => remove.mutate({ server: server.server }, { onSuccess: gone })}>Forget it and what I said of its tools</Button>
          : <Button onClick={() => setForget(true)}>Forget</Button>}
      </header>
      {failed !== null && <Failed error={failed} />}
      {server.why !== null && <p className={styles.why} role="status"><Words of={capital(server.why)} />. To see the difference and register it again:</p>}
      {server.state !== "ready" && <Copyable text={`hermit tools add ${server.server} --again`} />}
      {server.url !== null && server.state !== "unreadable" && <Login key={server.server} server={server} />}
      {server.state !== "unreadable" && <Answer asked={asked} what="what the server says" lines={6}>{(shown) => <Whole shown={shown} />}</Answer>}
    </section>
  );
}

function Whole({ shown }: { shown: Shown }) {
  const { server } = shown;
  const secrets = Object.entries(shown.secrets);
  const variables = Object.entries(shown.variables);
  return (
    <>
      <Facts ruled rows={[
        server.url === null
          ? ["Started as", <code key="argv"><Words of={server.argv.join(" ")} /></code>]
          : ["Address", <code key="url"><Words of={server.url} /></code>],
        shown.package === null ? null : ["Package", <Words key="package" of={capital(shown.package.replace(/^the /, ""))} />],
        ["Network", server.hosts.length === 0 ? "none" : <Words key="hosts" of={server.hosts.join(", ")} />],
        secrets.length === 0 ? null : ["Secrets", secrets.map(([variable, handle]) => <div key={variable}>{server.url === null
          ? <><code><Words of={variable} /></code> stands for <code>secret:<Words of={handle} /></code>, whose value the server never gets</>
          : <>the header <code><Words of={variable} /></code> carries {handle.startsWith("login.") ? "the token of your log-in" : <code>secret:<Words of={handle} /></code>}, to this address only</>}</div>)],
        variables.length === 0 ? null : ["Variables", variables.map(([variable, value]) => <div key={variable}><code><Words of={`${variable}=${value}`} /></code></div>)],
        ["Folder", server.url === null ? "the task's folder, read-only, or a copy of it for a tool that changes files; files that look like keys are hidden" : "none; it gets only what the arguments of a call hold"],
        shown.reads.length === 0 ? null : ["Also reads", shown.reads.map((place) => <div key={place}><Words of={place} /></div>)],
        server.url !== null ? null : ["Program", shown.pins.length === 0 ? "not pinned" : shown.pins.map((pin) => <div key={pin.name} className={styles.pin}><Words of={pin.path} /><Hash of={pin.sha256} what="program" /></div>)],
        ["Registered", <span key="since" className={styles.pin}><Time at={server.since} /><Hash of={server.manifest_sha256} what="what it says of its tools" /></span>],
      ]} />
      <h3>{capital(count(server.tools.length, "tool"))}</h3>
      <ul className={styles.tools}>
        {server.tools.map((tool) => {
          const words = shown.words.find((one) => one.name === tool.name);
          return <li key={tool.name}>{words !== undefined && <OneTool server={server} tool={tool} words={words} />}</li>;
        })}
      </ul>
      <Others shown={shown} />
      <Calls calls={shown.calls} />
    </>
  );
}

/** What its tools did lately, each call with the way to its task and its receipt. */
function Calls({ calls }: { calls: readonly LastCall[] }) {
  if (calls.length === 0) return null;
  return (
    <>
      <h3>Latest calls</h3>
      <ul className={styles.calls} aria-label="Latest calls">
        {calls.map((call) => (
          <li key={`${call.task_id} ${call.at} ${call.receipt_id ?? ""}`}>
            <code><Words of={said(call.summary)} /></code>
            <span><Time at={call.at} /> <span>{call.result === null ? capital(plain(call.state)) : result(call.result).word}</span> {call.receipt_id === null ? <Link to="/task/$id" params={{ id: call.task_id }}>Task</Link> : <Link to="/task/$id" params={{ id: call.task_id }} search={{ see: call.receipt_id }}>Receipt</Link>}</span>
            {call.why != null && <p className={styles.words}><Words of={call.why} /></p>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Resources and prompts: what a model may read, and what a person may ask for. */
function Others({ shown }: { shown: Shown }) {
  const changed = <StateTag tone="waiting" mark="waiting">Changed since you registered it; not read</StateTag>;
  return (
    <>
      {shown.passed_on && <p className={styles.words}>Its classified tools are passed on to agents of other programs.</p>}
      {shown.sampling !== null && <p className={styles.words}>May ask the model of a task, <Words of={shown.sampling} />.</p>}
      {shown.left_out.map((why) => <p key={why} className={styles.words}>Left out, and not used: <Words of={why} /></p>)}
      {shown.resources.length > 0 && <h3>{capital(count(shown.resources.length, "resource"))}</h3>}
      {shown.resources.length > 0 && (
        <ul className={styles.tools}>
          {shown.resources.map((one) => (
            <li key={`${one.uri}`}>
              <article aria-label={one.uri}>
                <header><b><Words of={one.uri} /></b>{one.is_template && <span>Addresses of this form</span>}{one.changed && changed}</header>
                <p className={styles.words}><Words of={one.description ?? one.title ?? one.name} /></p>
              </article>
            </li>
          ))}
        </ul>
      )}
      {shown.prompts.length > 0 && <h3>{capital(count(shown.prompts.length, "prompt"))}</h3>}
      {shown.prompts.length > 0 && (
        <ul className={styles.tools}>
          {shown.prompts.map((one) => (
            <li key={one.name}>
              <article aria-label={one.name}>
                <header><b><Words of={one.title ?? one.name} /></b>{one.changed && changed}</header>
                <p className={styles.words}><Words of={one.description ?? "The server says nothing about it."} /></p>
                <Copyable text={["hermit", "tools", "prompt", shown.server.server, ...(one.name.startsWith("-") ? ["--"] : []), one.name, ...one.arguments.filter((argument) => argument.required).map((argument) => `${argument.name}=`)].map(quoted).join(" ")} />
              </article>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function OneTool({ server, tool, words }: { server: Server; tool: Tool; words: Said }) {
  const [isOpen, setOpen] = useState(false);
  const off = useAct("tools.disable");
  const named = ([["Paths", tool.paths], ["Hosts", tool.hosts], ["Amounts", tool.amounts]] as const).filter(([, pointers]) => pointers.length > 0);
  return (
    <article aria-label={tool.name}>
      <header>
        <b><Words of={tool.name} /></b>
        {tool.changed
          ? <StateTag tone="waiting" mark="waiting">Changed since you registered it; not called</StateTag>
          : tool.class === null
          ? <StateTag tone="waiting" mark="waiting">{tool.off ? "Switched off: you are asked each time" : "Not classified: you are asked each time"}</StateTag>
          : <StateTag tone="done" mark="done">{capital(className(tool.class))}{tool.repeatable && ", may be repeated"}{tool.trusted && ", answers trusted"}{tool.time_limit_s !== null && `, ${tool.time_limit_s} s at most`}</StateTag>}
        <span className={styles.space} />
        {server.state === "ready" && !tool.changed && <Button onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>{tool.class === null ? "Classify" : "Classify again"}</Button>}
        {tool.class !== null && <Button because={off.isPending ? "Switching off" : null} onClick={() => off.mutate({ server: server.server, tool: tool.name, reason: "switched off on the page" })}>Switch off what I said</Button>}
      </header>
      {off.error !== null && <Failed error={off.error} />}
      {named.length > 0 && <p className={styles.words}>{named.map(([what, pointers]) => `${what} in its arguments: ${pointers.join(", ")}`).join(". ")}.</p>}
      {tool.only_in !== null && <p className={styles.words}>Only in <code><Words of={tool.only_in} /></code>.</p>}
      {tool.examples.map((one) => <p key={one.arguments} className={styles.words}>For example, a call with <code><Words of={one.arguments} /></code> {one.matches ? "is judged so" : "is refused"}.</p>)}
      {words.title !== null && <p><Words of={words.title} /></p>}
      <p className={styles.words}><Words of={words.description ?? "The server says nothing about it."} /></p>
      <details>
        <summary>Arguments and results</summary>
        <pre><Words of={readable(words.input_schema)} /></pre>
        {words.output_schema !== null && <pre><Words of={readable(words.output_schema)} /></pre>}
        <p>A model calls it as <code><Words of={tool.offered_as} /></code>. <Hash of={words.sha256} what="tool" /></p>
      </details>
      {isOpen && <Classify server={server.server} tool={tool} words={words} done={() => setOpen(false)} />}
    </article>
  );
}

/** A schema a line for each member; one that is no JSON as it is. */
function readable(schema: string): string {
  try {
    return JSON.stringify(JSON.parse(schema), null, 2);
  } catch {
    return schema;
  }
}
