import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operationRoutes } from "../../../src/console/http/operation-routes.ts";
import { namespaces } from "../../../src/kube/index.ts";
import { operationNames } from "../../../src/operate/index.ts";
import { type AutomationPause, automationPauses } from "../../../src/resources/index.ts";
import { TestCli } from "../../doubles/test-cli.ts";
import { adminToken, type ConsoleUnderTest, consoleUnderTest } from "./console-under-test.ts";

let server: ConsoleUnderTest;
let keys = 0;

beforeAll(async () => {
  server = await consoleUnderTest({ routes: () => operationRoutes((client) => new TestCli(client)) });
  await server.client.create(namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "kubernaut-system" },
  });
});

afterAll(() => server.close());

const newKey = () => `key-${String(++keys).padStart(8, "0")}`;

async function pauses(): Promise<readonly AutomationPause[]> {
  return (await server.client.list(automationPauses)).items;
}

async function operate(
  operation: string,
  body: object,
  as: { cookie?: string; token?: string } = { token: adminToken },
) {
  const response = await server.ask(`/api/v1/operations/${operation}`, { method: "POST", body, ...as });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("an operation over HTTP", () => {
  it("is recorded with the name of its caller, and answers with the same as a command line", async () => {
    await server.users.add("kim", "operator");
    const cookie = await server.logIn("kim");

    const { status, body } = await operate(
      "pause",
      { scope: ["namespace", "payment"], for: "2h", reason: "launch", key: newKey() },
      { cookie },
    );

    expect(status).toBe(200);
    expect(body["command"]).toMatch(/^interlock pause namespace payment .*--for 2h/);
    const [pause] = (await pauses()).filter(
      ({ metadata }) => `${metadata.namespace}/${metadata.name}` === body["object"],
    );
    expect(pause?.spec).toMatchObject({ requestedBy: "kim", reason: "launch" });
  });

  it("that is sent twice with one key has one effect and one answer", async () => {
    const request = { scope: ["namespace", "shop"], reason: "twice", key: newKey() };

    const both = await Promise.all([operate("pause", request), operate("pause", request)]);

    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both[0]?.body["object"]).toBe(both[1]?.body["object"]);
    expect((await pauses()).filter(({ spec }) => spec.reason === "twice")).toHaveLength(1);
  });

  it("at a version that the object no longer has is a conflict, with its row as it is now", async () => {
    const made = await operate("pause", { scope: ["namespace", "old"], reason: "before", key: newKey() });
    const object = String(made.body["object"]);

    const { status, body } = await operate("resume", { object, ifVersion: "1", reason: "late", key: newKey() });

    expect(status).toBe(409);
    expect(body).toMatchObject({
      title: "Conflict",
      hint: expect.any(String),
      current: { kind: "pauses", key: object },
    });
    const current = body["current"] as { readonly version: string; readonly endedAt?: string };
    expect(current.endedAt).toBeUndefined();
    const again = await operate("resume", { object, ifVersion: current.version, reason: "now", key: newKey() });
    expect(again.status).toBe(200);
  });

  it.each([
    ["an unknown object", "cancel", { object: "kubernaut-system/wfe-none" }, 404],
    ["a missing field", "cancel", {}, 400],
    ["a field of another operation", "approve", { object: "a/b", workflow: "w" }, 400],
    ["an unknown operation", "explode", { object: "a/b" }, 404],
  ])("with %s is refused", async (_, operation, request, expected) => {
    const { status, body } = await operate(operation, { reason: "test", key: newKey(), ...request });

    expect(status).toBe(expected);
    expect(body).toMatchObject({ type: "about:blank", status: expected });
  });

  it.each([["no reason"], ["no key"]])("with %s is refused", async (missing) => {
    const request = { scope: ["all"], ...(missing === "no key" ? { reason: "x" } : { key: newKey() }) };

    expect((await operate("pause", request)).status).toBe(400);
  });

  it.each(operationNames)("named %s changes nothing for a viewer", async (operation) => {
    await server.users.add("vic", "viewer");
    const cookie = await server.logIn("vic");
    const before = await pauses();

    const request = { object: "kubernaut-system/x", scope: ["all"], workflow: "w", target: "node/a" };
    const { status } = await operate(operation, { ...request, reason: "try", key: newKey() }, { cookie });

    expect(status).toBe(403);
    expect(await pauses()).toEqual(before);
  });
});
