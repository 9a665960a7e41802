import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

interface EmptyStateProps {
  readonly title: string;
  /** The next command, to be copied. */
  readonly command?: string;
  readonly children?: ComponentChildren;
}

export function EmptyState({ title, command, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p class="muted">{children}</p>}
      {command !== undefined && <Command text={command} />}
    </div>
  );
}

/** A command line with a button to copy it. */
export function Command({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
