import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PanelProps {
  readonly title: string;
  /** Beside the title, such as a count or a button. */
  readonly aside?: ComponentChildren;
  /** Keeps the content off the border. Rows and tables reach it. */
  readonly isPadded?: boolean;
  readonly children: ComponentChildren;
}

/** A section of a page. */
export function Panel({ title, aside, isPadded = false, children }: PanelProps) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-header">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {isPadded ? <div class="panel-body">{children}</div> : children}
    </section>
  );
}

interface PageHeaderProps {
  readonly title: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The heading of a page. It gets the focus when the page opens. */
export function PageHeader({ title, aside, children }: PageHeaderProps) {
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
