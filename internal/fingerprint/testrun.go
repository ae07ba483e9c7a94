package fingerprint

import "bytes"

// RunsTests reports whether one of the commands in a shell's command line runs tests. It knows the usual ways to call pytest, unittest,
// go test, cargo test, jest, vitest, npm test, mvn test, gradle test, rspec, phpunit, ctest and similar runners. Quoted texts and
// here-documents do not run. RunsTests takes time proportional to len(command) and allocates nothing up to MaxClassified bytes. Of a
// longer command line it joins the two ends, because a quote or a here-document may begin in the first and end in the second.
func RunsTests(command []byte) bool {
	if head, tail := ends(command); tail != nil {
		command = append(append(make([]byte, 0, MaxClassified), head...), tail...)
	}
	c := commandLine{rest: command}
	for c.next() {
		if callsTests(c.words[:c.n]) {
			return true
		}
	}
	return false
}

// callsTests reports whether a command, given by its words, runs tests.
func callsTests(words [][]byte) bool {
	for n := wrapper(words); n > 0; n = wrapper(words) {
		words = words[n:]
	}
	if len(words) == 0 || hasAny(words[1:], "--version", "--help", "-h", "--collect-only", "--co", "--listTests") {
		return false
	}
	program, args := programOf(words[0]), words[1:]
	switch string(program) {
	case "pytest", "py.test", "jest", "vitest", "mocha", "ava", "rspec", "phpunit", "pest", "ctest", "tox", "nox", "nose2",
		"nosetests", "gotestsum", "ginkgo", "bats", "behave", "cucumber", "stestr", "prove", "cargo-nextest":
		return true
	case "sh", "bash", "zsh", "dash":
		return scriptTests(args)
	case "python", "python2", "python3", "pypy3", "py", "coverage":
		return pythonTests(args)
	case "node", "ruby", "php":
		return hasAny(args, "--test") || len(args) > 0 && callsTests(args)
	case "make", "gmake", "just", "task", "ninja":
		return hasTask(args, "check")
	case "mvn", "mvnw", "gradle", "gradlew":
		return hasTask(args, "check", "verify") &&
			!hasAny(args, "-DskipTests", "-DskipTests=true", "-Dmaven.test.skip", "-Dmaven.test.skip=true")
	}
	return testScript(words[0]) || verbTests(string(program), afterFlags(args, hasValue))
}

// verbTests reports whether a program runs tests whose first argument is a subcommand or a task.
func verbTests(program string, args [][]byte) bool {
	if len(args) == 0 {
		return false
	}
	verb := string(args[0])
	switch program {
	case "go", "deno", "dotnet", "swift", "zig", "mix", "rails", "sbt", "lein", "composer", "artisan", "flutter", "dart", "bazel",
		"manage.py", "playwright":
		return verb == "test"
	case "cargo":
		return verb == "test" || verb == "t" || verb == "nextest"
	case "rake":
		return verb == "test" || verb == "spec"
	case "npm", "yarn", "pnpm", "bun":
		switch verb {
		case "run", "run-script":
			rest := afterFlags(args[1:], hasValue)
			return len(rest) > 0 && testTask(rest[0])
		case "workspace":
			return verbTests(program, args[min(2, len(args)):])
		}
		return verb == "t" || testTask(args[0]) || program != "npm" && callsTests(args) // yarn jest
	}
	return false
}

// pythonTests reports whether Python runs tests with these arguments, which name a module or a script.
func pythonTests(args [][]byte) bool {
	for k, arg := range args {
		switch {
		case string(arg) == "run" || k > 0 && hasAny(args[k-1:k], "-W", "-X"):
			continue // of coverage; a value
		case k > 0 && string(args[k-1]) == "-m":
			switch string(arg) {
			case "pytest", "unittest", "nose", "nose2", "tox", "nox":
				return true
			case "coverage":
				continue
			}
			return string(arg) == "django" && hasAny(args, "test")
		case len(arg) > 0 && arg[0] != '-':
			return testScript(arg) || hasAny([][]byte{programOf(arg)}, "manage.py", "setup.py") && hasAny(args[k:], "test")
		}
	}
	return false
}

// scriptTests reports whether a shell runs tests with these arguments: -c and a command line, or a script.
func scriptTests(args [][]byte) bool {
	for k, arg := range args {
		if len(arg) == 0 || arg[0] != '-' {
			return testScript(arg)
		}
		if arg[len(arg)-1] == 'c' {
			return k+1 < len(args) && RunsTests(args[k+1])
		}
	}
	return false
}

// testScript reports whether the name of a file is that of a script that runs tests, such as runtests.py, run_tests.sh, test.sh or
// bin/test.
func testScript(path []byte) bool {
	name, extension, _ := bytes.Cut(programOf(path), []byte{'.'})
	switch string(name) {
	case "runtests", "runtest", "run_tests", "run-tests", "run_test", "run-test":
		return true
	case "test", "tests":
		return string(extension) == "sh" || string(path) == "bin/test" || string(path) == "./bin/test"
	}
	return false
}

// testTask reports whether the name of a task is that of a test run, such as test, tests, test:unit, unit-test, :app:test or
// integrationTest.
func testTask(task []byte) bool {
	rest, ok := bytes.CutPrefix(task, []byte("test"))
	if ok && (len(rest) == 0 || string(rest) == "s" || bytes.IndexByte([]byte(":-_."), rest[0]) >= 0) {
		return string(rest) != "-compile" // Maven's
	}
	name := task[1+bytes.LastIndexAny(task, ":-"):]
	return string(name) == "test" || string(name) == "tests" || bytes.HasSuffix(name, []byte("Test"))
}

// hasTask reports whether one of the arguments is a task that runs tests or one of the tasks in others.
func hasTask(args [][]byte, others ...string) bool {
	for k, arg := range args {
		if len(arg) == 0 || arg[0] == '-' || k > 0 && hasValue(args[k-1]) {
			continue
		}
		if testTask(arg) || hasAny(args[k:k+1], others...) {
			return true
		}
	}
	return false
}

// hasAny reports whether words and these have a word in common.
func hasAny(words [][]byte, these ...string) bool {
	for _, word := range words {
		for _, this := range these {
			if string(word) == this {
				return true
			}
		}
	}
	return false
}
