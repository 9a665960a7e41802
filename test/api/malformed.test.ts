import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { Wire } from "../conformance/wire.ts";

const objects = {
  "/api/v1/namespaces/default": undefined,
  "/api/v1/namespaces/default/configmaps/a": { data: { key: "value" } },
  "/api/v1/namespaces/default/pods/a": { metadata: { finalizers: ["a/b"] }, spec: { containers: [{ name: "c" }] } },
  "/apis/apps/v1/namespaces/default/deployments/a": { spec: { replicas: 1 } },
  "/apis/coordination.k8s.io/v1/namespaces/default/leases/a": { spec: { leaseDurationSeconds: 5 } },
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com": {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  },
} as const;

const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];
const reviews = [
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
  "/apis/authorization.k8s.io/v1/subjectaccessreviews",
  "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
  "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
];
const unreadable = [
  "",
  "{",
  "[",
  '{"a":',
  "nonsense",
  ": :",
  "a: b: c",
  "\u0000",
  '{"__proto__":{"a":1}}',
  "- &a b\n- *c",
];

describe("a malformed request to the embedded API server", () => {
  let server: Awaited<ReturnType<typeof serverUnderTest>>;
  let wire: Wire;

  beforeAll(async () => {
    server = await serverUnderTest();
    wire = new Wire(server.url, tokens.admin);
    for (const [path, object] of Object.entries(objects)) {
      const collection = path.slice(0, path.lastIndexOf("/"));
      const metadata = { name: "a", ...(object && "metadata" in object ? object.metadata : {}) };
      if (object) await wire.ask({ method: "POST", path: collection, body: { ...object, metadata } });
    }
  });

  afterAll(async () => {
    wire.close();
    await server.close();
  });

  it.each(patchTypes)("gets 4xx when its patch of type %s cannot be read", async (type) => {
    for (const path of Object.keys(objects)) {
      for (const rawBody of unreadable) {
        const answer = await wire.ask({ method: "PATCH", path, headers: { "Content-Type": type }, rawBody });

        expect(answer, `${path} ${JSON.stringify(rawBody)}`).toMatchObject({ body: { kind: "Status" } });
        expect(isClientError(answer.status), `${path} ${JSON.stringify(rawBody)}: ${answer.status}`).toBe(true);
      }
    }
  });

  it.each(["constructor", "__proto__", "toString", "text/plain", "application/json"])(
    "is answered with 415 when its patch is of the type %s",
    async (type) => {
      const headers = { "Content-Type": type };
      const path = "/api/v1/namespaces/default/configmaps/a";

      expect(await wire.ask({ method: "PATCH", path, headers, rawBody: "{}" })).toMatchObject({ status: 415 });
    },
  );

  it.each(reviews)("gets 4xx when it is a review for %s that cannot be read", async (path) => {
    for (const type of ["application/json", "application/yaml", "constructor"]) {
      for (const rawBody of [...unreadable, "5", "[]", '"text"', '{"kind":"Pod"}', '{"apiVersion":5}']) {
        const answer = await wire.ask({ method: "POST", path, headers: { "Content-Type": type }, rawBody });

        expect(isClientError(answer.status), `${type} ${JSON.stringify(rawBody)}: ${answer.status}`).toBe(true);
      }
    }
  });

  it.each([
    ["no spec", {}],
    ["a spec that is no object", { spec: 5 }],
    ["neither kind of attributes", { spec: {} }],
    ["both kinds of attributes", { spec: { resourceAttributes: {}, nonResourceAttributes: {} } }],
    ["attributes that are a list", { spec: { resourceAttributes: [] } }],
    ["a verb that is a number", { spec: { resourceAttributes: { verb: 5 } } }],
    ["a resource that is an object", { spec: { resourceAttributes: { verb: "get", resource: {} } } }],
  ])("gets 4xx when it is an access review with %s", async (_what, body) => {
    const answer = await wire.ask({ method: "POST", path: reviews[0] as string, body });

    expect(isClientError(answer.status), String(answer.status)).toBe(true);
  });

  it("never gets 5xx, whatever value a patch puts at any path", async () => {
    const places = fc.constantFrom(
      ...["/metadata", "/metadata/labels", "/metadata/annotations/x", "/metadata/finalizers", "/metadata/finalizers/0"],
      ...[
        "/metadata/ownerReferences",
        "/metadata/name",
        "/metadata/uid",
        "/metadata/resourceVersion",
        "/metadata/generation",
      ],
      ...[
        "/metadata/creationTimestamp",
        "/kind",
        "/apiVersion",
        "/spec",
        "/spec/versions",
        "/spec/versions/0",
        "/spec/names",
      ],
      ...[
        "/spec/versions/0/schema",
        "/spec/versions/0/schema/openAPIV3Schema",
        "/spec/versions/0/additionalPrinterColumns",
      ],
      ...[
        "/spec/containers",
        "/spec/containers/-",
        "/spec/leaseDurationSeconds",
        "/status",
        "/status/conditions",
        "/data/x",
      ],
    );
    const values = fc.oneof(
      fc.constantFrom(null, 0, -1, 1.5, "", "x", true, [], {}, [null], [[]], [{}], { a: null }, { "": 1 }, [
        "a",
        null,
        5,
      ]),
      fc.jsonValue({ maxDepth: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(objects)), places, values, async (path, place, value) => {
        const bodies: readonly [string, unknown][] = [
          ["application/json-patch+json", [{ op: "add", path: place, value }]],
          ["application/json-patch+json", [{ op: "replace", path: place, value }]],
          ["application/merge-patch+json", nested(place, value)],
          ["application/strategic-merge-patch+json", nested(place, value)],
        ];
        for (const [type, body] of bodies) {
          const headers = { "Content-Type": type };
          const answer = await wire.ask({ method: "PATCH", path, query: { dryRun: "All" }, headers, body });
          expect(answer.status, `${type} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500);
        }
      }),
      { numRuns: 300 },
    );
  }, 60_000);
});

function isClientError(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** `/a/b` with 5 is `{a: {b: 5}}`. */
function nested(place: string, value: unknown): unknown {
  return place
    .split("/")
    .slice(1)
    .reduceRight((inside, key) => ({ [key]: inside }), value);
}
