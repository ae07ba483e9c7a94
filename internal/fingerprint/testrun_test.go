package fingerprint

import (
	"strings"
	"testing"
)

func TestRunsTests(t *testing.T) {
	for says, commands := range map[string][]string{
		"a runner by its name": {
			"pytest", "pytest tests/test_cart.py::test_total -x", "/opt/venv/bin/pytest -q", "py.test", "jest --ci", "vitest run",
			"rspec spec/cart_spec.rb:12", "./vendor/bin/phpunit --filter Cart", "ctest --output-on-failure", "ctest -V", "tox -e py312",
			"node_modules/.bin/mocha", "gotestsum ./...", "pytest.exe tests",
		},
		"a program that is told to test": {
			"go test ./...", "go -C api test -run TestTotal", "cargo test", "cargo +nightly test --lib", "cargo t", "cargo nextest run",
			"dotnet test", "mix test", "swift test", "deno test -A", "rake test", "bin/rails test", "php artisan test", "sbt test",
			"npx playwright test", "python manage.py test shop", "./manage.py test", "python setup.py test", "python -m django test",
		},
		"npm and its like": {
			"npm test", "npm t", "npm run test", "npm run test:unit -- --watch=false", "npm --prefix web test", "npm run -s test", "npm -s test",
			"yarn test", "yarn workspace shop test", "yarn jest", "pnpm -r test", "pnpm --filter shop test", "pnpm exec vitest run", "bun test",
			"npx jest", "npx --yes vitest run",
		},
		"python's modules": {
			"python -m pytest", "python3 -m unittest discover", "python3 -bb -m pytest --setup-show", "python -W ignore -m pytest",
			"coverage run -m pytest", "python -m coverage run -m unittest", "py -m pytest", "/usr/bin/python3.exe -m pytest",
		},
		"tasks": {
			"make test", "make -j4 test", "make -C api check", "make test-unit", "just test", "mvn test", "mvn -q -Dtest=CartTest test",
			"./mvnw verify", "mvn -pl shop surefire:test", "./gradlew test --tests CartTest", "gradle :app:testDebugUnitTest", "gradle check",
		},
		"scripts": {
			"./tests/runtests.py admin_utils", "python3 tests/runtests.py queries", "python -Wd tests/runtests.py", "./run_tests.sh",
			"bash run-tests.sh fast", "sh ./test.sh", "bin/test sympy/core", "python3 bin/test sympy/core", "node --test",
		},
		"after other words": {
			"sudo -u app pytest", "CI=1 TZ=UTC pytest", "env -i PATH=/bin go test", "time go test", "time -p pytest", "timeout 60 pytest", "timeout -k 5 60s go test",
			"nice -n 10 cargo test", "poetry run pytest", "uv run --with pytest-cov pytest", "bundle exec rspec", "pipenv run python -m pytest",
			"conda run -n shop pytest", "docker compose exec -T api pytest", "docker run --rm -v .:/src -w /src golang:1.26 go test ./...",
			"kubectl exec -n dev api-0 -- pytest", "find . -name 'test_*.py' | xargs -n 1 pytest",
		},
		"among other commands": {
			"cd api && go test ./...", "npm ci; npm test", "pip install -e . && pytest -q 2>&1 | tail -20", "(cd web; yarn test)",
			"go vet ./...\ngo test ./...", "if ! pytest; then echo bad; fi", "for i in 1 2 3; do go test ./...; done", "out=$(pytest -q)",
			"pytest>out.txt", "echo start && \\\n  pytest \\\n  tests", "cat <<EOF > conftest.py\nimport os\nEOF\npytest", "go test ./... &> log",
			"bash -lc 'cd api && go test ./...'", `sh -c "npm test"`, "# first the tests\npytest", "# don't\npytest # isn't", "cat <<< EOF\npytest",
		},
	} {
		t.Run(says, func(t *testing.T) {
			for _, command := range commands {
				if !RunsTests([]byte(command)) {
					t.Errorf("%q does not run tests", command)
				}
			}
		})
	}
}

func TestOtherCommandsRunNoTests(t *testing.T) {
	for says, commands := range map[string][]string{
		"a runner is only spoken of": {
			"pip install pytest", "which pytest", "grep -rn pytest .", "cat tox.ini", "git restore setup.py tox.ini", "ls tests/runtests.py",
			"find . -name runtests.py", "man jest", "npm install --save-dev jest", "docker build -t pytest .", "vim test.sh", "rm -rf .pytest_cache",
		},
		"a text is no command": {
			`git commit -m "pytest; go test passes"`, "echo 'run: go test ./...'", `echo "first; pytest"`, "cat <<EOF > ci.sh\npytest\nEOF",
			"cat > ci.sh <<-'END'\n\tgo test ./...\n\tEND\nls", "# pytest", "ls # then pytest", `printf "a\"; pytest; \""`, "tee <pytest", "grep x <<< pytest",
		},
		"no tests are run": {
			"pytest --version", "pytest --collect-only", "jest --help", "mvn package -DskipTests", "mvn -DskipTests verify", "gradle build -x test",
			"mvn test-compile", "gradle testClasses", "cargo build --tests", "go build ./...", "go vet ./...", "npm run build", "npm run latest", "make", "make latest",
			"make -C test", "bash -c 'ls; cat x'", "python -m pip install pytest", "python manage.py migrate", "python reproduce.py", "python -c 'import pytest'",
			"docker exec -it web bash", "node server.js", "poetry run python app.py", "yarn", "npm",
		},
		"test, the shell's own": {"test -f go.mod", "/usr/bin/test -d x", "[ -f test ]", "if test -n \"$X\"; then ls; fi"},
		"nothing at all":        {"", " ", ";", "&&", "'", "\"", "\\", "<<", "<<EOF", "sudo", "env X=1", "docker exec", "sh -c", "npm run", "-", "=", "\n\n"},
	} {
		t.Run(says, func(t *testing.T) {
			for _, command := range commands {
				if RunsTests([]byte(command)) {
					t.Errorf("%q runs tests", command)
				}
			}
		})
	}
}

func TestRunsTestsAllocatesNothing(t *testing.T) {
	command := []byte(`cd api && CI=1 docker compose exec -T api bash -c "poetry run python -m pytest"`)
	if n := testing.AllocsPerRun(100, func() { RunsTests(command) }); n > 0 || !RunsTests(command) {
		t.Errorf("%v allocations, runs tests: %v", n, RunsTests(command))
	}
}

// FuzzRunsTests looks for commands that make it panic or hang, and holds it to what it says of words: a command that runs
// tests still does after another.
func FuzzRunsTests(f *testing.F) {
	for _, command := range []string{"cd a && go test ./...", "sh -c \"npm t\"", "cat <<'E'\nx\nE\n(pytest)", "docker run -e A=1 i -- mvn test", "a \\\n\"b", "'"} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		if RunsTests([]byte(command)) && !RunsTests([]byte("ls\n"+command)) {
			t.Errorf("%q runs tests, but not after ls", command)
		}
	})
}

func BenchmarkRunsTests(b *testing.B) {
	for says, command := range map[string]string{
		"short": "go test ./...",
		"long":  "cat <<'EOF' > run.py\n" + strings.Repeat("print('a line of a script')\n", 100) + "EOF\npython3 run.py",
	} {
		b.Run(says, func(b *testing.B) {
			b.SetBytes(int64(len(command)))
			b.ReportAllocs()
			bytes := []byte(command)
			for b.Loop() {
				RunsTests(bytes)
			}
		})
	}
}
