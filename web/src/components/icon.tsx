const paths = {
  now: "M3 12h4l3-8 4 16 3-8h4",
  incidents: "M12 4 2.8 20h18.4L12 4Zm0 6v5m0 2.6v.1",
  executions: "M7 4.5v15l12-7.5-12-7.5Z",
  targets: "M12 3v4m0 10v4M3 12h4m10 0h4M12 12h.01M19 12a7 7 0 1 1-14 0 7 7 0 0 1 14 0Z",
  approvals: "M4 12.5 9.5 18 20 6.5",
  pauses: "M8 5v14M16 5v14",
  storm: "M3 5h18l-7 8v6l-4 1.5V13L3 5Z",
  locks: "M6 11h12v9H6v-9Zm2.5 0V8a3.5 3.5 0 0 1 7 0v3",
  tasks: "m8 7-5 5 5 5m8-10 5 5-5 5",
  catalog: "M4 5h16M4 12h16M4 19h10",
  ledger: "M6 3h12v18H6V3Zm3 5h6m-6 4h6m-6 4h3",
  search: "M16 16l5 5M18 10.5a7.5 7.5 0 1 1-15 0 7.5 7.5 0 0 1 15 0Z",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h11v11H9V9Zm-3 6H4V4h11v2",
  light:
    "M12 4V2m0 20v-2M4 12H2m20 0h-2M6.3 6.3 4.9 4.9m14.2 14.2-1.4-1.4m0-11.4 1.4-1.4M4.9 19.1l1.4-1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Z",
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  system: "M3 5h18v11H3V5Zm5 15h8m-4-4v4",
  help: "M9.5 9a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1 1-1.1 1.8m0 3v.1M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z",
  chevron: "m9 6 6 6-6 6",
} as const;

export type IconName = keyof typeof paths;

/** Always beside a text or in a labelled button, so it is hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
