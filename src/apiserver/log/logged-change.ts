import type { ObjectKey } from "../object-store.ts";
import { type FrameBuilder, PayloadReader } from "./frame.ts";

/** The stored form of an object. */
export interface LoggedObject {
  readonly key: ObjectKey;
  readonly revision: number;
  readonly json: string;
}

export interface LoggedChange extends LoggedObject {
  readonly do: "put" | "delete";
  /** Empty for a delete: only watchers use the last state of the object, and they start again after a restart. */
  readonly json: string;
}

/** Adds a change to the frame under construction. */
export function addChange(frame: FrameBuilder, kind: "put" | "delete", { key, revision, json }: LoggedObject): void {
  frame.addText(kind);
  frame.addNumber(revision);
  frame.addText(key.resource);
  frame.addText(key.namespace);
  frame.addText(key.name);
  frame.addText(kind === "put" ? json : "");
}

/** The changes of a frame, in order. */
export function readChanges(payload: Buffer, take: (change: LoggedChange) => void): void {
  const reader = new PayloadReader(payload);
  while (!reader.atEnd) {
    const kind = reader.text() as LoggedChange["do"];
    const revision = reader.number();
    const key = { resource: reader.text(), namespace: reader.text(), name: reader.text() };
    take({ do: kind, revision, key, json: reader.text() });
  }
}
