import { useEffect, useMemo, useState } from "preact/hooks";
import type { Session } from "../../../src/console/wire.ts";
import { logOut } from "../api.ts";
import { addShortcuts, focusRow, type Shortcut } from "../keys.ts";
import { location, matchPath, navigate, type Page } from "../router.ts";
import { loadSession } from "../session.ts";
import { nextTheme, setTheme, theme } from "../theme.ts";
import { Icon } from "./icon.tsx";
import { Link } from "./link.tsx";
import { OpenedOperation } from "./operation-button.tsx";
import { PageHeader } from "./panel.tsx";
import { SearchDialog } from "./search-dialog.tsx";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";
import { LiveStatus, StaleBanner } from "./stale-banner.tsx";
import { Toasts } from "./toasts.tsx";

interface ShellProps {
  readonly pages: readonly Page[];
  readonly session: Session;
}

/** The frame of every page: navigation, search, the state of the connection, messages. */
export function Shell({ pages, session }: ShellProps) {
  const [dialog, setDialog] = useState<"search" | "shortcuts">();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { path } = location.value;
  const { page, parameters } = useMemo(() => findPage(pages, path), [pages, path]);
  const close = () => setDialog(undefined);

  useEffect(() => addShortcuts(globalShortcuts(pages, setDialog)), [pages]);
  useFocusOnHeading(path);
  // Opening a page closes the menu.
  useEffect(() => setMenuOpen(false), [path]);

  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="topbar">
        <button
          type="button"
          class="icon-button menu-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name={isMenuOpen ? "close" : "menu"} />
        </button>
        <Link to="/" class="brand">
          <svg class="brand-mark" viewBox="0 0 32 20" aria-hidden="true">
            <circle cx="11" cy="10" r="7.5" />
            <circle cx="21" cy="10" r="7.5" />
          </svg>
          Interlock
        </Link>
        <button type="button" class="search-button" aria-label="Search" onClick={() => setDialog("search")}>
          <Icon name="search" />
          <span class="grow">Search</span>
          <kbd>/</kbd>
        </button>
        <span class="grow" />
        <LiveStatus />
        <ThemeButton />
        <button
          type="button"
          class="icon-button help-button"
          aria-label="Keyboard shortcuts"
          onClick={() => setDialog("shortcuts")}
        >
          <Icon name="help" />
        </button>
        <UserMenu session={session} />
      </header>
      <nav id="navigation" class="sidebar" aria-label="Pages" data-open={isMenuOpen || undefined}>
        <Navigation pages={pages} current={page} />
      </nav>
      <main id="main" class="main" tabIndex={-1}>
        <StaleBanner />
        {page ? <page.component key={path} parameters={parameters} /> : <NotFound />}
      </main>
      <Toasts />
      <OpenedOperation />
      {dialog === "search" && <SearchDialog onClose={close} />}
      {dialog === "shortcuts" && <ShortcutsDialog onClose={close} />}
    </div>
  );
}

function UserMenu({ session: { user, role, version, mode } }: { readonly session: Session }) {
  const leave = async () => {
    // A session that has ended already cannot be ended again.
    await logOut().catch(() => undefined);
    await loadSession();
  };
  return (
    <details class="user">
      <summary>
        {user} <span class="muted">{role}</span>
      </summary>
      <div class="user-menu">
        <p class="muted">
          Interlock {version}, {mode}
        </p>
        <button type="button" class="button small" onClick={() => void leave()}>
          Log out
        </button>
      </div>
    </details>
  );
}

function findPage(pages: readonly Page[], path: string) {
  for (const page of pages) {
    const parameters = matchPath(page.path, path);
    if (parameters) return { page, parameters };
  }
  return { page: undefined, parameters: {} };
}

function globalShortcuts(pages: readonly Page[], open: (dialog: "search" | "shortcuts") => void): readonly Shortcut[] {
  return [
    { keys: "/", label: "Search", run: () => open("search") },
    { keys: "?", label: "List the shortcuts", run: () => open("shortcuts") },
    { keys: "j", label: "Next row", run: () => focusRow(1) },
    { keys: "k", label: "Previous row", run: () => focusRow(-1) },
    { keys: "t", label: "Change the theme", run: () => setTheme(nextTheme(theme.peek())) },
    ...pages.flatMap(({ key, title, path }) =>
      key === undefined ? [] : { keys: `g ${key}`, label: `Open ${title}`, run: () => navigate(path) },
    ),
  ];
}

/** Moves the focus to the heading of a page that opens, so that screen readers announce it. */
function useFocusOnHeading(path: string): void {
  // The heading belongs to the path.
  useEffect(() => {
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [path]);
}

const groups = ["Operate", "Explore", "Understand"] as const;

function Navigation({ pages, current }: { readonly pages: readonly Page[]; readonly current: Page | undefined }) {
  return (
    <>
      {groups.map((group) => (
        <ul key={group} class="nav-group" aria-label={group}>
          {pages
            .filter((page) => page.group === group)
            .map((page) => (
              <li key={page.path}>
                <Link to={page.path} class="nav-link" isCurrent={page === current}>
                  <Icon name={page.icon ?? "chevron"} />
                  <span class="grow">{page.title}</span>
                  {page.key !== undefined && <kbd>{page.key}</kbd>}
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </>
  );
}

function ThemeButton() {
  const current = theme.value;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Theme: ${current}`}
      title={`Theme: ${current}`}
      onClick={() => setTheme(nextTheme(current))}
    >
      <Icon name={current} />
    </button>
  );
}

function NotFound() {
  return (
    <>
      <PageHeader title="There is no such page" />
      <p>
        <Link to="/">Open Now</Link>
      </p>
    </>
  );
}
