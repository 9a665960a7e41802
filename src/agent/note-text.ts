/**
 * Text from outside for a note or a description on GitLab: it reads the same, and triggers nothing. GitLab executes a line
 * such as `/merge` with our rights, notifies all members for `@all`, and loads images in the browsers of readers, whose
 * URLs can carry text out of a private project.
 *
 * Code blocks are not excepted: older servers find them by patterns that a text can deceive.
 */
export function toNoteText(text: string): string {
  return (
    text
      .replace(quickAction, `$1${blank}/`)
      .replace(mention, `@${blank}`)
      // GitLab finds mentions in the rendered text, where `&#64;` is an `@`.
      .replace(entity, `&${blank}`)
      .replace(image, `!${blank}`)
      .replace(tag, `<${blank}`)
  );
}

/** Returns whether GitLab may take a line of the text for a quick action. */
export function hasQuickAction(text: string): boolean {
  return text.search(quickAction) >= 0;
}

/** A character without width, which is no blank for GitLab. An escape by a backslash would be visible in code. */
const blank = "\u200b";

const quickAction = /^([^\S\n]*)\/(?=[A-Za-z_])/gm;
const mention = /(?<!\w)@(?=\w)/g;
const entity = /&(?=#|[A-Za-z])/g;
const image = /!(?=\[)/g;
const tag = /<(?=[A-Za-z/!?])/g;

/** The length of the longest run of backticks, which a fence around the text has to exceed. */
export function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
