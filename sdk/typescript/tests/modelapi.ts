// A server of OpenAI's Responses API that plays a script: each request gets the next step, and later ones the last.

import { reply, Scripted } from "./harness.js";
import { type Step, USAGE } from "./works.js";

/** Starts the server. Its requests are in the requests of the result. */
export async function startModel(steps: Step[]): Promise<Scripted> {
  let at = 0;
  const scripted = new Scripted(({ body }, response) => {
    const step = steps[Math.min(at++, steps.length - 1)] ?? "";
    const output =
      typeof step === "string"
        ? [
            {
              type: "message",
              id: `msg_${at}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: step, annotations: [] }],
            },
          ]
        : step.map(({ tool, args }, n) => ({
            type: "function_call",
            id: `fc_${at}_${n}`,
            call_id: `call_${at}_${n}`,
            name: tool,
            arguments: JSON.stringify(args),
            status: "completed",
          }));
    const answer = {
      id: `resp_${at}`,
      object: "response",
      created_at: 0,
      status: "completed",
      model: "script-1",
      output,
      usage: {
        input_tokens: USAGE.input,
        output_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
    };
    if (JSON.parse(body).stream !== true) {
      reply(response, 200, answer);
      return;
    }
    const events = [
      { type: "response.created", response: { ...answer, status: "in_progress", output: [] } },
      { type: "response.completed", response: answer },
    ];
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(
      events.map((event, n) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: n })}\n\n`).join(""),
    );
  });
  return await scripted.start();
}
