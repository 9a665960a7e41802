/** The series of each name, found once: counting then costs no look-up of labels. */
export function seriesOf<Name extends string, Series>(names: readonly Name[], find: (name: Name) => Series) {
  return Object.fromEntries(names.map((name) => [name, find(name)])) as Readonly<Record<Name, Series>>;
}
