import type { ComponentChildren } from "preact";
import { useEffect, useId } from "preact/hooks";
import { formatCount } from "../format.ts";
import { Badge } from "./badge.tsx";

interface PanelProps {
  readonly title: string;
  /** The number of items, beside the title. */
  readonly count?: number;
  /** Other content beside the title. */
  readonly aside?: ComponentChildren;
  /** Keeps the content off the border. Rows and tables reach it. */
  readonly isPadded?: boolean;
  readonly children: ComponentChildren;
}

/** A section of a page. */
export function Panel({ title, count, aside, isPadded = false, children }: PanelProps) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-header">
        <h2 id={id}>{title}</h2>
        {count !== undefined && <Badge tone="neutral" text={formatCount(count)} />}
        {aside}
      </header>
      {isPadded ? <div class="panel-body">{children}</div> : children}
    </section>
  );
}

interface PageHeaderProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The heading of a page, which also names the tab. It gets the focus when the page opens. */
export function PageHeader({ title, aside, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Interlock`;
  }, [title]);
  return (
    <header class="page-header">
      <div class="page-title">
        <h1 tabIndex={-1}>{title}</h1>
        {aside}
      </div>
      {children}
    </header>
  );
}

interface FactsProps {
  readonly facts: readonly (readonly [label: string, value: ComponentChildren])[];
  /** For values that may be long. */
  readonly isWide?: boolean;
}

/** Labelled values. Those without a value are left out. */
export function Facts({ facts, isWide = false }: FactsProps) {
  return (
    <dl class={isWide ? "facts wide" : "facts"}>
      {facts
        .filter(([, value]) => value !== undefined && value !== "" && value !== false)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
