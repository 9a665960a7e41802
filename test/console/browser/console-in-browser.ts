import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../../src/console/wire.ts";
import { startChromium } from "../../services/chromium.ts";
import { freePort } from "../../services/free-port.ts";
import { type SmallWorkflow, UpProcess } from "../../services/up-process.ts";

interface StartOptions {
  readonly workflows?: Readonly<Record<string, SmallWorkflow | string>>;
  readonly rules?: readonly object[];
  readonly settings?: Readonly<Record<string, object>>;
  readonly seed?: (dataDir: string) => Promise<void>;
}

/** Runs in every page before its own scripts. Text, because only pages know the types of a browser. */
const reportViolations = `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => {
  console.error("content security policy: " + [violatedDirective, blockedURI, sample].join(" "));
})`;

/** `interlock up` as a process of its own, and a real browser with pages that are signed in to its console. */
export class ConsoleInBrowser {
  readonly up: UpProcess;
  readonly url: string;
  /** Whatever no page of the console may do: errors, dialogs, violations of the content security policy, requests elsewhere. */
  readonly problems: string[] = [];
  readonly browser: Browser;

  private constructor(up: UpProcess, url: string, browser: Browser) {
    this.up = up;
    this.url = url;
    this.browser = browser;
  }

  static async start({ workflows = {}, ...given }: StartOptions = {}): Promise<ConsoleInBrowser> {
    // The same address after a restart: pages and cookies belong to it.
    const listen = `127.0.0.1:${await freePort()}`;
    const [up, browser] = await Promise.all([
      UpProcess.start(workflows, { ...given, env: { CONSOLE_LISTEN: listen } }),
      startChromium(),
    ]);
    return new ConsoleInBrowser(up, `http://${listen}`, browser);
  }

  /** Opens a page with the link that `up` has printed. The link works once. */
  async openPrintedLink(): Promise<Page> {
    const [, link = ""] = /console +(http\S+)/.exec(this.up.screen) ?? [];
    const page = await this.newPage();
    await page.goto(link);
    return page;
  }

  /** Opens a page in a profile of its own, signed in as the admin, or as a user with that role. */
  async signIn({ role, ...options }: BrowserContextOptions & { readonly role?: Role } = {}): Promise<Page> {
    if (role) await this.#users("add", role, "--role", role);
    const link = await this.#users("link", ...(role ? [role] : []));
    const page = await this.newPage(options);
    await page.goto(link.trim());
    return page;
  }

  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    await page.addInitScript(reportViolations);
    this.#watch(page);
    return page;
  }

  #watch(page: Page): void {
    page.on("pageerror", ({ message }) => this.problems.push(`error: ${message}`));
    page.on("dialog", (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      // A refused or failed request is part of many tests; the page has to cope with it.
      const isRequest = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isRequest) this.problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(`${this.url}/`)) this.problems.push(`request: ${request.url()}`);
    });
  }

  async #users(...words: readonly string[]): Promise<string> {
    const { out, err, status } = await this.up.bare("users", ...words, "--data", this.up.dataDir);
    if (status !== 0) throw new Error(`interlock users ${words.join(" ")}: ${out}${err}`);
    return out;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.up.stop();
  }

  /** Stops it without a look at what it has recorded: seeded incidents are in no ledger. */
  async discard(): Promise<void> {
    await this.browser.close();
    await this.up.discard();
  }
}
