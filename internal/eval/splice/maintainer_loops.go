package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that maintain a project on a code host: they review, merge and release.

func maintainerLoops() []kind {
	return []kind{
		{name: "comment_outside_the_diff", build: commentOutsideTheDiff},
		{name: "changelog_fragment_not_recognised", build: changelogFragmentNotRecognised},
		{name: "merge_queue_ejects_again", build: mergeQueueEjectsAgain},
		{name: "version_already_published", build: versionAlreadyPublished},
	}
}

// repository returns the owner and the name of a project.
func (p *generator) repository() (owner, name string) {
	return p.word() + p.pick("-labs", "hq", "-oss", "-io"), p.word() + p.pick("-core", "-sdk", "kit", "-cli", "")
}

// remark returns what a reviewer says about a line.
func (p *generator) remark() string {
	return p.pick("This can be null when the ", "Should we close the ", "Nit: rename this to match the ", "This is not safe if two requests share the ", "Please add a test for the ", "We lose the error of the ") + p.phrase(1, 3) + p.pick(".", " here.", "?", " in the error path.")
}

// commentOutsideTheDiff comments on a line that a pull request does not change. The host refuses it, and the agent guesses other lines.
func commentOutsideTheDiff(p *generator) (entries []entry, _ int) {
	owner, name := p.repository()
	run, number, path, form := p.commands(), p.between(12, 9000), "src/"+p.word()+"/"+p.word()+p.pick(".ts", ".py", ".go", ".rb", ".kt"), p.IntN(3)
	line, sha, what := p.between(40, 400), p.commit()[:40], p.remark()
	reworded := append([]string{what}, p.shuffled(what+" See above.", "Comment: "+what, strings.TrimSuffix(what, ".")+" - what do you think?", "**suggestion:** "+what)...)
	attempt := func() entry {
		at, body := max(1, line+p.between(-30, 30)), p.pick(reworded...)
		side := p.pick("RIGHT", "RIGHT", "LEFT")
		switch form {
		case 0:
			args := object("owner", owner, "repo", name, "pullNumber", number, "path", path, "body", body, "line", at, "side", side, "subjectType", p.pick("LINE", "LINE", "line"))
			if p.IntN(3) == 0 {
				args = object("owner", owner, "repo", name, "pullNumber", number, "path", path, "body", body, "startLine", max(1, at-p.between(1, 6)), "startSide", side, "line", at, "side", side, "subjectType", "LINE")
			}
			return failed("add_comment_to_pending_review", args, "failed to add comment to pending review: pull_request_review_thread.line must be part of the diff, pull_request_review_thread.diff_hunk can't be blank")
		case 1:
			more := ""
			if p.IntN(3) == 0 {
				more = fmt.Sprintf(" -F start_line=%d -f start_side=%s", max(1, at-p.between(1, 6)), side)
			}
			return run(fmt.Sprintf("gh api repos/%s/%s/pulls/%d/comments -f body=%s -f commit_id=%s -f path=%s -F line=%d -f side=%s%s", owner, name, number, quoted(body), sha, path, at, side, more), "{\"message\":\"Validation Failed\",\"errors\":[{\"resource\":\"PullRequestReviewComment\",\"code\":\"custom\",\"field\":\"pull_request_review_thread.line\",\"message\":\"could not be resolved\"}],\"documentation_url\":\"https://docs.github.com/rest/pulls/comments#create-a-review-comment-for-a-pull-request\",\"status\":\"422\"}\ngh: Validation Failed (HTTP 422)", 1)
		}
		position := object("base_sha", sha, "start_sha", sha, "head_sha", sha, "position_type", "text", "old_path", path, "new_path", path, "new_line", at)
		if side == "LEFT" {
			position = object("base_sha", sha, "start_sha", sha, "head_sha", sha, "position_type", "text", "new_path", path, "old_path", path, "old_line", at)
		}
		return failed("create_merge_request_thread", object("project_id", owner+"/"+name, "merge_request_iid", number, "body", body, "position", position), "GitLab API error: 400 Bad Request\n{\"message\":\"400 Bad request - Note {:line_code=>[\\\"can't be blank\\\", \\\"must be a valid line code\\\"]}\"}")
	}
	hunk := fmt.Sprintf("diff --git a/%s b/%s\n@@ -%d,7 +%d,9 @@\n%s\n+%s\n%s", path, path, line+90, line+90, p.code(p.between(2, 12)), p.code(1), p.code(p.between(2, 6)))
	look := func() entry {
		if form == 1 {
			return run(fmt.Sprintf("gh pr diff %d --repo %s/%s", number, owner, name), hunk, 0)
		}
		return call(p.pick("get_pull_request_diff", "pull_request_read"), object("owner", owner, "repo", name, "pullNumber", number, "method", "get_diff"), content(hunk))
	}
	w := wording{
		[]string{"I'll add my remark at line " + fmt.Sprint(line) + ".", "Now the comment on `" + path + "`."},
		[]string{"The line was not accepted.", "It says that the line is not part of the diff.", "Validation failed again.", "Rejected.", "The position is still wrong.", ""},
		[]string{"Let me try another line.", "I'll use another line number.", "Let me place it differently.", "Let me adjust the position.", "I'll try it with other parameters."},
	}
	for k := range p.rounds(4) {
		t := w.early(p, k)
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, look().after(thought{t.seen, p.pick("Let me look at the diff again.", "Which lines does the diff have?")}))
			t.seen = ""
		}
		entries = append(entries, attempt().after(t))
	}
	return entries, 1
}

// fragmentGate is a check that wants a file about the change. The files have to be committed and to be named by its rules.
type fragmentGate struct {
	checks []string
	report string
	names  []string
	text   func(message string) string
	steps  [][2]string // other things that are tried, and what they print
}

func (p *generator) fragmentGate() fragmentGate {
	number, name := fmt.Sprint(p.between(200, 9999)), p.word()
	switch p.IntN(3) {
	case 0:
		plain := func(message string) string { return message + "\n" }
		return fragmentGate{
			[]string{"towncrier check --compare-with origin/main", "towncrier check", "tox -e news"},
			"Looking at these files:\n----\n1. src/" + name + "/__init__.py\n2. src/" + name + "/models.py\n----\nNo new newsfragments found on this branch.",
			[]string{"newsfragments/" + number + ".bugfix", "newsfragments/" + number + ".fix.md", "changelog.d/" + number + ".bugfix.rst", "newsfragments/" + number + ".bugfix.rst", "newsfragments/+" + name + ".misc.md", "changes/" + number + ".bugfix.md", "docs/newsfragments/" + number + ".feature.md"},
			plain,
			[][2]string{{"towncrier create " + number + ".bugfix.md", "Created news fragment at /src/newsfragments/" + number + ".bugfix.md"}, {"git fetch origin main", "From github.com:" + name + "/" + name + "\n * branch            main       -> FETCH_HEAD"}, {"git status --short", " M src/" + name + "/models.py\n?? newsfragments/"}},
		}
	case 1:
		scope := "@" + name + "/"
		return fragmentGate{
			[]string{"npx changeset status --since=origin/main", "pnpm changeset status --since=main", "yarn changeset status --since=origin/main"},
			"🦋  error Some packages have been changed but no changesets were found. Run `changeset add` to resolve this error.\n🦋  error If this change doesn't need a release, run `changeset add --empty`.",
			[]string{".changesets/fix-" + name + ".md", "changeset/" + number + ".md", ".changeset/" + name + "-fix.mdx", "packages/core/.changeset/brave-" + name + "s-jump.md", ".changeset/fix/" + number + ".md", "CHANGESET-" + number + ".md"},
			func(message string) string {
				return "---\n\"" + scope + p.pick("core", "client", "server") + "\": " + p.pick("patch", "minor") + "\n---\n\n" + message + "\n"
			},
			[][2]string{{"ls -a .changeset", ".\n..\nREADME.md\nconfig.json"}, {"cat .changeset/config.json", "{\n  \"$schema\": \"https://unpkg.com/@changesets/config@3.0.0/schema.json\",\n  \"changelog\": \"@changesets/cli/changelog\",\n  \"commit\": false,\n  \"access\": \"public\",\n  \"baseBranch\": \"main\"\n}"}, {"pnpm install --frozen-lockfile", "Lockfile is up to date, resolution step is skipped\nAlready up to date\nDone in 1.1s"}},
		}
	}
	return fragmentGate{
		[]string{"make check-changelog", "./hack/check-changelog.sh " + number, "make changelog-check PR=" + number},
		"Checking changelog entry for #" + number + " ...\nERROR: .changelog/" + number + ".txt is missing or has no ```release-note block\nmake: *** [Makefile:88: check-changelog] Error 1",
		[]string{".changelog/" + number + ".md", ".changelog/" + number, ".changelog/unreleased/" + number + ".txt", "changelog/" + number + ".txt", ".changelog/" + name + ".txt", ".changelog/#" + number + ".txt"},
		func(message string) string {
			return p.pick("release-note:bug\n", "```release-notes:bug\n", "```\nrelease-note:bug\n") + name + ": " + message + "\n```\n"
		},
		[][2]string{{"ls .changelog | tail -3", "CHANGELOG.tmpl\nREADME.md\nnote.tmpl"}, {"git status --short", " M internal/" + name + "/client.go"}},
	}
}

// changelogFragmentNotRecognised writes the note of a change under one name after the other; the check finds none of them.
func changelogFragmentNotRecognised(p *generator) (entries []entry, _ int) {
	h, g := p.harness(), p.fragmentGate()
	message := p.pick("Fix the ", "Handle the ", "Correct the ") + p.phrase(2, 4) + "."
	messages := []string{message, strings.TrimSuffix(message, "."), message + " Thanks for the report.", "Bug fix: " + strings.ToLower(message)}
	w := wording{
		[]string{"Let me run the changelog check.", "CI wants a changelog entry. First the check."},
		[]string{"It is still not found.", "The check does not see the file.", "Same message.", "Not recognised.", "The entry is still missing, according to the check.", ""},
		[]string{"I'll write it again under another name.", "Let me rewrite the fragment.", "Let me try another name.", "I'll write it in another form."},
	}
	check := func() entry { return h.shell(p.pick(g.checks...), g.report, 1) }
	entries = append(entries, check().after(w.of(p, 0)))
	last := ""
	for k := range p.rounds(3) {
		t := w.of(p, k+1)
		if k == 0 {
			t = thought{p.pick("There is no note of this change yet.", "A fragment is needed.", ""), p.pick("I'll write one.", "Let me add it.")}
		}
		name := p.pick(g.names...)
		switch form := p.IntN(4); {
		case k > 0 && form == 0:
			step := g.steps[p.IntN(len(g.steps))]
			t.next = p.pick("Let me look at the setup.", "Perhaps something else is missing.", "")
			entries = append(entries, h.shell(step[0], step[1], 0).after(t))
		case last != "" && last != name && form == 1:
			t.next = p.pick("Let me rename it.", "Perhaps it belongs elsewhere.", "Let me move it.")
			entries = append(entries, h.shell("mkdir -p $(dirname "+name+") && mv "+last+" "+name, "", 0).after(t))
			last = name
		default:
			entries = append(entries, h.create(name, g.text(p.pick(messages...))).after(t))
			last = name
		}
		entries = append(entries, check().after(thought{"", p.pick("Check again.", "Now the check.", "Does it find it?", "Let me run the check.", "")}))
	}
	return entries, 2
}

// mergeQueue is how a code host takes a change into its queue, and how it tells that the change was taken out again.
type mergeQueue struct {
	enqueue func() entry
	waits   func() entry // the change is in the queue
	ejected func() entry
}

func (p *generator) mergeQueue() mergeQueue {
	owner, name := p.repository()
	run, number, now, job := p.waitingShell(), p.between(40, 9000), p.passingTime(), p.pick("e2e (chromium)", "integration / postgres", "build-windows", "license-check", "unit (3.13)")
	full, sha := owner+"/"+name, p.commit()[:40]
	switch p.IntN(3) {
	case 0:
		return mergeQueue{
			func() entry {
				return run(fmt.Sprintf("gh pr merge %d --repo %s %s", number, full, p.pick("--squash", "--auto --squash", "--merge", "--auto")), fmt.Sprintf("✓ Pull request %s#%d will be added to the merge queue for main when ready", full, number), 0)
			},
			func() entry {
				return run(fmt.Sprintf("gh pr view %d --repo %s --json state,mergeStateStatus,isInMergeQueue", number, full), "{\"isInMergeQueue\":true,\"mergeStateStatus\":\"CLEAN\",\"state\":\"OPEN\"}", 0)
			},
			func() entry {
				return run(fmt.Sprintf("sleep %d && gh api repos/%s/issues/%d/timeline --jq '.[-1] | {event, created_at, reason}'", p.pickInt(60, 120, 300), full, number), "{\"created_at\":\""+now()+"\",\"event\":\"removed_from_merge_queue\",\"reason\":\"failed_checks: "+job+"\"}", 0)
			},
		}
	case 1:
		return mergeQueue{
			func() entry {
				return call("add_issue_comment", object("owner", owner, "repo", name, "issue_number", number, "body", p.pick("@mergifyio queue", "@mergifyio queue default", "@Mergifyio queue")), content(fmt.Sprintf("{\"id\":%d,\"html_url\":\"https://github.com/%s/pull/%d\",\"created_at\":\"%s\"}", p.between(2_000_000_000, 2_100_000_000), full, number, now())))
			},
			func() entry {
				return call("get_issue_comments", object("owner", owner, "repo", name, "issue_number", number, "perPage", 1), content("**mergify[bot]** "+now()+"\n> queue\n#### 🟠 The pull request is the "+p.pick("1st", "2nd", "3rd")+" in the queue to be merged"))
			},
			func() entry {
				return call("get_issue_comments", object("owner", owner, "repo", name, "issue_number", number, "perPage", 1), content("**mergify[bot]** "+now()+"\n> queue\n#### 🛑 The pull request has been removed from the queue `default`\nThe queue conditions cannot be satisfied due to failing checks: `"+job+"`.\nYou should look at the reason for the failure and decide if the pull request needs to be fixed or if you want to requeue it."))
			},
		}
	}
	return mergeQueue{
		func() entry {
			return call("http_request", object("method", "POST", "url", fmt.Sprintf("https://gitlab.example/api/v4/projects/%s%%2F%s/merge_trains/merge_requests/%d", owner, name, number), "body", object("when_pipeline_succeeds", p.coin(), "sha", sha)), object("status", 201, "body", object("iid", number, "status", "idle", "created_at", now())))
		},
		func() entry {
			return call("http_request", object("method", "GET", "url", fmt.Sprintf("https://gitlab.example/api/v4/projects/%s%%2F%s/merge_trains/merge_requests/%d", owner, name, number)), object("status", 200, "body", object("iid", number, "status", p.pick("fresh", "idle"), "pipeline", p.between(400_000, 499_999))))
		},
		func() entry {
			return call("http_request", object("method", "GET", "url", fmt.Sprintf("https://gitlab.example/api/v4/projects/%s%%2F%s/merge_requests/%d/notes?per_page=1", owner, name, number)), object("status", 200, "body", object("id", p.between(90_000, 99_999), "system", true, "body", "removed this merge request from the merge train because the pipeline did not succeed ("+job+")", "created_at", now())))
		},
	}
}

// mergeQueueEjectsAgain puts a change into the queue for merging again and again; the same check fails there, and the queue removes it.
func mergeQueueEjectsAgain(p *generator) (entries []entry, _ int) {
	q := p.mergeQueue()
	w := wording{
		[]string{"The review is done, so I queue the pull request.", "Let me add it to the merge queue."},
		[]string{"It was removed from the queue.", "The queue dropped it again.", "Not merged: it was taken out.", "A check failed in the queue.", "Probably a flaky check.", ""},
		[]string{"Let me queue it again.", "I'll requeue it.", "Back into the queue.", "Let me retry the merge.", "Another attempt to merge."},
	}
	waits := p.IntN(3)
	for k := range p.rounds(3) {
		entries = append(entries, q.enqueue().after(w.early(p, k)))
		if k > 0 && p.IntN(3) < waits {
			entries = append(entries, q.waits().after(thought{"", p.pick("Is it in the queue?", "Let me see how far it is.", "")}))
		}
		entries = append(entries, q.ejected().after(thought{"", p.pick("Has it been merged?", "Let me check the result.", "Now the state of the pull request.", "")}))
	}
	return entries, 2
}

// takenVersion is a package of which this version is in the registry already.
type takenVersion struct {
	publish []string
	refused func() string
	steps   [][2]string
}

func (p *generator) takenVersion() takenVersion {
	_, name := p.repository()
	version, size := fmt.Sprintf("%d.%d.%d", p.IntN(5), p.IntN(20), p.IntN(9)), p.between(9, 400)
	tags := [][2]string{
		{"git tag -f v" + version + " && git push -f origin v" + version, "Updated tag 'v" + version + "' (was %07x)\nTo github.com:" + name + "/" + name + ".git\n + %07x...%07x v" + version + " -> v" + version + " (forced update)"},
		{"git status --short", ""},
	}
	switch p.IntN(4) {
	case 0:
		return takenVersion{
			[]string{"npm publish", "npm publish --access public", "npm publish --force", "npm publish --tag latest", "npm publish --provenance"},
			func() string {
				return fmt.Sprintf("npm notice\nnpm notice 📦  %s@%s\nnpm notice Tarball Contents\nnpm notice 1.1kB LICENSE\nnpm notice %d.%dkB dist/index.js\nnpm notice total files: 9\nnpm notice\nnpm error code E403\nnpm error 403 403 Forbidden - PUT https://registry.npmjs.org/%s - You cannot publish over the previously published versions: %s.\nnpm error 403 In most cases, you or one of your dependencies are requesting\nnpm error 403 a package version that is forbidden by your security policy, or\nnpm error 403 on a server you do not have access to.\nnpm error A complete log of this run can be found in: /srv/app/.npm/_logs/2026-06-%02dT%02d_%02d_%02d_%03dZ-debug-0.log", name, version, size, p.IntN(10), name, version, p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60), p.IntN(1000))
			},
			append(tags, [][2]string{{"npm whoami", name + "-bot"}, {"npm cache clean --force", "npm warn using --force Recommended protections disabled."}, {"rm -rf dist && npm run build", "\n> " + name + "@" + version + " build\n> tsup src/index.ts\n\nESM dist/index.js     " + fmt.Sprint(size) + ".20 KB\nESM ⚡️ Build success in 41ms"}, {"npm login --auth-type=legacy", "npm notice Log in on https://registry.npmjs.org/\nLogged in as " + name + "-bot on https://registry.npmjs.org/."}}...),
		}
	case 1:
		file := strings.ReplaceAll(name, "-", "_") + "-" + version
		return takenVersion{
			[]string{"twine upload dist/*", "python -m twine upload --verbose dist/*", "twine upload dist/*.whl", "twine upload --non-interactive dist/*", "python -m twine upload --repository pypi dist/*"},
			func() string {
				return fmt.Sprintf("Uploading distributions to https://upload.pypi.org/legacy/\nUploading %s-py3-none-any.whl\n100%% ━━━━━━━━━━━━━━━━━━━━━━━━━━━━ %d.%d/%d.%d kB • 00:00 • %d.%d MB/s\nERROR    HTTPError: 400 Bad Request from https://upload.pypi.org/legacy/\n         File already exists ('%s-py3-none-any.whl', with blake2_256 hash\n         '%016x'). See https://pypi.org/help/#file-name-reuse for more information.", file, size, 1, size, 1, p.between(1, 30), p.IntN(10), file, p.Uint64())
			},
			append(tags, [][2]string{{"rm -rf dist build && python -m build", "* Creating isolated environment: venv+pip...\n* Building sdist...\n* Building wheel from sdist\nSuccessfully built " + file + ".tar.gz and " + file + "-py3-none-any.whl"}, {"twine check dist/*", "Checking dist/" + file + "-py3-none-any.whl: PASSED\nChecking dist/" + file + ".tar.gz: PASSED"}, {"cat ~/.pypirc | grep -v password", "[distutils]\nindex-servers = pypi\n\n[pypi]\nusername = __token__"}}...),
		}
	case 2:
		return takenVersion{
			[]string{"cargo publish", "cargo publish --allow-dirty", "cargo publish --no-verify", "cargo publish -p " + name},
			func() string {
				return fmt.Sprintf("    Updating crates.io index\n   Packaging %s v%s (/src/%s)\n    Packaged %d files, %d.%dKiB\n   Verifying %s v%s\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in %d.%02ds\n   Uploading %s v%s\nerror: failed to publish to registry at https://crates.io\n\nCaused by:\n  the remote server responded with an error (status 400 Bad Request): crate version `%s` is already uploaded", name, version, name, 5+size/9, size, 4, name, version, p.between(1, 30), p.IntN(100), name, version, version)
			},
			append(tags, [][2]string{{"cargo package --list", "Cargo.lock\nCargo.toml\nLICENSE\nREADME.md\nsrc/lib.rs"}, {"cargo clean && cargo build --release", "     Removed 911 files, 240.1MiB total\n   Compiling " + name + " v" + version + "\n    Finished `release` profile [optimized] target(s) in 14.20s"}, {"cargo login", "please paste the token found on https://crates.io/me below\n       Login token for `crates-io` saved"}}...),
		}
	}
	id := strings.ReplaceAll(capitalized(name), "-", ".")
	return takenVersion{
		[]string{"dotnet nuget push bin/Release/*.nupkg --source nuget.org", "dotnet nuget push artifacts/" + id + "." + version + ".nupkg --api-key $NUGET_KEY --source https://api.nuget.org/v3/index.json", "dotnet nuget push bin/Release/" + id + "." + version + ".nupkg -s nuget.org --no-symbols"},
		func() string {
			return fmt.Sprintf("Pushing %s.%s.nupkg to 'https://www.nuget.org/api/v2/package'...\n  PUT https://www.nuget.org/api/v2/package/\n  Conflict https://www.nuget.org/api/v2/package/ %dms\nerror: Response status code does not indicate success: 409 (A package with ID '%s' and version '%s' already exists and cannot be modified.).", id, version, p.between(200, 3000), id, version)
		},
		append(tags, [][2]string{{"dotnet pack -c Release", "  Determining projects to restore...\n  All projects are up-to-date for restore.\n  " + id + " -> /src/bin/Release/net8.0/" + id + ".dll\n  Successfully created package '/src/bin/Release/" + id + "." + version + ".nupkg'."}, {"dotnet nuget locals all --clear", "Clearing NuGet HTTP cache: /srv/app/.local/share/NuGet/http-cache\nClearing NuGet global packages folder: /srv/app/.nuget/packages/\nLocal resources cleared."}}...),
	}
}

// versionAlreadyPublished builds a package again and publishes it by other commands; the registry has this version already.
func versionAlreadyPublished(p *generator) (entries []entry, _ int) {
	run, v := p.commands(), p.takenVersion()
	w := wording{
		[]string{"All is ready, so I publish the package.", "Now the release. Let me publish."},
		[]string{"Publishing failed.", "The registry refused it.", "The upload was rejected again.", "Same error on publish.", ""},
		[]string{"Let me publish again.", "I'll retry with another flag.", "Let me try the upload once more.", "Now publish it.", "It should go through now."},
	}
	publish := func(t thought) entry { return run(p.pick(v.publish...), v.refused(), 1).after(t) }
	entries = append(entries, publish(w.of(p, 0)))
	for k := range p.rounds(3) {
		t := w.early(p, k+1)
		if k == 0 || p.IntN(3) > 0 {
			step := v.steps[p.IntN(len(v.steps))]
			output := step[1]
			if n := strings.Count(output, "%07x"); n > 0 {
				output = fmt.Sprintf(output, p.IntN(1<<28), p.IntN(1<<28), p.IntN(1<<28))
			}
			entries = append(entries, run(step[0], output, 0).after(thought{t.seen, p.pick("Let me build it freshly.", "Let me check the setup.", "I'll clean up and try again.", "First something else.", "")}))
			t.seen = ""
		}
		entries = append(entries, publish(t))
	}
	return entries, 2
}
