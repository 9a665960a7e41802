import { signal } from "@preact/signals";

const phoneQuery = globalThis.matchMedia?.("(max-width: 720px)");

/** Whether the page has the width of a phone. The style sheets use the same limit. */
export const isPhone = signal(phoneQuery?.matches ?? false);

phoneQuery?.addEventListener("change", ({ matches }) => {
  isPhone.value = matches;
});
