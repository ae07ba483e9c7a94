// The color of each health status, for all pages.

/** toneOf returns the tone of the word of a health: looping and stuck are wrong, repeated deserves a look. */
export function toneOf(status: string): "good" | "warn" | "bad" {
  if (status === "healthy") return "good";
  return status === "repeated" ? "warn" : "bad";
}
