import { describe, expect, it } from "vitest";
import { annotationKeys, type RemediationRequest } from "../../resources/index.ts";
import { OpenIncidents } from "./open-incidents.ts";

describe("room for another open incident", () => {
  it("is refused to a sender at its limit, and not to others", () => {
    const open = new OpenIncidents({ total: 10, perSender: 2 });
    for (const name of ["a", "b"]) open.note(name, incident("am"));

    expect(open.reserve("am")).toEqual({ kind: "full", limit: "sender", open: 2 });
    expect(open.reserve("script").kind).toBe("reserved");
  });

  it("is rejected for all senders at the total limit", () => {
    const open = new OpenIncidents({ total: 2, perSender: 2 });
    open.note("a", incident("am"));
    open.note("b", incident("script"));

    expect(open.reserve("other")).toEqual({ kind: "full", limit: "total", open: 2 });
  });

  it("counts incidents that are being opened", () => {
    const open = new OpenIncidents({ total: 1, perSender: 1 });
    const first = open.reserve("am");

    expect(open.reserve("am").kind).toBe("full");
    if (first.kind === "reserved") first.release();
    expect(open.reserve("am").kind).toBe("reserved");
  });

  it("is free again when an incident is closed, deleted, or followed by one of another sender", () => {
    const open = new OpenIncidents({ total: 10, perSender: 1 });
    const isFull = () => {
      const reservation = open.reserve("am");
      if (reservation.kind === "reserved") reservation.release();
      return reservation.kind === "full";
    };

    const steps = [
      incident("am"),
      incident("am", "Completed"),
      incident("am"),
      undefined,
      incident("am"),
      incident("x"),
    ];
    const full = steps.map((step) => {
      open.note("a", step);
      return isFull();
    });

    expect(full).toEqual([true, false, true, false, true, false]);
    expect(open.total).toBe(1);
  });
});

function incident(sender: string, phase = "Pending"): RemediationRequest {
  return {
    metadata: { annotations: { [annotationKeys.sender]: sender } },
    status: { phase },
  } as unknown as RemediationRequest;
}
