// Written by `unloop hook install`; `unloop hook uninstall` deletes it.
// It asks unloop before and after each tool. If unloop does not answer, the tool runs as it would without this file.
import { spawn } from "node:child_process"

const command = "UNLOOP_COMMAND"

async function ask(event) {
  if (globalThis[Symbol.for("unloop.opencode")]) return {} // the plugin of the npm package judges the calls of this process
  return new Promise((resolve) => {
    let text = ""
    const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), 10000)
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    child.on("error", () => done({}))
    child.on("close", () => {
      try {
        done(text ? JSON.parse(text) : {})
      } catch {
        done({})
      }
    })
    child.stdout.on("data", (part) => (text += part))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

const failed = (metadata) => typeof metadata?.exit === "number" && metadata.exit !== 0

export const Unloop = async ({ directory }) => {
  const about = (input) => ({ session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_use_id: input.callID })
  return {
    "chat.message": async (input, output) => {
      const parts = output?.parts ?? []
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      await ask({ hook_event_name: "chat.message", session_id: input.sessionID, cwd: directory, prompt })
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask({ ...about(input), hook_event_name: "tool.execute.before", tool_input: output.args })
      if (answer.deny) throw new Error(answer.deny)
    },
    "tool.execute.after": async (input, output) => {
      const event = { ...about(input), hook_event_name: "tool.execute.after", tool_input: input.args }
      if (failed(output?.metadata)) event.error = String(output.output)
      else event.tool_response = output?.output
      const answer = await ask(event)
      if (answer.append && typeof output?.output === "string") output.output += "\n\n" + answer.append
    },
  }
}
