package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file make different calls with the same result.

func rewordedQuery(p *generator) ([]entry, int) {
	topic, found := p.words(3), p.search("")
	var entries []entry
	for k := range p.between(6, 12) {
		query := p.pick("", "find ", "how to ", "what is ", "details of ") + strings.Join(p.shuffled(topic...), " ") +
			p.pick("", " guide", " 2026", " explained", " example") + strings.Repeat(" "+p.word(), k%3)
		found.Args = object("query", query)
		entries = append(entries, found)
	}
	return entries, 1
}

func emptyResult(p *generator) ([]entry, int) {
	tool := p.pick("search", "web_search", "query_database", "find_files", "search_orders")
	empty := []json.RawMessage{
		json.RawMessage(`[]`), json.RawMessage(`""`), json.RawMessage(`{"results":[]}`), json.RawMessage(`{"rows":[],"total":0}`),
		quoted("No results found."), quoted("No matches found for your query."),
	}[p.IntN(6)]
	var entries []entry
	for range p.between(6, 12) {
		entries = append(entries, call(tool, object("query", p.phrase(1, 5)), empty))
	}
	return entries, 1
}

// errorOf returns an error whose paths and line numbers, if it has any, vary from one attempt to the next.
func (p *generator) errorOf() func() string {
	name := p.word()
	return []func() string{
		func() string {
			return fmt.Sprintf("Traceback (most recent call last):\n  File \"/srv/app/%s\", line %d, in <module>\n    import %s\nModuleNotFoundError: No module named '%s'",
				p.path(), p.between(1, 400), name, name)
		},
		func() string { return "bash: " + name + ": command not found" },
		func() string { return "PermissionError: [Errno 13] Permission denied: '/srv/" + p.path() + "'" },
	}[p.IntN(3)]
}

// volatileErrorOf returns an error that has a time or an id in it, new for each attempt.
func (p *generator) volatileErrorOf() func() string {
	name := p.word()
	if p.coin() {
		return func() string {
			return fmt.Sprintf("%s connection to %s.example:5432 failed: Connection refused", p.clock(), name)
		}
	}
	return func() string { return "Error: " + name + " not found (request " + p.uuid() + ")" }
}

// attempt returns a command that is unlike the others.
func (p *generator) attempt() string {
	return p.pick("python ", "python3 -m ", "bash ", "make ", "npm run ", "cd /srv && ./") + p.word() +
		p.pick("", " --verbose", " --force", " -x") + " " + p.phrase(1, 3)
}

func sameError(p *generator) ([]entry, int) { return p.failures(p.errorOf()), 1 }

func sameVolatileError(p *generator) ([]entry, int) { return p.failures(p.volatileErrorOf()), 1 }

// failures are different commands that end in the error.
func (p *generator) failures(reason func() string) []entry {
	var entries []entry
	for range p.between(6, 12) {
		entries = append(entries, failed("bash", object("command", p.attempt()), reason()))
	}
	return entries
}

// sameErrorInOutput has a shell that answers failure as it answers success: by text that holds the exit status.
func sameErrorInOutput(p *generator) ([]entry, int) {
	reason, status := p.errorOf(), p.between(1, 2)
	var entries []entry
	for range p.between(6, 12) {
		output := fmt.Sprintf("<returncode>%d</returncode>\n<output>\n%s\n</output>", status, reason())
		entries = append(entries, call("bash", object("command", p.attempt()), quoted(output)))
	}
	return entries, 1
}

// stuckPolling polls 12 to 24 times; in every other stretch the answer has the time in it.
func stuckPolling(p *generator) ([]entry, int) {
	tool, id, state, timed := p.pollTool(), p.id(), p.pick("queued", "pending", "in progress", "running"), p.coin()
	var entries []entry
	for range p.between(12, 24) {
		answer := object("id", id, "status", state)
		if timed {
			answer = object("id", id, "status", state, "checked_at", p.clock())
		}
		entries = append(entries, call(tool, object("id", id), answer))
	}
	return entries, 1
}

func (p *generator) pollTool() string {
	return p.pick("get_job_status", "check_build", "poll_export", "deployment_status", "wait_for_job")
}
