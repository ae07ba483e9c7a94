package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that repair a code base. The agent says what a model says at that step.

func codebaseLoops() []kind {
	return []kind{
		{name: "repro_script_unconfigured", build: reproScriptUnconfigured},
		{name: "edited_copy_not_imported", build: editedCopyNotImported},
		{name: "deadlock_stays", build: deadlockStays},
		{name: "prerender_fails", build: prerenderFails},
		{name: "bean_not_found", build: beanNotFound},
		{name: "file_modified_since_read", build: fileModifiedSinceRead},
		{name: "symbol_not_in_repository", build: symbolNotInRepository},
	}
}

// reproScriptUnconfigured writes script after script that is to reproduce a bug of Django; the model of each is in no installed app.
func reproScriptUnconfigured(p *generator) (entries []entry, _ int) {
	run, model, field := p.commands(), capitalized(p.word()), p.word()
	words := wording{
		first: []string{"Let me create a script to reproduce the issue.", "First I'll reproduce the bug with a small script.", "I'll write a minimal reproduction."},
		seen:  []string{"The script needs Django to be set up properly.", "The model has no app_label.", "Same RuntimeError: the model is not in INSTALLED_APPS.", "I need to configure the settings before I import the models.", "The reproduction still does not get as far as the bug."},
		next:  []string{"Let me fix the reproduction script.", "Let me put the model into a proper app.", "Let me try a simpler version of the script.", "I'll call django.setup() first.", "Let me set INSTALLED_APPS explicitly.", "Let me write it to another file and run it from there."},
	}
	setups := p.shuffled(
		"settings.configure()\ndjango.setup()", "settings.configure(DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}})\ndjango.setup()",
		"settings.configure(INSTALLED_APPS=['django.contrib.contenttypes'])\ndjango.setup()", "settings.configure(INSTALLED_APPS=['"+strings.ToLower(model)+"'])\ndjango.setup()",
		"os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'tests.test_sqlite')\ndjango.setup()", "settings.configure(INSTALLED_APPS=['__main__'])\ndjango.setup()",
		"settings.configure(DEBUG=True, USE_TZ=True, SECRET_KEY='x')\ndjango.setup()", "import sys\nsys.path.insert(0, '/testbed/tests')\nsettings.configure()\ndjango.setup()")
	for round, setup := range setups[:p.between(4, 8)] {
		file, line := p.pick("repro.py", "test_issue.py", "reproduce_bug.py", "/tmp/test.py", "debug_"+field+".py"), p.between(8, 30)
		script := fmt.Sprintf("import os, django\nfrom django.conf import settings\n%s\nfrom django.db import models\n\nclass %s(models.Model):\n    %s = models.CharField(max_length=%d)\n\nprint(%s.objects.filter(%s='a').query)", setup, model, field, p.between(10, 200), model, field)
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"%s\", line %d, in <module>\n    class %s(models.Model):\n  File \"/testbed/django/db/models/base.py\", line %d, in __new__\n    raise RuntimeError(\nRuntimeError: Model class __main__.%s doesn't declare an explicit app_label and isn't in an application in INSTALLED_APPS.", file, line, model, 134, model)
		entries = append(entries, run("cat > "+file+" <<'EOF'\n"+script+"\nEOF\npython "+file, output, 1).after(words.of(p, round)))
	}
	return entries, 1
}

// editedCopyNotImported edits a file and adds prints to it; Python imports another copy of it, so that the same traceback comes.
func editedCopyNotImported(p *generator) (entries []entry, _ int) {
	h, module, name := p.harness(), p.word(), p.word()
	file, line := "src/"+module+"/"+name+".py", p.between(20, 200)
	problem := p.pick("KeyError: '"+p.word()+"'", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'", "AttributeError: 'NoneType' object has no attribute '"+p.word()+"'", "ValueError: not enough values to unpack (expected 2, got 1)")
	kind, _, _ := strings.Cut(problem, ":")
	words := wording{
		first: []string{"I'll guard against the missing value in " + name + ".py.", "The fix belongs into `" + name + "`. Let me edit it.", "Let me handle this case in " + file + "."},
		seen:  []string{"Still the same " + kind + ".", "The debug output does not appear at all. That is strange.", "My print statement wasn't shown.", "The same traceback again.", "Hmm, line " + fmt.Sprint(line) + " still raises."},
	}
	parts := [][2]string{
		{"    print('DEBUG " + name + "', item)\n", "Let me add debug output to see what happens."},
		{"    if item is None:\n        return None\n", "I'll make the check more defensive."},
		{"    import sys; print(repr(item), file=sys.stderr)\n", "Let me print the value before it is used."},
		{"    item = item or {}\n", "Let me handle the empty value."},
		{"    try:\n        item = dict(item)\n    except Exception:\n        item = {}\n", "I'll wrap it in a try block."},
		{"    logger.warning('item=%r', item)\n", "Let me log the item."},
		{"    item = copy.deepcopy(item)\n", "Perhaps the item is changed elsewhere. Let me copy it."},
	}
	before := "    return self." + p.word() + "(item)"
	for round := range p.between(4, 7) {
		part := parts[p.IntN(len(parts))]
		after := part[0] + before[strings.LastIndex(before, "\n")+1:]
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/run.py\", line %d, in <module>\n    main()\n  File \"/usr/local/lib/python3.11/site-packages/%s/%s.py\", line %d, in process\n    return self._load(item)\n%s", 12, module, name, line, problem)
		entries = append(entries,
			h.replace(file, before, after).after(words.then(p, round, part[1])),
			h.shell(p.pick("python run.py", "python run.py 2>&1 | tail -20", "cd /app && python run.py", "python -u run.py", "find . -name '*.pyc' -delete; python run.py"), output, 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// deadlockStays moves locks, channels and goroutines of a program in Go, which blocks at the same place.
func deadlockStays(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	file, test := name+".go", "Test"+capitalized(p.word())
	words := wording{
		first: []string{"The channel is never closed. Let me fix that.", "I'll release the lock before the send.", "The worker blocks on the channel. I'll buffer it."},
		seen:  []string{"Still a deadlock.", "All goroutines are still asleep.", "The test hangs in the same place.", "The same goroutine is blocked on chan receive.", "It's still blocked."},
	}
	parts := [][2]string{
		{"\tdefer close(results)", "I see the issue: the channel must be closed by the sender."},
		{"\tresults := make(chan %s, len(jobs))", "Let me make the channel buffered."},
		{"\tgo func() {\n\t\twg.Wait()\n\t\tclose(results)\n\t}()", "I need to move the Wait into its own goroutine."},
		{"\tselect {\n\tcase results <- r:\n\tcase <-done:\n\t}", "Let me use a select with a done channel."},
		{"\tmu.Unlock()\n\twg.Wait()", "Let me unlock before waiting."},
		{"\twg.Add(len(jobs))", "The WaitGroup is not counted right. Let me add all jobs at once."},
		{"\tfor r := range results {\n\t\tout = append(out, r)\n\t}", "Let me drain the channel first."},
		{"\tvar once sync.Once\n\tonce.Do(func() { close(results) })", "Let me close it exactly once."},
	}
	before, at := "\twg.Wait()", p.between(30, 90)
	for round := range p.between(4, 7) {
		part := parts[p.IntN(len(parts))]
		after := strings.ReplaceAll(part[0], "%s", capitalized(name)) + "\n" + p.pick("", "\t// wait for the workers\n") + "\twg.Wait()"
		output := fmt.Sprintf("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\ntesting.(*T).Run(0xc%09x, {0x%x?, 0x%x?}, 0x%x)\n\ngoroutine %d [chan receive]:\nexample.com/%s.Collect(...)\n\t/app/%s:%d\nexample.com/%s.%s(0xc%09x)\n\t/app/%s_test.go:%d +0x%x\nFAIL\texample.com/%s\t0.%03ds\nFAIL",
			p.Uint64N(1<<36), p.IntN(1<<22), p.IntN(1<<22), p.IntN(1<<22), p.between(6, 40), name, file, at+p.between(-1, 3), name, test, p.Uint64N(1<<36), name, at+40, p.IntN(1<<10), name, p.between(2, 30))
		entries = append(entries,
			h.replace(file, before, after).after(words.then(p, round, part[1])),
			h.shell(p.pick("go test ./...", "go test -run "+test+" ./...", "go test -race -run "+test+" .", "timeout 60 go test ./... 2>&1 | head -40", "go vet ./... && go test ./..."), output, 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// prerenderFails changes a component of a Next.js site; the build fails at the same page.
func prerenderFails(p *generator) (entries []entry, _ int) {
	h, page, list := p.harness(), p.word(), p.word()+"s"
	file := "app/" + page + "/page.tsx"
	words := wording{
		first: []string{"I'll fix the component so that the build passes.", "`" + list + "` may be undefined at build time. Let me guard it.", "Let me add a default value."},
		seen:  []string{"The build still fails on /" + page + ".", "Same prerender error.", "It still says that `map` is read of undefined.", "The error hasn't changed.", "The build error persists."},
	}
	changes := [][2]string{
		{"export const dynamic = 'force-dynamic';", "Let me mark the page as dynamic."},
		{"'use client';", "Let me make it a client component."},
		{"const items = " + list + " ?? [];", "Let me add a fallback for the empty case."},
		{"export const revalidate = 0;", "Perhaps the cache is stale. Let me disable it."},
		{"if (!" + list + ") return null;", "Let me return early if there is no data."},
		{"{" + list + "?.map((item) => <Item key={item.id} {...item} />)}", "Let me add optional chaining."},
		{"<Suspense fallback={<Loading />}><List " + list + "={" + list + "} /></Suspense>", "I'll wrap it in Suspense."},
		{"export async function generateStaticParams() { return []; }", "Let me generate no static params."},
	}
	p.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	before := "export default async function Page() {"
	for round, change := range changes[:p.between(4, 7)] {
		digest := p.between(1e8, 4e9)
		output := fmt.Sprintf("   ▲ Next.js 15.3.3\n\n   Creating an optimized production build ...\n ✓ Compiled successfully in %d.%ds\n   Linting and checking validity of types ...\n   Collecting page data ...\n   Generating static pages (0/%d) ...\nError occurred prerendering page \"/%s\". Read more: https://nextjs.org/docs/messages/prerender-error\nTypeError: Cannot read properties of undefined (reading 'map')\n    at %s (/app/.next/server/chunks/%d.js:1:%d) {\n  digest: '%d'\n}\nExport encountered an error on /%s/page: /%s, exiting the build.\n ⨯ Next.js build worker exited with code: 1 and signal: null", p.between(2, 40), p.IntN(10), p.between(8, 9), page, p.pick("x", "l", "d"), p.between(100, 999), p.between(1000, 90_000), digest, page, page)
		after := change[0] + "\n" + p.pick("", "\n") + before[strings.LastIndex(before, "\n")+1:]
		entries = append(entries,
			h.replace(file, before, after).after(words.then(p, round, change[1])),
			h.shell(p.pick("npm run build", "npx next build", "rm -rf .next && npm run build", "npm run build 2>&1 | tail -30", "pnpm build"), output, 1).after(p.runAgain()))
		before = after
	}
	return entries, 2
}

// beanNotFound adds annotations and configurations to a Spring application, whose context does not load for the same bean.
func beanNotFound(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), capitalized(p.word())
	pack := "com.example." + strings.ToLower(name)
	run := p.pick("./gradlew test", "mvn -q test")
	words := wording{
		first: []string{"The repository is not registered as a bean. Let me add the annotation.", "I'll make " + name + "Repository a Spring bean.", "Let me fix the configuration of the context."},
		seen:  []string{"The context still fails to load.", "Same UnsatisfiedDependencyException.", "Spring still does not find " + name + "Repository.", "The bean is still missing.", "No change: NoSuchBeanDefinitionException."},
	}
	changes := [][2]string{
		{"@Repository", "Let me annotate it as a repository."},
		{"@ComponentScan(\"" + pack + "\")", "Let me add a component scan."},
		{"@EnableJpaRepositories(basePackages = \"" + pack + "\")", "Let me try @EnableJpaRepositories."},
		{"@SpringBootTest(classes = Application.class)", "Let me name the application class in the test."},
		{"@Import(" + name + "Config.class)", "Let me import the configuration explicitly."},
		{"@EntityScan(\"com.example\")", "Perhaps the entities are not scanned."},
		{"@AutoConfigureTestDatabase", "The test may need a database."},
		{"@DataJpaTest", "Let me use a test slice."},
		{"@MockBean\n    private " + name + "Repository repository;", "I'll use @MockBean in the test."},
	}
	p.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	for round, change := range changes[:p.between(4, 7)] {
		file := "src/" + p.pick("main/java/com/example/Application.java", "test/java/com/example/"+name+"ServiceTest.java", "main/java/com/example/"+name+"Config.java")
		output := fmt.Sprintf("%sServiceTest > %s() FAILED\n    java.lang.IllegalStateException: Failed to load ApplicationContext for [WebMergedContextConfiguration@%x]\n        Caused by: org.springframework.beans.factory.UnsatisfiedDependencyException: Error creating bean with name '%sService': Unsatisfied dependency expressed through constructor parameter 0: No qualifying bean of type '%s.%sRepository' available: expected at least 1 bean which qualifies as autowire candidate. Dependency annotations: {}\n\n%d tests completed, 1 failed\n\nBUILD FAILED in %ds", name, p.pick("contextLoads", "findsAll", "savesOne"), p.Uint32(), strings.ToLower(name), pack, name, p.between(8, 9), p.between(6, 50))
		entries = append(entries,
			h.replace(file, "@"+p.pick("Configuration", "Service", "Test", "SpringBootApplication"), change[0]+"\n@"+capitalized(p.word())).after(words.then(p, round, change[1])),
			h.shell(run+p.pick("", " --tests "+name+"ServiceTest", " --info | tail -40", " --rerun-tasks"), output, 1).after(p.runAgain()))
	}
	return entries, 2
}

// fileModifiedSinceRead reads a file and edits it; a formatter touches the file in between, so that each edit is refused.
func fileModifiedSinceRead(p *generator) (entries []entry, _ int) {
	path, lines := "/app/"+p.path(), strings.Split(p.code(p.between(8, 20)), "\n")
	var content strings.Builder
	for k, line := range lines {
		fmt.Fprintf(&content, "%6d→%s\n", k+1, line)
	}
	words := wording{
		first: []string{"Let me read the file first.", "I'll look at the current content.", "Let me open " + path + "."},
		seen:  []string{"The file has been modified since I read it.", "The edit was rejected because the file changed.", "A linter seems to have touched the file.", "It was changed again in the meantime."},
		next:  []string{"Let me read it again.", "I'll re-read the file and then make the edit.", "Let me get the current state.", "Let me re-read it and edit it right away."},
	}
	for round := range p.between(3, 6) {
		at := p.IntN(len(lines))
		after := strings.TrimRight(lines[at], ";{:") + p.pick(" // fixed", "  # noqa", " or default", " as "+p.word())
		args := object("file_path", path, "old_string", lines[at], "new_string", after)
		edit := failed("Edit", args, "<tool_use_error>File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.</tool_use_error>")
		if round > 0 && p.IntN(4) == 0 {
			edit = failed("MultiEdit", object("file_path", path, "edits", []string{string(args)}), edit.Error)
		}
		entries = append(entries,
			call("Read", object("file_path", path), quoted(content.String())).after(words.of(p, round)),
			edit.after(thought{next: p.pick("Now I'll apply the change.", "Now let me make the edit.", "", "Editing the line now.")}))
	}
	return entries, 2
}

// symbolNotInRepository looks for a function with other tools and patterns; only the changelog names it.
func symbolNotInRepository(p *generator) (entries []entry, _ int) {
	h, name, other := p.harness(), p.word(), p.word()
	symbol := name + "_" + other
	line := fmt.Sprintf("CHANGELOG.md:%d:- Remove the deprecated `%s` helper", p.between(10, 400), symbol)
	words := wording{
		first: []string{"Let me find where `" + symbol + "` is defined.", "I need to locate " + symbol + ".", "First I look for the definition of `" + symbol + "`."},
		seen:  []string{"No definition yet.", "That only shows the changelog.", "Not found there either.", "Hmm, nothing.", "It must be defined somewhere.", "The search came back empty."},
		next:  []string{"Let me search with a broader pattern.", "Let me try a case-insensitive search.", "Maybe it is generated. Let me look in other file types.", "Let me search for part of the name.", "Let me check the whole tree.", "Perhaps it has a different naming style."},
	}
	patterns := []string{symbol, name + capitalized(other), capitalized(name) + capitalized(other), "def " + symbol, name + ".*" + other, "_" + symbol, strings.ToUpper(symbol), "function " + name + capitalized(other), name + "-" + other}
	for round := range p.between(6, 12) {
		pattern := p.pick(patterns...)
		known := pattern == symbol || pattern == name+".*"+other
		switch tool := p.IntN(4); {
		case tool == 0 && h.form == claudeCode:
			found := "No files found"
			if known {
				found = "Found 1 file\nCHANGELOG.md"
			}
			entries = append(entries, call("Grep", object("pattern", pattern, "path", p.pick(".", "src", "lib"), "output_mode", "files_with_matches"), quoted(found)))
		case known:
			entries = append(entries, h.shell(p.pick("grep -rn '", "grep -rniE '", "rg -n '", "git grep -n '")+pattern+"'"+p.pick(" .", " . | head", ""), line, 0))
		case tool == 1:
			entries = append(entries, h.shell("find . -iname '*"+p.pick(name, symbol, name+"*"+other)+"*' -not -path './node_modules/*'", "", 0))
		default:
			entries = append(entries, h.shell(p.pick("grep -rn '", "grep -rn --include=*.py '", "rg -i '", "git grep -n '")+pattern+"' "+p.pick(".", "src", "src lib tests"), "", 1))
		}
		entries[len(entries)-1] = entries[len(entries)-1].after(words.of(p, round))
	}
	return entries, 1
}
