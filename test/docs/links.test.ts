import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folders = ["", "docs", "docs/decisions", "examples/workflow", "examples/source", "examples/engine"];
const pages = folders
  .map((folder) => join(root, folder))
  .flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );

it.each(pages.map((page) => relative(root, page)))(
  "every relative link of %s leads to a file and a heading",
  (name) => {
    const page = join(root, name);
    const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

    const broken = targets.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target));

    expect(broken).toEqual([]);
  },
);

function leadsSomewhere(page: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || !file.endsWith(".md") || anchorsOf(file).has(anchor);
}

/** The anchors that GitHub and GitLab give to headings. */
function anchorsOf(file: string): ReadonlySet<string> {
  const headings = [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** A page without its examples, which may contain anything. */
function proseOf(file: string): string {
  return readFileSync(file, "utf8").replace(/^ *```.*?^ *```/gms, "");
}
