package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that repair programs in several languages.

func repairLoops() []kind {
	return []kind{
		{name: "assertion_stays", build: assertionStays},
		{name: "esm_import_refused", build: esmImportRefused},
		{name: "release_not_supported", build: releaseNotSupported},
		{name: "segfault_again", build: segfaultAgain},
		{name: "indentation_broken_again", build: indentationBrokenAgain},
		{name: "edit_ambiguous", build: editAmbiguous},
		{name: "debug_scripts_print_same", build: debugScriptsPrintSame},
		{name: "passing_tests_rerun", build: passingTestsRerun},
	}
}

// commands returns the shell of one of all harnesses.
func (p *generator) commands() func(command, output string, status int) entry {
	if p.IntN(3) == 0 {
		return p.console().run
	}
	return p.harness().shell
}

func capitalized(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// sometimes returns one of the texts as a message of the agent, in three of five cases.
func (p *generator) sometimes(texts ...string) []entry {
	if p.IntN(5) < 2 {
		return nil
	}
	return []entry{say(p.pick(texts...))}
}

// assertionStays edits one function in other ways; one test fails with the same two values. Now and then it reads another part of the code.
func assertionStays(p *generator) (entries []entry, _ int) {
	h, module, name, arg := p.harness(), p.word(), p.word(), p.word()
	file, test := "src/"+module+"/"+name+".py", "tests/test_"+name+".py"
	got, want := fmt.Sprintf("%s-%d", p.word(), p.between(1, 99)), p.word()
	line, passed := p.between(20, 300), p.between(3, 80)
	if p.coin() {
		got, want = fmt.Sprint(p.between(2, 40)), fmt.Sprint(p.between(41, 90))
	}
	bodies := []string{
		"    if not isinstance(%[1]s, str):\n        %[1]s = str(%[1]s)", "    %[1]s = %[1]s.strip()\n    if not %[1]s:\n        return None",
		"    if %[1]s is None:\n        return self.default_%[2]s", "    %[1]s = self._normalize(%[1]s)", "    %[1]s = copy.copy(%[1]s)",
		"    try:\n        %[1]s = self.to_python(%[1]s)\n    except ValueError:\n        pass", "    %[1]s = getattr(self, '%[2]s', %[1]s)",
		"    if self.%[2]s and not %[1]s.%[2]s:\n        %[1]s.%[2]s = self.%[2]s", "    return super().%[2]s(%[1]s)",
	}
	before := fmt.Sprintf("    return self._%s(%s)", name, arg)
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("I see the issue now. The "+arg+" is handled before the "+name+" is set. Let me fix this.", "The test still fails. Let me try a different approach.", "Still the same failure. The problem must be in how `"+arg+"` is passed.", "Hmm, the same assertion. Let me look at it from another angle.")...)
			if p.IntN(4) == 0 {
				at := p.between(10, 400)
				entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' src/%s/%s.py", at, at+12, module, p.word()), p.code(p.between(6, 12)), 0))
			}
		}
		after := fmt.Sprintf(bodies[p.IntN(len(bodies))], arg, module) + "\n" + p.pick("", "    # handle the "+p.word()+" case\n") + fmt.Sprintf("    return self._%s(%s)", name, arg)
		output := fmt.Sprintf("%s                                                                       [100%%]\n=================================== FAILURES ===================================\n____________________________ Test%[2]s.test_%[3]s ____________________________\n\nself = <tests.test_%[3]s.Test%[2]s testMethod=test_%[3]s>\n\n    def test_%[3]s(self):\n        result = %[4]s.%[3]s('%[12]s')\n>       assert result == '%[5]s'\nE       AssertionError: assert '%[6]s' == '%[5]s'\n\n%[7]s:%[8]d: AssertionError\n=========================== short test summary info ============================\nFAILED %[7]s::Test%[2]s::test_%[3]s - AssertionError: assert '%[6]s' == '%[5]s'\n1 failed, %[9]d passed in %[10]d.%02[11]ds", p.pick("F", ".F", "..F."), capitalized(name), name, module, want, got, test, line, passed, p.IntN(4), p.IntN(100), arg)
		command, status := p.pick("python -m pytest "+test+" -q", "python -m pytest "+test+" -x -q", "pytest "+test+" 2>&1 | tail -25", "cd /testbed && python -m pytest "+test+" -k test_"+name), 1
		if strings.HasSuffix(command, "tail -25") {
			status = 0
		}
		entries = append(entries, h.replace(file, before, after), h.shell(command, output, status))
		before = after
	}
	return entries, 2
}

// esmImportRefused changes one configuration after the other; the test runner refuses the same import.
func esmImportRefused(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	pkg := p.pick("nanoid", "uuid", "chalk", "node-fetch", "lodash-es", "p-limit")
	changes := [][3]string{
		{"package.json", `  "version": "1.0.0",`, `  "version": "1.0.0",` + "\n" + `  "type": "module",`},
		{"package.json", `    "test": "jest"`, `    "test": "node --experimental-vm-modules node_modules/jest/bin/jest.js"`},
		{"jest.config.js", "module.exports = {", "module.exports = {\n  transformIgnorePatterns: ['/node_modules/(?!" + pkg + ")/'],"},
		{"jest.config.js", "module.exports = {", "module.exports = {\n  extensionsToTreatAsEsm: ['.ts'],"},
		{"jest.config.js", "module.exports = {", "module.exports = {\n  moduleNameMapper: { '^" + pkg + "$': require.resolve('" + pkg + "') },"},
		{"jest.config.js", "module.exports = {", "module.exports = {\n  preset: 'ts-jest/presets/default-esm',"},
		{"babel.config.js", "presets: []", "presets: [['@babel/preset-env', { targets: { node: 'current' } }]]"},
		{"tsconfig.json", `"module": "commonjs"`, `"module": "esnext"`},
		{".babelrc", "{}", `{ "presets": ["@babel/preset-env"] }`},
	}
	p.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	for round, change := range changes[:p.between(4, 7)] {
		if round > 1 {
			entries = append(entries, p.sometimes("Jest still does not transform "+pkg+". Let me update the configuration.", "Same error. I'll configure "+change[0]+" instead.", "Let me try another approach for the ESM package.")...)
		}
		output := fmt.Sprintf(" FAIL  src/%[1]s.test.ts\n  ● Test suite failed to run\n\n    Jest encountered an unexpected token\n\n    Jest failed to parse a file. This happens e.g. when your code or its dependencies use non-standard JavaScript syntax, or when Jest is not configured to support such syntax.\n\n    Details:\n\n    /app/node_modules/%[2]s/index.js:1\n    ({\"Object.<anonymous>\":function(module,exports,require,__dirname,__filename,jest){import crypto from 'node:crypto'\n                                                                                      ^^^^^^\n\n    SyntaxError: Cannot use import statement outside a module\n\n    > 1 | import * as lib from '%[2]s';\n        | ^\n\n      at Runtime.createScriptFromCode (node_modules/jest-runtime/build/index.js:%[3]d:14)\n      at Object.<anonymous> (src/%[1]s.ts:%[4]d:1)\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\nTime:        %[5]d.%03[6]d s\nRan all test suites matching /%[1]s/i.", name, pkg, 1505, 1+p.IntN(2), p.between(0, 3), p.IntN(1000))
		entries = append(entries,
			h.replace(change[0], change[1], change[2]),
			h.shell(p.pick("npx jest "+name, "npm test -- "+name, "npx jest "+name+" --no-cache", "NODE_OPTIONS=--experimental-vm-modules npx jest "+name, "npx jest --clearCache && npx jest "+name), output, 1))
	}
	return entries, 2
}

// releaseNotSupported builds with other settings and other homes; the one compiler of the machine is too old.
func releaseNotSupported(p *generator) (entries []entry, _ int) {
	run, artifact := p.commands(), p.word()+"-"+p.word()
	release := p.pick("17", "21")
	commands := p.shuffled(
		"mvn -q compile", "mvn clean package -DskipTests", "mvn -Dmaven.compiler.release="+release+" compile", "export JAVA_HOME=/usr/lib/jvm/java-"+release+"-openjdk-amd64 && mvn compile",
		"sed -i 's/<release>.*<\\/release>/<source>"+release+"<\\/source>/' pom.xml && mvn compile", "JAVA_HOME=$(dirname $(dirname $(readlink -f $(which javac)))) mvn compile",
		"mvn -Dmaven.compiler.source="+release+" -Dmaven.compiler.target="+release+" clean compile", "mvn compile -U", "./mvnw clean install -DskipTests", "rm -rf target ~/.m2/repository/org/apache/maven/plugins && mvn compile")
	for round, command := range commands[:p.between(5, 9)] {
		if round > 1 {
			entries = append(entries, p.sometimes("Maven still uses the wrong JDK. Let me set it explicitly.", "The compiler plugin ignores the setting. Let me pass it on the command line.", "Let me try building it differently.")...)
		}
		output := fmt.Sprintf("[INFO] Scanning for projects...\n[INFO] Building %[1]s 1.0-SNAPSHOT\n[INFO] --- compiler:3.11.0:compile (default-compile) @ %[1]s ---\n[INFO] Changes detected - recompiling the module! :source\n[INFO] BUILD FAILURE\n[INFO] Total time:  %[2]d.%03[3]d s\n[INFO] Finished at: %[4]s\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project %[1]s: Fatal error compiling: error: %[5]s -> [Help 1]", artifact, p.between(1, 9), p.IntN(1000), p.clock(), p.pick("release version "+release+" not supported", "release version "+release+" not supported", "invalid target release: "+release))
		entries = append(entries, run(command, output, 1))
	}
	return entries, 1
}

// segfaultAgain changes a program in C, which compiles and crashes. Now and then a debugger shows the same place.
func segfaultAgain(p *generator) (entries []entry, _ int) {
	h, name, field := p.harness(), p.word(), p.word()
	file, function := name+".c", "parse_"+p.word()
	fixes := []string{
		"    if (!%[1]s) return NULL;", "    char *%[1]s = calloc(1, len + 1);", "    memset(&%[1]s, 0, sizeof(%[1]s));", "    %[1]s = realloc(%[1]s, cap * sizeof(*%[1]s));",
		"    strncpy(%[1]s->%[2]s, src, sizeof(%[1]s->%[2]s) - 1);", "    size_t n = %[1]s ? %[1]s->len : 0;", "    while (%[1]s && %[1]s->next) %[1]s = %[1]s->next;", "    assert(%[1]s != NULL);",
	}
	before := fmt.Sprintf("    %s->%s = src;", name, field)
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("Still a segmentation fault. I think the buffer is too small.", "The pointer must be uninitialized. Let me fix the allocation.", "Let me add a NULL check here.")...)
			if p.IntN(3) == 0 {
				entries = append(entries, h.shell("gdb -batch -ex run -ex bt --args ./"+name+" input.txt 2>&1 | tail -5", fmt.Sprintf("Program received signal SIGSEGV, Segmentation fault.\n0x00005555555%05x in %s (s=0x0) at %s:%d\n#0  0x00005555555%05x in %s (s=0x0) at %s:%d\n#1  0x0000555555555%03x in main (argc=2, argv=0x7fffffff%04x) at %s:%d", p.IntN(1<<20), function, file, p.between(40, 60), p.IntN(1<<20), function, file, p.between(40, 60), p.IntN(1<<12), p.IntN(1<<16), file, p.between(90, 99)), 0))
			}
		}
		after := fmt.Sprintf(fixes[p.IntN(len(fixes))], name, field) + fmt.Sprintf("\n    %s->%s = src;", name, field)
		entries = append(entries,
			h.replace(file, before, after),
			h.shell(p.pick("gcc -g -O0 -o "+name+" "+file+" && ./"+name+" input.txt", "make && ./"+name+" < input.txt", "gcc -Wall -o "+name+" "+file+" -lm && timeout 10 ./"+name+" input.txt"), p.pick("Segmentation fault (core dumped)", "bash: line 1: "+fmt.Sprint(p.between(200, 9000))+" Segmentation fault      (core dumped) ./"+name+" input.txt"), 139))
		before = after
	}
	return entries, 2
}

// indentationBrokenAgain inserts lines with sed; the file does not parse, at about the same line.
func indentationBrokenAgain(p *generator) (entries []entry, _ int) {
	run, module, name, at := p.commands(), p.word(), p.word(), p.between(40, 400)
	file := module + "/" + name + ".py"
	complaint := p.pick("IndentationError: unexpected indent", "IndentationError: unindent does not match any outer indentation level", "IndentationError: expected an indented block after 'if' statement on line "+fmt.Sprint(at-1))
	line := p.pick("return self."+name+"("+module+")", "self."+module+" = "+module, "yield "+module+", "+name)
	for range p.between(5, 9) {
		n, indent := at+p.between(-1, 2), strings.Repeat(" ", p.between(1, 5)*4)
		command := p.pick(
			fmt.Sprintf("sed -i '%ds/^ */%s/' %s", n, indent, file), fmt.Sprintf("sed -i '%di\\%s%s' %s", n, indent, line, file), fmt.Sprintf("sed -i '%dd' %s", n, file),
			fmt.Sprintf("sed -i '%ds/.*/%s%s/' %s", n, indent, line, file), fmt.Sprintf("sed -i '%d,%ds/^/    /' %s", n, n+2, file))
		check := p.pick("python -m py_compile "+file, "python -c 'import "+module+"."+name+"'", "python -c \"import ast; ast.parse(open('"+file+"').read())\"")
		entries = append(entries, run(command+" && "+check, fmt.Sprintf("  File \"/testbed/%s\", line %d\n    %s\n%s%s", file, n, line, p.pick("", "    ^\n"), complaint), 1))
	}
	return entries, 1
}

// editAmbiguous replaces a text that the file has more than once; another line of context does not make it unique.
func editAmbiguous(p *generator) (entries []entry, _ int) {
	file, a, b, claude := p.path(), p.word(), p.word(), p.coin()
	block := []string{"    if not self." + a + ":", "        return None", "    return self." + a + "." + b + "()"}
	lines := p.between(2, 4)
	for round := range p.between(4, 7) {
		if round > 1 {
			entries = append(entries, p.sometimes("The string is not unique. Let me add more context.", "I need to include the surrounding lines.", "Let me make the match more specific.")...)
		}
		from := p.IntN(2)
		before := strings.Join(block[from:p.between(from+1, 3)], "\n") + p.pick("", "\n", "\n\n")
		after := strings.Replace(before, "self."+a, p.pick("self._"+a, "self.get_"+a+"()", "(self."+a+" or "+b+")"), 1)
		if claude {
			entries = append(entries, failed("Edit", object("file_path", "/app/"+file, "old_string", before, "new_string", after), fmt.Sprintf("<tool_use_error>Found %d matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: %s</tool_use_error>", lines, before)))
			continue
		}
		entries = append(entries, call("str_replace_editor", object("command", "str_replace", "path", "/app/"+file, "old_str", before, "new_str", after), quoted(fmt.Sprintf("No replacement was performed. Multiple occurrences of old_str `%s` in lines %s. Please ensure it is unique", before, []string{"[48, 112]", "[48, 112, 160]", "[48, 112, 160, 203]"}[lines-2]))))
	}
	return entries, 1
}

// debugScriptsPrintSame writes script after script about one question, and each prints the same answer; no source is changed.
func debugScriptsPrintSame(p *generator) (entries []entry, _ int) {
	run, module, class, method := p.commands(), p.word(), capitalized(p.word()), p.word()
	value := p.pick("None", "[]", "<QuerySet []>", "{}", "False", "''")
	for round := range p.between(5, 8) {
		if round > 1 {
			entries = append(entries, p.sometimes("Let me write a more detailed script to understand this.", "Interesting. Let me create another script to debug it further.", "I want to confirm this with a simpler test.")...)
		}
		script := p.pick("debug", "test_"+method, "check", "repro", "verify", "trace", "minimal") + p.pick("", "2", "_v2", "_simple", "_final", "3") + ".py"
		label := p.pick("result:", "Result =", "value:", "got:", "-->", "output:")
		body := p.pick("obj = "+class+"()", "obj = "+class+"("+module+"=True)", "from "+module+".models import "+class+"\nobj = "+class+".create()", "obj = "+class+"(); obj.setup()") + "\nprint('" + label + "', obj." + method + "())"
		entries = append(entries, run("cat > "+script+" << 'EOF'\nfrom "+module+" import "+class+"\n"+body+"\nEOF\npython "+script, label+" "+value, 0))
	}
	return entries, 1
}

// passingTestsRerun runs tests again that pass, to make sure.
func passingTestsRerun(p *generator) (entries []entry, _ int) {
	run, a, b, n := p.commands(), p.word(), p.word(), p.between(8, 60)
	suite := [][]string{
		{"python -m pytest -q", "python -m pytest tests/", "pytest -x", "python -m pytest -v | tail -5", "python -m pytest --tb=short", "pytest tests/ -q 2>&1 | tail -3"},
		{"go test ./...", "go test ./... -count=1", "go test -v ./... | tail -4", "go test ./" + a + "/...", "go vet ./... && go test ./..."},
		{"cargo test", "cargo test --quiet", "cargo test --all", "cargo test 2>&1 | tail -5", "cargo test -- --nocapture | tail -3"},
	}
	stack := p.IntN(len(suite))
	for round := range p.between(5, 8) {
		if round > 0 {
			text := p.pick("All tests pass. Let me run them once more to make sure everything works.", "Great, everything passes! Let me double-check with a final run.", "Perfect. Let me do one last verification.", "The implementation is complete. Let me verify it one more time.", "Let me run the full test suite again to be certain.")
			entries = append(entries, say(text))
		}
		output := []string{
			fmt.Sprintf("%s [100%%]\n%d passed in %d.%02ds", strings.Repeat(".", n), n, p.IntN(3), p.IntN(100)),
			fmt.Sprintf("ok  \texample.com/%s/%s\t%s\nok  \texample.com/%s/%s\t%s", a, a, p.pick("(cached)", fmt.Sprintf("0.%03ds", p.IntN(300))), a, b, p.pick("(cached)", fmt.Sprintf("0.%03ds", p.IntN(300)))),
			fmt.Sprintf("    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.%02ds\n     Running unittests src/lib.rs (target/debug/deps/%s-%016x)\ntest result: ok. %d passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.%02ds", p.IntN(100), a, p.Uint64(), n, p.IntN(100)),
		}[stack]
		entries = append(entries, run(p.pick(suite[stack]...), output, 0))
	}
	return entries, 2
}
