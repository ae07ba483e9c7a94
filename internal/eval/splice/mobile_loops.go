package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents in an editor that work on apps for phones, by blocks of search and replace and by commands.

func mobileLoops() []kind {
	return []kind{
		{name: "diff_block_below_similarity", build: diffBlockBelowSimilarity},
		{name: "pods_reinstalled_below_target", build: podsReinstalledBelowTarget},
		{name: "two_todos_in_progress", build: twoTodosInProgress},
		{name: "compiler_and_plugin_versions_displace", build: compilerAndPluginVersionsDisplace},
	}
}

// blockEditor is an extension of an editor that changes files by blocks of search and replace. Its results have two forms.
type blockEditor struct {
	*generator
	form int
	root string
}

func (p *generator) blockEditor() blockEditor {
	return blockEditor{p, p.IntN(2), "/Users/" + p.pick("dev", "mobile", "lena", "runner") + "/" + p.word() + "-app"}
}

// run returns a command, what it printed and its exit status.
func (b blockEditor) run(command, output string, status int) entry {
	if b.form == 0 {
		return call("execute_command", object("command", command, "cwd", b.root), quoted(fmt.Sprintf("Command executed in terminal within working directory '%s'. Exit code: %d\nOutput:\n%s", b.root, status, output)))
	}
	return call("execute_command", object("command", command, "requires_approval", false), quoted(fmt.Sprintf("[execute_command for '%s'] Result:\nCommand executed.\nOutput:\n%s", command, output)))
}

// read returns a read of a whole file.
func (b blockEditor) read(path, text string) entry {
	if b.form == 0 {
		lines := strings.Split(text, "\n")
		for k := range lines {
			lines[k] = fmt.Sprintf("%d | %s", k+1, lines[k])
		}
		return call("read_file", object("path", path), quoted(fmt.Sprintf("<file><path>%s</path>\n<content lines=\"1-%d\">\n%s\n</content>\n</file>", path, len(lines), strings.Join(lines, "\n"))))
	}
	return call("read_file", object("path", path), quoted("[read_file for '"+path+"'] Result:\n"+text))
}

// block returns the tool and the arguments of a change at a line.
func (b blockEditor) block(path string, line int, before, after string) (string, json.RawMessage) {
	if b.form == 0 {
		return "apply_diff", object("path", path, "diff", fmt.Sprintf("<<<<<<< SEARCH\n:start_line:%d\n-------\n%s\n=======\n%s\n>>>>>>> REPLACE", line, before, after))
	}
	return "replace_in_file", object("path", path, "diff", "------- SEARCH\n"+before+"\n=======\n"+after+"\n+++++++ REPLACE")
}

// replace returns a change that was made.
func (b blockEditor) replace(path string, line int, before, after string) entry {
	tool, args := b.block(path, line, before, after)
	if b.form == 0 {
		return call(tool, args, quoted("<file_write_result>\n<path>"+path+"</path>\n<operation>modified</operation>\n<notice>You do not need to read the file again.</notice>\n</file_write_result>"))
	}
	return call(tool, args, quoted("[replace_in_file for '"+path+"'] Result:\nThe content was saved to "+path+".\n<final_file_content path=\""+path+"\">\n"+after+"\n</final_file_content>"))
}

// refuse returns a change whose block of search is not in the file, with what is most like it there.
func (b blockEditor) refuse(path string, line int, before, after, there string) entry {
	tool, args := b.block(path, line, before, after)
	if b.form == 0 {
		like := b.between(81, 98)
		return call(tool, args, quoted(fmt.Sprintf("Unable to apply diff to file: %s/%s\n\n<error_details>\nNo sufficiently similar match found at line: %d (%d%% similar, needs 100%%)\n- Similarity Score: %d%%\n- Tip: read the file again before the next diff\n\nSearch Content:\n%s\n\nBest Match Found:\n%s\n</error_details>", b.root, path, line, like, like, before, there)))
	}
	return failed(tool, args, "The SEARCH block:\n"+before+"\n...does not match anything in the file. The file was reverted to its original state:\n<file_content path=\""+path+"\">\n"+there+"\n</file_content>")
}

// screen returns the path of a screen of an app.
func (b blockEditor) screen(name string) string {
	return fmt.Sprintf(b.pick("src/screens/%sScreen.tsx", "app/features/%[1]s/%[1]sView.tsx", "src/%sPage.tsx"), capitalized(name))
}

// diffBlockBelowSimilarity sends block after block that is nearly the text of the file, with a space or a name that is not there.
func diffBlockBelowSimilarity(p *generator) (entries []entry, _ int) {
	b := p.blockEditor()
	path, there, line := b.screen(p.word()), p.code(p.between(3, 5)), p.between(12, 160)
	text, after := p.code(4)+"\n"+there+"\n"+p.code(3), p.code(p.between(3, 6))
	slip := func() string {
		lines := strings.Split(there, "\n")
		at := p.IntN(len(lines))
		switch p.IntN(4) {
		case 0:
			lines[at] += ";"
		case 1:
			lines[at] = "  " + lines[at]
		case 2:
			lines[at] = strings.Replace(lines[at], "(", "( ", 1)
			lines = append(lines, "  "+p.word()+"();")
		default:
			lines = append([]string{"// " + p.word()}, lines...)
		}
		return strings.Join(lines, "\n")
	}
	w := wording{
		[]string{"Let me make the change in {}.", "Now I'll update the component."},
		[]string{"The diff did not match.", "The search block was not exact.", "The file must have changed.", "I made a mistake in the search block.", ""},
		[]string{"Let me apply it again with the exact text.", "I'll use the current content this time.", "Let me try a smaller block.", "Let me retry the edit with the right whitespace.", "I'll correct the line number."},
	}
	entries = append(entries, b.read(path, text).after(thought{"", "Let me read the file first."}))
	for k := range p.pickInt(4, 4, 5, 6, 6, 7, 9) {
		t := w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "{}", path)
		if k > 0 && p.IntN(5) < 2 {
			entries = append(entries, b.read(path, text).after(thought{p.pick(w.seen...), p.pick("Let me read it again.", "Let me look at the current content.")}))
			t.seen = ""
		}
		entries = append(entries, b.refuse(path, line+p.between(-2, 2), slip(), after, there).after(t))
	}
	return entries, 2
}

// podsReinstalledBelowTarget cleans and installs the pods again and again, though each answer says that the deployment target is too low.
func podsReinstalledBelowTarget(p *generator) (entries []entry, _ int) {
	b := p.blockEditor()
	pod, version := p.pick("FirebaseFirestore", "GoogleMLKit/BarcodeScanning", "Sentry/HybridSDK", "MapboxMaps", "StripePaymentSheet"), fmt.Sprintf("%d.%d.%d", p.between(3, 12), p.IntN(30), p.IntN(9))
	target := p.pick("12.0", "13.0", "13.4")
	output := func() string {
		return fmt.Sprintf("Analyzing dependencies\nDownloading dependencies for plugins (%d.%ds)\n[!] CocoaPods could not find compatible versions for pod %q:\n  In Podfile:\n    %s (= %s)\n\nSpecs satisfying the `%s (= %s)` dependency were found, but they required a higher minimum deployment target (Podfile: platform :ios, '%s').",
			p.between(1, 40), p.IntN(10), pod, pod, version, pod, version, target)
	}
	installs := []string{"cd ios && pod install --repo-update", "cd ios && pod install", "cd ios && rm -rf Pods Podfile.lock && pod install", "cd ios && pod update " + pod, "cd ios && arch -x86_64 pod install --repo-update", "cd ios && pod deintegrate && pod install --verbose | tail -20", "npx pod-install"}
	cleans := [][2]string{
		{"cd ios && pod cache clean --all", "Removed %d cached pods"},
		{"flutter clean && flutter pub get", "Deleting build...  %dms\nGot dependencies!"},
		{"rm -rf ~/Library/Developer/Xcode/DerivedData/*", ""},
		{"rm -rf node_modules && npm ci", "added 1412 packages in %ds"},
		{"pod repo update", "Updating spec repo `trunk`\nCDN: trunk Relative path: index (%d files)"},
	}
	w := wording{
		[]string{"Let me install the pods.", "I'll run pod install."},
		[]string{"The versions conflict.", "It still fails.", "Pod install failed again.", "The spec repo may be stale.", ""},
		[]string{"Let me install again.", "Now a clean install.", "Let me try pod install once more.", "Let me reinstall everything.", "I'll install with an updated repo."},
	}
	for k := range p.pickInt(3, 4, 4, 5, 5, 6, 7) {
		install := installs[0]
		if k > 0 {
			install = p.pick(installs...)
		}
		entries = append(entries, b.run(install, output(), 1).after(w.of(p, k)))
		if k == 0 || p.IntN(3) > 0 {
			clean := cleans[p.IntN(len(cleans))]
			said := clean[1]
			if strings.Contains(said, "%d") {
				said = fmt.Sprintf(said, p.between(12, 900))
			}
			entries = append(entries, b.run(clean[0], said, 0).after(thought{p.pick(w.seen...), p.pick("Let me clear the caches.", "I'll clean up first.", "A clean state should help.")}))
		}
	}
	return append(entries, b.run(p.pick(installs...), output(), 1).after(w.of(p, 2))), 2
}

// twoTodosInProgress writes list after list of todos in which two are in progress, which the tool refuses each time.
func twoTodosInProgress(p *generator) (entries []entry, _ int) {
	feature := p.word()
	tasks := []string{"Read the " + feature + " screen", "Add the " + feature + " reducer", "Wire the " + feature + " view to the store", "Write tests for the " + feature + " flow", "Run the linter"}
	tasks = tasks[:p.between(3, 5)]
	status := func(k int, at, second int) string {
		if k == at || k == second {
			return "in_progress"
		}
		if k < at {
			return "completed"
		}
		return "pending"
	}
	reason := p.pick("Invalid parameters: only one task can be \"in_progress\" at a time", "params/todos is invalid: at most one item may have the status in_progress", "Error: the list has 2 items in progress; the limit is 1")
	w := wording{
		[]string{"Let me write down the plan.", "I'll update the list of tasks."},
		[]string{"My apologies for the error in the list.", "The list was refused.", "I see, the update failed.", "Sorry, that was not accepted.", ""},
		[]string{"Let me update the list again.", "I'll set the current task to in progress.", "Let me correct the todos.", "I'll mark the next task as in progress.", "Let me write the list once more."},
	}
	for k := range p.attempts() {
		at := p.IntN(len(tasks) - 1)
		second := p.between(at+1, len(tasks)-1)
		todos := make([]json.RawMessage, len(tasks))
		for n, task := range tasks {
			text := task
			if k > 1 && p.IntN(6) == 0 {
				text += p.pick(" first", " again", ", then check it")
			}
			todos[n] = object("description", text, "status", status(n, at, second))
		}
		entries = append(entries, failed("write_todos", object("todos", todos), reason).after(w.of(p, k)))
	}
	return entries, 1
}

// compilerAndPluginVersionsDisplace raises the version of a compiler for one plugin and lowers it for another, and builds each time.
func compilerAndPluginVersionsDisplace(p *generator) (entries []entry, _ int) {
	b := p.blockEditor()
	low, high := fmt.Sprintf("1.9.%d", p.pickInt(0, 10, 20, 22)), fmt.Sprintf("2.%d.%d", p.between(0, 2), p.pickInt(0, 10, 20))
	task, file := p.pick(":app:compileDebugKotlin", ":app:kspDebugKotlin", ":app:checkDebugAarMetadata"), p.pick("android/build.gradle", "android/settings.gradle", "gradle/libs.versions.toml")
	line := p.between(4, 30)
	failure := func(why string) string {
		return fmt.Sprintf("> Task %s FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task '%s'.\n> %s\n\nBUILD FAILED in %ds\n%d actionable tasks: %d executed", task, task, why, p.between(6, 94), p.between(30, 60), p.between(2, 29))
	}
	reasons := map[string]string{
		high: fmt.Sprintf("This version (1.5.%d) of the Compose Compiler requires Kotlin version %s but you appear to be using Kotlin version %s which is not known to be compatible.", p.between(3, 14), low, high),
		low:  fmt.Sprintf("Module was compiled with an incompatible version of Kotlin. The binary version of its metadata is %s, expected version is 1.9.0.", high),
	}
	build := p.pick("cd android && ./gradlew assembleDebug", "cd android && ./gradlew :app:assembleDebug --stacktrace | tail -30", "npx react-native build-android --mode=debug")
	from, to := low, high
	for k := range p.between(4, 7) {
		t := thought{p.pick("The build needs another Kotlin.", "The versions do not fit.", "That is a mismatch of versions.", ""), p.pick("Let me set Kotlin to "+to+".", "I'll change it to "+to+".", "Kotlin "+to+" should resolve this.")}
		if k == 0 {
			t.seen = ""
		}
		entries = append(entries, b.replace(file, line, fmt.Sprintf("kotlin_version = \"%s\"", from), fmt.Sprintf("kotlin_version = \"%s\"", to)).after(t))
		if k > 3 && p.IntN(3) == 0 {
			entries = append(entries, b.run("cd android && ./gradlew --stop", "Stopping Daemon(s)\n1 Daemon stopped", 0).after(thought{"", "Let me stop the daemon first."}))
		}
		entries = append(entries, b.run(build, failure(reasons[to]), 1).after(p.runAgain()))
		from, to = to, from
	}
	return entries, 4
}
