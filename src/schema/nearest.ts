/** The candidate most like `word`, if one is similar enough to be a misspelling of it. Case and separators do not count. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = letters(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(plain.length / 3)) + 1;

  for (const candidate of candidates) {
    const distance = editDistance(plain, letters(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function letters(word: string): string {
  // No name is longer, and the distance costs the product of both lengths.
  return word.slice(0, 100).toLowerCase().replace(/[-_.]/g, "");
}

/** How many letters to add, drop, replace or swap with their neighbour to turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] as number;

  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swappable = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = swappable ? at(i - 2, j - 2) + 1 : replaced;
      row.push(Math.min(replaced, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
