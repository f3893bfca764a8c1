// Some of the services that a host tells of, as it tells them.
import type { ServiceList } from "~/ipc/generated/gateways";

export const SERVICES: ServiceList = { services: [
  { service: "telegram", name: "Telegram", how: "In Telegram, write /newbot to @BotFather and answer its two questions. It sends you the token of your new bot.", tokens: ["The bot's token"], fields: [], hosts: ["api.telegram.org:443"], send_to: "to your bot in Telegram, in a direct chat with it" },
  { service: "matrix", name: "Matrix", how: "Make an account for Hermit on your homeserver.", tokens: ["The account's access token"], fields: [
    { at: "address", label: "Homeserver", example: "https://matrix.example.org", hint: null, is_needed: true, protocol: "https" },
    { at: "accept_invites", label: "Whose invitations it accepts", example: "@you:example.org", hint: "Nobody's where nothing is said.", is_needed: false, protocol: null },
  ], hosts: [], send_to: "to Hermit's account in Matrix" },
  { service: "mail", name: "mail", how: "Use a mailbox that only Hermit reads.", tokens: ["The mailbox's password"], fields: [
    { at: "user", label: "Mail address", example: "hermit@example.org", hint: null, is_needed: true, protocol: null },
    { at: "address", label: "Server where mail is read (IMAP)", example: "imap.example.org", hint: null, is_needed: true, protocol: "imaps" },
    { at: "smtp", label: "Server where mail is sent (SMTP)", example: "smtp.example.org", hint: null, is_needed: true, protocol: "smtps" },
    { at: "authserv_id", label: "Name by which the mail server confirms senders", example: "mx.example.org", hint: "The first word of Authentication-Results.", is_needed: true, protocol: null },
  ], hosts: [], send_to: "to Hermit's mail address, as the only words of a message" },
  { service: "slack", name: "Slack", how: "On api.slack.com/apps, make an app.", tokens: ["The app-level token (xapp-)", "The bot token (xoxb-)"], fields: [], hosts: ["slack.com:443", "files.slack.com:443"], send_to: "to your app in Slack, as a direct message" },
  { service: "nostr", name: "Nostr", how: "Make a key for Hermit alone.", tokens: ["The secret key (nsec)"], fields: [
    { at: "address", label: "Relays where it reads and sends", example: "wss://relay.example.org", hint: "One to four, with blanks between.", is_needed: true, protocol: "wss" },
  ], hosts: [], send_to: "to Hermit's key, as a private message" },
] };
