import type { Key } from "../key.ts";
import { findRefusal, type WatermarkRecord, type WatermarkStore } from "../watermarks/watermarks.ts";

/** Watermarks of one process. A restart loses them: every stream then begins at its `from` again. */
export function memoryWatermarks(): WatermarkStore {
  const records = new Map<Key, WatermarkRecord>();
  let writes = 0;
  return {
    guarantee: "process",
    read: async (key) => records.get(key),
    async write(key, next, expected) {
      const refusal = findRefusal(records.get(key), next, expected);
      if (refusal) return refusal;
      const record = { ...next, revision: String(++writes) };
      records.set(key, record);
      return { kind: "written", record };
    },
  };
}
