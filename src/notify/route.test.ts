import { describe, expect, it } from "vitest";
import type { NotificationRequest } from "../resources/index.ts";
import { channelsFor, type Route } from "./route.ts";

const channels = ["console", "webhook", "slack"];

describe("a route", () => {
  it.each<[string, Route, boolean]>([
    ["any", { channels: ["slack"] }, true],
    ["its event", { eventType: ["WorkflowFailed"], channels: ["slack"] }, true],
    ["another event", { eventType: ["WorkflowSkipped"], channels: ["slack"] }, false],
    ["one of two severities", { severity: ["warning", "critical"], channels: ["slack"] }, true],
    ["another severity", { severity: ["info"], channels: ["slack"] }, false],
    ["its namespace", { namespace: ["pay*"], channels: ["slack"] }, true],
    ["another namespace", { namespace: ["pay"], channels: ["slack"] }, false],
    ["its target", { target: ["prod/*/api"], channels: ["slack"] }, true],
    ["a target with the same beginning", { target: ["prod/*/ap"], channels: ["slack"] }, false],
    ["a target with several stars", { target: ["*dep*ment/*"], channels: ["slack"] }, true],
    ["parts that overlap", { target: ["prod/deployment/api*api"], channels: ["slack"] }, false],
    ["all conditions but one", { severity: ["warning"], eventType: ["WorkflowSkipped"], channels: ["slack"] }, false],
  ])("for %s", (_, route, isMeant) => {
    expect(channelsFor(notice(), { routes: [route], channels })).toEqual(isMeant ? ["slack"] : []);
  });

  it("adds to the others, each channel once", () => {
    const routes = [{ channels: ["slack"] }, { severity: ["warning"], channels: ["console", "slack"] }];

    expect(channelsFor(notice(), { routes, channels })).toEqual(["console", "slack"]);
  });

  it("leads to all configured channels, and to no other", () => {
    expect(channelsFor(notice(), { routes: [{ channels: ["all"] }], channels })).toEqual(channels);
    expect(channelsFor(notice(), { routes: [{ channels: ["file"] }], channels })).toEqual([]);
  });
});

function notice(): NotificationRequest {
  return {
    metadata: { name: "n", namespace: "payment" },
    spec: {
      eventType: "WorkflowFailed",
      severity: "warning",
      message: "It failed",
      context: { targetResource: "prod/deployment/api" },
    },
  };
}
