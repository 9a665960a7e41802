/** The problem of text that is not YAML. The parser's own messages quote the text, which may hold a password. */
export function syntaxProblem(code: string): string {
  const known: Readonly<Record<string, string>> = {
    BAD_INDENT:
      "the indentation does not fit the lines above, or a bracket is not closed. Indent by two spaces per level.",
    BAD_SCALAR_START: "the value begins with a character that YAML reserves. Put the value in 'single quotes'.",
    BLOCK_AS_IMPLICIT_KEY: "there is a second colon in the line. Put the value in 'single quotes'.",
    DUPLICATE_KEY: "the name is there twice. Keep one of the two.",
    MISSING_CHAR: 'a quote is not closed, or a colon is missing. Write "name: value".',
    MULTIPLE_DOCS: 'a second document begins here. Keep one, and drop the "---" line.',
    TAB_AS_INDENT: "the line is indented with a tab. Indent with spaces.",
    TAG_RESOLVE_FAILED: "tags such as !env have no meaning here. Write the value itself.",
  };
  return (
    known[code] ?? 'this is not valid YAML. Write "name: value" lines, indented below the name that they belong to.'
  );
}
