import { describe, expect, it } from "vitest";
import type { ChangeHandler, Informer } from "../../kube/index.ts";
import { incidentName, type RemediationRequest } from "../../resources/index.ts";
import { NewestIncidents } from "./newest-incidents.ts";

describe("the newest incident of a fingerprint", () => {
  it("is the one with the largest number, in any order of arrival", () => {
    const { newest, add } = world();
    const [first, second, third] = [add(1), add(3), add(2)] as const;

    expect([first, second, third].map((one) => newest.isNewest(one))).toEqual([false, true, false]);
  });

  it("is the previous one when a user deletes it", () => {
    const { newest, add, remove } = world();
    const first = add(1);
    remove(add(2));

    expect(newest.isNewest(first)).toBe(true);
  });

  it("reconciles only the previous one again", () => {
    const { superseded, add } = world();
    for (let n = 1; n <= 1_000; n++) add(n);
    superseded.length = 0;

    add(1_001);

    expect(superseded).toEqual([`ns/${incidentName("v1:x", 1_000)}`]);
  });

  it("is found without comparing all incidents of its fingerprint", () => {
    const { newest, add, lookups } = world();
    const all = Array.from({ length: 1_000 }, (_, i) => add(i + 1));

    for (const one of all) newest.isNewest(one);

    expect(lookups()).toBe(0);
  });
});

function world() {
  const objects = new Set<RemediationRequest>();
  let handler: ChangeHandler<RemediationRequest> = () => {};
  let lookups = 0;
  const informer = {
    hasSynced: true,
    synced: Promise.resolve(),
    get: () => undefined,
    list: () => [...objects],
    byIndex: () => {
      lookups++;
      return [...objects];
    },
    subscribe: (one: ChangeHandler<RemediationRequest>) => {
      handler = one;
      return () => {};
    },
  } satisfies Informer<RemediationRequest, "target" | "fingerprint">;
  const newest = new NewestIncidents(informer);
  const superseded: string[] = [];
  newest.superseded.feed((key) => superseded.push(key));
  return {
    newest,
    superseded,
    lookups: () => lookups,
    add(n: number) {
      const incident = {
        metadata: {
          name: incidentName("v1:x", n),
          namespace: "ns",
          uid: `u${n}`,
          creationTimestamp: "2026-11-15T06:00:00Z",
        },
        spec: { signalFingerprint: "v1:x" },
      } as RemediationRequest;
      objects.add(incident);
      handler("ADDED", incident, undefined);
      return incident;
    },
    remove(incident: RemediationRequest) {
      objects.delete(incident);
      handler("DELETED", incident, incident);
    },
  };
}
