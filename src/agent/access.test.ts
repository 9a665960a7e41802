import { describe, expect, it } from "vitest";
import { type AccessRequest, accessRefusal } from "./access.ts";

const [guest, reporter, developer, maintainer] = [10, 20, 30, 40];

describe("access to the agent", () => {
  it.each<[string, Partial<AccessRequest>, string | undefined]>([
    ["a Developer at the default", { level: developer }, undefined],
    ["a Maintainer at the default", { level: maintainer }, undefined],
    ["a Reporter at the default", { level: reporter }, "AccessTooLow"],
    ["a Guest at the default", { level: guest }, "AccessTooLow"],
    ["a non-member", { level: 0 }, "NotAMember"],
    ["a Reporter where reporters are enough", { level: reporter, minAccessLevel: reporter }, undefined],
    ["a Developer where maintainers are needed", { level: developer, minAccessLevel: maintainer }, "AccessTooLow"],
    ["a non-member where guests are enough", { level: 0, minAccessLevel: guest }, "NotAMember"],
    ["a fork that a Developer asks for", { isFork: true, isRequested: true }, undefined],
    ["a fork that a Reporter asks for", { isFork: true, isRequested: true, level: reporter }, "AccessTooLow"],
    ["a fork that a non-member asks for", { isFork: true, isRequested: true, level: 0 }, "NotAMember"],
    ["a Developer's fork without a request", { isFork: true }, "ForkNotRequested"],
    ["a non-member's fork without a request", { isFork: true, level: 0 }, "ForkNotRequested"],
    ["a Developer's fork with forks: always", { isFork: true, forks: "always" }, undefined],
    ["a non-member's fork with forks: always", { isFork: true, forks: "always", level: 0 }, "NotAMember"],
    ["a fork that a Developer asks for with forks: never", forkNever(), "ForksNotServed"],
    ["a Developer's own branch with forks: never", { forks: "never" }, undefined],
  ])("%s: %o", (_who, request, reason) => {
    const refusal = accessRefusal({
      ...{ username: "kim", level: developer, minAccessLevel: developer, isFork: false, isRequested: false },
      forks: "onRequest",
      ...request,
    });

    expect(refusal?.reason).toBe(reason);
  });
});

function forkNever(): Partial<AccessRequest> {
  return { isFork: true, isRequested: true, forks: "never" };
}
