// Months and days as the host tells them, `2026-11` and `2026-11-28`: no clock and no zone of this page comes into it.

const NAME = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
const DAY = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
const DAY_MS = 86_400_000;

export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

/** A month and a number of months later. */
export function later(month: string, by: number): string {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5, 7)) - 1 + by, 1)).toISOString().slice(0, 7);
}

export const monthName = (month: string) => NAME.format(Date.parse(`${month}-01T00:00:00Z`));

export const dayName = (day: string) => DAY.format(Date.parse(`${day}T00:00:00Z`));

/** In which column of a week that begins on Monday it stands, from 1. */
export const column = (day: string) => ((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;

export function daysOf(month: string): string[] {
  const [first, end] = [Date.parse(`${month}-01T00:00:00Z`), Date.parse(`${later(month, 1)}-01T00:00:00Z`)];
  return Array.from({ length: Math.round((end - first) / DAY_MS) }, (_, at) => new Date(first + at * DAY_MS).toISOString().slice(0, 10));
}
