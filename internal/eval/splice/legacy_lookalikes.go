package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of coding agents on old programs: the same commands for one version, one branch, one case
// or one line after another.

func legacyLookalikes() []kind {
	return []kind{
		{name: "majors_climbed_one_by_one", build: majorsClimbedOneByOne},
		{name: "fix_backported_to_old_branches", build: fixBackportedToOldBranches},
		{name: "old_binary_recorded_case_by_case", build: oldBinaryRecordedCaseByCase},
		{name: "includes_removed_where_build_allows", build: includesRemovedWhereBuildAllows},
	}
}

// framework is a framework with major versions in order.
type framework struct {
	versions      []string
	upgrade, test string
	output        string // of an upgrade, with the version
	ext           string
	broken        []string
}

func (p *generator) framework() framework {
	file := p.word()
	switch p.IntN(4) {
	case 0:
		return framework{
			[]string{"11", "12", "13", "14", "15", "16", "17", "18"},
			"npx ng update @angular/core@%[1]s @angular/cli@%[1]s --force", "npx ng test --watch=false --browsers=ChromeHeadless",
			"Using package manager: npm\nCollecting installed dependencies...\nFound 47 dependencies.\nFetching dependency metadata from registry...\n    Updating package.json with dependency @angular/core @ \"%s.2.1\"...\nUPDATE package.json (3127 bytes)\n** Executing migrations of package '@angular/core' **",
			".ts",
			[]string{"error TS2345: Argument of type 'FormGroup<any>' is not assignable to parameter of type 'UntypedFormGroup'.", "NullInjectorError: No provider for HttpClient!", "error NG8001: 'app-" + file + "' is not a known element"},
		}
	case 1:
		return framework{
			[]string{"1.11", "2.0", "2.1", "2.2", "3.0", "3.1", "3.2", "4.0", "4.1", "4.2"},
			"pip install -q 'Django==%s.*'", "python -Wa manage.py test",
			"Successfully installed Django-%s.9", ".py",
			[]string{"TypeError: __init__() missing 1 required positional argument: 'on_delete'", "ImportError: cannot import name 'ugettext_lazy' from 'django.utils.translation'", "ImproperlyConfigured: 'USE_TZ' must be set", "ImportError: cannot import name 'force_text' from 'django.utils.encoding'"},
		}
	case 2:
		return framework{
			[]string{"2.3", "2.4", "2.5", "2.6", "2.7", "3.0", "3.1", "3.2", "3.3"},
			"mvn -q versions:update-parent -DparentVersion=%s.0", "mvn -q test",
			"[INFO] Updating parent from spring-boot-starter-parent to %s.0", ".java",
			[]string{"java.lang.ClassNotFoundException: javax.persistence.Entity", "BeanCurrentlyInCreationException: Requested bean is currently in creation: Is there an unresolvable circular reference?", "IllegalStateException: Failed to load ApplicationContext"},
		}
	}
	return framework{
		[]string{"98", "03", "11", "14", "17", "20", "23"},
		"cmake -B build -DCMAKE_CXX_STANDARD=%s > /dev/null && cmake --build build -j", "ctest --test-dir build --output-on-failure",
		"-- C++ standard: %s\n[100%%] Built target " + file, ".cc",
		[]string{file + "_test: undefined reference to `boost::shared_ptr<" + file + ">'", "unexpected exception: std::bad_function_call", "error: 'register' storage class specifier used"},
	}
}

// majorsClimbedOneByOne upgrades a framework by one major version at a time, with the same tests after each, and now and then a repair.
func majorsClimbedOneByOne(p *generator) (entries []entry, _ int) {
	h, f, tests := p.harness(), p.framework(), p.between(30, 600)
	steps := min(p.between(5, 9), len(f.versions))
	versions := f.versions[len(f.versions)-steps:]
	passed := func() entry {
		return h.shell(f.test, fmt.Sprintf("%d tests, 0 failures (%d.%d s)", tests, p.between(2, 90), p.IntN(10)), 0)
	}
	for k, version := range versions {
		last := ""
		if k > 0 {
			last = "version " + versions[k-1]
		}
		entries = append(entries, h.shell(fmt.Sprintf(f.upgrade, version), fmt.Sprintf(f.output, version), 0).after(p.nextItem(last, "version "+version)))
		if p.IntN(3) == 0 {
			path := p.word() + "/" + p.word() + f.ext
			entries = append(entries, h.shell(f.test, fmt.Sprintf("%s:%d: %s\n%d tests, %d failures (%d.%d s)", path, p.between(1, 400), p.pick(f.broken...), tests, p.between(1, 30), p.between(2, 90), p.IntN(10)), 1).after(thought{"", "Now the tests."}),
				h.edit(path).after(thought{p.pick("This interface has changed in " + version + "."), p.pick("Let me adapt it.", "I'll update the call.")}))
		}
		t := thought{"", p.pick("Now the tests.", "Let me run the tests on it.", "Does everything still pass?")}
		if entries[len(entries)-1].changes() {
			t = p.runAgain()
		}
		entries = append(entries, passed().after(t))
		if p.IntN(3) > 0 {
			entries = append(entries, h.shell("git commit -qam 'Upgrade to "+version+"'", "", 0))
		}
	}
	return entries, 0
}

// fixBackportedToOldBranches takes one fix over to branch after branch of old releases, tests and pushes it.
func fixBackportedToOldBranches(p *generator) (entries []entry, _ int) {
	h, major, fix := p.harness(), p.between(2, 9), fmt.Sprintf("%07x", p.IntN(1<<28))
	what, path := p.pick("Fix", "Check", "Escape")+" "+p.word()+" "+p.word(), "src/"+p.word()+"/"+p.word()+p.pick(".py", ".java", ".cc", ".ts")
	minute, tests := p.IntN(60), p.between(90, 900)
	scheme, test := p.pick("release/%d.%d", "stable-%d.%d", "%d.%d.x", "maint-%d.%d"), p.pick("make test", "./gradlew test -q", "pytest -q", "npm test --silent")
	added, removed := p.between(2, 30), p.between(1, 9)
	last := ""
	for k := range p.between(5, 9) {
		branch := fmt.Sprintf(scheme, major, 12-k)
		entries = append(entries, h.shell("git checkout -q "+branch+" && git pull -q --ff-only", p.pick("", "Your branch is up to date with 'origin/"+branch+"'."), 0).after(p.nextItem(last, "`"+branch+"`")))
		picked := fmt.Sprintf("[%s %07x] %s\n Date: Tue Mar 3 14:%02d:11 2026 +0100\n 2 files changed, %d insertions(+), %d deletions(-)", branch, p.IntN(1<<28), what, minute, added, removed)
		if p.IntN(3) == 0 {
			entries = append(entries, h.shell("git cherry-pick -x "+fix, fmt.Sprintf("Auto-merging %[1]s\nCONFLICT (content): Merge conflict in %[1]s\nerror: could not apply %[2]s... %[3]s", path, fix, what), 1),
				h.edit(path).after(thought{"The lines around it differ in this branch.", "Let me resolve the conflict."}),
				h.shell("git add -A && git cherry-pick --continue --no-edit", picked, 0))
		} else {
			entries = append(entries, h.shell("git cherry-pick -x "+fix, picked, 0))
		}
		entries = append(entries, h.shell(test, fmt.Sprintf("%d passed in %d.%02ds", tests, p.between(1, 60), p.IntN(100)), 0).after(thought{"", p.pick("Now the tests.", "Do they pass here?")}))
		tests -= p.IntN(9)
		if p.IntN(4) > 0 {
			entries = append(entries, h.shell("git push origin "+branch, fmt.Sprintf("   %07x..%07x  %s -> %s", p.IntN(1<<28), p.IntN(1<<28), branch, branch), 0))
		}
		last = "the branch"
	}
	return entries, 0
}

// oldBinaryRecordedCaseByCase runs an old program on one input after another and keeps what it prints; many of the outputs are the same.
func oldBinaryRecordedCaseByCase(p *generator) (entries []entry, _ int) {
	h, program, ext := p.harness(), p.word(), p.pick("in", "dat", "txt")
	run := p.pick("./bin/"+program+" < cases/%[1]s.%[2]s | tee golden/%[1]s.out", "java -jar "+program+".jar cases/%[1]s.%[2]s | tee golden/%[1]s.out", "python2 "+program+".py cases/%[1]s.%[2]s | tee golden/%[1]s.out", "node "+program+".js cases/%[1]s.%[2]s | tee golden/%[1]s.out")
	answers := []string{"OK", "OK", "OK", "ERR 12: BAD DATE", "ERR 12: BAD DATE", "0.00", ""}
	for range 4 {
		answers = append(answers, fmt.Sprintf("OK\nTOTAL %d.%02d", p.between(1, 9000), p.IntN(100)))
	}
	counts := p.between(3, 6)
	w := wording{
		[]string{"Before I change anything I record what the old program does."},
		[]string{"Recorded.", "That is its behaviour for this case.", "An error, which has to stay one.", ""},
		[]string{"The next case.", "Now the case after it.", "Let me record the next one.", "On with the next input."},
	}
	for k, name := range p.distinctWords(p.between(8, 18)) {
		stem := fmt.Sprintf("%02d_%s", k+1, name)
		entries = append(entries, h.shell(fmt.Sprintf(run, stem, ext), p.pick(answers...), 0).after(w.of(p, k)))
		if (k+1)%counts == 0 {
			entries = append(entries, h.shell("ls golden | wc -l", fmt.Sprint(k+1), 0).after(thought{"", p.pick("How many are there now?", "")}))
		}
	}
	return entries, 0
}

// includesRemovedWhereBuildAllows comments out one include after another and builds; where the build fails it puts the line back.
func includesRemovedWhereBuildAllows(p *generator) (entries []entry, _ int) {
	h, header, targets := p.harness(), "src/"+p.word()+"/"+p.word()+p.pick(".h", ".hpp", ".cc"), p.between(40, 400)
	build := p.pick("ninja -C build", "ninja -C out/Debug", "cmake --build build -j")
	includes := []string{"<boost/foreach.hpp> BOOST_FOREACH", "<algorithm> stable_sort", "<map> map", "<sstream> ostringstream", "<iostream> cerr", "<boost/bind.hpp> bind", "<cstring> memcpy", "<vector> vector"}
	for _, folder := range []string{"util", "base", "legacy"} {
		name := p.word()
		includes = append(includes, "\""+folder+"/"+name+".h\" "+capitalized(name))
	}
	includes = p.shuffled(includes...)
	w := wording{
		[]string{"I'll remove the includes that nobody needs, one at a time."},
		[]string{"That one is not needed.", "It builds without it.", ""},
		[]string{"Now %s.", "Next, %s.", "Is %s needed?"},
	}
	failed := false
	for k, pair := range includes[:p.between(6, 10)] {
		include, symbol, _ := strings.Cut(pair, " ")
		t := w.of(p, k)
		if failed {
			t.seen = ""
		}
		if k > 0 {
			t.next = fmt.Sprintf(t.next, include)
		}
		line := "#include " + include
		entries = append(entries, h.replace(header, line, "// "+line).after(t))
		if failed = p.IntN(5) < 2; failed {
			name, unit := strings.Trim(include, "<>\""), p.word()
			entries = append(entries, h.shell(build, fmt.Sprintf("[%d/%d] Building CXX object src/%s.o\nFAILED: src/%s.o\n%s:%d:%d: error: '%s' was not declared in this scope (did you forget to include '%s'?)\nninja: build stopped: subcommand failed.", p.between(1, targets-1), targets, unit, unit, header, p.between(10, 300), p.between(3, 40), symbol, name), 1).after(p.runAgain()),
				h.replace(header, "// "+line, line).after(thought{"It is needed.", "Let me put " + include + " back."}))
			continue
		}
		entries = append(entries, h.shell(build, fmt.Sprintf("[%d/%d] Linking CXX executable bin/server", targets, targets), 0).after(p.runAgain()))
	}
	return entries, 0
}
