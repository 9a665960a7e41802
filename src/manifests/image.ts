/** `NAME@sha256:…` or `NAME:TAG@sha256:…`: an image that no later push can change. */
export const digestPattern = "@sha256:[0-9a-f]{64}$";
/** `NAME:TAG`. The name may contain the port of a registry. */
export const tagPattern = ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$";
export const latestPattern = ":latest$";

/** Why an image does not name one version; undefined if it does. Without a tag, `latest` is pulled. */
export function imageProblem(image: string): string | undefined {
  if (new RegExp(digestPattern).test(image)) return undefined;
  if (image.includes("@")) return `${image} has no digest of the form sha256: and 64 hexadecimal digits`;
  const isFixed = new RegExp(tagPattern).test(image) && !new RegExp(latestPattern).test(image);
  return isFixed ? undefined : `${image} names no version; write its digest (NAME@sha256:…) or a tag other than latest`;
}
