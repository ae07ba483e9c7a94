/** A message of a stream of server-sent events. */
export interface Message {
  event: string;
  id: string;
  data: string;
}

/**
 * Splitter turns the text of a stream, in chunks of any size, into messages. Comments are keepalives and are dropped.
 * A message is at most maxLength characters long; a server that sends more is not one of ours.
 */
export class Splitter {
  private rest = "";
  private data: string[] = [];
  private event = "";
  private id = "";
  private length = 0;

  constructor(private readonly maxLength = 256 << 20) {}

  push(text: string): Message[] {
    const messages: Message[] = [];
    let from = 0;
    for (;;) {
      const end = text.indexOf("\n", from);
      if (end < 0) break;
      let line = this.rest + text.slice(from, end);
      this.rest = "";
      from = end + 1;
      if (line.endsWith("\r")) line = line.slice(0, -1);
      const message = this.line(line);
      if (message) messages.push(message);
    }
    this.rest += text.slice(from);
    this.bound(this.rest.length);
    return messages;
  }

  private line(line: string): Message | undefined {
    if (line === "") return this.flush();
    if (line.startsWith(":")) return undefined;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") {
      this.length += value.length;
      this.bound(this.length);
      this.data.push(value);
    } else if (field === "event") this.event = value;
    else if (field === "id") this.id = value;
    return undefined;
  }

  private flush(): Message | undefined {
    const message = { event: this.event || "message", id: this.id, data: this.data.join("\n") };
    const empty = this.data.length === 0;
    this.data = [];
    this.event = "";
    this.id = "";
    this.length = 0;
    return empty ? undefined : message;
  }

  private bound(length: number): void {
    if (length > this.maxLength) throw new Error("a message of the stream is too long");
  }
}
