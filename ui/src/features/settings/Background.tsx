// What goes on without this window: updates, the service of the system, and what a collector of telemetry is told. All are shown here
// and changed elsewhere: updates and the service by a command at a terminal, telemetry in the file `config.json`.
import { count } from "~/screen/words";
import { useAsk } from "~/ipc/client";
import type { ServiceStands, ServiceState, TelemetryStands, UpdateStands } from "~/ipc/generated/host";
import { Copyable } from "~/primitives/Copyable";
import { Facts } from "~/primitives/Facts";
import { Answer, sentence } from "~/primitives/States";
import { Time } from "~/primitives/Time";
import { Prose } from "~/primitives/Words";

const STATE: Record<ServiceState, string> = {
  absent: "Not installed",
  foreign: "Not Hermit's",
  elsewhere: "Installed for another store",
  runs: "Runs",
  ended: "Does not run",
  broken: "Cannot start",
  unknown: "Not known",
};

/** What the command does, by how the service stands. */
const COMMAND: Record<ServiceState, string> = {
  absent: "Only a terminal installs it, with this command:",
  foreign: "Something else has its name. This command tells more:",
  elsewhere: "There is one service for each person. This command at a terminal gives it to this store:",
  runs: "Only a terminal removes it, with this command; the store stays:",
  ended: "This command at a terminal starts it:",
  broken: "This command at a terminal installs it again:",
  unknown: "This command at a terminal tells more:",
};

/** What turns telemetry on; the address is that of a collector on this machine. */
const ON = '"telemetry": { "otlp": "http://127.0.0.1:4318" }';

export function Background() {
  const asked = useAsk("host.doctor", {});
  return (
    <>
      <section aria-labelledby="updates">
        <h2 id="updates">Updates</h2>
        <p>Hermit fetches no releases by itself. A release that you have here is checked before it is installed.</p>
        <Answer asked={asked} what="updates">{({ update }) => <Updates of={update} />}</Answer>
      </section>
      <section aria-labelledby="service">
        <h2 id="service">Service</h2>
        <p>As a service of your system, Hermit continues its work when this window or a terminal closes.</p>
        <Answer asked={asked} what="the service">{({ service }) => <Service of={service} />}</Answer>
      </section>
      <section aria-labelledby="telemetry">
        <h2 id="telemetry">Telemetry</h2>
        <Answer asked={asked} what="telemetry">{({ telemetry }) => <Telemetry of={telemetry} />}</Answer>
      </section>
    </>
  );
}

function Updates({ of }: { of: UpdateStands | null }) {
  if (of === null) return <p>How updates stand cannot be read. The log of this host says why.</p>;
  return (
    <>
      <Facts wide rows={[
        ["Version", of.at_work],
        ["Updated", of.since === null ? "No, as it was installed" : <Time key="since" at={of.since} ago />],
        of.app === null ? null : ["App", sentence(of.app)],
        of.left === null ? null : ["Last update", sentence(of.left)],
        of.at_hand === null ? null : ["Checked, newer", of.at_hand],
      ]} />
      <p>
        {of.at_hand === null
          ? "Only you update Hermit, at a terminal. This command tells how updates stand:"
          : "Only you update Hermit, with this command at a terminal, once this app and other processes of this store have ended:"}
      </p>
      <Copyable text={of.command} />
    </>
  );
}

function Service({ of }: { of: ServiceStands | null }) {
  if (of === null) return <p>Hermit knows no services of this system.</p>;
  return (
    <>
      <Facts wide rows={[
        ["State", STATE[of.state]],
        of.state === "absent" ? null : ["Details", <Prose key="says" of={of.says} />],
      ]} />
      <p>{COMMAND[of.state]}</p>
      <Copyable text={of.command} />
    </>
  );
}

function Telemetry({ of }: { of: TelemetryStands | null }) {
  return (
    <>
      <Facts wide rows={[
        ["State", of === null ? "Off: nothing is sent" : "On"],
        of === null ? null : ["Sent to", <code key="otlp">{of.otlp}</code>],
        of === null ? null : ["Sent", count(of.sent, "span")],
        of === null || of.refused === 0 ? null : ["Refused", count(of.refused, "span")],
        of === null || of.failures === 0 ? null : ["Failed", count(of.failures, "request")],
        of === null || of.failing === null ? null : ["Last failure", sentence(of.failing)],
      ]} />
      <p>
        {of === null ? "When it is on, " : ""}
        {of === null ? "identifiers" : "Identifiers"}, kinds, result codes, numbers and times of tasks are sent after they end. Goals, names and
        contents of files, and what a model wrote are never sent, nor is what ended before it was turned on.
      </p>
      <p>
        Only the file <code>config.json</code> in the store&apos;s folder turns it {of === null ? "on, with this line:" : "off: take this line out of it."}
      </p>
      {of === null && <Copyable text={ON} />}
    </>
  );
}
