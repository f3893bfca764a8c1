import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import type { Host } from "~/host/host";
import { HostProvider, makeQueryClient } from "~/ipc/client";
import { makeRouter } from "./routes";

export function App({
  host,
  router: given,
  client: kept,
}: {
  host: Host;
  router?: ReturnType<typeof makeRouter>;
  client?: QueryClient;
}) {
  const [client] = useState(() => kept ?? makeQueryClient());
  const [router] = useState(() => given ?? makeRouter());
  return (
    <HostProvider value={host}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </HostProvider>
  );
}
