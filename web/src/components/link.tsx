import type { ComponentChildren } from "preact";
import { navigate } from "../router.ts";

interface LinkProps {
  /** A path of the console. */
  readonly to: string;
  readonly class?: string | undefined;
  /** The row that this link stands for: j and k move between rows. */
  readonly isRow?: boolean;
  readonly isCurrent?: boolean;
  readonly title?: string | undefined;
  /** Called before the page opens, to close a dialog for example. */
  readonly onOpen?: () => void;
  readonly children: ComponentChildren;
}

/** A link within the console. It opens without a reload, and in a new tab if the browser is asked to. */
export function Link({ to, isRow, isCurrent, onOpen, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={to}
      data-row={isRow || undefined}
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

/** An address that came from outside: a link only if it is http or https, otherwise its text. */
export function OutsideLink({ address }: { readonly address: string }) {
  const isWeb = /^https?:\/\//i.test(address) && URL.canParse(address);
  if (!isWeb) return <span>{address}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {address}
    </a>
  );
}
