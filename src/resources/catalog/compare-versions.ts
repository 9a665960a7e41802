/**
 * Compares two versions for sorting, the earlier first. As in semantic versioning, numbers are compared as numbers, and a
 * version with a pre-release part comes before the same version without. Equal versions are ordered by spelling, so that all
 * replicas pick the same one.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parseParts(a), parseParts(b)];
  return (
    compareLists(first.numbers, second.numbers, "0") ||
    Number(second.stage.length > 0) - Number(first.stage.length > 0) ||
    compareLists(first.stage, second.stage, "") ||
    compareTexts(a, b)
  );
}

function parseParts(version: string) {
  const [meaning = ""] = version.replace(/^[vV](?=[0-9])/, "").split("+");
  const [numbers = "", ...stage] = meaning.split("-");
  return { numbers: numbers.split(/[._]/), stage: stage.join("-").split(/[._]/).filter(Boolean) };
}

function compareLists(a: readonly string[], b: readonly string[], missing: string): number {
  for (let place = 0; place < Math.max(a.length, b.length); place++) {
    const order = compareParts(a[place] ?? missing, b[place] ?? missing);
    if (order !== 0) return order;
  }
  return 0;
}

function compareParts(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Math.sign(Number(BigInt(a) - BigInt(b)));
  // An absent part comes before a number, a number before a word.
  if (a === "" || b === "") return Number(a !== "") - Number(b !== "");
  return isNumber || isOtherNumber ? Number(isOtherNumber) - Number(isNumber) : compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
