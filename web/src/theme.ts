import { computed, effect, signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "interlock.theme";

export const theme = signal<Theme>(readTheme());

const darkQuery = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const isSystemDark = signal(darkQuery?.matches ?? false);

darkQuery?.addEventListener("change", ({ matches }) => {
  isSystemDark.value = matches;
});

/** Whether the page is dark, by the chosen theme or by that of the system. */
export const isDark = computed(() => (theme.value === "system" ? isSystemDark.value : theme.value === "dark"));

/** Applies the theme to the page, now and whenever it changes. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  try {
    localStorage.setItem(storageKey, chosen);
  } catch {
    // A browser may refuse storage: the theme is then lost with the page.
  }
}

export function nextTheme(current: Theme): Theme {
  return themes[(themes.indexOf(current) + 1) % themes.length] ?? "system";
}

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(storageKey);
    return themes.find((name) => name === stored) ?? "system";
  } catch {
    return "system";
  }
}
