/** Why `name` is not a DNS subdomain, in the words of the real server; undefined if it is one. */
export function subdomainProblem(name: string): string | undefined {
  if (name.length > 253) return "must be no more than 253 characters";
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) return undefined;
  return (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
  );
}

/** Why `name` is not a DNS label. */
export function dnsLabelProblem(name: string): string | undefined {
  if (name.length > 63) return "must be no more than 63 characters";
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return undefined;
  if (name.includes(".") && subdomainProblem(name) === undefined) return "must not contain dots";
  return (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
  );
}

/** Why `key` cannot be the key of a label or annotation. */
export function labelKeyProblem(key: string): string | undefined {
  const parts = key.split("/");
  const name = parts.at(-1) as string;
  if (parts.length > 2) {
    return `a qualified name ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
  }
  if (parts.length === 2) {
    if (!parts[0]) return "prefix part must be non-empty";
    const problem = subdomainProblem(parts[0]);
    if (problem) return `prefix part ${problem}`;
  }
  if (!name) return "name part must be non-empty";
  if (name.length > 63) return "name part must be no more than 63 characters";
  return /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) ? undefined : `name part ${nameRule}`;
}

/** Why `value` cannot be the value of a label. */
export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return "must be no more than 63 characters";
  if (/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(value)) return undefined;
  return (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
  );
}

const nameRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
