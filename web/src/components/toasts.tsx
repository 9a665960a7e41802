import { signal } from "@preact/signals";
import type { Tone } from "../tones.ts";
import { Icon } from "./icon.tsx";
import { Link } from "./link.tsx";

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
  /** Further information. */
  readonly notes?: readonly string[];
  /** The page of the object. */
  readonly path?: string | undefined;
}

const toasts = signal<readonly Toast[]>([]);
const showMs = 8_000;
let lastId = 0;

/** Shows a message for some seconds, and reads it out to screen readers. */
export function showToast(toast: Omit<Toast, "id">): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.peek().slice(-3), { ...toast, id }];
  setTimeout(() => removeToast(id), showMs);
}

function removeToast(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, notes = [], path }) => (
        <div key={id} class="toast" data-tone={tone}>
          <span>
            {text} {path !== undefined && <Link to={path}>Open</Link>}
            {notes.map((note) => (
              <span key={note} class="toast-note">
                {note}
              </span>
            ))}
          </span>
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => removeToast(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
