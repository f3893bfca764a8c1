// Around every screen: in the app, what the app says to its page.
import { Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Heard } from "~/host/host";
import { useHears, useHost, useNotices } from "~/ipc/client";
import { Drop } from "./Drop";

export type Dropped = Extract<Heard, { kind: "dropped" }>;

export function Root() {
  useNotices();
  const hears = useHears();
  const host = useHost();
  const router = useRouter();
  const navigate = useNavigate();
  const [over, setOver] = useState(0);
  const [dropped, setDropped] = useState<Dropped | null>(null);
  useEffect(() => host.heed?.((heard) => {
    switch (heard.kind) {
      case "go":
        router.history.push(heard.to);
        return;
      case "over":
        setOver(heard.things);
        return;
      case "dropped": {
        setOver(0);
        const [only] = heard.folders;
        if (only === undefined || heard.folders.length !== 1 || heard.files.length > 0) setDropped(heard);
        // Whoever is being set up stays there: its third step asks for a folder.
        else if (router.state.location.pathname === "/first") void navigate({ to: "/first", search: { folder: only } });
        else void navigate({ to: "/tasks/new", search: { folder: only } });
        return;
      }
      default:
        heard satisfies never;
    }
  }), [host, router, navigate]);
  return (
    <>
      {hears && <Outlet />}
      <Drop over={over} dropped={dropped} away={() => setDropped(null)} />
    </>
  );
}
