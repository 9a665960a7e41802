/** Variables that a loader, a shell, an interpreter or a tool reads as code, as options, or as a place to load code from. */
const names: readonly string[] = [
  ...["PATH", "HOME", "SHELL", "ENV", "IFS", "CDPATH", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT_COMMAND"],
  ...["SHELLOPTS", "FPATH", "ZDOTDIR", "INPUTRC", "HISTFILE", "MAILPATH"],
  ...["GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES"],
  ...["PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"],
  ...["TCLLIBPATH", "TCL_LIBRARY", "TK_LIBRARY", "AWKPATH", "AWKLIBPATH", "BC_ENV_ARGS"],
  ...["EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESS", "LESSOPEN", "LESSCLOSE"],
  ...["VIMINIT", "VIM", "VIMRUNTIME", "EXINIT", "MYVIMRC"],
  ...["MAKEFLAGS", "MAKEFILES", "MAKEOVERRIDES", "GNUMAKEFLAGS", "CC", "CXX", "CPP", "LD", "AR"],
  ...["TAR_OPTIONS", "GREP_OPTIONS", "RSYNC_RSH", "RSYNC_CONNECT_PROG", "CVS_RSH", "SSH_ASKPASS", "SUDO_ASKPASS"],
  ...["KUBECONFIG", "KUBE_EDITOR", "KUBECTL_EXTERNAL_DIFF", "DOCKER_CONFIG", "DOCKER_HOST", "HELM_PLUGINS"],
  ...["OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES", "CURL_HOME", "WGETRC", "NETRC", "TERMINFO", "TERMCAP"],
  ...["SYSTEMD_EDITOR", "SYSTEMD_PAGER", "TERMINFO_DIRS", "ELIXIR_ERL_OPTIONS"],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_V8_COVERAGE", "NODE_REDIRECT_WARNINGS"],
  ...[
    "NODE_COMPILE_CACHE",
    "NODE_ICU_DATA",
    "R_HOME",
    "R_LIBS",
    "R_PROFILE",
    "R_PROFILE_USER",
    "R_ENVIRON",
    "R_ENVIRON_USER",
  ],
  ...["PGSERVICEFILE", "PGSYSCONFDIR"],
];
const prefixes: readonly string[] = [
  ...["LD_", "DYLD_", "BASH", "GIT_", "PYTHON", "NPM_CONFIG_", "npm_config_", "TSX_", "TS_NODE_", "DENO_", "BUN_"],
  ...["PERL5", "PERL_", "RUBY", "GEM_", "BUNDLE_", "LUA_", "PSQL", "SQLITE", "XDG_", "PIP_", "ERL_", "MALLOC_"],
  ...["CARGO_", "RUSTC", "ANSIBLE_"],
];

/**
 * Whether the value of the environment variable `name` can become code in a usual program. Such a value must not come
 * from outside. The list cannot be complete: a program of the operator's own may have further variables of this kind.
 */
export function isCodeVariable(name: string): boolean {
  return names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
