import { MisuseError } from "../command.ts";
import type { CommandContext } from "../context.ts";

/** The shells that `interlock completion` has a script for. */
export const shells = ["bash", "zsh", "fish"] as const;

/** `interlock completion` */
export async function completion({ terminal }: CommandContext, shell: string): Promise<void> {
  const script = shell === "bash" ? bash : shell === "zsh" ? zsh : shell === "fish" ? fish : undefined;
  if (script === undefined) throw new MisuseError(`unknown shell "${shell}"; use one of ${shells.join(", ")}`);
  terminal.printOutput(script);
}

/**
 * Arguments are read from the line, because bash splits COMP_WORDS at colons and equals signs, which arguments may contain.
 * The part up to the last of these is removed from candidates, because bash replaces only the part behind it.
 */
const bash = `# bash completion for interlock. To load it: source <(interlock completion bash)
_interlock() {
  local line=\${COMP_LINE:0:COMP_POINT} words current cut output candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  cut=\${current%"\${current##*[=:]}"}
  COMPREPLY=()
  output=$("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null) || return
  [[ \${output##*$'\\n'} == :4 ]] && compopt +o default 2>/dev/null
  while IFS= read -r candidate; do
    candidate=\${candidate%%$'\\t'*}
    [[ $candidate == :[0-9] ]] || COMPREPLY+=("\${candidate#"$cut"}")
  done <<<"$output"
}
complete -o default -F _interlock interlock
`;

const zsh = `#compdef interlock
# zsh completion for interlock. To load it: source <(interlock completion zsh)
_interlock() {
  local output line
  local -a lines candidates
  output=$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null) || return 1
  lines=("\${(@f)output}")
  for line in "\${(@)lines[1,-2]}"; do
    if [[ $line == *$'\\t'* ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      candidates+=("\${line//:/\\\\:}")
    fi
  done
  (( \${#candidates} )) && _describe -V interlock candidates
  [[ \${lines[-1]} == :0 ]] && _files
}
compdef _interlock interlock
`;

const fish = `# fish completion for interlock. To load it: interlock completion fish | source
function __interlock_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l output ($words[1] __complete $words[2..-1] 2>/dev/null)
    or return
    string match -v -r '^:[0-9]$' -- $output
    if test "$output[-1]" = :0
        __fish_complete_path (commandline -ct)
    end
end
complete -c interlock -f -k -a '(__interlock_complete)'
`;
