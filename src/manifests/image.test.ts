import { expect, it } from "vitest";
import { imageProblem } from "./release.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

it.each([
  "interlock:0.1.0",
  "registry.example:5000/team/interlock:0.1.0",
  `interlock@${digest}`,
  `registry.example:5000/interlock:0.1.0@${digest}`,
  `interlock:latest@${digest}`,
])("%s names one version", (image) => {
  expect(imageProblem(image)).toBeUndefined();
});

it.each([
  ["interlock", "names no version"],
  ["interlock:latest", "names no version"],
  ["registry.example:5000/interlock", "names no version"],
  ["registry.example:5000/interlock:latest", "names no version"],
  ["interlock:", "names no version"],
  ["interlock@sha256:abc", "has no digest"],
  [`interlock@${digest}0`, "has no digest"],
  [`interlock@md5:${digest}`, "has no digest"],
])("%s is refused: it %s", (image, problem) => {
  expect(imageProblem(image)).toContain(problem);
});
