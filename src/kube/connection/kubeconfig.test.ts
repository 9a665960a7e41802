import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubeconfigFor } from "../../apiserver/kubeconfig.ts";
import { systemClock } from "../../time/index.ts";
import type { Connection, Credentials } from "./connection.ts";
import { fromKubeconfig } from "./kubeconfig.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubeconfig-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a kubeconfig", () => {
  it("results in the server and the user of its current context", async () => {
    const text = config({ user: { token: "T" }, cluster: { "certificate-authority-data": base64("CA") } });

    expect(await connectionIn(text)).toEqual({
      url: "https://one:6443",
      ca: "CA",
      namespace: "team",
      credentials: { token: "T" },
    });
  });

  it("results in the server of another context if one is named", async () => {
    const { url, credentials } = await connectionIn(config({ user: { token: "T" } }), "other");

    expect(url).toBe("https://two:6443/behind/a/proxy");
    expect(credentials).toEqual({});
  });

  it("may be YAML", async () => {
    const text = [
      "current-context: me",
      "contexts: [{ name: me, context: { cluster: here, user: me } }]",
      "clusters:",
      "- { name: here, cluster: { server: http://here:8080, insecure-skip-tls-verify: true, tls-server-name: there } }",
      "users: [{ name: me, user: { username: u, password: p } }]",
    ].join("\n");

    expect(await connectionIn(text)).toEqual({
      url: "http://here:8080",
      insecureSkipTlsVerify: true,
      serverName: "there",
      credentials: { basic: { username: "u", password: "p" } },
    });
  });

  it("has paths relative to its own directory", async () => {
    for (const [name, content] of Object.entries({ ca: "CA", cert: "CERT", key: "KEY" })) {
      await writeFile(join(folder, `${name}.pem`), content);
    }
    const path = join(folder, "config");
    const user = { "client-certificate": "cert.pem", "client-key": "key.pem" };
    await writeFile(path, config({ user, cluster: { "certificate-authority": "ca.pem" } }));

    const { ca, credentials } = await fromKubeconfig({ path, env: {} });

    expect(ca).toBe("CA");
    expect(credentials).toEqual({ cert: "CERT", key: "KEY" });
  });

  it("may name a token file, which is read again", async () => {
    const path = join(folder, "token");
    await writeFile(path, "one");
    const connection = await connectionIn(config({ user: { token: "stale", tokenFile: path } }));

    const first = await credentialsOf(connection);
    await writeFile(path, "two");

    expect(first).toEqual({ token: "one" });
    expect(await credentialsOf(connection, first)).toEqual({ token: "two" });
  });

  it("of an embedded server results in its token, and in an address without the password", async () => {
    const text = kubeconfigFor({ url: "http://127.0.0.1:8080", token: "s/3" });

    expect(await connectionIn(text)).toMatchObject({
      url: "http://127.0.0.1:8080",
      credentials: { token: "s/3" },
    });
  });

  it("with a password only in the address results in that password", async () => {
    const text = config({ cluster: { server: "http://u:p%2F@one:80" } });

    const { url, credentials } = await connectionIn(text);

    expect(url).toBe("http://one");
    expect(credentials).toEqual({ basic: { username: "u", password: "p/" } });
  });

  it("may impersonate another user", async () => {
    const text = config({ user: { token: "T", as: "eve", "as-groups": ["g"] } });

    expect((await connectionIn(text)).credentials).toMatchObject({ impersonate: { user: "eve", groups: ["g"] } });
  });
});

describe("several kubeconfigs", () => {
  it("are merged: the first that has an entry or a current context wins, and missing files are skipped", async () => {
    await write("one", { users: [{ name: "me", user: { token: "ONE" } }] });
    await write("two", JSON.parse(config({ user: { token: "TWO" } })));
    const paths = ["missing", "one", "two"].map((name) => join(folder, name));

    const { url, credentials } = await fromKubeconfig({ path: paths, env: {} });

    expect(url).toBe("https://one:6443");
    expect(credentials).toEqual({ token: "ONE" });
  });

  it("have paths relative to the file with the entry", async () => {
    await mkdir(join(folder, "elsewhere"), { recursive: true });
    await writeFile(join(folder, "elsewhere", "ca.pem"), "CA of elsewhere");
    const cluster = { server: "https://elsewhere:6443", "certificate-authority": "ca.pem" };
    await write("elsewhere/config", { clusters: [{ name: "one", cluster }] });
    await write("three", JSON.parse(config({ user: { token: "T" } })));

    const path = [join(folder, "elsewhere", "config"), join(folder, "three")];

    expect(await fromKubeconfig({ path, env: {} })).toMatchObject({
      url: "https://elsewhere:6443",
      ca: "CA of elsewhere",
    });
  });
});

describe("a kubeconfig that cannot be used", () => {
  it.each<[string, string, string]>([
    ["a broken line", "a: b\ntoken: 's3cret\nc: d", "is not valid YAML at line"],
    ["a scalar", "s3cret", "must be an object, not text"],
    ["a number for a token", config({ user: { token: 5 } }), "token must be text, not a number"],
    ["no current context", "clusters: null", "kubeconfig: no context is chosen"],
    [
      "a context that is not there",
      "current-context: nowhere",
      'kubeconfig: there is no context "nowhere"; it has none',
    ],
    [
      "a context of another name",
      "current-context: nowhere\ncontexts: [{ name: one }, { name: two }]",
      'there is no context "nowhere"; it has one, two',
    ],
    ["a server that is no URL", config({ cluster: { server: "one:s3cret@" } }), "the server of the cluster"],
    [
      "an auth provider",
      config({ user: { "auth-provider": { name: "oidc" } } }),
      "auth-provider is not supported; use",
    ],
    [
      "an exec plugin of an old version",
      config({ user: { exec: { apiVersion: "v0", command: "x" } } }),
      "exec.apiVersion must be one of",
    ],
    ["a proxy", config({ cluster: { "proxy-url": "http://u:s3cret@proxy" } }), "proxy-url is not supported"],
    ["a file that is not there", config({ cluster: { "certificate-authority": "/nope" } }), "/nope cannot be read"],
  ])("because of %s is reported without a secret", async (_why, text, message) => {
    const error = await connectionIn(text).catch((cause: unknown) => cause);

    expect(error).toMatchObject({ name: "KubeError", code: "invalid", message: expect.stringContaining(message) });
    expect(`${error} ${JSON.stringify(error)}`).not.toContain("s3cret");
  });
});

function credentialsOf({ credentials }: Connection, refused?: Credentials) {
  return typeof credentials === "function" ? credentials({ clock: systemClock(), refused }) : credentials;
}

async function connectionIn(text: string, context?: string): Promise<Connection> {
  const path = join(folder, "kubeconfig");
  await writeFile(path, text);
  return fromKubeconfig({ path, context, env: {} });
}

async function write(name: string, content: object): Promise<void> {
  await writeFile(join(folder, name), JSON.stringify(content));
}

function config({ user = {}, cluster = {} }: { user?: object; cluster?: object }): string {
  return JSON.stringify({
    "current-context": "mine",
    contexts: [
      { name: "mine", context: { cluster: "one", user: "me", namespace: "team" } },
      { name: "other", context: { cluster: "two", user: "nobody" } },
    ],
    clusters: [
      { name: "one", cluster: { server: "https://one:6443", ...cluster } },
      { name: "two", cluster: { server: "https://two:6443/behind/a/proxy/" } },
    ],
    users: [
      { name: "me", user },
      { name: "nobody", user: null },
    ],
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
