// What bounds the runs of a schedule: as a person reads it, and as they write it.
import type { Limits } from "~/ipc/generated/schedules";
import type { Condition, Overlap } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { cost, count } from "~/screen/words";

export const OVERLAP: Readonly<Record<Overlap, string>> = {
  skip: "Skip the new time",
  queue: "Begin it when that run rests",
  end_older: "End that run, also where it waits for you",
};

const ONLY: Readonly<Record<Condition, string>> = { mains: "on mains power", network: "when the network is there", idle: "while nobody is at the computer", unmetered: "when the network is not metered" };

/** What must be so for a run to begin, as a sentence goes on behind "only". */
export function onlyInWords(only: readonly Condition[], batteryAbove: number | null = null): string {
  const all = [...only.map((one) => lookUp(ONLY, one, one)), ...(batteryAbove === null ? [] : [`when the battery is above ${batteryAbove} %`])];
  return `${all.join(" and ")}, as far as this machine can tell`;
}

/** Rows that tell what is bounded. */
export function boundsOf(of: Limits): [string, string][] {
  const day = [
    of.day_runs_max == null ? null : count(of.day_runs_max, "run"),
    of.day_iterations_max == null ? null : count(of.day_iterations_max, "turn"),
    of.day_tokens_max == null ? null : count(of.day_tokens_max, "token"),
    of.day_minutes_max == null ? null : `${count(of.day_minutes_max, "minute")} of work`,
    of.day_cost_micros_max == null ? null : cost(of.day_cost_micros_max),
  ].filter((one) => one !== null);
  const rows: ([string, string] | null)[] = [
    of.overlap == null ? null : ["While a run is not over", lookUp(OVERLAP, of.overlap, of.overlap)],
    of.jitter_minutes == null ? null : ["Begins later by", `Up to ${count(of.jitter_minutes, "minute")}`],
    of.hours == null ? null : ["Begins between", of.hours],
    (of.only ?? []).length === 0 && of.battery_above == null ? null : ["Begins only", onlyInWords(of.only ?? [], of.battery_above)],
    of.per_hour_max == null ? null : ["Within an hour", `At most ${count(of.per_hour_max, "run")}`],
    of.ends_after_minutes == null ? null : ["A run ends after", count(of.ends_after_minutes, "minute")],
    day.length === 0 ? null : ["Its runs of a day use", `At most ${day.join(", ")}`],
  ];
  return rows.filter((row) => row !== null);
}

/** What is written into the fields of a form; empty is not bounded. */
export interface Written { overlap: Overlap; perHour: string; endsAfter: string; hours: string; dayRuns: string; dayCost: string; jitter: string; battery: string; only: readonly Condition[] }

export const NOTHING: Written = { overlap: "skip", perHour: "", endsAfter: "", hours: "", dayRuns: "", dayCost: "", jitter: "", battery: "", only: [] };

const number = (text: string) => (text.trim() === "" ? null : Number(text));

/** Why it cannot be asked so, in words; nothing where it can. What else is wrong the host says. */
export function wrongOf(of: Written): string | null {
  const whole = [of.perHour, of.endsAfter, of.dayRuns, of.jitter].map(number);
  if (whole.some((one) => one !== null && (!Number.isSafeInteger(one) || one < 1))) return "Write limits as whole numbers from 1";
  const battery = number(of.battery);
  if (battery !== null && !(Number.isSafeInteger(battery) && battery >= 1 && battery <= 99)) return "Write the battery in per cent, 1 to 99";
  const dollars = number(of.dayCost);
  return dollars !== null && !(dollars > 0 && dollars <= 1_000_000) ? "Write the cost of a day in US dollars, such as 2.50" : null;
}

/** As many letters as the host takes of a name. */
const NAME_MAX = 64;

/** What a name is made of, told before it is asked for. */
export const NAME_IS = `1 to ${NAME_MAX} of a-z, 0-9 and single - between them, such as morning-mail`;

/** Why a name cannot be asked for, in words; nothing where it can, or where none is given. */
export function wrongName(name: string): string | null {
  return name === "" || (name.length <= NAME_MAX && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) ? null : `Write the name with ${NAME_IS}`;
}

export function limitsOf(of: Written): Limits {
  const dollars = number(of.dayCost);
  return {
    overlap: of.overlap === "skip" ? null : of.overlap, jitter_minutes: number(of.jitter), per_hour_max: number(of.perHour), ends_after_minutes: number(of.endsAfter),
    hours: of.hours.trim() === "" ? null : of.hours.trim(), day_runs_max: number(of.dayRuns), day_iterations_max: null, day_tokens_max: null,
    day_cost_micros_max: dollars === null ? null : Math.round(dollars * 1_000_000), day_minutes_max: null, only: [...of.only],
    ...(of.battery.trim() === "" ? {} : { battery_above: number(of.battery) }),
  };
}
