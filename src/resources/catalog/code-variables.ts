/** Variables that a loader, a shell, an interpreter or a tool reads as code, as options, or as a path to load code from. */
const names: readonly string[] = [
  ...["PATH", "HOME", "SHELL", "ENV", "IFS", "CDPATH", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND"],
  ...["FPATH", "ZDOTDIR", "INPUTRC", "HISTFILE", "MAILPATH", "SHELLOPTS", "FCEDIT"],
  ...["GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES"],
  ...["PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH"],
  ...["TCLLIBPATH", "TCL_LIBRARY", "TK_LIBRARY", "AWKPATH", "AWKLIBPATH", "BC_ENV_ARGS"],
  ...["VIMINIT", "VIM", "VIMRUNTIME", "EXINIT", "MYVIMRC", "EMACSLOADPATH"],
  ...["MAKEFILES", "MAKEOVERRIDES", "CC", "CXX", "CPP", "LD", "AR", "GOROOT", "GOTOOLDIR"],
  ...["RSYNC_CONNECT_PROG", "SVN_SSH", "HGRCPATH", "CURL_HOME", "WGETRC", "NETRC", "TERMINFO", "TERMCAP"],
  ...["TERMINFO_DIRS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_V8_COVERAGE", "NODE_REDIRECT_WARNINGS"],
  ...["NODE_COMPILE_CACHE", "NODE_ICU_DATA", "R_HOME", "R_LIBS", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON"],
  ...["R_ENVIRON_USER", "PGSERVICEFILE", "PGSYSCONFDIR", "KRB5_CONFIG", "SASL_PATH", "ODBCINI", "ODBCSYSINI"],
  ...["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "CLOUDSDK_CONFIG"],
];
const prefixes: readonly string[] = [
  ...["LD_", "DYLD_", "BASH", "GIT_", "PYTHON", "NPM_CONFIG_", "npm_config_", "TSX_", "TS_NODE_", "DENO_", "BUN_"],
  ...["PERL5", "PERL_", "RUBY", "GEM_", "BUNDLE_", "LUA_", "PSQL", "SQLITE", "XDG_", "PIP_", "ERL_", "MALLOC_"],
  ...["CARGO_", "RUSTC", "ANSIBLE_", "LESS", "KUBE", "DOCKER_", "HELM_", "TF_CLI_", "SSH_", "OPENSSL_"],
  ...["DOTNET_", "CORECLR_", "COR_"],
];
/** Endings of variables that name a program to start, or that are read as further arguments. */
const suffixes: readonly string[] = [
  ...["EDITOR", "VISUAL", "PAGER", "BROWSER", "ASKPASS", "_RSH"],
  ...["_OPT", "_OPTS", "_OPTIONS", "FLAGS"],
];

/**
 * Whether the value of the environment variable `name` can become code in a usual program. Such a value must not come
 * from outside. The list cannot be complete: a program of the operator's own may have further variables of this kind.
 */
export function isCodeVariable(name: string): boolean {
  return (
    names.includes(name) ||
    prefixes.some((prefix) => name.startsWith(prefix)) ||
    suffixes.some((suffix) => name.endsWith(suffix))
  );
}
