// What a page knows of itself and of pages elsewhere: passkeys that can sign here, and the pages of this host that are open.
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Devices, type Notified, type OpenPages, type PushHere, type Pushes, type Refused, refusal } from "~/host/host";
import { useAsk, useHost } from "./client";
import type { Passkey } from "./generated/passkeys";

/** How often the pages that are open are asked for: they come and go without a notice. */
const AGAIN_MS = 5_000;

/** The passkeys that can sign on this page, none where it has no name that they could belong to. */
export function usePasskeysHere(): Passkey[] {
  const { passkeys } = useHost();
  const origin = passkeys?.place.origin ?? null;
  const asked = useAsk("passkeys.list", {}, { enabled: origin !== null });
  return (asked.data?.passkeys ?? []).filter((one) => one.origin === origin && one.in_force);
}

/** Pages of the host that are open, where a person may see them. */
export function useOpenPages(enabled: boolean): UseQueryResult<OpenPages, Refused> {
  const { devices } = useHost();
  return useQuery<OpenPages, Refused>({
    queryKey: ["devices"], enabled: enabled && devices !== undefined, refetchInterval: AGAIN_MS,
    queryFn: () => told(devices?.list()),
  });
}

/** What a person does with pages on other devices. */
export function useDevices<T>() {
  const { devices } = useHost();
  const client = useQueryClient();
  return useMutation<T, Refused, (devices: Devices) => Promise<T>>({
    mutationFn: (act) => told(devices === undefined ? undefined : act(devices)),
    onSettled: () => client.invalidateQueries({ queryKey: ["devices"] }),
  });
}

/** Devices that are notified while their page is closed, and how this browser stands, where a person may see them. */
export function usePushes(enabled: boolean): UseQueryResult<{ here: PushHere; devices: Notified[] }, Refused> {
  const { pushes } = useHost();
  return useQuery<{ here: PushHere; devices: Notified[] }, Refused>({
    queryKey: ["pushes"], enabled: enabled && pushes !== undefined, queryFn: () => told(pushes?.list()),
  });
}

/** What a person does with them. */
export function useNotifying() {
  const { pushes } = useHost();
  const client = useQueryClient();
  return useMutation<void, Refused, (pushes: Pushes) => Promise<void>>({
    mutationFn: (act) => told(pushes === undefined ? undefined : act(pushes)),
    onSettled: () => client.invalidateQueries({ queryKey: ["pushes"] }),
  });
}

async function told<T>(asked: Promise<T> | undefined): Promise<T> {
  try {
    if (asked === undefined) throw new Error("this page knows no others");
    return await asked;
  } catch (thrown) {
    throw refusal(thrown);
  }
}
