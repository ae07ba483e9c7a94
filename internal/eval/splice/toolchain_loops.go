package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of coding agents whose build, linter, container or notebook says the same again.

func toolchainLoops() []kind {
	return []kind{
		{name: "dependency_not_resolved", build: dependencyNotResolved},
		{name: "undefined_reference", build: undefinedReference},
		{name: "formatter_against_linter", build: formatterAgainstLinter},
		{name: "rebase_without_changes", build: rebaseWithoutChanges},
		{name: "container_exits_again", build: containerExitsAgain},
		{name: "selector_immutable", build: selectorImmutable},
		{name: "patch_rejected", build: patchRejected},
		{name: "loss_is_nan", build: lossIsNaN},
		{name: "kernel_dies", build: kernelDies},
		{name: "key_refused", build: keyRefused},
		{name: "round_of_many_checks", build: roundOfManyChecks},
		{name: "spinner_without_progress", build: spinnerWithoutProgress},
	}
}

// dependencyNotResolved edits the build file and builds with other flags; one artifact is found nowhere.
func dependencyNotResolved(p *generator) (entries []entry, _ int) {
	h, group, name := p.harness(), p.word(), p.word()
	for range p.between(4, 8) {
		version := fmt.Sprintf("%d.%d.%d", p.IntN(4), p.IntN(9), p.IntN(9))
		output := fmt.Sprintf("\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileJava'.\n> Could not resolve all files for configuration ':app:compileClasspath'.\n   > Could not find com.%s:%s:%s.\n     Searched in the following locations:\n       - https://repo.maven.apache.org/maven2/com/%s/%s/%s/%s-%s.pom\n     Required by:\n         project :app\n\n* Try:\n> Run with --stacktrace option to get the stack trace.\n\nBUILD FAILED in %ds\n%d actionable task: %d executed",
			group, name, version, group, name, version, name, version, p.between(1, 30), 1, 1)
		command := "./gradlew " + p.pick("build", "assemble", "compileJava", "clean build") + p.pick("", " --refresh-dependencies", " --no-daemon", " --info | tail -30", " --no-build-cache")
		entries = append(entries, h.edit(p.pick("app/build.gradle", "build.gradle", "settings.gradle")), h.shell(command, output, 1))
	}
	return entries, 2
}

// undefinedReference edits the build or a header; the linker misses the same symbol.
func undefinedReference(p *generator) (entries []entry, _ int) {
	h, target, class, method := p.harness(), p.word(), p.word(), p.word()
	for range p.between(4, 7) {
		var output strings.Builder
		for k, unit := range p.words(p.between(2, 6)) {
			fmt.Fprintf(&output, "[%3d%%] Building CXX object CMakeFiles/%s.dir/src/%s.cpp.o\n", 12*k+p.between(5, 12), target, unit)
		}
		fmt.Fprintf(&output, "[100%%] Linking CXX executable %s\n/usr/bin/ld: CMakeFiles/%s.dir/src/main.cpp.o: in function `main':\nmain.cpp:(.text+0x%x): undefined reference to `%s::%s(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)'\ncollect2: error: ld returned 1 exit status\ngmake[2]: *** [CMakeFiles/%s.dir/build.make:%d: %s] Error 1\ngmake: *** [Makefile:136: all] Error 2",
			target, target, p.between(16, 4000), class, method, target, p.between(90, 160), target)
		file := p.pick("CMakeLists.txt", "src/"+class+".h", "src/"+class+".cpp", "src/main.cpp")
		entries = append(entries, h.edit(file), h.shell(p.pick("cmake --build build", "make -C build", "cmake --build build -j4", "rm -rf build && cmake -B build && cmake --build build"), output.String(), 2))
	}
	return entries, 2
}

// formatterAgainstLinter mends for the linter what the formatter undoes.
func formatterAgainstLinter(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), "src/"+p.word()+".ts"
	for range p.between(3, 5) {
		at := fmt.Sprintf("%d:%d", p.between(3, 90), p.between(1, 40))
		entries = append(entries,
			h.shell("npx eslint "+path, fmt.Sprintf("\n/workspace/%s\n  %s  error  Expected indentation of 4 spaces but found 2  indent\n\n✖ %d problems (%d errors, 0 warnings)\n  1 error and 0 warnings potentially fixable with the `--fix` option.", path, at, 1, 1), 1),
			h.shell("npx eslint --fix "+path, "", 0),
			h.shell("npx prettier --check "+path, "Checking formatting...\n[warn] "+path+"\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.", 1),
			h.shell("npx prettier --write "+path, fmt.Sprintf("%s %dms", path, p.between(20, 200)), 0))
	}
	return entries, 4
}

// rebaseWithoutChanges adds the file and continues a rebase that has nothing to continue with.
func rebaseWithoutChanges(p *generator) (entries []entry, _ int) {
	h, path, branch, commit := p.harness(), p.path(), p.word()+"-"+p.word(), fmt.Sprintf("%07x", p.IntN(1<<28))
	for range p.between(3, 6) {
		entries = append(entries,
			h.shell("git add "+p.pick(path, ".", "-A", "-u"), "", 0),
			h.shell(p.pick("git rebase --continue", "GIT_EDITOR=true git rebase --continue", "git -c core.editor=true rebase --continue"), "No changes - did you forget to use 'git add'?\nIf there is nothing left to stage, chances are that something else\nalready introduced the same changes; you might want to skip this patch.", 1),
			h.shell("git status", fmt.Sprintf("interactive rebase in progress; onto %s\nLast command done (1 command done):\n   pick %07x %s\nYou are currently rebasing branch '%s' on '%s'.\n  (all conflicts fixed: run \"git rebase --continue\")\n\nnothing to commit, working tree clean", commit, p.IntN(1<<28), p.pick("wip", "fix"), branch, commit), 0))
	}
	return entries, 3
}

// containerExitsAgain starts a container, sees that it has gone, and reads why; ages, ids and times differ.
func containerExitsAgain(p *generator) (entries []entry, _ int) {
	h, name, missing := p.harness(), p.word(), strings.ToUpper(p.word())+"_URL"
	for range p.between(3, 6) {
		entries = append(entries,
			h.shell(p.pick("docker compose up -d", "docker compose up -d --build", "docker compose restart "+name, "docker compose up -d --force-recreate"), fmt.Sprintf("[+] Running 1/1\n ✔ Container app-%s-1  Started  %d.%ds", name, p.IntN(12), p.IntN(10)), 0),
			h.shell("docker ps -a", fmt.Sprintf("CONTAINER ID   IMAGE     COMMAND                  CREATED          STATUS                      NAMES\n%012x   app-%s   \"docker-entrypoint.s…\"   %d seconds ago   Exited (1) %d seconds ago   app-%s-1", p.Uint64N(1<<48), name, p.between(5, 59), p.between(1, 5), name), 0),
			h.shell("docker logs app-"+name+"-1 --tail 5", p.clock()+" FATAL required environment variable "+missing+" is not set", 0))
	}
	return entries, 3
}

// selectorImmutable edits a manifest and applies it; one field cannot be changed.
func selectorImmutable(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	for range p.between(4, 7) {
		output := fmt.Sprintf("service/%s unchanged\nThe Deployment \"%s\" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"app\":\"%s\", \"%s\":\"%s\"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable", name, name, name, p.pick("tier", "version", "release", "component"), p.word())
		command := "kubectl " + p.pick("apply -f k8s/", "apply -f k8s/deployment.yaml", "apply --server-side -f k8s/deployment.yaml", "apply -k k8s", "apply --force-conflicts --server-side -f k8s/")
		entries = append(entries, h.edit("k8s/deployment.yaml"), h.shell(command, output, 1))
	}
	return entries, 2
}

// patchRejected applies a patch with other options, and the same hunk fails.
func patchRejected(p *generator) (entries []entry, _ int) {
	h, path, hunk := p.harness(), p.path(), p.between(20, 300)
	for range p.between(4, 7) {
		if p.coin() {
			entries = append(entries, h.shell(fmt.Sprintf("patch -p%d %s< fix.patch", p.IntN(2), p.pick("", "-l ", "--fuzz=3 ", "-F5 ", "--ignore-whitespace ")), fmt.Sprintf("patching file %s\nHunk #1 FAILED at %d.\n1 out of 1 hunk FAILED -- saving rejects to file %s.rej", path, hunk, path), 1))
			continue
		}
		entries = append(entries, h.shell("git apply "+p.pick("", "--3way ", "--ignore-space-change ", "--whitespace=fix ", "--recount ", "-C1 ")+"fix.patch", fmt.Sprintf("error: patch failed: %s:%d\nerror: %s: patch does not apply", path, hunk, path), 1))
	}
	return entries, 1
}

// lossIsNaN trains with other settings in a notebook, and the loss is no number from the first epoch.
func lossIsNaN(p *generator) (entries []entry, _ int) {
	for range p.between(4, 7) {
		epochs := p.between(2, 4)
		code := fmt.Sprintf("model.compile(optimizer=%s, loss='mse')\nhistory = model.fit(x_train, y_train, epochs=%d, batch_size=%d)", p.pick("Adam(1e-3)", "Adam(1e-4)", "SGD(0.01)", "RMSprop(1e-4)", "Adam(1e-4, clipnorm=1.0)"), epochs, 8<<p.IntN(4))
		var output strings.Builder
		for k := range epochs {
			fmt.Fprintf(&output, "Epoch %d/%d\n%d/%d ━━━━━━━━━━━━━━━━━━━━ %ds %dms/step - loss: nan - val_loss: nan\n", k+1, epochs, 94, 94, p.between(1, 9), p.between(4, 30))
		}
		entries = append(entries, call("execute_cell", object("cell_index", p.between(7, 9), "source", code), quoted(output.String())))
	}
	return entries, 1
}

// kernelDies runs a cell that ends the kernel, and starts the kernel anew.
func kernelDies(p *generator) (entries []entry, _ int) {
	table, batch := p.word(), p.between(20_000, 90_000)
	for range p.between(3, 5) {
		code := fmt.Sprintf("%s = pd.read_csv('%s.csv'%s)\n%s.merge(%s, on='id', how='outer')", table, table, p.pick("", fmt.Sprintf(", nrows=%d", batch), ", low_memory=False", ", engine='c'", ", dtype=str"), table, table)
		entries = append(entries,
			failed("execute_code", object("code", code), "DeadKernelError: Kernel died"),
			call("restart_kernel", object("kernel_id", p.uuid()), object("status", "restarted", "execution_state", "idle")))
	}
	return entries, 2
}

// keyRefused logs in four or five times in a row, and the key is refused.
func keyRefused(p *generator) (entries []entry, _ int) {
	h, host := p.harness(), p.word()+".example"
	for range p.between(4, 5) {
		command := "ssh " + p.pick("", "-v ", "-o StrictHostKeyChecking=no ", "-i ~/.ssh/id_ed25519 ") + "deploy@" + host + " " + p.pick("uptime", "'systemctl status app'", "whoami")
		entries = append(entries, h.shell(command, "deploy@"+host+": Permission denied (publickey).", 255))
	}
	return entries, 1
}

// roundOfManyChecks goes round nine to eleven checks of a machine; loads, times and free memory jitter.
func roundOfManyChecks(p *generator) (entries []entry, _ int) {
	h, service, port := p.harness(), p.word(), p.between(3000, 9000)
	checks := []func() entry{
		func() entry {
			return h.shell("systemctl is-active "+service, "active", 0)
		},
		func() entry {
			return h.shell("uptime", fmt.Sprintf(" %02d:%02d:%02d up 12 days,  load average: 0.%02d, 0.%02d, 0.%02d", p.IntN(24), p.IntN(60), p.IntN(60), p.IntN(90), p.IntN(90), p.IntN(90)), 0)
		},
		func() entry {
			return h.shell("free -m | grep Mem", fmt.Sprintf("Mem:           15884       %d       %d", p.between(4000, 4090), p.between(9000, 9090)), 0)
		},
		func() entry {
			return h.shell("df -h /", "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        97G   41G   52G  45% /", 0)
		},
		func() entry {
			return h.shell(fmt.Sprintf("curl -s -o /dev/null -w '%%{http_code} %%{time_total}' localhost:%d", port), fmt.Sprintf("502 0.00%d", p.between(100, 999)), 0)
		},
		func() entry {
			return h.shell(fmt.Sprintf("ss -ltnp | grep %d", port), fmt.Sprintf("LISTEN 0 511 0.0.0.0:%d 0.0.0.0:* users:((\"nginx\",pid=812,fd=6))", port), 0)
		},
		func() entry {
			return h.shell("tail -n 1 /var/log/nginx/error.log", p.clock()+" [error] connect() failed (111: Connection refused) while connecting to upstream", 0)
		},
		func() entry {
			return h.shell("nginx -t", "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful", 0)
		},
		func() entry {
			return h.shell("cat /etc/nginx/conf.d/"+service+".conf | head -3", "upstream "+service+" {", 0)
		},
		func() entry { return h.shell("systemctl reload nginx", "", 0) },
		func() entry { return h.shell("ls /var/run/"+service, service+".pid", 0) },
	}
	p.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
	checks = checks[:p.between(9, 11)]
	for _, check := range slices.Concat(checks, checks, checks) {
		entries = append(entries, check())
	}
	return entries, len(checks)
}

// spinnerWithoutProgress reads the output of a background job, in which a wheel turns and seconds pass.
func spinnerWithoutProgress(p *generator) (entries []entry, _ int) {
	id, what, seconds := fmt.Sprintf("%06x", p.IntN(1<<24)), p.pick("Resolving dependencies", "Connecting to builder", "Waiting for lock", "Fetching metadata"), p.between(5, 30)
	for range p.between(12, 18) {
		seconds += p.between(1, 4)
		output := fmt.Sprintf("<status>running</status>\n\n<stdout>\n%s %s... (%ds)\n</stdout>", p.pick("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"), what, seconds)
		entries = append(entries, call("BashOutput", object("bash_id", id), quoted(output)))
	}
	return entries, 1
}
