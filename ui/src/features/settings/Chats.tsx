// The way to gateways from the settings: on a phone there is no room for it in the rail.
import { Link } from "@tanstack/react-router";

export function Chats() {
  return (
    <section aria-labelledby="chats">
      <h2 id="chats">Chats</h2>
      <p>Give Hermit goals from Telegram, Matrix, mail, Slack or Discord, and hear there how they went. Nobody can approve anything in a chat.</p>
      <div><Link to="/gateways">Gateways</Link></div>
    </section>
  );
}
