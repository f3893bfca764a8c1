// Words of gateways: the services behind them, and what a sender may do.
import type { SenderProfile, Service } from "~/ipc/generated/words";
import { lookUp } from "~/ipc/words";
import { capital } from "~/screen/words";

const SERVICE: Readonly<Record<Service, string>> = { telegram: "Telegram", matrix: "Matrix", mail: "Mail", slack: "Slack", discord: "Discord" };

/** The name of a chat service, as it is written. */
export function serviceName(service: Service): string {
  return lookUp(SERVICE, service, capital(service));
}

const MAY: Readonly<Record<SenderProfile, string>> = { goals: "May give goals", ask: "May only ask" };

/** What a paired sender may do. */
export function may(profile: SenderProfile): string {
  return lookUp(MAY, profile, capital(profile));
}
