// What a schedule waits for that is no time, as a person reads it.
import type { ScheduleTrigger } from "~/ipc/generated/schedules";
import type { FileChanges, MachineEvent, RunEnd, Unseen } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";

const CHANGES: Readonly<Record<FileChanges, string>> = { landed: "Files that land there", changed: "Files that land there or are written", any: "Files that land there, are written or go" };
const END: Readonly<Record<RunEnd, string>> = { done: "is done", failed: "has failed", either: "has ended" };
const UNSEEN: Readonly<Record<Unseen, string>> = {
  folder_missing: "The folder is not there", too_many_files: "There are more files than a schedule may wait for", no_repository: "There is no repository whose branches can be read",
  schedule_missing: "The schedule that it waits for was removed", server_missing: "The tool server is not there as it was registered, or does not answer", unreadable: "It cannot be read",
  relay_missing: "No relay that it asks answers", machine_missing: "The machine is not paired, or the mesh is off here",
};
const OF_MACHINE: Readonly<Record<MachineEvent, string>> = { silent: "is silent", message: "sends a message", receipt: "tells a receipt" };

/** Why it cannot be seen now. */
export const unseen = (why: Unseen) => lookUp(UNSEEN, why, why);

/** In one line: `Watches /home/you/scans`. */
export function waits(on: ScheduleTrigger, folder: string): string {
  if (on.kind === "files") return `Watches ${folder}`;
  if (on.kind === "ref") return `When ${shortRef(on)} moves`;
  if (on.kind === "hook") return `When the hook ${on.hook ?? ""} is called`;
  if (on.kind === "resource") return `When ${on.resource ?? ""} of ${on.server ?? ""} changes`;
  if (on.kind === "events") return `When ${on.events ?? "an event"} comes`;
  if (on.kind === "machine") return `When ${ofMachine(on)}`;
  return `When a run of ${on.of ?? ""} ${on.end === null ? "has ended" : lookUp(END, on.end, on.end)}`;
}

/** Rows that tell what it watches. */
export function watches(on: ScheduleTrigger): [string, string][] {
  if (on.kind === "ref") return [["What it watches", `Where ${shortRef(on)} is`]];
  if (on.kind === "hook") return [];
  if (on.kind === "resource") {
    return [
      ["What it watches", `What ${on.resource ?? ""} of the tool server ${on.server ?? ""} reads`],
      ["It looks", `Every ${everyMinutes(on)}; the server is started for it in its sandbox, without a network`],
    ];
  }
  if (on.kind === "events") {
    return [
      ["What it watches", `Whether ${on.events ?? "an event"} comes to ${(on.relays ?? []).join(", ")}`],
      ["It looks", `Every ${everyMinutes(on)}; the relays are asked for such events, and nothing else is sent to them`],
    ];
  }
  if (on.kind === "machine") return [["What it watches", `Whether ${ofMachine(on)}`]];
  if (on.kind === "after") return [["What it watches", `Whether a run of ${on.of ?? ""} ${on.end === null ? "has ended" : lookUp(END, on.end, on.end)}`]];
  const which = on.globs.length === 0 ? "all below the folder" : on.globs.join(", ");
  return [
    ["What it watches", `${on.changes === null ? "Files" : lookUp(CHANGES, on.changes, on.changes)}: ${which}`],
    ["A file counts", on.quiet_ms === null ? "At once" : `Once it was left alone for ${on.quiet_ms / 1000} s`],
  ];
}

const everyMinutes = (on: ScheduleTrigger) => (on.every_minutes === 1 ? "minute" : `${on.every_minutes ?? 0} minutes`);

function ofMachine(on: ScheduleTrigger): string {
  const what = on.machine_event == null ? "does something" : lookUp(OF_MACHINE, on.machine_event, on.machine_event);
  return `the machine ${on.machine ?? ""} ${what}${on.silent_minutes == null ? "" : ` for ${on.silent_minutes} minutes`}`;
}

const shortRef = (on: ScheduleTrigger) => (on.ref_name ?? "").replace(/^refs\/heads\//, "");
