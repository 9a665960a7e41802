import { signal } from "@preact/signals";

export interface Shortcut {
  /** One key, or two that are pressed one after the other: "/", "g n". */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
}

/** All shortcuts that apply now, for the list that ? opens. */
export const shortcuts = signal<readonly Shortcut[]>([]);

/** The second key must follow within this time. */
const sequenceMs = 1_500;

export function addShortcuts(added: readonly Shortcut[]): () => void {
  shortcuts.value = [...shortcuts.peek(), ...added];
  return () => {
    shortcuts.value = shortcuts.peek().filter((shortcut) => !added.includes(shortcut));
  };
}

export function startKeys(): void {
  let prefix = { key: "", at: 0 };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // A dialog has keys of its own.
    if (document.querySelector("dialog[open]")) return;
    const isSequence = event.timeStamp - prefix.at < sequenceMs;
    const found = findShortcut(shortcuts.peek(), isSequence ? prefix.key : "", event.key);
    prefix = { key: event.key, at: event.timeStamp };
    if (!found) return;
    prefix = { key: "", at: 0 };
    event.preventDefault();
    found.run();
  });
}

/** The shortcut for a key that follows `prefix`, or for the key alone. */
export function findShortcut(all: readonly Shortcut[], prefix: string, key: string): Shortcut | undefined {
  const sequence = all.find(({ keys }) => keys === `${prefix} ${key}`);
  return sequence ?? all.findLast(({ keys }) => keys === key);
}

/** Submits the form of a text with Ctrl+Enter: Enter alone is a line break. */
export function submitWithEnter(event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Moves the focus to the next or previous row of the page. */
export function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const current = links.indexOf(document.activeElement as HTMLElement);
  const next = current === -1 ? links[step === 1 ? 0 : links.length - 1] : links[current + step];
  next?.focus();
}
