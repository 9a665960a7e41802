import { writeFile } from "node:fs/promises";

/** The kubelet copies this file into the status of the pod, from which the executor reads why a Job failed. */
const terminationLog = "/dev/termination-log";

/** The maximum that the kubelet keeps. */
const maxBytes = 4_096;

/** Writes the reason of a failure to the termination log. Does nothing outside of a pod, where the file does not exist. */
export async function leaveReason(reason: string, file = terminationLog): Promise<void> {
  const text = Buffer.from(reason).subarray(0, maxBytes);
  // r+ creates no file. The reason is in the output, too, so an error here must not replace the failure itself.
  await writeFile(file, text, { flag: "r+" }).catch(() => {});
}
