import { idOf, segmentOf } from "./segment";

// The current page. The URL holds the filters, the tab and the selected event, so that a link reproduces the view.
export interface Place {
  page: "runs" | "run" | "compare" | "overview" | "rules" | "audit" | "alerts" | "suggestions" | "shadow" | "lost";
  run: string;
  tab: "timeline" | "waterfall" | "graph" | "what-if";
}

/** placeOf parses a path. */
export function placeOf(path: string): Place {
  const [first = "", second = "", third = "", ...rest] = path.replace(/^\/+|\/+$/g, "").split("/");
  const at = (page: Place["page"]): Place => ({ page, run: "", tab: "timeline" });
  if (first === "") return at("runs");
  if (first === "runs" && second === "") return at("runs");
  if (first === "runs") {
    const tab = third === "waterfall" || third === "graph" || third === "what-if" ? third : "timeline";
    if (rest.length > 0 || (third !== "" && third !== tab)) return at("lost");
    return { page: "run", run: idOf(decoded(second)), tab };
  }
  if (second === "" && (first === "compare" || first === "overview" || first === "rules" || first === "audit" || first === "alerts" || first === "suggestions" || first === "shadow")) return at(first);
  return at("lost");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** runPath returns the path of a run, one of its tabs, or one of its events. */
export function runPath(id: string, tab: Place["tab"] = "timeline", event = ""): string {
  const path = `/runs/${segmentOf(id)}${tab === "timeline" ? "" : `/${tab}`}`;
  return event ? `${path}?event=${encodeURIComponent(event)}` : path;
}

class Route {
  private address = $state.raw(new URL(globalThis.location?.href ?? "http://localhost/"));
  place = $derived(placeOf(this.address.pathname));
  query = $derived(this.address.searchParams);
  /** The selected event, from the query or the fragment of the URL. */
  event = $derived(this.query.get("event") ?? new URLSearchParams(this.address.hash.slice(1)).get("event") ?? "");

  read = (): void => {
    this.address = new URL(location.href);
  };

  go(href: string): void {
    history.pushState(null, "", href);
    this.read();
  }

  /** set changes parameters of the query. An empty value removes a parameter. */
  set(members: Record<string, string>): void {
    const next = new URL(location.href);
    next.hash = "";
    for (const [name, value] of Object.entries(members)) {
      if (value) next.searchParams.set(name, value);
      else next.searchParams.delete(name);
    }
    history.replaceState(null, "", next);
    this.read();
  }
}

export const route = new Route();

/** follow handles clicks on links within the dashboard without a page load. */
export function follow(e: MouseEvent): void {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const link = (e.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || placeOf(to.pathname).page === "lost") return;
  if (link.getAttribute("href")?.startsWith("#")) return;
  e.preventDefault();
  route.go(to.href);
}
