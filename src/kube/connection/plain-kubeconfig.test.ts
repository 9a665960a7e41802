import { describe, expect, it } from "vitest";
import { kubeconfigFor } from "../../apiserver/kubeconfig.ts";
import { readChecked } from "./kubeconfig-schema.ts";
import { readPlain } from "./plain-kubeconfig.ts";

const own = kubeconfigFor({ url: "https://127.0.0.1:7080", certificate: "CA", token: "T" });

describe("the reader of plain kubeconfigs", () => {
  it("reads the kubeconfig of up, as the schema does", () => {
    const plain = readPlain([file(own)], undefined);

    expect(withoutFunctions(plain)).toEqual(withoutFunctions(readChecked([file(own)], undefined)));
  });

  it("resolves paths against the folder of the file", () => {
    expect(readPlain([file(own)], undefined)?.user.resolve("token")).toBe("/home/me/token");
  });

  it.each<[string, string, string?]>([
    ["YAML", "current-context: a\n"],
    ["no object", "[]"],
    ["a name twice", own.replace('"kind": "Config",', '"kind": "Config",\n  "kind": "Config",')],
    ["another context that is not there", own, "other"],
    ["a field that needs a check", changed((config) => Object.assign(config.users[0].user, { exec: {} }))],
    ["an empty text", changed((config) => Object.assign(config.users[0].user, { token: "" }))],
    ["a number for a text", changed((config) => Object.assign(config.clusters[0].cluster, { server: 7080 }))],
    ["an entry without a name", changed((config) => config.clusters.push({ cluster: {} }))],
    ["a list that is missing", changed((config) => Reflect.deleteProperty(config, "users"))],
  ])("leaves a file with %s to the schema", (_what, text, context) => {
    expect(readPlain([file(text)], context)).toBeUndefined();
  });

  it("leaves several files to the schema, which merges them", () => {
    expect(readPlain([file(own), file(own)], undefined)).toBeUndefined();
  });
});

function file(text: string) {
  return { path: "/home/me/kubeconfig", text };
}

// biome-ignore lint/suspicious/noExplicitAny: a kubeconfig with whatever a case puts into it.
function changed(change: (config: any) => void): string {
  const config = JSON.parse(own);
  change(config);
  return JSON.stringify(config, null, 2);
}

function withoutFunctions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
