package splice

import (
	"encoding/json"
	"fmt"
)

// The lookalikes of this file make progress: something changes.

func lookalikes() []kind {
	return []kind{
		{name: "moving_poll", build: movingPoll},
		{name: "pagination", build: pagination},
		{name: "file_slices", build: fileSlices},
		{name: "tests_after_edits", build: testsAfterEdits},
		{name: "batch", build: batch},
		{name: "many_reads", build: manyReads},
		{name: "many_searches", build: manySearches},
		{name: "retry_that_works", build: retryThatWorks},
		{name: "status_between_edits", build: statusBetweenEdits},
	}
}

// movingPoll has an answer that moves at least every third time.
func movingPoll(p *generator) (entries []entry, _ int) {
	tool, id, done, slow := p.pollTool(), p.id(), 0, p.between(1, 3)
	for k := range p.between(8, 20) {
		if k%slow == 0 {
			done += p.between(1, 4)
		}
		entries = append(entries, call(tool, object("id", id), object("id", id, "status", "running", "progress", fmt.Sprint(done, "%"))))
	}
	return entries, 0
}

func pagination(p *generator) (entries []entry, _ int) {
	tool, name, size := p.pick("list_orders", "list_issues", "search_flights"), p.pick("page", "cursor", "offset"), p.between(10, 50)
	for k := range p.between(6, 15) {
		var at any = k + 1
		switch name {
		case "cursor":
			at = p.uuid()
		case "offset":
			at = k * size
		}
		entries = append(entries, call(tool, object("filter", "open", name, at), object("items", p.words(p.between(5, 10)))))
	}
	return entries, 0
}

// fileSlices reads one long file piece by piece.
func fileSlices(p *generator) (entries []entry, _ int) {
	path, size, shell := p.path(), p.between(50, 200), p.coin()
	for k := range p.between(5, 12) {
		args, tool := object("path", path, "offset", k*size, "limit", size), "read_file"
		if shell {
			args, tool = object("command", fmt.Sprintf("sed -n '%d,%dp' %s", k*size+1, (k+1)*size, path)), "bash"
		}
		entries = append(entries, call(tool, args, quoted(p.page())))
	}
	return entries, 0
}

// failure returns the output of a failed test run.
func (p *generator) failure() string {
	return fmt.Sprintf("FAILED tests/test_%s.py::test_%s - AssertionError: %s\n%d failed, %d passed", p.word(), p.word(), p.phrase(2, 5), p.between(1, 5), p.between(5, 90))
}

// tests returns a test run with this output.
func (p *generator) tests(says string) entry {
	return call("bash", object("command", p.pick("pytest -q", "python -m pytest", "make test", "go test ./...")), quoted(says))
}

// testsAfterEdits makes another change each round. In every other stretch the tests fail as before until the last.
func testsAfterEdits(p *generator) (entries []entry, _ int) {
	path, run, stubborn := p.path(), p.tests(p.failure()), p.coin()
	rounds := p.between(4, 7)
	for k := range rounds {
		switch {
		case k == rounds-1:
			run.Result = quoted(fmt.Sprint(p.between(5, 90), " passed"))
		case !stubborn:
			run.Result = quoted(p.failure())
		}
		entries = append(entries, p.edit(path), run)
	}
	return entries, 0
}

// batch makes the same change to many items, with equal answers.
func batch(p *generator) (entries []entry, _ int) {
	tool, name := p.pick("send_email", "create_ticket", "update_record", "resize_image", "add_label"), p.pick("id", "to", "name")
	answer := []json.RawMessage{object("status", "ok"), quoted("done"), object("success", true)}[p.IntN(3)]
	for range p.between(6, 15) {
		entries = append(entries, call(tool, object(name, p.id(), "text", p.phrase(2, 6)), answer))
	}
	return entries, 0
}

func manyReads(p *generator) (entries []entry, _ int) {
	for range p.between(8, 20) {
		entries = append(entries, call("read_file", object("path", p.path()), quoted(p.page())))
	}
	return entries, 0
}

func manySearches(p *generator) (entries []entry, _ int) {
	e := p.search("")
	for range p.between(8, 20) {
		e.Args, e.Result = object("query", p.phrase(2, 5)), object("results", p.words(p.between(3, 8)))
		entries = append(entries, e)
	}
	return entries, 0
}

func retryThatWorks(p *generator) (entries []entry, _ int) {
	e := p.call()
	reason := p.pick("timeout after 30s", "503 Service Unavailable", "connection reset by peer", "429 Too Many Requests")
	for range p.between(1, 3) {
		entries = append(entries, failed(e.Tool, e.Args, reason))
	}
	return append(entries, e), 0
}

// statusBetweenEdits reads the same status after each of several changes to one file.
func statusBetweenEdits(p *generator) (entries []entry, _ int) {
	path := p.path()
	status := call("bash", object("command", p.pick("git status", "git status --short", "git diff --stat")), quoted(" M "+path))
	for range p.between(5, 9) {
		entries = append(entries, p.edit(path), status)
	}
	return entries, 0
}
