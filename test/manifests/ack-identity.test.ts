import { Environment } from "@marcbachmann/cel-js";
import { describe, expect, it } from "vitest";
import { ackIdentity, usualManifests } from "../../src/manifests/index.ts";
import { annotationKeys } from "../../src/resources/index.ts";

const { acknowledge, acknowledgedBy } = annotationKeys;
const orchestrator = "system:serviceaccount:kubernaut-system:interlock-orchestrator";

/** What is on the object before and after, and who wants it. `undefined`: it is not there yet. */
type Change = [string, Annotations | undefined, Annotations, string, boolean];
type Annotations = Readonly<Record<string, string>>;

describe("the policy about acknowledgements", () => {
  it.each<Change>([
    ["anything else by anybody", {}, { note: "x" }, "bob", true],
    ["an acknowledgement in one's own name", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, "kim", true],
    ["an acknowledgement in another's name", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, "bob", false],
    ["an acknowledgement without a name", {}, { [acknowledge]: "ok" }, "bob", false],
    [
      "another name on an acknowledgement",
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      { [acknowledge]: "ok", [acknowledgedBy]: "eve" },
      "bob",
      false,
    ],
    [
      "something else beside another's acknowledgement",
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      { [acknowledge]: "ok", [acknowledgedBy]: "kim", note: "x" },
      "bob",
      true,
    ],
    ["a person's word, passed on", {}, { [acknowledge]: "ok", [acknowledgedBy]: "kim" }, orchestrator, true],
    ["something new without an acknowledgement", undefined, {}, "bob", true],
    [
      "something new that is acknowledged in another's name in advance",
      undefined,
      { [acknowledge]: "ok", [acknowledgedBy]: "kim" },
      "bob",
      false,
    ],
  ])("%s", (_, before, after, username, isAllowed) => {
    expect(isValid(before, after, username)).toBe(isAllowed);
  });

  it("sees what is created as well as what is changed", () => {
    expect(policy().matchConstraints.resourceRules[0]?.operations).toEqual(["CREATE", "UPDATE"]);
  });
});

function policy() {
  const [object] = ackIdentity(usualManifests.places);
  return (object as unknown as { spec: Spec }).spec;
}

interface Spec {
  readonly matchConstraints: { readonly resourceRules: readonly { readonly operations: readonly string[] }[] };
  readonly validations: readonly { readonly expression: string }[];
}

function isValid(before: Annotations | undefined, annotations: Annotations, username: string): unknown {
  const environment = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });
  const expression = environment.parse(policy().validations[0]?.expression ?? "");
  return expression({
    oldObject: before ? { metadata: { annotations: before } } : null,
    object: { metadata: { annotations } },
    request: { userInfo: { username } },
  });
}
