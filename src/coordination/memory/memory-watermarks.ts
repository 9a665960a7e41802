import type { Key } from "../key.ts";
import type { WatermarkRecord, WatermarkStore } from "../watermarks/watermarks.ts";

/** Watermarks of one process. A restart loses them: every stream then begins at its `from` again. */
export function memoryWatermarks(): WatermarkStore {
  const records = new Map<Key, WatermarkRecord>();
  let writes = 0;
  return {
    guarantee: "process",
    read: async (key) => records.get(key),
    async write(key, next, expected) {
      const current = records.get(key);
      if (current && current.fence > next.fence) return { kind: "stale", fence: current.fence };
      if ((current?.revision ?? "absent") !== expected) return { kind: "conflict", current };
      const record = { ...next, revision: String(++writes) };
      records.set(key, record);
      return { kind: "written", record };
    },
  };
}
