import type { ObjectReference } from "../resources/index.ts";

/** `namespace/kind/name` or `kind/name`; whether the kind exists is not checked. */
export function referenceIn(text: string): ObjectReference | undefined {
  const parts = text.split("/");
  const [kind = "", name = ""] = parts.slice(-2);
  if (parts.length < 2 || parts.length > 3 || parts.includes("")) return undefined;
  return parts.length === 3 ? { kind, namespace: parts[0] as string, name } : { kind, name };
}
