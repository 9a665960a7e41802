import { describe, expect, it } from "vitest";
import { releaseOptions, upgradedImage } from "./release-options.ts";

describe("the options of an installation", () => {
  it("all have defaults", () => {
    expect(releaseOptions({})).toMatchObject({
      image: expect.stringMatching(/^interlock:\d/),
      replicas: 2,
      agent: false,
    });
  });

  it("of an upgrade default to those of the installation", () => {
    const before = releaseOptions({
      image: "registry.example/interlock:1",
      replicas: "3",
      runsIn: "runs",
      agent: true,
    });

    expect(releaseOptions({ replicas: "5" }, before)).toEqual({ ...before, replicas: 5 });
  });

  it.each([
    [{ replicas: "none" }, "--replicas"],
    [{ image: "registry.example/interlock" }, "--image"],
    [{ image: "registry.example/interlock:latest" }, "--image"],
    [{ watermarksIn: "kubernaut-system" }, "--watermarks-in"],
  ])("are refused if they cannot work: %o", (given, option) => {
    expect(() => releaseOptions(given)).toThrow(option);
  });
});

describe("the image of an upgrade", () => {
  it.each([
    ["interlock:0.1.0", "interlock:0.2.0"],
    ["registry.example:5000/team/interlock:0.1.0", "registry.example:5000/team/interlock:0.2.0"],
    ["registry.example/interlock:stable", undefined],
    ["registry.example/interlock@sha256:abc", undefined],
  ])("of %s is %s", (image, next) => {
    expect(upgradedImage(image, { from: "0.1.0", to: "0.2.0" })).toBe(next);
  });

  it("is unchanged if the version is", () => {
    expect(upgradedImage("a@sha256:abc", { from: "0.1.0", to: "0.1.0" })).toBe("a@sha256:abc");
  });
});
