package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that write and operate software.

func engineeringLookalikes() []kind {
	return []kind{
		{name: "deployment_awaited", build: deploymentAwaited},
		{name: "index_is_built", build: indexIsBuilt},
		{name: "failures_get_fewer", build: failuresGetFewer},
		{name: "push_at_third_try", build: pushAtThirdTry},
		{name: "files_renamed", build: filesRenamed},
		{name: "warnings_file_by_file", build: warningsFileByFile},
		{name: "pull_requests_merged", build: pullRequestsMerged},
		{name: "benchmark_repeated", build: benchmarkRepeated},
		{name: "version_bisected", build: versionBisected},
		{name: "image_pulled_with_backoff", build: imagePulledWithBackoff},
		{name: "parameters_swept", build: parametersSwept},
		{name: "journal_by_the_hour", build: journalByTheHour},
		{name: "strings_translated", build: stringsTranslated},
	}
}

// deploymentAwaited looks at a deployment every two minutes, and is told the same until it is done.
func deploymentAwaited(p *generator) (entries []entry, _ int) {
	h, service := p.harness(), p.word()
	command := "sleep 120 && aws ecs describe-services --cluster prod --services " + service + " --query 'services[0].deployments[0].[rolloutState,runningCount,pendingCount]' --output text"
	for range p.between(6, 9) {
		entries = append(entries, h.shell(command, "IN_PROGRESS\t2\t1", 0))
	}
	return append(entries, h.shell(command, "COMPLETED\t3\t0", 0), h.shell("curl -s https://"+service+".example/version", fmt.Sprintf("{\"version\":\"1.%d.%d\"}", p.IntN(60), p.IntN(9)), 0)), 0
}

// indexIsBuilt looks at how far the database is with an index.
func indexIsBuilt(p *generator) (entries []entry, _ int) {
	h, total := p.harness(), p.between(800_000, 2_000_000)
	for done := p.between(1000, 40_000); done < total; done += total / p.between(7, 11) {
		phase := "building index: scanning table"
		if done > total/2 {
			phase = "building index: loading tuples in tree"
		}
		entries = append(entries, h.shell("psql -Atc 'SELECT phase, blocks_done, blocks_total FROM pg_stat_progress_create_index'", fmt.Sprintf("%s|%d|%d", phase, done, total), 0))
	}
	return append(entries, h.shell("psql -Atc 'SELECT phase, blocks_done, blocks_total FROM pg_stat_progress_create_index'", "", 0)), 0
}

// failuresGetFewer mends test after test of one suite, whose list of failures gets shorter.
func failuresGetFewer(p *generator) (entries []entry, _ int) {
	h, all, passed := p.harness(), p.words(p.between(5, 8)), p.between(60, 200)
	for left := len(all); left >= 0; left-- {
		var output strings.Builder
		if left == 0 {
			fmt.Fprintf(&output, "test result: ok. %d passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.%02ds", passed+len(all), p.IntN(100))
			entries = append(entries, h.shell("cargo test", output.String(), 0))
			break
		}
		output.WriteString("failures:\n")
		for k, name := range all[:left] {
			fmt.Fprintf(&output, "    %s::tests::%s_%d\n", all[0], name, k)
		}
		fmt.Fprintf(&output, "\ntest result: FAILED. %d passed; %d failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.%02ds\n\nerror: test failed, to rerun pass `--lib`", passed+len(all)-left, left, p.IntN(100))
		entries = append(entries, h.shell("cargo test", output.String(), 101), h.edit("src/"+all[left-1]+".rs"))
	}
	return entries, 0
}

// pushAtThirdTry pushes over a network that is away twice.
func pushAtThirdTry(p *generator) (entries []entry, _ int) {
	h, branch := p.harness(), p.word()+"-"+p.word()
	for range 2 {
		entries = append(entries, h.shell("git push -u origin "+branch, fmt.Sprintf("fatal: unable to access 'https://git.example/acme/app.git/': Failed to connect to git.example port 443 after %d ms: Couldn't connect to server", p.between(120_000, 136_000)), 128),
			say(p.pick("The network seems to be away. I wait a little and try again.", "That looks transient. Let me retry in a moment.", "I try the push once more.")))
	}
	return append(entries, h.shell("git push -u origin "+branch, fmt.Sprintf("To https://git.example/acme/app.git\n * [new branch]      %s -> %s\nbranch '%s' set up to track 'origin/%s'.", branch, branch, branch, branch), 0),
		h.shell("gh pr create --fill", fmt.Sprintf("https://git.example/acme/app/pull/%d", p.between(100, 4000)), 0)), 0
}

// filesRenamed renames file after file, and git says nothing.
func filesRenamed(p *generator) (entries []entry, _ int) {
	h, folder := p.harness(), p.word()
	for range p.between(7, 12) {
		name := p.word() + "_" + p.word()
		entries = append(entries, h.shell("git mv src/"+folder+"/"+name+".js src/"+folder+"/"+name+".ts", "", 0))
	}
	return entries, 0
}

// warningsFileByFile checks file after file with one tool, whose numbers alone differ.
func warningsFileByFile(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range p.between(6, 10) {
		path, n := "src/"+p.word()+"/"+p.word()+".cpp", p.between(1000, 90_000)
		entries = append(entries, h.shell("clang-tidy -p build "+path, fmt.Sprintf("%d warnings generated.\nSuppressed %d warnings (%d in non-user code).\nUse -header-filter=.* to display errors from all non-system headers. Use -system-headers to display errors from system headers as well.", n, n, n), 0))
	}
	return entries, 0
}

// pullRequestsMerged looks at and merges one small change after the other.
func pullRequestsMerged(p *generator) (entries []entry, _ int) {
	h, number := p.harness(), p.between(100, 900)
	for range p.between(4, 7) {
		number += p.between(1, 4)
		name := p.word() + "-" + p.word()
		entries = append(entries,
			h.shell(fmt.Sprintf("gh pr checks %d", number), fmt.Sprintf("All checks were successful\n0 cancelled, 0 failing, %d successful, 0 skipped, and 0 pending checks", p.between(6, 9)), 0),
			h.shell(fmt.Sprintf("gh pr merge %d --squash --delete-branch", number), fmt.Sprintf("✓ Squashed and merged pull request acme/app#%d (Bump %s from %d.0.0 to %d.1.0)\n✓ Deleted remote branch dependabot/npm/%s", number, name, 2, 2, name), 0))
	}
	return entries, 0
}

// benchmarkRepeated runs one benchmark a few times to see how much its figures vary.
func benchmarkRepeated(p *generator) (entries []entry, _ int) {
	h, name, ns := p.harness(), p.word(), p.between(800, 4000)
	name = strings.ToUpper(name[:1]) + name[1:]
	entries = append(entries, say("The figures vary, so I run the benchmark five times and take the median."))
	for range 5 {
		entries = append(entries, h.shell("go test -run '^$' -bench "+name+" ./...", fmt.Sprintf("goos: linux\ngoarch: amd64\nBenchmark%s-8   \t%8d\t%10d ns/op\t%8d B/op\t%8d allocs/op\nPASS", name, p.between(200_000, 900_000), ns+p.between(-90, 90), 312, 5), 0))
	}
	return append(entries, h.edit("docs/benchmarks.md")), 0
}

// versionBisected installs version after version, halving the range, and runs one script under each.
func versionBisected(p *generator) (entries []entry, _ int) {
	h, name, low, high := p.harness(), p.word(), p.between(1, 9), p.between(50, 70)
	bad := p.between(low+1, high)
	for high-low > 1 {
		middle := (low + high) / 2
		entries = append(entries, h.shell(fmt.Sprintf("pip install -q %s==1.%d.0", name, middle), "", 0))
		if middle < bad {
			entries, low = append(entries, h.shell("python repro.py", "ok", 0)), middle
			continue
		}
		entries, high = append(entries, h.shell("python repro.py", "Traceback (most recent call last):\n  File \"/workspace/repro.py\", line 7, in <module>\n    assert result == expected\nAssertionError", 1)), middle
	}
	return append(entries, say(fmt.Sprintf("The first version that fails is 1.%d.0.", high))), 0
}

// imagePulledWithBackoff is told to wait by a registry, waits longer each time, and gets the image.
func imagePulledWithBackoff(p *generator) (entries []entry, _ int) {
	h, image := p.harness(), p.word()+"/"+p.word()+":1."+fmt.Sprint(p.IntN(40))
	for k := range p.between(2, 4) {
		entries = append(entries, h.shell(fmt.Sprintf("sleep %d; docker pull %s", 15<<k, image), "Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit.", 1))
	}
	return append(entries, h.shell("sleep 300; docker pull "+image, fmt.Sprintf("Digest: sha256:%016x%016x\nStatus: Downloaded newer image for %s", p.Uint64(), p.Uint64(), image), 0)), 0
}

// parametersSwept starts training after training and waits for its result.
func parametersSwept(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 7) {
		id := fmt.Sprintf("run-%08x", p.Uint32())
		entries = append(entries,
			call("launch_run", object("config", "base.yaml", "overrides", []string{fmt.Sprintf("dropout=0.%d", k+1), "seed=1"}), object("run_id", id, "state", "queued")),
			call("wait_for_run", object("run_id", id, "timeout_s", 1800), object("run_id", id, "state", "finished", "val_loss", fmt.Sprintf("%.4f", 0.3+p.Float64()/5), "val_acc", fmt.Sprintf("%.3f", 0.7+p.Float64()/5))))
	}
	return entries, 0
}

// journalByTheHour reads the log of hour after hour; many hours have nothing.
func journalByTheHour(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.word()
	for hour := range p.between(6, 9) {
		text := "-- No entries --"
		if hour%3 != 1 {
			text = fmt.Sprintf("Nov 21 %02d:%02d:%02d web01 %s[812]: %s", hour+3, p.IntN(60), p.IntN(60), unit, p.phrase(4, 9))
		}
		entries = append(entries, h.shell(fmt.Sprintf("journalctl -u %s -p warning --since '2026-11-21 %02d:00' --until '2026-11-21 %02d:00' --no-pager", unit, hour+3, hour+4), text, 0))
	}
	return entries, 0
}

// stringsTranslated fills text after text of a catalogue.
func stringsTranslated(p *generator) (entries []entry, _ int) {
	path := "locale/" + p.pick("de", "fr", "it", "pt") + "/LC_MESSAGES/app.po"
	for range p.between(7, 12) {
		text := p.phrase(2, 5)
		entries = append(entries, call("Edit", object("file_path", path, "old_string", "msgid \""+text+"\"\nmsgstr \"\"", "new_string", "msgid \""+text+"\"\nmsgstr \""+p.phrase(2, 5)+"\""), quoted("The file "+path+" has been updated successfully.")))
	}
	return entries, 0
}
