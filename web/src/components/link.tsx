import type { ComponentChildren } from "preact";
import { objectPath, withQuery } from "../api.ts";
import { formatCount, shortName } from "../format.ts";
import { navigate, targetPath } from "../router.ts";
import type { Tone } from "../tones.ts";

interface LinkProps {
  /** A path of the console. */
  readonly to: string;
  readonly class?: string | undefined;
  /** Whether it is the link of a row: j and k move between these. */
  readonly isRow?: boolean;
  readonly isCurrent?: boolean;
  readonly title?: string | undefined;
  readonly tone?: Tone;
  /** Called before the page opens, to close a dialog for example. */
  readonly onOpen?: () => void;
  readonly children: ComponentChildren;
}

/** A link within the console. It opens without a reload, or in a new tab with the usual keys. */
export function Link({ to, isRow, isCurrent, tone, onOpen, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      data-row={isRow || undefined}
      data-tone={tone}
      aria-current={isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen?.();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}

/** A link to the page of a target. */
export function TargetLink({ target, isRow = false }: { readonly target: string; readonly isRow?: boolean }) {
  return (
    <Link to={targetPath(target)} class={isRow ? "strong mono" : "mono"} isRow={isRow} title={target}>
      {target}
    </Link>
  );
}

/** The number of executions and incidents that wait for a target, with a link to these incidents. */
export function WaitingLink({ target, count }: { readonly target: string; readonly count: number }) {
  return (
    <Link to={withQuery("/incidents", { lane: "queued", target })} class="badge" tone="wait">
      {formatCount(count)}
    </Link>
  );
}

interface ObjectLinkProps {
  readonly kind: "executions" | "incidents";
  /** NAMESPACE/NAME */
  readonly of: string;
}

/** A link to the page of an object, with its short name. */
export function ObjectLink({ kind, of }: ObjectLinkProps) {
  return (
    <Link to={objectPath(kind, of)} class="mono" title={of}>
      {shortName(of)}
    </Link>
  );
}

/** An external text: a link if it is an http or https address. */
export function OutsideLink({ address }: { readonly address: string }) {
  const isWeb = /^https?:\/\//i.test(address) && URL.canParse(address);
  if (!isWeb) return <span>{address}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {address}
    </a>
  );
}
