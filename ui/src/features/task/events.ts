// The events of a task, all of them, fetched part by part and kept; the time slider cuts them anywhere.
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Refused, refusal } from "~/host/host";
import { useHost } from "~/ipc/client";
import type { Event } from "~/ipc/generated/task_events";

const PART = 500;
const KEY = "task_events.list";

export function useEvents(task: string): UseQueryResult<Event[], Refused> {
  const host = useHost();
  const client = useQueryClient();
  const queryKey = [KEY, task];
  return useQuery<Event[], Refused>({
    queryKey,
    queryFn: async ({ signal }) => {
      const events = [...(client.getQueryData<Event[]>(queryKey) ?? [])];
      try {
        for (;;) {
          const part = await host.call(KEY, { task, after_seq: events.at(-1)?.seq ?? 0, limit: PART }, signal);
          events.push(...part.events);
          if (part.events.length === 0 || (events.at(-1)?.seq ?? 0) >= part.last_seq) return events;
        }
      } catch (thrown) {
        throw refusal(thrown);
      }
    },
  });
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function word(value: unknown, absent = ""): string {
  if (typeof value === "string") return value;
  const erased = record(value)["erased"];
  return typeof erased === "string" ? `(erased, ${erased.slice(0, 8)}…)` : absent;
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
