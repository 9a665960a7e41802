import { type Draft, isRecord, member, sameJson } from "../json/json.ts";

/** RFC 7386: null removes a field, lists are replaced. Does not change `target`; the result shares its unchanged parts. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;

  const result: Draft = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

/** Lists of the built-in kinds that are merged element by element, and by which field. All others are replaced. */
const mergeKeys: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ownerReferences: "uid",
    conditions: "type",
    containers: "name",
    initContainers: "name",
    ephemeralContainers: "name",
    volumes: "name",
    env: "name",
    volumeMounts: "mountPath",
    volumeDevices: "devicePath",
    ports: "containerPort",
    imagePullSecrets: "name",
    secrets: "name",
    hostAliases: "ip",
    addresses: "type",
    taints: "key",
  }),
);

const primitiveLists = new Set(["finalizers"]);

/** Kubernetes' own merge patch for built-in kinds: `target` changed in place. */
export function applyStrategicMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const directive = member(patch, "$patch");
  if (directive === "delete") return {};
  const result: Draft = isRecord(target) && directive !== "replace" ? target : {};

  const { $retainKeys: retained } = patch as { $retainKeys?: unknown };
  if (Array.isArray(retained)) {
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key];
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) continue;
    if (value === null) delete result[key];
    else if (Array.isArray(value)) result[key] = mergeLists(key, result[key], value);
    else result[key] = applyStrategicMergePatch(result[key], value);
  }
  for (const [key, value] of Object.entries(patch)) applyListDirective(result, key, value);
  return result;
}

function mergeLists(field: string, current: unknown, patch: readonly unknown[]): unknown[] {
  const old: unknown[] = Array.isArray(current) ? current : [];
  if (primitiveLists.has(field)) return [...patch, ...old.filter((item) => !patch.includes(item))];
  const key = mergeKeys.get(field);
  if (!key) return [...patch];

  const replaced = patch.some((item) => member(item, "$patch") === "replace");
  let result = replaced ? [] : old;
  const added: unknown[] = [];
  for (const item of patch) {
    if (!isRecord(item) || member(item, "$patch") === "replace") continue;
    const same = (other: unknown) => isRecord(other) && sameJson(other[key], item[key]);
    if (member(item, "$patch") === "delete") result = result.filter((other) => !same(other));
    else if (!result.some(same)) added.push(applyStrategicMergePatch({}, item));
    else result = result.map((other) => (same(other) ? applyStrategicMergePatch(other, item) : other));
  }
  return [...added, ...result];
}

function applyListDirective(result: Draft, key: string, value: unknown) {
  if (!Array.isArray(value)) return;
  const [, directive, field] = /^\$(deleteFromPrimitiveList|setElementOrder)\/(.+)$/.exec(key) ?? [];
  const list = field === undefined ? undefined : result[field];
  if (field === undefined || !Array.isArray(list)) return;

  if (directive === "deleteFromPrimitiveList") {
    result[field] = list.filter((item) => !value.includes(item));
  } else {
    const mergeKey = mergeKeys.get(field);
    const identity = (item: unknown) => (mergeKey && isRecord(item) ? item[mergeKey] : item);
    const order = value.map(identity);
    const rank = (item: unknown) => {
      const at = order.findIndex((other) => sameJson(other, identity(item)));
      return at < 0 ? order.length : at;
    };
    result[field] = list.toSorted((a, b) => rank(a) - rank(b));
  }
}
