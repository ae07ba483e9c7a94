package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents in large repositories, with build systems, code generators and caches.

func monorepoLoops() []kind {
	return []kind{
		{name: "target_not_visible", build: targetNotVisible},
		{name: "generated_code_out_of_date", build: generatedCodeOutOfDate},
		{name: "prints_never_show", build: printsNeverShow},
		{name: "override_puzzled_over", build: overridePuzzledOver},
	}
}

// boundary is a rule of a build system on who may depend on whom.
type boundary struct {
	commands []string
	file     func(unit string) string                // where the rules of a unit are
	rule     func(p *generator, other string) string // a line of such a file
	closed   string                                  // the line of a unit that nobody may depend on
	open     func(unit string) string                // the same line, for a unit that may
	refused  func(p *generator, unit, other string) string
	passed   func(p *generator, unit string) string
}

// boundary returns the rules of one build system for a unit.
func (p *generator) boundary(unit string) boundary {
	now := p.passingTime()
	seconds := func() string { return fmt.Sprintf("%d.%03ds", p.IntN(9), p.IntN(1000)) }
	switch p.IntN(3) {
	case 0:
		return boundary{
			[]string{"bazel build //" + unit + ":all", "bazel build //" + unit + "/...", "bazel test //" + unit + ":unit_tests", "bazel build //" + unit + ":lib --keep_going"},
			func(unit string) string { return unit + "/BUILD.bazel" },
			func(p *generator, other string) string {
				return p.pick("    deps = [\"//"+other+":lib\"],", "    runtime_deps = [\"//"+other+"\"],", "    deps = [\n        \"//"+other+":"+p.word()+"\",\n    ],", "    visibility = [\"//visibility:public\"],", "    exports = [\"//"+other+":lib\"],")
			},
			"    visibility = [\"//visibility:private\"],",
			func(unit string) string { return "    visibility = [\"//" + unit + ":__subpackages__\"]," },
			func(p *generator, unit, other string) string {
				return fmt.Sprintf("INFO: Analyzed target //%s:lib (%d packages loaded, %d targets configured).\nERROR: /src/%s/BUILD.bazel:%d:11: in java_library rule //%s:lib: Visibility error:\ntarget '//%s:lib' is not visible from\ntarget '//%s:lib'\nRecommendation: modify the visibility declaration if you think the dependency is legitimate.\nERROR: Build did NOT complete successfully\nINFO: Elapsed time: %s", unit, p.IntN(9), p.between(10, 900), unit, p.between(4, 60), unit, other, unit, seconds())
			},
			func(p *generator, unit string) string {
				return fmt.Sprintf("INFO: Found %d targets...\nINFO: Elapsed time: %s, Critical Path: %s\nINFO: Build completed successfully, %d total actions", p.between(2, 40), seconds(), seconds(), p.between(20, 900))
			},
		}
	case 1:
		return boundary{
			[]string{"pants check " + unit + "::", "pants lint " + unit + "::", "pants test " + unit + ":tests", "pants --no-pantsd check " + unit + "::"},
			func(unit string) string { return unit + "/BUILD" },
			func(p *generator, other string) string {
				return p.pick("python_sources(dependencies=[\""+other+":lib\"])", "__dependencies_rules__((\"*\", \""+other+"/**\", \"*\"))", "python_sources(name=\"lib\", dependencies=[\"//"+other+"\"])", "python_sources(dependencies=[\"//"+other+":lib\", \"//"+p.word()+"\"])")
			},
			"__dependents_rules__((\"*\", \"!*\"))",
			func(unit string) string { return "__dependents_rules__((\"*\", \"" + unit + "/**\", \"!*\"))" },
			func(p *generator, unit, other string) string {
				return fmt.Sprintf("%s.%02d [ERROR] DependencyRuleActionDeniedError: %s/__init__.py has 1 dependency violation:\n\n  * __dependents_rules__[!*] : %s/BUILD:1 -> %s : DENY\n    python_sources %s:lib -> python_sources %s:lib", now()[11:19], p.IntN(100), unit, other, other, unit, other)
			},
			func(p *generator, unit string) string {
				return fmt.Sprintf("%s.%02d [INFO] Completed: Typecheck using MyPy - mypy succeeded.\nSuccess: no issues found in %d source files", now()[11:19], p.IntN(100), p.between(3, 90))
			},
		}
	}
	return boundary{
		[]string{"npx nx lint " + strings.ReplaceAll(unit, "/", "-"), "npx nx run-many -t lint -p " + strings.ReplaceAll(unit, "/", "-"), "npx nx lint " + strings.ReplaceAll(unit, "/", "-") + " --skip-nx-cache", "npx eslint libs/" + unit},
		func(unit string) string { return "libs/" + unit + "/project.json" },
		func(p *generator, other string) string {
			return p.pick("  \"tags\": [\"type:feature\"],", "  \"implicitDependencies\": [\""+strings.ReplaceAll(other, "/", "-")+"\"],", "  \"tags\": [\"scope:"+p.word()+"\", \"type:util\"],", "  \"sourceRoot\": \"libs/"+other+"/src\",")
		},
		"  \"tags\": [\"scope:private\"],",
		func(unit string) string {
			return "  \"tags\": [\"scope:shared\", \"scope:" + strings.Split(unit, "/")[0] + "\"],"
		},
		func(p *generator, unit, other string) string {
			return fmt.Sprintf("> nx run %s:lint\n\n/src/libs/%s/src/index.ts\n  %d:1  error  A project tagged with \"scope:%s\" can not depend on libs tagged with \"scope:%s\"  @nx/enforce-module-boundaries\n\n1 problem (1 error, 0 warnings)\n\nNX   Ran target lint for project (%s)", strings.ReplaceAll(unit, "/", "-"), unit, p.between(1, 30), strings.Split(unit, "/")[0], strings.ReplaceAll(other, "/", "-"), seconds())
		},
		func(p *generator, unit string) string {
			return fmt.Sprintf("> nx run %s:lint\n\nAll files pass linting.\n\nNX   Successfully ran target lint for project (%s)", strings.ReplaceAll(unit, "/", "-"), seconds())
		},
	}
}

// targetNotVisible changes the rules of the unit that depends, and the unit that it depends on refuses it all the same.
func targetNotVisible(p *generator) (entries []entry, _ int) {
	h, unit, other := p.harness(), p.word()+"/"+p.word(), p.word()+"/"+p.word()
	b := p.boundary(unit)
	w := wording{
		[]string{"Let me declare the dependency on `" + other + "`.", "The build file of `" + unit + "` needs the new dependency."},
		[]string{"The dependency is still rejected.", "Not visible.", "Same boundary error.", "The build system does not accept it like this.", ""},
		[]string{"Let me adjust the build file.", "I'll declare it differently in `" + unit + "`.", "Perhaps the attribute has another name.", "Let me fix the declaration.", "Let me change the rule and build once more."},
	}
	before := b.rule(p, other)
	for k := range p.between(5, 8) {
		after := b.rule(p, other)
		for after == before {
			after = b.rule(p, other)
		}
		entries = append(entries, h.replace(b.file(unit), before, after).after(w.of(p, k)),
			h.shell(p.pick(b.commands...), b.refused(p, unit, other), 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// generatedCodeOutOfDate generates code by the generator that is installed, and the check wants the code of another version.
func generatedCodeOutOfDate(p *generator) (entries []entry, _ int) {
	h, name, minor := p.harness(), p.word(), p.between(20, 40)
	g := []struct{ write, check, file, line, also string }{
		{"make generate", "make verify", "gen/" + name + "/v1/" + name + ".pb.go", "// \tprotoc-gen-go v1.%d.0", "rm -rf gen && make generate"},
		{"pnpm codegen", "pnpm codegen --check", "packages/" + name + "/src/generated/graphql.ts", "/* generated by codegen 5.%d.0, do not edit */", "rm -rf node_modules/.cache && pnpm codegen"},
		{"./gradlew openApiGenerate", "./gradlew checkGenerated", name + "-client/.openapi-generator/VERSION", "7.%d.0", "./gradlew clean openApiGenerate --rerun-tasks"},
		{"cargo xtask codegen", "cargo xtask codegen --verify", "crates/" + name + "/src/bindings.rs", "/* automatically generated by rust-bindgen 0.%d.0 */", "cargo clean -p " + name + " && cargo xtask codegen"},
	}[p.IntN(4)]
	w := wording{
		[]string{"The check wants the generated code to be current, so I generate it.", "Let me regenerate the code."},
		[]string{"The check still reports a difference.", "It is out of date again.", "There is still a diff after generating.", ""},
		[]string{"Let me regenerate it.", "I'll generate everything from scratch.", "Perhaps the last run did not write the file. Once more.", "Regenerating and checking again."},
	}
	diff := fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -1,4 +1,4 @@\n-"+g.line+"\n+"+g.line, g.file, g.file, minor, minor+p.between(1, 4))
	files := p.between(12, 400)
	for k := range p.between(5, 9) {
		wrote := fmt.Sprintf("generated %d files in %d.%ds", files, p.between(1, 9), p.IntN(10))
		entries = append(entries, h.shell(p.pick(g.write, g.write, g.also, g.write+" && git add -A"), wrote, 0).after(w.of(p, k)),
			h.shell(g.check, diff+"\n"+p.pick("error: generated code is out of date, run the generator and commit the result", "Generated files differ from the committed ones. Please regenerate.")+fmt.Sprintf("\n(checked in %d ms)", p.between(200, 9000)), 1).after(p.runAgain()))
	}
	return entries, 2
}

// suite is a test that fails, in one language.
type suite struct {
	command, file string
	output        func(extra string) string // extra is what the code under test printed
	lines         []string                  // print a name and a value
	log           string                    // writes them into a file
}

// suite returns a failing test of a unit.
func (p *generator) suite(unit string) suite {
	why, name := "expected "+p.word()+", got "+p.pick("null", p.word(), fmt.Sprint(p.between(2, 99))), strings.ReplaceAll(unit, "/", "-")
	part := func(extra string) string { return strings.TrimPrefix(extra+"\n", "\n") }
	switch p.IntN(4) {
	case 0:
		return suite{"bazel test //" + unit + ":test --test_output=all", unit + "/" + p.word() + ".py", func(extra string) string {
			return fmt.Sprintf("==================== Test output for //%s:test:\n%sFAIL: %s\n//%s:test   FAILED in %d.%ds\nExecuted 1 out of 1 test: 1 fails locally.", unit, part(extra), why, unit, p.between(1, 20), p.IntN(10))
		}, []string{`print("DEBUG %s", %s)`, `print(f"XXX %s {%s!r}", flush=True)`, `sys.stderr.write("here %s %%r" %% %s)`}, `open("/tmp/debug.log", "a").write(f"%s {%s}\n")`}
	case 1:
		return suite{"./gradlew :" + strings.ReplaceAll(unit, "/", ":") + ":test -i", unit + "/src/main/java/" + capitalized(p.word()) + ".java", func(extra string) string {
			return fmt.Sprintf("> Task :%s:test\n%sorg.opentest4j.AssertionFailedError: %s\n31 tests completed, 1 failed\nBUILD FAILED in %ds", strings.ReplaceAll(unit, "/", ":"), part(extra), why, p.between(4, 60))
		}, []string{`System.out.println("DEBUG %s " + %s);`, `System.err.println("here %s=" + %s);`, `log.warn("XXX %s {}", %s);`}, `Files.writeString(Path.of("/tmp/debug.log"), "%s " + %s, APPEND);`}
	case 2:
		return suite{"pnpm --filter " + name + " test", "packages/" + unit + "/src/" + p.word() + ".ts", func(extra string) string {
			return fmt.Sprintf(" RUN  v2.1.4 /src/packages/%s\n%s AssertionError: %s\n Test Files  1 failed | 6 passed (7)\n   Duration  %d.%02ds", unit, part(extra), why, p.between(1, 20), p.IntN(100))
		}, []string{`console.log("DEBUG %s", %s);`, `console.error("here %s", %s);`, `process.stdout.write("XXX %s " + %s);`}, `fs.appendFileSync("/tmp/debug.log", "%s " + %s);`}
	}
	return suite{"ctest --test-dir build -R " + name + " -V", unit + "/" + p.word() + ".cc", func(extra string) string {
		return fmt.Sprintf("Test project /src/build\n%s1: Assertion `%s' failed.\n1/1 Test #1: %s ...***Failed  %d.%02d sec\n0%% tests passed, 1 tests failed out of 1", part(extra), why, name, p.IntN(9), p.IntN(100))
	}, []string{`std::cerr << "DEBUG %s=" << %s << std::endl;`, `printf("here %s %%s\n", %s);`, `LOG(ERROR) << "XXX %s " << %s;`}, `std::ofstream("/tmp/debug.log", std::ios::app) << "%s " << %s;`}
}

// rerun is what an agent says before it runs a test for the sake of its prints.
func (p *generator) rerun() thought {
	return thought{"", p.pick("Run the test again.", "Let me run it and look at the output.", "Now run it.", "Re-running the test.")}
}

// printsNeverShow adds prints to two functions that the test does not run, and no print shows up.
func printsNeverShow(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()+"/"+p.word()
	t, names := p.suite(unit), []string{p.word() + "_" + p.word(), p.word() + "_" + p.word()}
	w := wording{
		[]string{"I'll add a print to see what is passed in.", "Let me print the value where it is computed."},
		[]string{"My output is not there. Maybe this function is never called.", "Still no debug line, this is strange.", "Nothing printed. Perhaps the output is captured.", "The line is in the file, and yet it does not show.", "This is baffling: it must be called."},
		[]string{"Let me print it at the start of the function.", "I'll print it in another way.", "Let me put the print before the return.", "Let me make sure that it is printed.", "Let me add another print."},
	}
	for k := range p.between(5, 8) {
		name, logged := names[p.IntN(2)], k > 0 && p.IntN(3) == 0
		line := p.pick(t.lines...)
		if logged {
			line = t.log
		}
		entries = append(entries, h.replace(t.file, name+"(", fmt.Sprintf(line, name, p.word())+"\n"+name+"(").after(w.of(p, k)),
			h.shell(t.command, t.output(""), 1).after(p.rerun()))
		if logged {
			show := p.pick("cat", "tail")
			entries = append(entries, h.shell(show+" /tmp/debug.log", show+": /tmp/debug.log: No such file or directory", 1))
		}
	}
	return entries, 2
}

// python returns n lines of a method.
func (p *generator) python(n int) []string {
	lines := make([]string, n)
	for k := range lines {
		a, b, c := p.word(), p.word(), p.word()
		lines[k] = "        " + p.pick(a+" = self."+b+"("+c+")", "if "+a+" is None:", "    return "+b+"."+c, "for "+a+" in self._"+b+":", "    "+a+".append("+c+"["+b+"])", "self._"+a+" = "+b+" or "+c, "# keep the "+a+" of the "+b, "raise "+capitalized(a)+"Error("+b+")", "")
	}
	return lines
}

// overridePuzzledOver has read both methods of a name, asks why one of them is called, and reads the same lines again.
func overridePuzzledOver(p *generator) (entries []entry, _ int) {
	h, method, base, derived := p.harness(), p.word()+"_"+p.word(), p.word(), p.word()
	lines := p.python(60)
	lines[7], lines[30] = "class "+capitalized(derived)+"("+capitalized(base)+"):", "    def "+method+"(self, other):"
	path, from := "core/"+base+"/"+derived+".py", p.between(100, 900)
	view := func(low, high int) entry {
		text := ""
		for k := low; k < high; k++ {
			text += fmt.Sprintf("%6d\t%s\n", from+k, lines[k])
		}
		return h.shell(fmt.Sprintf(p.pick("sed -n '%d,%dp' %s", "nl -ba %[3]s | sed -n '%[1]d,%[2]dp'", "awk 'NR>=%d && NR<=%d' %s"), from+low, from+high-1, path), strings.TrimRight(text, "\n"), 0)
	}
	find := func(pattern string, at int) entry {
		return h.shell(p.pick("grep -n ", "rg -n ")+"\""+pattern+"\" "+path, fmt.Sprintf("%d:%s", from+at, lines[at]), 0)
	}
	trace := fmt.Sprintf("Traceback (most recent call last):\n  File \"repro.py\", line 9, in <module>\n    a.%s(b)\n  File \"/src/core/%s/%s.py\", line %d, in %s\nValueError: shapes do not match", method, base, base, p.between(40, 400), method)
	entries = append(entries, h.shell("python repro.py", trace, 1), view(0, 60))
	w := wording{
		[]string{"So `" + derived + "` overrides `" + method + "`. Why is the one of `" + base + "` called?"},
		[]string{"That is what I expected.", "The definition is there.", "The indentation is right.", "It is inside the class.", "I am confused: this must be the one that is called.", ""},
		[]string{"Let me look at the definition of `" + method + "`.", "Is the method really inside the class?", "Let me check the class line.", "Let me see the lines around it.", "Let me see who is called."},
	}
	for k := range p.between(9, 13) {
		low := p.between(20, 29)
		e := []entry{
			view(low, low+p.between(11, 25)), find("def "+method, 30), find("class "+capitalized(derived), 7), view(p.between(2, 7), p.between(10, 18)),
			h.shell("python repro.py", trace, 1),
		}[p.pickInt(0, 0, 0, 1, 1, 2, 3, 4)]
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 2
}
