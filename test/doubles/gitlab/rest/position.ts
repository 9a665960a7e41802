import { type DiffFile, linesOf } from "../diff.ts";
import { baseOf } from "../merge-requests.ts";
import type { MergeRequest, Position } from "../model.ts";
import { badRequest } from "./desk.ts";
import { Input, invalid } from "./input.ts";

/**
 * Validates the position of a note. The commits must be those of a version of the merge request, the paths those of a file that
 * it changes, and the line one of that file: numbered on the new side if it was added, on the old side if it was
 * removed, and on both if it is unchanged.
 */
export async function readPosition(value: unknown, mr: MergeRequest): Promise<Position> {
  const position = shapeOf(value);
  const file = await fileAt(position, mr);
  if (!file || !hasLine(file, position)) throw noSuchLine();
  return position;
}

/** In GitLab's own words. */
function noSuchLine() {
  return badRequest(`Note {:line_code=>["can't be blank", "must be a valid line code"]}`);
}

function shapeOf(value: unknown): Position {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("position is invalid");
  const input = new Input(value as Record<string, unknown>);
  for (const name of ["base_sha", "start_sha", "head_sha", "position_type"]) {
    if (!input.has(name)) throw invalid(`position[${name}] is missing`);
  }
  if (input.text("position_type") !== "text") throw invalid("position[position_type] does not have a valid value");
  return {
    base_sha: input.required("base_sha"),
    start_sha: input.required("start_sha"),
    head_sha: input.required("head_sha"),
    position_type: "text",
    old_path: input.text("old_path") ?? "",
    new_path: input.text("new_path") ?? "",
    old_line: input.number("old_line") ?? null,
    new_line: input.number("new_line") ?? null,
  };
}

async function fileAt(position: Position, mr: MergeRequest): Promise<DiffFile | undefined> {
  for (const version of mr.versions) {
    if (version.head !== position.head_sha || version.start !== position.start_sha) continue;
    const base = await baseOf(mr, version);
    if (base !== position.base_sha) continue;
    const files = await mr.project.repository.wholeDiff(base, version.head);
    return files.find(({ oldPath, newPath }) => oldPath === position.old_path && newPath === position.new_path);
  }
  return undefined;
}

function hasLine(file: DiffFile, { old_line, new_line }: Position): boolean {
  return linesOf(file).some((line) => (line.old ?? null) === old_line && (line.new ?? null) === new_line);
}
