export default function (amp) {
  const about = (event, ctx) => ({ session_id: event.thread?.id ?? ctx?.thread?.id, cwd: process.cwd(), tool_name: event.tool, tool_use_id: event.toolUseID, tool_input: event.input })
  amp.on("agent.start", async (event, ctx) => {
    await ask({ ...about(event, ctx), hook_event_name: "agent.start", prompt: event.message })
  })
  amp.on("tool.call", async (event, ctx) => {
    const { deny } = await ask({ ...about(event, ctx), hook_event_name: "tool.call" })
    return deny ? { action: "reject-and-continue", message: deny } : { action: "allow" }
  })
  amp.on("tool.result", async (event, ctx) => {
    const ended = { ...about(event, ctx), hook_event_name: "tool.result" }
    if (event.status === "error") ended.error = event.error ?? "failed"
    else ended.tool_response = event.output
    const { append } = await ask(ended)
    if (!append) return undefined
    if (event.status === "error") return { status: "error", error: ended.error + "\n\n" + append, output: event.output }
    if (event.status !== "done") return undefined
    if (Array.isArray(event.output)) return { status: "done", output: [...event.output, { type: "text", text: append }] }
    const text = typeof event.output === "string" ? event.output : JSON.stringify(event.output)
    return { status: "done", output: text + "\n\n" + append }
  })
}
