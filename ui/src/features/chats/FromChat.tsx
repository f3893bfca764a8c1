// Who wrote from a chat: the sender whose conversation it is, with the gateway through which it came.
import { Link } from "@tanstack/react-router";
import { useAsk } from "~/ipc/client";
import type { Gateway } from "~/ipc/generated/gateways";
import { Words } from "~/primitives/Words";
import { said } from "~/screen/words";
import { serviceName, useServices } from "./services";

/** Letters of a name that a stranger chose. */
const NAME_LETTERS = 60;

/** "Ana on Telegram (gateway family)": the name is their own choice, and nobody has checked it. */
export function FromChat({ conversation }: { conversation: string }) {
  const asked = useAsk("gateways.list", {});
  const gateways = asked.data?.gateways ?? [];
  return (
    <>
      a chat
      {gateways.map((one) => <Through key={one.name} gateway={one} conversation={conversation} />)}
    </>
  );
}

function Through({ gateway, conversation }: { gateway: Gateway; conversation: string }) {
  const asked = useAsk("gateways.senders", { name: gateway.name });
  const services = useServices();
  const found = asked.data?.senders.find((one) => one.conversation_id === conversation);
  if (found === undefined) return null;
  return (
    <>, by <span title={found.sender}><Words of={said(found.sender_name, found.sender).slice(0, NAME_LETTERS)} /></span> on {serviceName(services, gateway.service)} (gateway <Link to="/gateways" search={{ of: gateway.name }}><Words of={gateway.name} /></Link>)</>
  );
}
