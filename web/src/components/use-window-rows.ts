import {
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";

interface WindowRows {
  /** The rows near the part of the page that is visible. */
  readonly items: readonly VirtualItem[];
  /** The height of the rows before and after them. */
  readonly before: number;
  readonly after: number;
}

/** Which of `count` rows of equal height to render while the page scrolls. `body` contains the rows. */
export function useWindowRows(count: number, rowHeight: number, body: RefObject<HTMLElement | null>): WindowRows {
  const [, render] = useReducer((renders: number) => renders + 1, 0);
  const [margin, setMargin] = useState(0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: margin,
    getScrollElement: () => window,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    initialOffset: () => window.scrollY,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    onChange: () => render(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => {
    virtualizer._willUpdate();
    const top = body.current ? Math.round(body.current.getBoundingClientRect().top + window.scrollY) : 0;
    if (top !== margin) setMargin(top);
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);

  const items = virtualizer.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    before: first ? first.start - margin : 0,
    after: last ? virtualizer.getTotalSize() - (last.end - margin) : 0,
  };
}
