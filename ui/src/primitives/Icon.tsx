// One stroke family, 16 by 16; marks of risk and state 12 by 12. Always beside a word, so hidden from readers.
import type { ReactNode, SVGProps } from "react";
import styles from "./Icon.module.css";

const OUTLINES = {
  inbox: <path d="M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5c0 3 5 3 5 0H14" />,
  talk: <path d="M2 3h12v8H7.5L4.500 13.500V11H2z" />,
  task: <path d="M6 4h8M6 8h8M6 12h8M2.8 4h.01M2.8 8h.01M2.8 12h.01" />,
  lineage: (
    <>
      <circle cx="8" cy="3" r="1.5" /><circle cx="3.5" cy="13" r="1.5" /><circle cx="12.500" cy="13" r="1.5" />
      <path d="M8 4.5C8 9 3.5 7.5 3.5 11.5M8 4.5C8 9 12.5 7.5 12.5 11.5" />
    </>
  ),
  knowledge: <path d="M3 2.5h8.5A1.5 1.5 0 0 1 13 4v9.5H4.5A1.5 1.5 0 0 1 3 12zM3 12a1.5 1.5 0 0 1 1.5-1.5H13" />,
  policy: <path d="M8 2v12M4 14h8M3 4.5h10M3 4.5 1.5 9h3zM13 4.5 11.5 9h3z" />,
  clock: <><circle cx="8" cy="8" r="5.8" /><path d="M8 4.8V8l2.3 1.6" /></>,
  proof: <path d="M8 1.8 13 4v4c0 3-2 5-5 6.3C5 13 3 11 3 8V4zM5.7 8l1.7 1.7 3-3.2" />,
  settings: <><path d="M2 5h7M13 5h1M2 11h1M7 11h7" /><circle cx="11" cy="5" r="1.7" /><circle cx="5" cy="11" r="1.7" /></>,
  find: <><circle cx="7" cy="7" r="4.2" /><path d="m10.2 10.2 3.3 3.3" /></>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" /></>,
  down: <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />,
  right: <path d="m6.5 4.5 3.5 3.5-3.5 3.5" />,
  file: <path d="M4 1.8h5l3.500 3.700v8.700H4zM9 1.800v3.700h3.500" />,
  folder: <path d="M2 4a1 1 0 0 1 1-1h3.300l1.500 2H13a1 1 0 0 1 1 1v6.500a.5.5 0 0 1-.5.5h-11a.5.5 0 0 1-.5-.5z" />,
  terminal: <path d="m3 4.500 3.200 3.300L3 11M8 11.500h5" />,
  lock: <><rect x="3.500" y="7" width="9" height="6.500" rx="1.200" /><path d="M5.500 7V5a2.500 2.500 0 0 1 5 0v2" /></>,
  undo: <path d="M5.500 3 2.500 6l3 3M2.500 6H10a3.500 3.500 0 0 1 0 7H6.500" />,
  retry: <path d="M12.800 6.500A5 5 0 1 0 13 9M13 3v3.500H9.500" />,
  pause: <path d="M5.500 3.500v9M10.500 3.500v9" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1" />,
  ok: <path d="m3 8.500 3.300 3.300L13 4.800" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  eye: <><path d="M1.500 8C4 3.500 12 3.500 14.500 8 12 12.500 4 12.500 1.500 8z" /><circle cx="8" cy="8" r="2" /></>,
  theme: <><circle cx="8" cy="8" r="5.500" /><path d="M8 2.500v11a5.500 5.500 0 0 0 0-11z" fill="currentColor" /></>,
  network: <path d="M13.800 8A5.800 5.800 0 1 1 2.200 8a5.800 5.800 0 0 1 11.600 0zM2.200 8h11.600M8 2.200c-4 3.500-4 8 0 11.600M8 2.200c4 3.500 4 8 0 11.600" />,
  play: <path d="M5 3.200v9.600l7.500-4.800z" />,
  chip: <><rect x="4" y="4" width="8" height="8" rx="1" /><path d="M6.500 2v2M9.500 2v2M6.500 12v2M9.500 12v2M2 6.500h2M2 9.500h2M12 6.500h2M12 9.500h2" /></>,
  key: <><circle cx="5" cy="8" r="2.700" /><path d="M7.700 8H14v2.500M11.500 8v2" /></>,
  more: <path d="M3 8h.01M8 8h.01M13 8h.01" />,
  plus: <path d="M8 3v10M3 8h10" />,
  down_to: <path d="M8 2.500v7.500M4.800 7 8 10.200 11.200 7M3 13.500h10" />,
  microphone: <><rect x="6" y="1.800" width="4" height="7.400" rx="2" /><path d="M3.500 7.500c0 6 9 6 9 0M8 12v2.200" /></>,
  anchor: <><circle cx="8" cy="3.500" r="1.500" /><path d="M8 5v8.500M5.500 7.500h5M2.500 9c0 3 2.500 4.500 5.500 4.500s5.500-1.500 5.500-4.500" /></>,
  identity: <><circle cx="8" cy="5.500" r="2.700" /><path d="M2.800 13.500c0-3 2.200-4.200 5.200-4.200s5.200 1.200 5.200 4.200" /></>,
  machines: <><rect x="1.500" y="3" width="8.500" height="6" rx="1" /><path d="M3.500 11.500h4M5.700 9v2.500" /><rect x="11.500" y="6.500" width="3" height="6.500" rx=".8" /></>,
  board: <path d="M2.500 3h3v10h-3zM6.500 3h3v7h-3zM10.500 3h3v5h-3z" />,
} as const satisfies Record<string, ReactNode>;

const MARKS = {
  low: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  moderate: (
    <>
      <path d="M6 .8 11.2 6 6 11.2.8 6z" fill="none" stroke="currentColor" strokeWidth="1.500" />
      <path d="M6 .8 11.2 6H.8z" fill="currentColor" />
    </>
  ),
  high: <path d="M6 .8 11.700 11H.3z" fill="currentColor" />,
  critical: <path d="M3.600.5h4.800l3.100 3.100v4.800l-3.100 3.100H3.600L.5 8.400V3.600z" fill="currentColor" />,
  waiting: (
    <>
      <path d="M10.600 8.200A5 5 0 1 1 10.600 3.800" fill="none" stroke="currentColor" strokeWidth="1.500" strokeLinecap="round" />
      <circle cx="9.600" cy="6" r="1.700" fill="currentColor" />
    </>
  ),
  running: <circle cx="6" cy="6" r="4.600" fill="none" stroke="currentColor" strokeWidth="1.500" strokeDasharray="20 9" strokeLinecap="round" />,
  done: <path d="m1.800 6.400 2.800 2.800 5.600-6" fill="none" stroke="currentColor" strokeWidth="1.700" strokeLinecap="round" strokeLinejoin="round" />,
  failed: <path d="m2.500 2.500 7 7M9.500 2.500l-7 7" fill="none" stroke="currentColor" strokeWidth="1.700" strokeLinecap="round" />,
  unknown: (
    <>
      <circle cx="6" cy="6" r="4.700" fill="none" stroke="currentColor" strokeWidth="1.400" strokeDasharray="2 2.200" />
      <path d="M6 3.500v3.200" stroke="currentColor" strokeWidth="1.500" strokeLinecap="round" />
      <circle cx="6" cy="8.600" r=".8" fill="currentColor" />
    </>
  ),
  question: <path d="M1.500 2h9v6H6l-2.500 2.200V8h-2z" fill="none" stroke="currentColor" strokeWidth="1.300" strokeLinejoin="round" />,
  deny: (
    <>
      <circle cx="6" cy="6" r="4.700" fill="none" stroke="currentColor" strokeWidth="1.600" />
      <path d="M3.200 6h5.600" stroke="currentColor" strokeWidth="1.800" strokeLinecap="round" />
    </>
  ),
  idle: <circle cx="6" cy="6" r="1.700" fill="none" stroke="currentColor" strokeWidth="1.300" />,
  paused: <path d="M4 2.500v7M8 2.500v7" fill="none" stroke="currentColor" strokeWidth="1.700" strokeLinecap="round" />,
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof OUTLINES;
export type MarkName = keyof typeof MARKS;

export function Icon({ name, size = 16, ...rest }: { name: IconName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg className={styles.icon} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" {...rest}>
      {OUTLINES[name]}
    </svg>
  );
}

export function Mark({ name, size = 12, ...rest }: { name: MarkName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg className={styles.mark} width={size} height={size} viewBox="0 0 12 12" aria-hidden="true" {...rest}>
      {MARKS[name]}
    </svg>
  );
}
