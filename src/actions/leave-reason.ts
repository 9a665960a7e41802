import { writeFile } from "node:fs/promises";

/** The kubelet copies this file into the status of the pod, from which the executor reads why a Job failed. */
const terminationLog = "/dev/termination-log";

/** The kubelet keeps no more. */
const maxBytes = 4_096;

/** Leaves the reason of a failure for the kubelet. Does nothing outside of a pod, where there is no such file. */
export async function leaveReason(reason: string, file = terminationLog): Promise<void> {
  const text = Buffer.from(reason).subarray(0, maxBytes);
  // r+ creates no file. A reason that cannot be left is still in the output, so the failure itself is not replaced.
  await writeFile(file, text, { flag: "r+" }).catch(() => {});
}
