import { Icon } from "./icon.tsx";
import { showToast } from "./toasts.tsx";

/** Copies a text. Where the browser has no clipboard for the page, the text is shown to be copied by hand. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      showToast({ tone: "good", text: "Copied." });
    } catch {
      showToast({ tone: "neutral", text });
    }
  };
  return (
    <button type="button" class="button quiet small" onClick={() => void copy()}>
      <Icon name="copy" />
      {label}
    </button>
  );
}
