/** typing reports whether a key press belongs to an input field or to the browser. */
export function typing(e: KeyboardEvent): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return true;
  const at = e.target as HTMLElement | null;
  if (at === null || !("tagName" in at)) return false;
  if (at.tagName === "INPUT") return !/^(checkbox|radio|button)$/.test((at as HTMLInputElement).type);
  return at.tagName === "TEXTAREA" || at.tagName === "SELECT" || document.querySelector("dialog[open]") !== null;
}
