package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work in a repository: edits, tests, commits and reviews.

func repositoryLookalikes() []kind {
	return []kind{
		{name: "values_printed", build: valuesPrinted},
		{name: "test_matrix", build: testMatrix},
		{name: "cherry_picks", build: cherryPicks},
		{name: "conflicts_resolved", build: conflictsResolved},
		{name: "jobs_of_a_pipeline", build: jobsOfAPipeline},
		{name: "review_comments", build: reviewComments},
		{name: "todos_done", build: todosDone},
		{name: "error_moves_on", build: errorMovesOn},
		{name: "thresholds_tried", build: thresholdsTried},
	}
}

// valuesPrinted adds a print, runs the script, and learns another value each time.
func valuesPrinted(p *generator) (entries []entry, _ int) {
	path := p.path()
	for range p.between(4, 7) {
		entries = append(entries, p.edit(path), p.shell("python "+path, fmt.Sprintf("DEBUG %s = %s\nTraceback (most recent call last):\n  File \"%s\", line %d\nKeyError: '%s'", p.word(), p.phrase(2, 4), path, p.between(3, 200), p.word()), 1))
	}
	return entries, 0
}

// testMatrix runs the tests under version after version.
func testMatrix(p *generator) (entries []entry, _ int) {
	passed := p.between(20, 400)
	for _, version := range []string{"3.9", "3.10", "3.11", "3.12", "3.13"} {
		entries = append(entries, p.shell("tox -e py"+strings.ReplaceAll(version, ".", ""), fmt.Sprintf("py%s: commands[0]> pytest\n%d passed in %d.%02ds\n  py%s: OK\n  congratulations :)", version, passed, p.between(2, 20), p.IntN(100), version), 0))
	}
	return entries, 0
}

// cherryPicks takes commit after commit over to a branch.
func cherryPicks(p *generator) (entries []entry, _ int) {
	for range p.between(5, 8) {
		commit := fmt.Sprintf("%07x", p.IntN(1<<28))
		entries = append(entries, p.shell("git cherry-pick "+commit, fmt.Sprintf("[release %07x] %s\n Date: %s\n 1 file changed, %d insertions(+), %d deletions(-)", p.IntN(1<<28), p.phrase(3, 6), p.clock(), p.between(1, 40), p.between(1, 40)), 0))
	}
	return entries, 0
}

// conflictsResolved resolves the conflicts of a rebase, commit by commit.
func conflictsResolved(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 6) {
		path := p.path()
		entries = append(entries, p.edit(path), p.shell("git add "+path+" && git rebase --continue", fmt.Sprintf("Auto-merging %s\nCONFLICT (content): Merge conflict in %s\nerror: could not apply %07x... %s\nRebasing (%d/9)", path, p.path(), p.IntN(1<<28), p.phrase(2, 5), k+1), 1))
	}
	return entries, 0
}

// jobsOfAPipeline looks at the jobs of a pipeline, of which one more has ended each time.
func jobsOfAPipeline(p *generator) (entries []entry, _ int) {
	jobs, id := p.words(6), p.between(1000, 9999)
	for done := range len(jobs) + 1 {
		var output strings.Builder
		for k, job := range jobs {
			state := "pending"
			if k < done {
				state = "pass"
			}
			fmt.Fprintf(&output, "%s\t%s\t%dm%ds\thttps://ci.example/%d/job/%d\n", job, state, p.IntN(9), p.IntN(60), id, k)
		}
		entries = append(entries, p.shell(fmt.Sprintf("sleep 60; gh pr checks %d", id), output.String(), 0))
	}
	return entries, 0
}

// reviewComments comments on line after line of a change.
func reviewComments(p *generator) (entries []entry, _ int) {
	number := p.between(10, 999)
	for range p.between(5, 8) {
		entries = append(entries, call("github_add_review_comment", object("pull", number, "path", p.path(), "line", p.between(1, 400), "body", p.pick("Consider ", "Please check ", "Why is ", "This may break ")+p.phrase(4, 9)), object("id", p.between(100000, 999999), "state", "PENDING", "pull", number)))
	}
	return entries, 0
}

// todosDone marks task after task as done, with a change and a test of it in between.
func todosDone(p *generator) (entries []entry, _ int) {
	tasks := make([]string, p.between(4, 6))
	for k := range tasks {
		tasks[k] = p.phrase(3, 6)
	}
	for done := range len(tasks) + 1 {
		todos := make([]string, len(tasks))
		for k, task := range tasks {
			todos[k] = task + " (pending)"
			if k < done {
				todos[k] = task + " (completed)"
			}
		}
		entries = append(entries, call("TodoWrite", object("todos", todos), quoted("Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.")), p.edit(p.path()), p.tests("31 passed"))
	}
	return entries, 0
}

// errorMovesOn mends one place after another: the same kind of error stands further down each time.
func errorMovesOn(p *generator) (entries []entry, _ int) {
	path, line := p.path(), p.between(3, 20)
	for range p.between(4, 7) {
		entries = append(entries, p.edit(path), p.shell("cargo check", fmt.Sprintf("error[E0425]: cannot find value `%s_%s` in this scope\n --> %s:%d:%d\n\nerror: could not compile `app` (bin \"app\") due to 1 previous error", p.word(), p.word(), path, line, p.between(1, 60)), 101))
		line += p.between(4, 60)
	}
	return append(entries, p.edit(path), p.shell("cargo check", "    Finished `dev` profile [unoptimized + debuginfo] target(s)", 0)), 0
}

// thresholdsTried measures under one threshold after the other.
func thresholdsTried(p *generator) (entries []entry, _ int) {
	model := p.word()
	for k := range p.between(5, 9) {
		entries = append(entries, p.shell(fmt.Sprintf("python evaluate.py --model %s --threshold 0.%d", model, 20+7*k), fmt.Sprintf("model %s\nprecision 0.%03d recall 0.%03d f1 0.%03d", model, p.IntN(1000), p.IntN(1000), p.IntN(1000)), 0))
	}
	return entries, 0
}
