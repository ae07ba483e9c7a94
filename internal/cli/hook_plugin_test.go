package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The programs that load unloop's plugins as the agents do, and make the same call again and again. They print what the model would see.
var pluginHosts = map[string]string{
	"opencode 1": `
import plugin from "./unloop.mjs"
const hooks = await plugin.server({ directory: process.cwd() })
await hooks["chat.message"]({ sessionID: "s1" }, { parts: [{ type: "text", text: "Build it." }] })
for (let n = 0; n < 16; n++) {
  const call = { tool: "bash", sessionID: "s1", callID: "c" + n }
  const args = { command: "make" }
  try {
    await hooks["tool.execute.before"](call, { args })
  } catch (error) {
    console.log("denied", error.message)
    break
  }
  const output = { title: "", output: "no rule", metadata: { exit: 2 } }
  await hooks["tool.execute.after"]({ ...call, args }, output)
  console.log("result", output.output)
}`,
	"opencode 2": `
import plugin from "./unloop.mjs"
const hooks = {}
const domain = { hook: async (name, run) => { hooks[name] = run } }
await plugin.setup({ tool: domain, session: domain })
await hooks.prompt({ sessionID: "s2", prompt: { text: "Build it." } })
for (let n = 0; n < 16; n++) {
  const event = { tool: "shell", sessionID: "s2", agent: "build", messageID: "m", id: "c" + n, input: { command: "make" } }
  try {
    await hooks["execute.before"](event)
  } catch (error) {
    console.log("denied", error.message)
    break
  }
  const ended = n % 2
    ? { ...event, status: "completed", result: { output: { exit: 2 }, content: [{ type: "text", text: "no rule" }], metadata: { exit: 2 } } }
    : { ...event, status: "completed", result: { content: "no rule", metadata: { exit: 2 } } }
  await hooks["execute.after"](ended)
  console.log("result", JSON.stringify(ended.result.content))
}`,
	"amp": `
import plugin from "./unloop.mjs"
const handlers = {}
plugin({ on: (name, run) => { handlers[name] = run } })
const thread = { id: "T-1" }
await handlers["agent.start"]({ thread, message: "Build it." }, { thread })
for (let n = 0; n < 16; n++) {
  const call = { thread, toolUseID: "t" + n, tool: "Bash", input: { cmd: "make" } }
  const answer = await handlers["tool.call"](call, { thread })
  if (answer.action !== "allow") {
    console.log(answer.action === "reject-and-continue" ? "denied" : answer.action, answer.message)
    break
  }
  const ended = n % 2 ? { status: "error", error: "no rule" } : { status: "done", output: "no rule" }
  const changed = (await handlers["tool.result"]({ ...call, ...ended }, { thread })) ?? ended
  if (changed.status !== ended.status) console.log("became", changed.status)
  console.log("result", changed.output ?? changed.error)
}`,
}

func TestAPluginTellsTheModelWhatTheHookAnswers(t *testing.T) {
	s := newStandIn(t)
	for name, host := range pluginHosts {
		t.Run(name, func(t *testing.T) {
			agent, file := "opencode", ".config/opencode/plugins/unloop.js"
			if name == "amp" {
				agent, file = name, ".config/amp/plugins/unloop.ts"
			}
			s.unloop("hook", "install", agent, "--mode", "guard")
			plugin, err := os.ReadFile(filepath.Join(s.home, file))
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			for file, content := range map[string]string{"unloop.mjs": string(plugin), "host.mjs": host} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			node, err := exec.LookPath("node")
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(node, "host.mjs")
			c.Env, c.Dir = s.env(), folder
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			first, rest, nudged := strings.Cut(string(out), "[unloop] ")
			if !nudged || !strings.Contains(first, "result no rule") && !strings.Contains(first, `result "no rule"`) {
				t.Errorf("the model is not nudged:\n%s", out)
			}
			if !strings.Contains(rest, "denied [unloop] Blocked") || !strings.Contains(rest, "unloop allow ") {
				t.Errorf("no call is denied:\n%s", out)
			}
			s.unloop("hook", "uninstall", agent)
			if left, _ := filepath.Glob(filepath.Join(s.home, filepath.Dir(file), "*")); len(left) > 0 {
				t.Errorf("uninstall left %v", left)
			}
		})
	}
	if out := s.unloop("hook", "status"); strings.Contains(out, "fault") {
		t.Errorf("status prints %s", out)
	}
}

func TestAScriptOfClineAsksTheHook(t *testing.T) {
	s := newStandIn(t)
	s.unloop("hook", "install", "cline", "--mode", "guard")
	folder := filepath.Join(s.home, "Documents", "Cline", "Hooks")
	ask := func(event, input string) string {
		t.Helper()
		c := exec.Command(filepath.Join(folder, event))
		c.Env, c.Stdin = s.env(), strings.NewReader(`{"taskId":"s","workspaceRoots":["/w"],"hookName":"`+event+`",`+input+`}`)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", event, err, out)
		}
		return string(out)
	}
	said := ask("UserPromptSubmit", `"userPromptSubmit":{"prompt":"Build it."}`)
	for range 12 {
		said += ask("PreToolUse", `"preToolUse":{"toolName":"execute_command","parameters":{"command":"make"}}`)
		if strings.Contains(said, `"cancel":true`) {
			break
		}
		said += ask("PostToolUse", `"postToolUse":{"toolName":"execute_command","parameters":{"command":"make"},"result":"no rule","success":true}`)
	}
	if !strings.Contains(said, `"contextModification":"[unloop] `) || !strings.Contains(said, `"cancel":true,"errorMessage":"[unloop] Blocked`) {
		t.Errorf("said %s", said)
	}
	s.unloop("hook", "uninstall")
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		t.Errorf("uninstall left %v", left)
	}
}

func TestADenialThatIsAnExitStatusIsAlsoOneOfTheProcess(t *testing.T) {
	s := newStandIn(t)
	for n := range 40 {
		c := exec.Command(s.program, "hook", "--agent", "windsurf", "--mode", "guard")
		c.Env, c.Stdin = s.env(), strings.NewReader(`{"agent_action_name":"pre_run_command","trajectory_id":"s","tool_info":{"command_line":"make","cwd":"/w"}}`)
		out, err := c.Output()
		if len(out) > 0 {
			t.Fatalf("call %d: %s", n, out)
		}
		if err == nil {
			continue
		}
		exit, ok := err.(*exec.ExitError)
		if !ok || exit.ExitCode() != 2 || !strings.HasPrefix(string(exit.Stderr), "[unloop] This call did not run") {
			t.Errorf("call %d: %v: %s", n, err, exit.Stderr)
		}
		return
	}
	t.Error("no call is denied")
}
