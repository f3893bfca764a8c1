// Rail, tray, and the screen in the middle.
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { WithPassphrase } from "~/features/approvals/WithPassphrase";
import { Unlock } from "~/features/keys/PageKeys";
import { useAct, useAsk, useHost, useLink } from "~/ipc/client";
import { said } from "~/screen/words";
import { Button } from "~/primitives/Button";
import { Icon, Mark } from "~/primitives/Icon";
import { Shell, type ShellState } from "~/primitives/Shell";
import { Count } from "~/primitives/Tag";
import { PHONE_PLACES, PLACES, askHalt, elsewhereOnPhones } from "~/screen/commands";
import { usePhone } from "~/screen/phone";
import { AskHalt } from "./Halt";
import { KeyboardHelp, Palette } from "./Palette";
import { useCalls } from "~/screen/notify";
import { useKeyboard } from "~/screen/keyboard";
import styles from "./Layout.module.css";

export function Layout() {
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const go = useCallback((path: string) => void navigate({ to: path }), [navigate]);
  useKeyboard(go, useCallback(() => setHelp(true), []));
  const link = useLink();
  return (
    <div className={styles.app} data-connection={link}>
      <a className={styles.jump} href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>
        To the screen
      </a>
      <div className={styles.banners}>
        <AskHalt />
        <Banner />
      </div>
      <Rail />
      <Outlet />
      <Palette go={go} help={() => setHelp(true)} />
      <KeyboardHelp open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

/** What stands in the way of work, in words, above every screen. */
function Banner() {
  const status = useAsk("host.status", {});
  const keys = useAsk("keys.list", {});
  const boot = useAct("gate.boot");
  const host = useHost();
  const link = useLink();
  if (link === "lost") return <p className={styles.banner} role="status"><Mark name="unknown" />Not connected to Hermit. Trying again; what you see may be old.</p>;
  if (link === "ended") {
    return (
      <p className={styles.banner} role="status">
        <Mark name="unknown" />This page’s session has ended, and what you see may be old. Open a new link: <code>hermit open</code> prints one.
        <Button onClick={() => location.reload()}>Load again</Button>
      </p>
    );
  }
  if (status.data?.halted === true) {
    const why = said(status.data.halt_reason, "nothing runs");
    return (
      <p className={styles.banner} role="status">
        <Mark name="paused" />Hermit is {/^halted\b/.test(why) ? why : `halted: ${why}`}.
        {host.person === undefined && <Button onClick={() => boot.mutate({})}>Resume work</Button>}
        {boot.error !== null && <span role="alert">{boot.error.message}</span>}
      </p>
    );
  }
  if (keys.data !== undefined && !keys.data.keys.some((key) => key.purpose === "approval")) {
    return <p className={styles.banner} data-tone="person" role="status"><Mark name="waiting" />This store has no keys yet, so you cannot approve anything. <Link to="/first">Set up keys</Link></p>;
  }
  return keys.data?.keys.some((key) => key.purpose === "log" && key.open === false) === true ? <Locked /> : null;
}

/** The keys are there and locked: nothing stops, and no receipt is signed. */
function Locked() {
  const host = useHost();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className={styles.banner} data-tone="person" role="status">
      <Mark name="waiting" />The keys are locked. Work continues, and receipts wait for their signature.
      {host.openKeys !== undefined ? <Button icon="key" onClick={() => void host.openKeys?.()}>Unlock keys</Button>
        : isOpen ? <Unlock />
        : <Button icon="key" onClick={() => setOpen(true)}>Unlock keys</Button>}
    </div>
  );
}

function Rail() {
  const status = useAsk("host.status", {});
  const path = useRouterState({ select: (state) => state.location.pathname });
  const waiting = status.data?.waiting;
  const forYou = waiting === undefined ? 0 : waiting.approvals + waiting.questions + waiting.unknown_effects + waiting.undecided_messages + waiting.paused_schedules + waiting.paused_gateways;
  const navigate = useNavigate();
  useCalls(useHost().kind === "tauri" || waiting === undefined ? undefined : forYou - waiting.quiet, useCallback(() => void navigate({ to: "/" }), [navigate]));
  const isPhone = usePhone();
  const isHere = (to: string): boolean => (to === "/" ? path === "/" || path.startsWith("/inbox") : path.startsWith(to) || (to === "/more" && elsewhereOnPhones().some((place) => isHere(place.path))));
  return (
    <nav className={styles.rail} aria-label="Places">
      <div className={styles.brand}><Shell /> Hermit</div>
      <ul className={styles.places}>
        {(isPhone ? PHONE_PLACES : PLACES).map((place) => (
          <li key={place.path} className={place.isWide && !isPhone ? styles.wide : undefined}>
            <Link to={place.path} aria-current={isHere(place.path) ? "page" : undefined}>
              <Icon name={place.icon} />
              <span className={place.short === undefined ? undefined : styles.long}>{place.label}</span>
              {place.short !== undefined && <span className={styles.short} aria-hidden="true">{place.short}</span>}
              {place.path === "/" && <Count of={forYou} />}
              {place.path === "/tasks" && waiting !== undefined && waiting.running > 0 && (
                <span className={styles.quiet}>{waiting.running}<span className="visually-hidden"> working</span></span>
              )}
            </Link>
          </li>
        ))}
      </ul>
      <div className={styles.foot}>
        <Tray forYou={forYou} />
        <Ledger />
      </div>
    </nav>
  );
}

function Tray({ forYou }: { forYou: number }) {
  const status = useAsk("host.status", {});
  const boot = useAct("gate.boot");
  const navigate = useNavigate();
  const host = useHost();
  const at = status.data;
  const running = at?.waiting.running ?? 0;
  const unknown = at?.waiting.unknown_effects ?? 0;
  const state: ShellState = at?.halted === true ? "halted" : unknown > 0 ? "unknown" : forYou > 0 ? "waiting" : running > 0 ? "running" : "idle";
  const word = { halted: "Halted", unknown: "Unknown outcome", waiting: "Waiting", running: "Working", idle: "Idle" }[state];
  const second = at?.halted === true
    ? said(at.halt_reason, "Nothing runs")
    : running > 0 ? `${running} ${running === 1 ? "task" : "tasks"} running` : "Nothing runs";
  return (
    <div className={styles.tray}>
      <div className={styles.state}>
        <Shell state={state} />
        <div>
          <div>{at === undefined ? "Hermit" : word}</div>
          <div className={styles.second} title={second}>{at === undefined ? "No answer yet" : second}</div>
        </div>
        <Count of={forYou} />
      </div>
      <div className={styles.controls}>
        <Button icon="plus" onClick={() => void navigate({ to: "/tasks/new" })}>New</Button>
        {at?.halted === true ? (
          host.person === undefined && <Button icon="play" onClick={() => boot.mutate({})}>Resume work</Button>
        ) : (
          <Button icon="stop" title="Stops all work, also after a restart, until you resume it" onClick={askHalt}>Halt</Button>
        )}
      </div>
      {at?.halted === true && host.person !== undefined && <WithPassphrase what="Resume work" say={host.person.boot} />}
      {boot.error !== null && <p className={styles.failed} role="alert">{boot.error.message}</p>}
    </div>
  );
}

/** The last check of the ledger, and whether this window hears what happens. */
function Ledger() {
  const link = useLink();
  const checked = useAsk("ledger.verify", {}, { enabled: false });
  if (link === "lost" || link === "ended") {
    return <p className={styles.ledger} data-tone="unknown" role="status"><Mark name="unknown" />{link === "lost" ? "Not live, trying again" : "Not live: no session"}</p>;
  }
  const verdict = checked.data?.verdict;
  if (verdict === undefined) return <p className={styles.ledger}><Link to="/proof">Ledger not checked yet</Link></p>;
  return verdict === "invalid" ? (
    <p className={styles.ledger} data-tone="failed"><Mark name="failed" /><Link to="/proof">Ledger is damaged</Link></p>
  ) : (
    <p className={styles.ledger} data-tone="done"><Icon name="proof" size={14} />Chain intact</p>
  );
}
