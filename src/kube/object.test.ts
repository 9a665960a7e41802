import { expect, it } from "vitest";
import { byAge } from "./object.ts";

it("sorts objects by their creation, and those of one second by their uids", () => {
  const created = (uid: string, creationTimestamp: string) => ({ metadata: { uid, creationTimestamp } });
  const objects = [
    created("b", "2026-03-01T12:00:01Z"),
    created("c", "2026-03-01T12:00:00Z"),
    created("a", "2026-03-01T12:00:01Z"),
  ];

  expect(objects.sort(byAge).map(({ metadata }) => metadata.uid)).toEqual(["c", "a", "b"]);
});
