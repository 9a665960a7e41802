import { printTable, rounded } from "./locks/table.ts";
import { type Targets, verdicts } from "./verdicts.ts";

interface Part {
  readonly figures: Readonly<Record<string, number>>;
  readonly calibration: Readonly<Record<string, number>>;
}

/** Prints all figures with their targets, and ends with one line of JSON. */
export function conclude(measured: readonly Part[], targets: Targets): void {
  const figures = Object.assign({}, ...measured.map((part) => part.figures));
  const calibration = Object.assign({}, ...measured.map((part) => part.calibration));
  printTable("Result", ["", "", "target", ""], verdicts(figures, targets));
  console.log(JSON.stringify({ ...roundedAll(figures), calibration: roundedAll(calibration) }));
}

function roundedAll(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
}
