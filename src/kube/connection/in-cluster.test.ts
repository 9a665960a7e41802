import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { inCluster } from "./in-cluster.ts";

const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

describe("in a pod", () => {
  it("the API server comes from the environment, and the token from the service account", async () => {
    const { credentials, ...where } = await inCluster({ env, readFile: files() });

    expect(where).toEqual({ url: "https://10.0.0.1:443", ca: "CA", namespace: "interlock" });
    expect(typeof credentials === "function" && (await credentials({ clock: new ManualClock() }))).toEqual({
      token: "T",
    });
  });

  it("an IPv6 address is put in brackets", async () => {
    const { url } = await inCluster({ env: { ...env, KUBERNETES_SERVICE_HOST: "fd00::1" }, readFile: files() });

    expect(url).toBe("https://[fd00::1]:443");
  });

  it("a service account that is not mounted is reported as missing", async () => {
    const readFile = () => Promise.reject(new Error("ENOENT"));

    await expect(inCluster({ env, readFile })).rejects.toThrow(
      "ca.crt cannot be read: is automountServiceAccountToken off?",
    );
  });

  it("outside of a pod the connection is an error", async () => {
    await expect(inCluster({ env: {}, readFile: files() })).rejects.toThrow("this process does not run in a pod");
  });
});

function files() {
  const content = new Map([
    [`${folder}/token`, "T\n"],
    [`${folder}/ca.crt`, "CA"],
    [`${folder}/namespace`, "interlock\n"],
  ]);
  return async (path: string) => content.get(path) ?? "";
}
