import { type Browser, chromium } from "playwright-core";

/** Starts Debian's Chromium with an empty profile. It loads nothing but the pages of the test. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
