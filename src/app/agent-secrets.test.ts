import { describe, expect, it } from "vitest";
import { type Config, defaultConfig } from "../config/index.ts";
import { settings } from "../config/schema.ts";
import { openSecrets, secretFiles } from "./agent-secrets.ts";

/** Certificates and public keys, folders, and files that hold none. */
const notSecret = [
  "alertmanagerProvenance",
  "tlsCertFile",
  "caFile",
  "smtpCaFile",
  "checkpointTrustedKeysFile",
  "file",
];

describe("the secrets that are hidden from the coder", () => {
  it.each([
    ["as it is written if it is no valid escape", "rediss://user:secret-100%@cache:6380", ["secret-100%"]],
    ["encoded and decoded", "postgres://user:p%40ssw0rd-1@db/app", ["p%40ssw0rd-1", "p@ssw0rd-1"]],
  ])("include the password of a URL %s", async (_how, url, passwords) => {
    const { config } = defaultConfig();
    const agent = { ...config.agent, passEnvironment: ["CACHE_URL"] };

    const secrets = await openSecrets({ ...config, agent }, { CACHE_URL: url });

    expect(secrets.known()).toEqual(expect.arrayContaining(passwords));
  });
});

describe("the files that are hidden from the coder", () => {
  const paths = settings.filter(({ kind, field }) => kind.isPath && !/dir$/i.test(field));
  const secret = paths.filter(({ field }) => !notSecret.includes(field));

  it.each(secret)("include the one of $path", ({ section, field }) => {
    const sections: Record<string, object> = { ...defaultConfig().config };
    sections[section] = { ...sections[section], [field]: "/etc/interlock/secret" };

    expect(secretFiles(sections as unknown as Config)).toEqual(["/etc/interlock/secret"]);
  });

  it("include no certificate", () => {
    const { config } = defaultConfig();
    const gateway = { ...config.gateway, tlsCertFile: "/etc/interlock/tls.crt" };

    expect(secretFiles({ ...config, gateway })).toEqual([]);
  });
});
