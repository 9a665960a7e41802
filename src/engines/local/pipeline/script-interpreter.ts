/**
 * The program that runs a script, and its option: `#!` read as the kernel reads it, with at most one argument. The engine
 * does it itself, because a file that was just written cannot be run while another process that is about to be started
 * has it open.
 */
export function scriptInterpreter(script: string): readonly string[] {
  const [, program, argument] = /^#![ \t]*(\S+)[ \t]*(.*?)[ \t]*\r?(?:\n|$)/.exec(script) ?? [];
  if (!program) return ["/bin/sh", "-e"];
  return argument ? [program, argument] : [program];
}
