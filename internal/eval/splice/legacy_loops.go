package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents that build, upgrade and port old programs in Node, Python, Java and C++.

func legacyLoops() []kind {
	return []kind{
		{name: "clean_install_fails_alike", build: cleanInstallFailsAlike},
		{name: "patch_reverted_and_reapplied", build: patchRevertedAndReapplied},
		{name: "port_started_over", build: portStartedOver},
		{name: "summaries_of_upgrade_multiply", build: summariesOfUpgradeMultiply},
	}
}

// repeats returns how often a loop goes round: mostly 5 to 12 times, and now and then fewer or more times.
func (p *generator) repeats() int {
	switch p.IntN(8) {
	case 0:
		return p.between(4, 5)
	case 1:
		return p.between(15, 22)
	}
	return p.between(5, 12)
}

// create returns a call that writes a new file.
func (h harness) create(path, text string) entry {
	switch h.form {
	case claudeCode:
		return call("Write", object("file_path", path, "content", text), quoted("File created successfully at: "+path))
	case codex:
		patch := "*** Begin Patch\n*** Add File: " + path + "\n+" + strings.ReplaceAll(text, "\n", "\n+") + "\n*** End Patch"
		return call("apply_patch", object("input", patch), quoted("Success. Updated the following files:\nA "+path))
	case gemini:
		return call("write_file", object("file_path", path, "content", text), quoted("Successfully created and wrote to new file: "+path+"."))
	}
	return call("str_replace_editor", object("command", "create", "path", path, "file_text", text), quoted("File created successfully at: "+path))
}

// oldBuild is an installation that fails in the build of one old dependency.
type oldBuild struct {
	commands []string // that wipe and install
	looks    []string // commands that look at the machine, and what they print
	output   func(p *generator) string
}

// oldBuild returns an installation of one ecosystem.
func (p *generator) oldBuild() oldBuild {
	column, line, units := p.between(5, 40), p.between(60, 1700), p.distinctWords(14)
	switch p.IntN(4) {
	case 0:
		name, node := p.pick("node-sass", "fibers", "sharp", "deasync", "bcrypt"), p.pick("18.19.0", "20.11.1", "22.4.0")
		return oldBuild{
			[]string{"rm -rf node_modules package-lock.json && npm install", "npm cache clean --force && npm install", "npm install --legacy-peer-deps", "rm -rf node_modules && npm ci", "rm -rf node_modules && npm install --force", "npm rebuild " + name, "npm install " + name + " --build-from-source", "rm -rf node_modules ~/.npm/_cacache && npm install --no-audit"},
			[]string{"node --version", "v" + node, "ls node_modules | wc -l", "0", "npm config get python", "undefined"},
			func(p *generator) string {
				text := ""
				for _, old := range p.shuffled("inflight@1.0.6", "rimraf@2.7.1", "har-validator@5.1.5", "request@2.88.2", "gulp-util@3.0.8")[:p.between(1, 5)] {
					text += "npm warn deprecated " + old + ": This module is no longer supported\n"
				}
				return text + fmt.Sprintf("npm error code 1\nnpm error path /workspace/node_modules/%[1]s\nnpm error command failed\nnpm error command sh -c node-gyp rebuild\nnpm error gyp info using node-gyp@9.4.1\nnpm error gyp info using node@%[2]s | linux | x64\nnpm error gyp info find Python using Python version 3.11.2 found at \"/usr/bin/python3\"\nnpm error gyp info spawn make\nnpm error make: Entering directory '/workspace/node_modules/%[1]s/build'\nnpm error   CXX(target) Release/obj.target/binding/src/binding.o\nnpm error ../src/binding.cc:%[3]d:%[4]d: error: 'class v8::Isolate' has no member named 'IdleNotification'\nnpm error make: *** [binding.target.mk:131: Release/obj.target/binding/src/binding.o] Error 1\nnpm error gyp ERR! build error\nnpm error gyp ERR! stack Error: `make` failed with exit code: 2\nnpm error gyp ERR! not ok\nnpm error A complete log of this run can be found in: /srv/app/.npm/_logs/%[5]s-debug-0.log", name, node, line, column, strings.ReplaceAll(p.clock(), ":", "_"))
			},
		}
	case 1:
		name := p.pick("psycopg2", "python-ldap", "mysqlclient", "pycurl", "lxml")
		missing := map[string]string{"psycopg2": "Error: pg_config executable not found.", "python-ldap": "Modules/common.h:15:10: fatal error: lber.h: No such file or directory", "mysqlclient": "Exception: Can not find valid pkg-config name.", "pycurl": "ConfigurationError: Could not run curl-config: [Errno 2] No such file or directory: 'curl-config'", "lxml": "Error: Please make sure the libxml2 and libxslt development packages are installed."}[name]
		return oldBuild{
			[]string{"rm -rf .venv && python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", "pip cache purge && pip install -r requirements.txt", "pip install --no-cache-dir -r requirements.txt", "pip install --force-reinstall -r requirements.txt", "pip install --upgrade pip setuptools wheel && pip install -r requirements.txt", "rm -rf venv && virtualenv venv && venv/bin/pip install -r requirements.txt", "pip install --no-build-isolation -r requirements.txt", "pip install " + name},
			[]string{"python3 --version", "Python 3.11.2", "pip --version", "pip 24.0 from /usr/lib/python3/dist-packages/pip (python 3.11)", "which gcc", "/usr/bin/gcc"},
			func(p *generator) string {
				text := ""
				for _, other := range p.shuffled("Django==2.2.28", "celery==4.4.7", "kombu==4.6.11", "six==1.16.0", "requests==2.25.1")[:p.between(1, 5)] {
					text += "Collecting " + other + "\n  Using cached " + strings.ReplaceAll(other, "==", "-") + fmt.Sprintf("-py3-none-any.whl (%d kB)\n", 7*len(other)*len(other)%900)
				}
				return text + fmt.Sprintf("Collecting %[1]s\n  Using cached %[1]s-2.8.6.tar.gz (383 kB)\n  Preparing metadata (setup.py): started\n  Preparing metadata (setup.py): finished with status 'error'\n  error: subprocess-exited-with-error\n\n  × python setup.py egg_info did not run successfully.\n  │ exit code: 1\n  ╰─> [%[2]d lines of output]\n      running egg_info\n      writing /tmp/pip-pip-egg-info-%08[3]x/%[1]s.egg-info/PKG-INFO\n      %[4]s\n      [end of output]\n\n  note: This error originates from a subprocess, and is likely not a problem with pip.\nerror: metadata-generation-failed", name, line%40+9, p.Uint32(), missing)
			},
		}
	case 2:
		group, name := "com."+p.word(), p.word()+"-"+p.pick("core", "legacy", "commons")
		return oldBuild{
			[]string{"mvn clean install -DskipTests", "mvn -U clean install", "rm -rf ~/.m2/repository/" + strings.ReplaceAll(group, ".", "/") + " && mvn clean package", "mvn dependency:purge-local-repository && mvn package", "rm -rf target && mvn -q package -DskipTests", "rm -rf ~/.m2/repository && mvn clean install", "mvn -U -e clean package -Dmaven.test.skip=true"},
			[]string{"mvn -v | head -1", "Apache Maven 3.8.7", "java -version 2>&1 | head -1", "openjdk version \"17.0.10\" 2024-01-16", "ls target || true", "ls: cannot access 'target': No such file or directory"},
			func(p *generator) string {
				text := "[INFO] Scanning for projects...\n"
				for k, unit := range p.shuffled(append([]string(nil), units...)...)[:p.between(1, 12)] {
					text += fmt.Sprintf("[INFO] Downloading from central: https://repo.maven.apache.org/maven2/org/%[1]s/%[1]s-core/%[2]d.%[3]d/%[1]s-core-%[2]d.%[3]d.jar\n", unit, len(unit)%5, line%20+k%2)
				}
				return text + fmt.Sprintf("[INFO] BUILD FAILURE\n[INFO] Total time:  %d.%03d s\n[INFO] Finished at: %s\n[ERROR] Failed to execute goal on project %s: Could not resolve dependencies for project %s:%s:jar:2.1-SNAPSHOT: Could not find artifact com.sun:tools:jar:1.8.0 at specified path /usr/lib/jvm/java-17-openjdk-amd64/../lib/tools.jar -> [Help 1]", p.between(2, 90), p.IntN(1000), p.clock(), name, group, name)
			},
		}
	}
	library := p.word()
	return oldBuild{
		[]string{"rm -rf build && cmake -B build && cmake --build build", "rm -rf build && mkdir build && cd build && cmake .. && make -j4", "rm -rf build CMakeCache.txt && cmake -B build -G Ninja && ninja -C build", "rm -rf build && cmake -B build -DCMAKE_CXX_COMPILER=g++ && cmake --build build -j4", "cmake --build build --clean-first", "git clean -xfd && cmake -B build && cmake --build build", "rm -rf build && cmake -B build -DCMAKE_BUILD_TYPE=Release && make -C build"},
		[]string{"g++ --version | head -1", "g++ (Debian 12.2.0-14) 12.2.0", "cmake --version | head -1", "cmake version 3.25.1", "ls build/bin || true", "ls: cannot access 'build/bin': No such file or directory"},
		func(p *generator) string {
			text := fmt.Sprintf("-- Configuring done (%d.%ds)\n-- Generating done (0.%ds)\n", p.IntN(9), p.IntN(10), p.IntN(10))
			at := p.between(1, 20)
			for _, unit := range p.shuffled(append([]string(nil), units...)...)[:p.between(2, 14)] {
				text += fmt.Sprintf("[%3d%%] Building CXX object src/CMakeFiles/%s.dir/%s.cc.o\n", at, library, unit)
				at += p.between(0, 3)
			}
			return text + fmt.Sprintf("/src/third_party/%[1]s/handle.h:%[2]d:%[3]d: error: 'binary_function' in namespace 'std' does not name a template type\n  %[2]d | struct by_name : public std::binary_function<T, T, bool> {\n      |                              ^~~~~~~~~~~~~~~\ngmake[2]: *** [src/CMakeFiles/%[1]s.dir/build.make:%[4]d: src/CMakeFiles/%[1]s.dir/handle.cc.o] Error 1\ngmake[1]: *** [CMakeFiles/Makefile2:%[5]d: src/CMakeFiles/%[1]s.dir/all] Error 2\ngmake: *** [Makefile:136: all] Error 2", library, line, column, p.between(70, 300), p.between(100, 900))
		},
	}
}

// cleanInstallFailsAlike wipes everything and installs anew in other ways; one old dependency fails to build in the same way.
func cleanInstallFailsAlike(p *generator) (entries []entry, _ int) {
	run, b := p.commands(), p.oldBuild()
	w := wording{
		[]string{"Let me set up the project.", "First the project has to build."},
		[]string{"It failed again.", "The build of the dependency failed.", "Same failure.", "Perhaps something stale is left.", ""},
		[]string{"Let me wipe everything and start anew.", "I'll start from a clean state.", "Let me clear the cache and retry.", "Let me try it from scratch with other flags.", "A clean start should fix that."},
	}
	look := 0
	for k := range p.repeats() {
		if k > 1 && look < len(b.looks) && p.IntN(4) == 0 {
			looked := run(b.looks[look], b.looks[look+1], 0)
			look += 2
			entries = append(entries, looked.after(thought{"", p.pick("Let me check the environment.", "Which version is this?", "Let me see what is there.")}))
		}
		entries = append(entries, run(p.pick(b.commands...), b.output(p), 1).after(w.of(p, k)))
	}
	return entries, 1
}

// oldDefect is a test of an old program that fails, and the file that a patch is applied to.
type oldDefect struct{ file, test, failure string }

func (p *generator) oldDefect() oldDefect {
	name, unit, field := p.word(), p.word(), p.word()
	switch p.IntN(3) {
	case 0:
		file := unit + "/backends/" + name + ".py"
		frames := ""
		for range p.between(1, 9) {
			frames += fmt.Sprintf("  File \"/testbed/%s/%s.py\", line %d, in %s\n    return self.%s(%s)\n", unit, p.word(), p.between(20, 900), p.word(), p.word(), p.word())
		}
		return oldDefect{file, "python -m pytest tests/test_" + name + ".py -q", "E" + strings.Repeat(".", p.between(3, 40)) + "\nTraceback (most recent call last):\n" + frames + p.pick("TypeError: '>=' not supported between instances of 'str' and 'datetime.datetime'", "OperationalError: user-defined function raised exception", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 17: invalid continuation byte", "RuntimeError: dictionary changed size during iteration") + fmt.Sprintf("\n1 failed, %d passed in %%d.%%02ds", p.between(9, 300))}
	case 1:
		file := "src/main/java/com/" + unit + "/" + capitalized(name) + "Dao.java"
		frames := ""
		for range p.between(2, 14) {
			frames += fmt.Sprintf("\tat com.%s.%s.%s(%s.java:%d)\n", unit, capitalized(p.word()), p.word(), capitalized(p.word()), p.between(20, 900))
		}
		return oldDefect{file, "mvn -q test -Dtest=" + capitalized(name) + "DaoTest", "[ERROR] Tests run: 14, Failures: 0, Errors: 1\njava.lang." + p.pick("IllegalStateException: Session is closed", "ClassCastException: class java.math.BigInteger cannot be cast to class java.lang.Long", "NoSuchMethodError: 'void javax.servlet.ServletContext."+field+"()'") + "\n" + frames + "[INFO] BUILD FAILURE\n[INFO] Total time:  %d.%02d s"}
	}
	return oldDefect{"src/" + unit + "/" + name + ".cpp", "make -s check TESTS=" + name + "_test", "FAIL: " + name + "_test\n" + name + "_test.cpp:" + fmt.Sprint(p.between(20, 400)) + ": " + p.pick("terminate called after throwing an instance of 'std::bad_weak_ptr'", "double free or corruption (fasttop)", "Assertion `refs > 0' failed.") + "\n# TOTAL: 1\n# FAIL:  1\n(%d.%02d s)"}
}

// patchRevertedAndReapplied takes its patch back, applies the same patch again and runs the test, which fails as before.
func patchRevertedAndReapplied(p *generator) (entries []entry, _ int) {
	h, d := p.harness(), p.oldDefect()
	script := p.pick("apply_fix.py", "patch_it.py", "fix.py")
	before, after := p.code(p.between(1, 3)), p.code(p.between(2, 6))
	if strings.HasSuffix(d.file, ".py") {
		before, after = strings.Join(p.python(p.between(1, 3)), "\n"), strings.Join(p.python(p.between(2, 6)), "\n")
	}
	wrote := "cat <<'EOF' > " + script + "\npath = '" + d.file + "'\ntext = open(path).read()\ntext = text.replace('''" + before + "''', '''" + after + "''')\nopen(path, 'w').write(text)\nEOF\npython3 " + script
	applies := []string{"python3 " + script, wrote, "python3 " + script + " && git diff --stat"}
	changed := " " + d.file + fmt.Sprintf(" | %d +++++--\n 1 file changed, %d insertions(+), %d deletions(-)", p.between(4, 9), p.between(3, 6), p.between(1, 3))
	w := wording{
		nil,
		[]string{"It still fails with the same exception.", "This is very strange. The code looks correct.", "I am running out of ideas why it fails.", "The patch is right, so it must be something else.", "Same error as before."},
		[]string{"Let me revert and apply the fix cleanly.", "I'll start from a clean file.", "Let me undo it and verify each step.", "I'll go back and re-apply it.", "Perhaps the patch was not applied properly. Revert first."},
	}
	apply := func(k int) entry {
		command, output := wrote, ""
		if k > 0 {
			command = p.pick(applies...)
		}
		if strings.Contains(command, "--stat") {
			output = changed
		}
		again := p.pick("Apply the fix.", "Now the patch.", "Re-apply the change with the script.", "Now apply it again.")
		return h.shell(command, output, 0).after(thought{"", [2]string{"I'll apply the fix with a script.", again}[min(k, 1)]})
	}
	test := func() entry {
		return h.shell(d.test, fmt.Sprintf(d.failure, p.IntN(20), p.IntN(100)), 1).after(p.runAgain())
	}
	entries = append(entries, apply(0), test())
	for k := range p.pickInt(3, 4, 4, 5, 6, 7, 8) {
		undo := p.pick("git checkout "+d.file, "git checkout -- "+d.file, "git restore "+d.file)
		entries = append(entries, h.shell(undo, p.pick("Updated 1 path from the index", "Updated 1 path from the index", ""), 0).after(w.of(p, k+1)))
		if k > 0 && p.IntN(3) == 0 {
			from := p.between(100, 900)
			entries = append(entries, h.shell(fmt.Sprintf("sed -n '%d,%dp' %s", from, from+p.between(3, 9), d.file), before, 0).after(thought{"", p.pick("Is the file clean?", "Let me look at the lines.")}))
		}
		entries = append(entries, apply(k+1), test())
	}
	return entries, 3
}

// portStartedOver writes the port of an old program anew under other names, each time without the step that is hard, and no record matches.
func portStartedOver(p *generator) (entries []entry, _ int) {
	h, name, records := p.harness(), p.word(), p.between(200, 9000)
	hard := p.pick("packed decimals", "arithmetic coding", "EBCDIC text", "bit fields", "overpunched signs", "delta encoding")
	of := p.pick("COBOL copybook", "C decoder", "Pascal unit", "Fortran common block")
	ext, command := ".py", "python3 %s sample.dat --compare expected.csv"
	if p.coin() {
		ext, command = ".c", "gcc -O2 -o port %s && ./port sample.dat > out.csv; ./compare out.csv expected.csv"
	}
	excuses := []string{"The %s are complex, so this is a simplified version.", "Placeholder: real %s would go here.", "For now the %s are skipped.", "This demonstrates the structure without the %s.", "TODO: %s. A minimal stand-in is used."}
	w := wording{
		[]string{"Let me port the reader of the " + of + ".", "I'll write the port of " + name + " now."},
		[]string{"None of the records match.", "The output is still not the expected one.", "Since the " + hard + " are complex, the result does not match.", "That did not decode anything.", "The approach was too complicated."},
		[]string{"Let me take a step back and try a more direct approach.", "Let me write a simpler version first.", "I'll create a minimal version and build on it.", "Let me try a different approach.", "Let me start over with a clean implementation."},
	}
	comment := map[string]string{".py": "# ", ".c": "// "}[ext]
	names := p.shuffled("_v2", "_v3", "_simple", "_final", "_minimal", "_new", "_correct", "_clean", "_basic", "_working", "_fixed", "_direct", "2", "3", "_port", "_complete", "_robust", "_alt", "_step", "_test", "_proper", "_master")
	for k := range p.repeats() {
		path := name + names[k] + ext
		text := comment + p.pick("Port of the "+of+" "+name, capitalized(name)+" reader, "+p.pick("new", "simplified", "cleaner", "minimal")+" version", "Reads "+name+" records") + "\n" +
			p.code(p.between(3, 12)) + "\n" + comment + fmt.Sprintf(p.pick(excuses...), hard) + "\n" + p.code(p.between(2, 14))
		output := fmt.Sprintf("records: %d\nmatching: 0 of %d\nfirst difference: record 1, column 1: expected %q, got %q", records, records, "00412.50", p.pick("", "0", "0.00", "\\x00\\x41", "None"))
		entries = append(entries, h.create(path, text).after(w.of(p, k)),
			h.shell(fmt.Sprintf(command, path), output, 1).after(thought{"", p.pick("Let me test it.", "Now compare it with the expected output.", "Let me compile and run it.", "Run it on the sample.")}))
	}
	return entries, 2
}

// summariesOfUpgradeMultiply has finished an upgrade, and writes one document after another that tells the same of it.
func summariesOfUpgradeMultiply(p *generator) (entries []entry, _ int) {
	h := p.harness()
	from, to, _ := strings.Cut(p.pick("Python 2.7:Python 3.11", "Java 8:Java 21", "AngularJS 1.8:Angular 17", "C++98:C++17", "Node 10:Node 20", "Django 1.11:Django 4.2", "Struts 1:Spring Boot 3"), ":")
	files, tests := p.between(9, 90), p.between(40, 900)
	facts := []string{
		fmt.Sprintf("%d files changed", files), fmt.Sprintf("All %d tests pass", tests), "No breaking change of the public interface", "Dependencies are up to date",
		"The build has no warnings", "Migrated from " + from + " to " + to, "Documentation is complete", "Ready for production",
	}
	w := wording{
		[]string{"The upgrade is complete. Let me write a summary."},
		[]string{"The upgrade is complete.", "Everything is done.", "All tasks are finished.", "Perfect!", ""},
		[]string{"Let me create a final summary document.", "Let me add a quick reference.", "I'll write a completion report.", "Let me create one more overview for the team.", "Finally, let me document the result.", "Let me create a checklist that shows what was done."},
	}
	first := p.shuffled("MIGRATION", "UPGRADE", "FINAL", "PROJECT", "COMPLETION", "DELIVERY")
	second := p.shuffled("SUMMARY", "REPORT", "CHECKLIST", "OVERVIEW", "STATUS", "REFERENCE", "INDEX")
	mark, folder := p.pick("✅ ", "- ", "- [x] ", "* **Done:** "), p.pick("", "docs/", "")
	for k := range p.repeats() {
		title := first[k%6] + "_" + second[k%7]
		text := "# " + capitalized(strings.ToLower(strings.ReplaceAll(title, "_", " "))) + "\n\n" + p.pick("The migration from "+from+" to "+to+" is complete.", "## Status: COMPLETE", to+" upgrade finished.", "## Overview") + "\n\n" +
			mark + strings.Join(p.shuffled(facts...)[:p.between(4, 8)], "\n"+mark)
		e := h.create(folder+title+p.pick(".md", ".md", ".md", ".txt"), text)
		if k > 0 && p.IntN(4) == 0 {
			e = h.shell("cat << 'EOF'\n"+strings.Repeat("=", 60)+"\n  "+strings.ReplaceAll(title, "_", " ")+"\n"+strings.Repeat("=", 60)+"\n"+text+"\nEOF", text, 0)
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 1
}
