import { expect, it } from "vitest";
import type { ChangeHandler } from "../kube/index.ts";
import type { NotificationRequest } from "../resources/index.ts";
import { digestKey } from "./observe.ts";
import { SkipQueues } from "./skip-queues.ts";

it("lists the oldest notices of a digest first, in any order of arrival, up to the maximum", () => {
  const { queues, change } = open();
  for (const second of [3, 1, 2, 4]) change("ADDED", skip(second));

  expect(names(queues.listOldest(skip(4), 3))).toEqual(["n1", "n2", "n3"]);

  change("ADDED", skip(0));
  expect(names(queues.listOldest(skip(4), 3))).toEqual(["n0", "n1", "n2"]);
});

it("lists the newest version of a notice, and none that is settled or deleted", () => {
  const { queues, change } = open();
  for (const second of [1, 2, 3]) change("ADDED", skip(second));

  const changed = { ...skip(3), metadata: { ...skip(3).metadata, resourceVersion: "9" } };
  change("MODIFIED", changed);
  change("MODIFIED", { ...skip(1), status: { phase: "Digested", completionTime: at(9) } } as NotificationRequest);
  change("DELETED", skip(2));

  expect(queues.listOldest(skip(3), 9)).toEqual([changed]);
});

it("lists no notice that is being retried, so that a channel that fails does not delay the next digest", () => {
  const { queues, change } = open();
  for (const second of [1, 2, 3]) change("ADDED", skip(second));

  change("MODIFIED", { ...skip(1), status: { phase: "Retrying", nextAttemptTime: at(9), deliveryAttempts: [] } });

  expect(names(queues.listOldest(skip(3), 9))).toEqual(["n2", "n3"]);
});

it("keeps the digests of different targets apart", () => {
  const { queues, change } = open();
  change("ADDED", skip(1, "node/a"));
  change("ADDED", skip(2, "node/b"));

  expect(names(queues.listOldest(skip(1, "node/a"), 9))).toEqual(["n1"]);
  expect(queues.listOldest(skip(1, "node/c"), 9)).toEqual([]);
});

it("does not sort all notices again for each read", () => {
  const { queues, change } = open();
  let reads = 0;
  for (let second = 0; second < 1_000; second++) {
    const notice = skip(second);
    change("ADDED", {
      ...notice,
      metadata: {
        ...notice.metadata,
        get creationTimestamp() {
          reads++;
          return at(second);
        },
      },
    });
  }

  reads = 0;
  for (let second = 0; second < 1_000; second++) queues.listOldest(skip(second), 100);

  expect(reads).toBe(0);
});

function open() {
  let handler: ChangeHandler<NotificationRequest> = () => {};
  const queues = new SkipQueues(
    {
      subscribe(next) {
        handler = next;
        return () => {};
      },
    },
    digestKey,
  );
  return {
    queues,
    change: (event: "ADDED" | "MODIFIED" | "DELETED", notice: NotificationRequest) => handler(event, notice, undefined),
  };
}

function skip(second: number, targetResource = "node/a"): NotificationRequest {
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "NotificationRequest",
    metadata: { name: `n${second}`, namespace: "ns", uid: `uid-${second}`, creationTimestamp: at(second) },
    spec: { eventType: "WorkflowSkipped", severity: "info", message: "skipped", context: { targetResource } },
  };
}

function at(second: number): string {
  return new Date(Date.parse("2026-03-01T12:00:00Z") + second * 1_000).toISOString();
}

function names(notices: readonly NotificationRequest[]) {
  return notices.map(({ metadata }) => metadata.name);
}
