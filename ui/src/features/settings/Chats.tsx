// The way to gateways from the settings: on a phone there is no room for it in the rail.
import { Link } from "@tanstack/react-router";
import { anyOf, useServices } from "~/features/chats/services";

export function Chats() {
  const services = useServices();
  return (
    <section aria-labelledby="chats">
      <h2 id="chats">Chats</h2>
      <p>Give Hermit goals from {anyOf(services)}, and hear there how they went. Nobody can approve anything in a chat.</p>
      <div><Link to="/gateways">Gateways</Link></div>
    </section>
  );
}
