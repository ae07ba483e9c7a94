// Texts that fit into the nodes, and the graph as a file of its own.
const canvas = globalThis.document?.createElement("canvas").getContext("2d");

/** fitted returns the text, shortened to a width in pixels in the font. */
export function fitted(text: string, font: string, width: number): string {
  if (!canvas) return text;
  canvas.font = `${font} system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif`;
  if (text.length < 200 && canvas.measureText(text).width <= width) return text;
  const letters = [...text.slice(0, 200)];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (canvas.measureText(`${letters.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}

/** The properties that the page's style sheet sets, which a file does not have. */
const properties = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "paint-order"];

/** saveSVG has the browser save a copy of a picture, in its present colors. */
export function saveSVG(svg: SVGSVGElement, name: string): void {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = svg.querySelectorAll<SVGElement>("*");
  copy.querySelectorAll<SVGElement>("*").forEach((to, i) => {
    const style = getComputedStyle(from[i]!);
    for (const p of properties) to.setAttribute(p, style.getPropertyValue(p));
    for (const a of ["class", "role", "tabindex", "aria-label"]) to.removeAttribute(a);
  });
  const comments = document.createTreeWalker(copy, NodeFilter.SHOW_COMMENT); // marks of Svelte
  const found: Node[] = [];
  while (comments.nextNode()) found.push(comments.currentNode);
  found.forEach((c) => c.parentNode?.removeChild(c));
  const box = svg.viewBox.baseVal;
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [k, v] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height })) ground.setAttribute(k, String(v));
  ground.setAttribute("fill", getComputedStyle(svg).getPropertyValue("--paper"));
  copy.prepend(ground);
  copy.setAttribute("width", String(box.width));
  copy.setAttribute("height", String(box.height));
  for (const a of ["class", "style"]) copy.removeAttribute(a);
  save(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), name);
}

/** save has the browser save a file. Characters that file systems refuse are replaced. */
export function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
