package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sdkAgent is an agent of the Claude Agent SDK under the TypeScript package. Its arguments are the folder of the package and the
// program of Claude Code.
const sdkAgent = `
const [folder, pathToClaudeCodeExecutable] = process.argv.slice(1);
const sdk = await import(folder + "/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs");
const { withUnloop } = await import(folder + "/dist/claude-agent-sdk.js");
const { query } = withUnloop(sdk, { record: false });
for await (const message of query({ prompt: "Build it.", options: { pathToClaudeCodeExecutable, allowedTools: ["Bash"] } })) {
  if (message.type === "result") console.log(message.subtype, message.result);
}`

// checkSDK runs an agent of the Claude Agent SDK in a loop and in healthy work. It returns a line that says what was seen, and reports
// whether all was as it should be.
func checkSDK(ctx context.Context, program, bin, pack string, verbose bool) (string, bool) {
	looped, output, err := runSDK(ctx, program, bin, pack, true, verbose)
	if err != nil {
		return fmt.Sprintf("Claude Agent SDK: %v", err), false
	}
	healthy, done, err := runSDK(ctx, program, bin, pack, false, verbose)
	if err != nil {
		return fmt.Sprintf("Claude Agent SDK: %v", err), false
	}
	nudged, denied := looped.saw("[loop-guard] You may be going round in circles"), looped.saw("[loop-guard] Blocked")
	ended := looped.calls < loopCalls && strings.HasPrefix(output, "success [loop-guard] Halted")
	alone := !healthy.saw("[loop-guard]") && healthy.finished && strings.HasPrefix(done, "success Done.")
	row := fmt.Sprintf("Claude Agent SDK: nudge reaches the model %s, denial reaches it %s, the turn ends %s, healthy twin left alone %s",
		mark(nudged), mark(denied), mark(ended), mark(alone))
	return row, nudged && denied && ended && alone
}

// runSDK runs the agent until its turn ends. It returns the model and what the agent printed.
func runSDK(ctx context.Context, program, bin, pack string, loop, verbose bool) (*model, string, error) {
	m := &model{loop: loop}
	server := httptest.NewServer(m)
	defer server.Close()
	i := slices.IndexFunc(agents(), func(a agent) bool { return a.name == "claude-code" })
	h, err := newHome(&agents()[i], bin, server.URL, verbose)
	if err != nil {
		return nil, "", err
	}
	defer h.remove()
	h.env = append(h.env, "UNLOOP_BIN="+program)
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "", fmt.Errorf("find node: %w", err)
	}
	out, err := h.command(ctx, node, "--input-type=module", "--eval", sdkAgent, pack, filepath.Join(bin, "claude"))
	return m, string(out), err
}
