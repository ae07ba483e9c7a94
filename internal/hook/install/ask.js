// It asks unloop before and after each tool. If unloop does not answer, the tool runs as it would without this file.
import { spawn } from "node:child_process"

const command = "UNLOOP_COMMAND"

function ask(event) {
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
