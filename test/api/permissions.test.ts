import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";

describe("the read-only token", () => {
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.readOnly);
  });

  afterAll(async () => {
    wire.close();
    await server.close();
  });

  it.each([
    [
      "POST",
      "/api/v1/namespaces/default/configmaps",
      'create resource "configmaps" in API group "" in the namespace "default"',
    ],
    [
      "PUT",
      "/api/v1/namespaces/default/configmaps/a",
      'update resource "configmaps" in API group "" in the namespace "default"',
    ],
    ["PATCH", "/api/v1/namespaces/default", 'patch resource "namespaces" in API group "" at the cluster scope'],
    [
      "DELETE",
      "/api/v1/namespaces/default/pods/a",
      'delete resource "pods" in API group "" in the namespace "default"',
    ],
    [
      "DELETE",
      "/api/v1/namespaces/default/pods",
      'deletecollection resource "pods" in API group "" in the namespace "default"',
    ],
    [
      "PATCH",
      "/apis/apps/v1/namespaces/default/deployments/a/status",
      'patch resource "deployments/status" in API group "apps" in the namespace "default"',
    ],
  ])("does not allow to %s %s, and the response names the missing permission", async (method, path, missing) => {
    const answer = await wire.ask({ method, path, body: { metadata: { name: "a" } } });

    expect(answer).toMatchObject({
      status: 403,
      body: { reason: "Forbidden", message: expect.stringContaining(`User "interlock-reader" cannot ${missing}`) },
    });
  });

  it.each([
    ["get", "/api/v1/namespaces/default/secrets/s"],
    ["list", "/api/v1/namespaces/default/secrets"],
    ["list", "/api/v1/secrets"],
    ["watch", "/api/v1/namespaces/default/secrets?watch=true"],
    ["watch", "/api/v1/secrets?watch=1"],
  ])("does not allow to %s Secrets: %s", async (verb, url) => {
    const [path = "", text = ""] = url.split("?");
    const answer = await wire.ask({ method: "GET", path, query: Object.fromEntries(new URLSearchParams(text)) });

    expect(answer).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining(`User "interlock-reader" cannot ${verb} resource "secrets"`) },
    });
  });

  it.each([
    [{ verb: "get", group: "", resource: "secrets" }, false],
    [{ verb: "list", group: "*", resource: "*" }, false],
    [{ verb: "get", group: "", resource: "configmaps" }, true],
    [{ verb: "create", group: "", resource: "configmaps" }, false],
    [{ verb: "*", group: "", resource: "configmaps" }, false],
  ])("gets the result of an access review of %o: %s", async (resourceAttributes, allowed) => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    const answer = await wire.ask({ method: "POST", path, body: { spec: { resourceAttributes } } });

    expect(answer).toMatchObject({ status: 201, body: { status: { allowed } } });
  });

  it("gets a rules review that allows to read everything but Secrets", async () => {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

    const answer = await wire.ask({ method: "POST", path, body: { spec: { namespace: "default" } } });

    const { resourceRules } = (answer.body as { status: { resourceRules: object[] } }).status;
    expect(resourceRules).toContainEqual({
      verbs: ["get", "list", "watch"],
      apiGroups: [""],
      resources: ["configmaps"],
    });
    expect(JSON.stringify(resourceRules)).not.toMatch(/"secrets"|"\*"/);
  });

  it("does not allow impersonation", async () => {
    const headers = { "Impersonate-User": "interlock-admin" };

    const answer = await wire.ask({ method: "GET", path: "/api/v1/namespaces/default", headers });

    const missing = 'User "interlock-reader" cannot impersonate resource "users"';
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining(missing) } });
  });

  it.each([
    ["interlock-reader", "GET", 200],
    ["interlock-reader", "DELETE", 403],
    ["nobody", "GET", 403],
  ])("an administrator who impersonates %s gets for %s the status %i", async (user, method, status) => {
    const headers = { "Impersonate-User": user, Authorization: `Bearer ${tokens.admin}` };

    expect(await wire.ask({ method, path: "/api/v1/namespaces/default", headers })).toMatchObject({ status });
  });

  it.each([{ "Impersonate-User": "" }, { "Impersonate-Group": "viewers" }, { "Impersonate-Uid": "1" }])(
    "an administrator who impersonates no user by %o gets an error, not the rights of an administrator",
    async (identity) => {
      const headers = { ...identity, Authorization: `Bearer ${tokens.admin}` };

      expect(await wire.ask({ method: "GET", path: "/api/v1/secrets", headers })).toMatchObject({ status: 400 });
    },
  );

  it("allows to read", async () => {
    expect(await wire.ask({ method: "GET", path: "/api/v1/namespaces/default" })).toMatchObject({ status: 200 });
  });
});
