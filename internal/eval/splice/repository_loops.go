package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents in a repository: its tests, its branches and its folders.

func repositoryLoops() []kind {
	return []kind{
		{name: "snapshot_mismatch", build: snapshotMismatch},
		{name: "same_conflict", build: sameConflict},
		{name: "folder_listed_again", build: folderListedAgain},
		{name: "two_errors_in_turn", build: twoErrorsInTurn},
		{name: "short_round", build: shortRound},
	}
}

// snapshotMismatch edits a component and runs the tests; one snapshot differs each time, among tests whose order and times vary.
func snapshotMismatch(p *generator) (entries []entry, _ int) {
	path, name, line := p.path(), p.phrase(2, 3), p.word()
	for range p.between(5, 8) {
		var output strings.Builder
		for _, suite := range p.words(p.between(3, 7)) {
			fmt.Fprintf(&output, "PASS src/%s.test.tsx (%d.%d s)\n", suite, p.between(1, 9), p.IntN(10))
		}
		fmt.Fprintf(&output, "FAIL src/App.test.tsx\n  ● %s › matches the snapshot\n    expect(received).toMatchSnapshot()\n    - Snapshot  - 1\n    + Received  + 1\n    -   class=\"%s\"\n › 1 snapshot failed.\nTests: 1 failed, %d passed\nTime: %d.%d s", name, line, p.between(20, 40), p.between(3, 9), p.IntN(999))
		entries = append(entries, p.edit(path), p.shell("npx jest", output.String(), 1))
	}
	return entries, 2
}

// sameConflict merges in other ways and meets one conflict.
func sameConflict(p *generator) (entries []entry, _ int) {
	path, branch := p.path(), p.word()
	for range p.between(5, 8) {
		way := p.pick("merge", "rebase", "merge --no-ff", "merge -X patience", "rebase --onto HEAD~1", "pull --rebase origin")
		entries = append(entries,
			p.shell("git "+way+" "+branch, "Auto-merging "+path+"\nCONFLICT (content): Merge conflict in "+path+fmt.Sprintf("\nerror: could not apply %07x... %s", p.IntN(1<<28), p.pick("change", "update")), 1),
			p.shell("git "+p.pick("merge", "rebase", "reset --hard")+" --abort", "", 0))
	}
	return entries, 2
}

// folderListedAgain lists one folder by other commands and tools.
func folderListedAgain(p *generator) (entries []entry, _ int) {
	folder, names := p.word()+"/"+p.word(), p.words(6)
	list := func(form string) string {
		var text strings.Builder
		for _, name := range names {
			fmt.Fprintf(&text, form+"\n", name)
		}
		return text.String()
	}
	for k := range p.between(6, 10) {
		switch k % 4 {
		case 0:
			entries = append(entries, p.shell("ls "+folder, list("%s"), 0))
		case 1:
			entries = append(entries, call("list_directory", object("path", folder), quoted(list("[FILE] %s"))))
		case 2:
			entries = append(entries, p.shell("find "+folder+" -maxdepth 1", list(folder+"/%s"), 0))
		case 3:
			entries = append(entries, p.shell("ls -la "+folder, list(fmt.Sprintf("-rw-r--r-- 1 app app %d Nov 22 10:00 %%s", p.between(1000, 9000))), 0))
		}
	}
	return entries, 4
}

// twoErrorsInTurn mends one error and makes another, and back.
func twoErrorsInTurn(p *generator) (entries []entry, _ int) {
	path, name := p.path(), p.word()
	errors := []string{
		"error TS2322: Type 'string | undefined' is not assignable to type '" + name + "'.",
		"error TS2352: Conversion of type '" + name + "' to type 'string' may be a mistake.",
	}
	for k := range 2 * p.between(4, 5) {
		entries = append(entries, p.edit(path), p.shell("npm run typecheck", fmt.Sprintf("> tsc --noEmit\n\n%s:%d:%d - %s\n\nFound 1 error in %s:%d", path, p.between(3, 300), p.between(1, 40), errors[k%2], path, p.between(3, 300)), 2))
	}
	return entries, 4
}

// shortRound is a round of three reads, made three times.
func shortRound(p *generator) ([]entry, int) {
	return slices.Repeat([]entry{p.call(), p.call(), p.call()}, 3), 3
}
