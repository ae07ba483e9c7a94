/** withProject returns the lines of a run's events with its project in the first, where an import reads it. */
export function withProject(lines: Blob, project: string | undefined): Blob {
  if (!project || lines.size === 0) return lines;
  return new Blob([`{"project":${JSON.stringify(project)},`, lines.slice(1)], { type: lines.type });
}
