/** segmentOf writes a run's id as a part of a path. Browsers take . and .. for steps, also escaped, and the server takes an
 * escaped / for the end, so a ~ follows them; ids that look like that get another ~. The server does the same. */
export function segmentOf(id: string): string {
  return encodeURIComponent(/^(\.{1,2}|\/)~*$/.test(id) ? `${id}~` : id);
}

/** idOf reads a part of a path that segmentOf wrote and that is decoded. */
export function idOf(segment: string): string {
  return /^(\.{1,2}|\/)~+$/.test(segment) ? segment.slice(0, -1) : segment;
}
