/** segmentOf encodes a run id as a path segment. Browsers resolve . and .., even escaped, and the server reads an escaped / as the
 * end of the segment. These ids get a trailing ~, and ids that already look like that get another one. The server does the same. */
export function segmentOf(id: string): string {
  return encodeURIComponent(/^(\.{1,2}|\/)~*$/.test(id) ? `${id}~` : id);
}

/** idOf returns the run id of a decoded segment that segmentOf encoded. */
export function idOf(segment: string): string {
  return /^(\.{1,2}|\/)~+$/.test(segment) ? segment.slice(0, -1) : segment;
}
