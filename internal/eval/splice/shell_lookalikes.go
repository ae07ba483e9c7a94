package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of coding agents at a shell: something moves, or each act is about another thing.

func shellLookalikes() []kind {
	return []kind{
		{name: "fewer_compile_errors", build: fewerCompileErrors},
		{name: "many_installs", build: manyInstalls},
		{name: "growing_log", build: growingLog},
		{name: "download_grows", build: downloadGrows},
		{name: "search_in_other_places", build: searchInOtherPlaces},
		{name: "clean_lint", build: cleanLint},
		{name: "wait_for_build", build: waitForBuild},
		{name: "revert_once", build: revertOnce},
		{name: "other_test_fails", build: otherTestFails},
		{name: "rollout_moves", build: rolloutMoves},
		{name: "files_processed", build: filesProcessed},
		{name: "found_at_last", build: foundAtLast},
		{name: "health_of_many_hosts", build: healthOfManyHosts},
		{name: "many_commits", build: manyCommits},
		{name: "bisect", build: bisect},
		{name: "read_after_edit", build: readAfterEdit},
		{name: "experiments", build: experiments},
	}
}

// fewerCompileErrors changes a file and builds; each build has one error less.
func fewerCompileErrors(p *generator) (entries []entry, _ int) {
	path := p.path()
	names := p.words(p.between(4, 7))
	for left := len(names); left >= 0; left-- {
		var output strings.Builder
		for _, name := range names[:left] {
			fmt.Fprintf(&output, "./%s:%d:2: undefined: %s\n", path, p.between(3, 400), name)
		}
		status := min(left, 1)
		entries = append(entries, p.edit(path), p.shell("go build ./...", output.String(), status))
	}
	return entries, 0
}

// otherTestFails changes code and runs the tests; each time another test is the first to fail.
func otherTestFails(p *generator) (entries []entry, _ int) {
	total := p.between(20, 60)
	rounds := p.between(5, 8)
	for k := range rounds {
		output := fmt.Sprintf("FAILED tests/test_%s.py::test_%s - %s\n=== %d failed, %d passed in %d.%02ds ===", p.word(), p.word(), p.phrase(3, 6), rounds-k, total-rounds+k, p.between(1, 9), p.IntN(100))
		entries = append(entries, p.edit(p.path()), p.shell("pytest -q", output, 1))
	}
	return entries, 0
}

// manyInstalls installs package after package.
func manyInstalls(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		name := p.word() + "-" + p.word()
		version := fmt.Sprintf("%d.%d.%d", p.IntN(9), p.IntN(20), p.IntN(9))
		entries = append(entries, p.shell("pip install "+name, "Collecting "+name+"\nInstalling collected packages: "+name+"\nSuccessfully installed "+name+"-"+version, 0))
	}
	return entries, 0
}

// rolloutMoves watches a deployment that gets on.
func rolloutMoves(p *generator) (entries []entry, _ int) {
	name, all := p.word(), p.between(6, 10)
	for ready := range all + 1 {
		output := fmt.Sprintf("NAME      READY   UP-TO-DATE   AVAILABLE   AGE\n%s   %d/%d     %d            %d           %ds", name, ready, all, all, ready, 15*ready+p.IntN(9))
		entries = append(entries, p.shell("kubectl get deployment "+name, output, 0))
	}
	return entries, 0
}

// growingLog looks at the end of a log that is written to.
func growingLog(p *generator) (entries []entry, _ int) {
	command := "tail -n 5 /var/log/" + p.word() + ".log"
	var lines []string
	for range p.between(8, 14) {
		lines = append(lines, p.clock()+" INFO "+p.phrase(4, 8), p.clock()+" INFO "+p.phrase(4, 8))
		entries = append(entries, p.shell(command, strings.Join(lines[max(0, len(lines)-5):], "\n"), 0))
	}
	return entries, 0
}

// filesProcessed polls a job that counts what it has processed.
func filesProcessed(p *generator) (entries []entry, _ int) {
	all, id := p.between(8, 15), p.id()
	for k := range all {
		entries = append(entries, call(p.pollTool(), object("id", id), quoted(fmt.Sprintf("processed %d of %d files", 20*(k+1), 20*all))))
	}
	for k := range entries {
		entries[k].Tool = entries[0].Tool
	}
	return entries, 0
}

// downloadGrows watches a file that grows.
func downloadGrows(p *generator) (entries []entry, _ int) {
	path, size := p.word()+".tar.gz", p.between(100_000, 900_000)
	for range p.between(8, 14) {
		size += p.between(100_000, 9_000_000)
		entries = append(entries, p.shell("ls -l "+path, fmt.Sprintf("-rw-r--r-- 1 root root %d Nov 22 10:%02d %s", size, p.IntN(60), path), 0))
	}
	return entries, 0
}

// searchInOtherPlaces looks for one pattern, with another glob or folder each time.
func searchInOtherPlaces(p *generator) (entries []entry, _ int) {
	pattern, globs := p.word(), []string{"*.go", "*.py", "*.ts", "*.md", "*.yaml", "*.java", "*.rs", "*.c"}
	for _, glob := range p.shuffled(globs...)[:p.between(5, 8)] {
		folder := p.word() + "/" + p.word()
		found := folder + "/" + p.word() + glob[1:] + ":" + fmt.Sprint(p.between(1, 300)) + ":" + pattern + " " + p.phrase(2, 5)
		entries = append(entries, call("Grep", object("pattern", pattern, "glob", glob, "path", folder), quoted(found)))
	}
	return entries, 0
}

// foundAtLast looks in some places in vain, then finds it.
func foundAtLast(p *generator) (entries []entry, _ int) {
	name := p.word()
	for range p.between(2, 3) {
		entries = append(entries, p.shell("find "+p.word()+" -name '"+name+"*'", "", 0))
	}
	path := p.path()
	return append(entries, p.shell("find . -name '"+name+"*'", path, 0), call("read_file", object("path", path), quoted(p.page()))), 0
}

// healthOfManyHosts asks many hosts the same, and all are well.
func healthOfManyHosts(p *generator) (entries []entry, _ int) {
	for k := range p.between(6, 9) {
		host := fmt.Sprintf("%s-%02d.example", p.word(), k)
		entries = append(entries, p.shell("curl -s https://"+host+"/health", `{"status":"ok"}`, 0))
	}
	return entries, 0
}

// cleanLint checks many files, and none has a fault.
func cleanLint(p *generator) (entries []entry, _ int) {
	for range p.between(5, 8) {
		path := p.path()
		entries = append(entries, p.edit(path), p.shell("ruff check "+path, "All checks passed!", 0))
	}
	return entries, 0
}

// manyCommits commits step by step.
func manyCommits(p *generator) (entries []entry, _ int) {
	for range p.between(5, 8) {
		text := p.phrase(3, 6)
		entries = append(entries, p.edit(p.path()), p.shell("git commit -qam '"+text+"'", fmt.Sprintf("[main %07x] %s\n 1 file changed, %d insertions(+)", p.IntN(1<<28), text, p.between(1, 40)), 0))
	}
	return entries, 0
}

// bisect halves a range of commits.
func bisect(p *generator) (entries []entry, _ int) {
	for left := p.between(200, 900); left > 3; left /= 2 {
		entries = append(entries, p.shell("git bisect "+p.pick("good", "bad"), fmt.Sprintf("Bisecting: %d revisions left to test after this\n[%07x] %s", left, p.IntN(1<<28), p.phrase(3, 6)), 0))
	}
	return entries, 0
}

// readAfterEdit reads one file after each change of it.
func readAfterEdit(p *generator) (entries []entry, _ int) {
	path := p.path()
	for range p.between(4, 7) {
		entries = append(entries, p.edit(path), call("read_file", object("path", path), quoted(p.page())))
	}
	return entries, 0
}

// waitForBuild sleeps between its looks at a build, which ends.
func waitForBuild(p *generator) (entries []entry, _ int) {
	id := p.between(1000, 9999)
	command := fmt.Sprintf("sleep %d && gh run view %d", p.between(60, 180), id)
	for range p.between(4, 6) {
		entries = append(entries, p.shell(command, "in_progress: build (linux)", 0))
	}
	return append(entries, p.shell(command, "completed: build (linux)\nconclusion: success", 0)), 0
}

// experiments train with other settings, and each has a result of its own.
func experiments(p *generator) (entries []entry, _ int) {
	for range p.between(6, 9) {
		command := fmt.Sprintf("python train.py --lr %g --batch %d", float64(p.between(1, 99))/1e4, 8<<p.IntN(5))
		entries = append(entries, p.shell(command, fmt.Sprintf("epoch 10/10 loss %.4f accuracy %.4f", p.Float64()*2, p.Float64()), 0))
	}
	return entries, 0
}

// revertOnce takes one change back and makes another.
func revertOnce(p *generator) (entries []entry, _ int) {
	path, before, after := p.path(), p.phrase(3, 8), p.phrase(3, 8)
	done := quoted("The file " + path + " has been updated.")
	return []entry{
		call("edit_file", object("path", path, "old_string", before, "new_string", after), done), p.tests(p.failure()),
		call("edit_file", object("path", path, "old_string", after, "new_string", before), done), p.edit(path), p.tests("31 passed"),
	}, 0
}
