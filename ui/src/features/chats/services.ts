// Chat services, and what each needs: one table of the host, which the terminal has as well.
import { useAsk } from "~/ipc/client";
import type { ServiceNeeds } from "~/ipc/generated/gateways";
import type { Service } from "~/ipc/generated/words";
import { capital } from "~/screen/words";

/** Every service; none before the host has told them. */
export function useServices(): readonly ServiceNeeds[] {
  return useAsk("gateways.services", {}, { staleTime: Number.POSITIVE_INFINITY }).data?.services ?? [];
}

/** What a service needs, where the host knows it. */
export function needsOf(services: readonly ServiceNeeds[], service: Service): ServiceNeeds | undefined {
  return services.find((one) => one.service === service);
}

/** The name of a service, as it begins a line. */
export function serviceName(services: readonly ServiceNeeds[], service: Service): string {
  return capital(needsOf(services, service)?.name ?? service);
}

/** All of them in a sentence: "Telegram, mail or Slack". */
export function anyOf(services: readonly ServiceNeeds[]): string {
  const names = services.map((one) => one.name);
  const last = names.pop();
  if (last === undefined) return "a chat";
  return names.length === 0 ? last : `${names.join(", ")} or ${last}`;
}
