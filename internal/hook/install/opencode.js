// judge asks unloop, unless the plugin of the npm package judges the calls of this process.
const judge = async (event) => (globalThis[Symbol.for("unloop.opencode")] ? {} : ask(event))

const failed = (metadata) => typeof metadata?.exit === "number" && metadata.exit !== 0

// server is the plugin of opencode 1.
async function server({ directory }) {
  const about = (input) => ({ session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_use_id: input.callID })
  return {
    "chat.message": async (input, output) => {
      const parts = output?.parts ?? []
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      await judge({ hook_event_name: "chat.message", session_id: input.sessionID, cwd: directory, prompt })
    },
    "tool.execute.before": async (input, output) => {
      const answer = await judge({ ...about(input), hook_event_name: "tool.execute.before", tool_input: output.args })
      if (answer.deny) throw new Error(answer.deny)
    },
    "tool.execute.after": async (input, output) => {
      const event = { ...about(input), hook_event_name: "tool.execute.after", tool_input: input.args }
      if (failed(output?.metadata)) event.error = String(output.output)
      else event.tool_response = output?.output
      const answer = await judge(event)
      if (answer.append && typeof output?.output === "string") output.output += "\n\n" + answer.append
    },
  }
}

const texts = (content) => (Array.isArray(content) ? content.filter((c) => c.type === "text").map((c) => c.text).join("\n") : content)

// setup is the plugin of opencode 2.
async function setup(ctx) {
  const directory = ctx.location?.directory ?? process.cwd()
  const about = (event) => ({ session_id: event.sessionID, cwd: directory, tool_name: event.tool, tool_use_id: event.id, tool_input: event.input })
  await ctx.session.hook("prompt", async (event) => {
    await judge({ hook_event_name: "chat.message", session_id: event.sessionID, cwd: directory, prompt: event.prompt?.text ?? "" })
  })
  await ctx.tool.hook("execute.before", async (event) => {
    const answer = await judge({ ...about(event), hook_event_name: "tool.execute.before" })
    if (answer.deny) throw new Error(answer.deny)
  })
  await ctx.tool.hook("execute.after", async (event) => {
    const ended = { ...about(event), hook_event_name: "tool.execute.after" }
    const content = event.result?.content ?? event.result?.output
    if (event.status === "error") ended.error = event.error?.message ?? "failed"
    else if (failed(event.result?.metadata)) ended.error = String(texts(content))
    else ended.tool_response = texts(content)
    const { append } = await judge(ended)
    if (!append) return
    if (event.status === "error") {
      event.error.message += "\n\n" + append
    } else if (Array.isArray(content)) {
      event.result = { ...event.result, content: [...content, { type: "text", text: append }] }
    } else {
      const text = typeof content === "string" ? content : JSON.stringify(content)
      event.result = { ...event.result, content: text + "\n\n" + append }
    }
  })
}

export default { id: "unloop", server, setup }
