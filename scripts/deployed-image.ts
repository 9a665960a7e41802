import { readFileSync } from "node:fs";
import { imageProblem, version } from "../src/manifests/index.ts";

/** Has the image that `deploy/` and the chart name. A release writes it, with the digest of the image that it published. */
export const imageFile = "deploy/image.txt";

/** The image in `imageFile`: one of this version, as `NAME:VERSION`, or with its digest as `NAME:VERSION@sha256:…`. */
export function deployedImage(): string {
  const image = readFileSync(new URL(`../${imageFile}`, import.meta.url), "utf8").trim();
  const problem = imageProblem(image);
  if (problem !== undefined) throw new Error(`${imageFile}: ${problem}`);
  if (!image.replace(/@.*$/, "").endsWith(`:${version}`))
    throw new Error(`${imageFile}: ${image} is not of version ${version}`);
  return image;
}
