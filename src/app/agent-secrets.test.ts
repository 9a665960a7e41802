import { describe, expect, it } from "vitest";
import { type Config, defaultConfig } from "../config/index.ts";
import { settings } from "../config/schema.ts";
import { secretFiles } from "./agent-secrets.ts";

/** Certificates and public keys, folders, and files that hold none. */
const notSecret = [
  "alertmanagerProvenance",
  "tlsCertFile",
  "caFile",
  "smtpCaFile",
  "checkpointTrustedKeysFile",
  "file",
];

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
