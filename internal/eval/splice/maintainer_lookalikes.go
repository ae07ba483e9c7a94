package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of maintainers: one file of a release, one commit, one action or one dependent after the other.

func maintainerLookalikes() []kind {
	return []kind{
		{name: "release_assets_verified_by_platform", build: releaseAssetsVerifiedByPlatform},
		{name: "changelog_written_from_commits", build: changelogWrittenFromCommits},
		{name: "actions_pinned_to_commits", build: actionsPinnedToCommits},
		{name: "dependents_tested_with_candidate", build: dependentsTestedWithCandidate},
	}
}

// releaseAssetsVerifiedByPlatform downloads the archive of one platform after the other and verifies it; all answers say that it is sound.
func releaseAssetsVerifiedByPlatform(p *generator) (entries []entry, _ int) {
	owner, name := p.repository()
	run, version, form := p.waitingShell(), fmt.Sprintf("v%d.%d.%d", p.between(0, 4), p.IntN(30), p.IntN(9)), p.IntN(3)
	platforms := p.shuffled("linux-amd64", "linux-arm64", "linux-armv7", "darwin-amd64", "darwin-arm64", "windows-amd64", "windows-arm64", "freebsd-amd64", "linux-riscv64", "linux-ppc64le", "alpine-amd64", "linux-s390x")[:p.between(6, 12)]
	w := wording{
		[]string{"I'll verify the assets of " + version + ", platform by platform.", "Let me check the release files one by one."},
		[]string{"Checksum and signature are fine.", "That one is sound.", "Verified.", "OK.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "On to `%s`.", "Then `%s`."},
	}
	unpacks := p.coin()
	for k, platform := range platforms {
		file, digest := fmt.Sprintf("%s_%s_%s.tar.gz", name, version, platform), p.commit()[:40]+p.commit()[:24]
		fetch := fmt.Sprintf("gh release download %s --repo %s/%s --pattern '%s'", version, owner, name, file)
		check, answer := "grep "+file+" checksums.txt | sha256sum -c -", file+": OK"
		switch form {
		case 1:
			check, answer = fmt.Sprintf("gh attestation verify %s --repo %s/%s", file, owner, name), fmt.Sprintf("Loaded digest sha256:%s for file://%s\nLoaded 1 attestation from GitHub API\n\nThe following policy criteria will be enforced:\n- Predicate type must match:................ https://slsa.dev/provenance/v1\n- Source Repository Owner URI must match:... https://github.com/%s\n- Source Repository URI must match:......... https://github.com/%s/%s\n- Subject Alternative Name must match regex: (?i)^https://github.com/%s/%s/\n- OIDC Issuer must match:................... https://token.actions.githubusercontent.com\n\n✓ Verification succeeded!\n\nThe following 1 attestation matched the policy criteria\n\n- Attestation #1\n  - Build repo:..... %s/%s\n  - Build workflow:. .github/workflows/release.yml@refs/tags/%s", digest, file, owner, owner, name, owner, name, owner, name, version)
		case 2:
			check, answer = fmt.Sprintf("cosign verify-blob --bundle %s.bundle --certificate-identity-regexp %s --certificate-oidc-issuer https://token.actions.githubusercontent.com %s", file, owner, file), "Verified OK"
		}
		entries = append(entries, run(fetch, "", 0).after(w.nextOf(p, k, platform)), run(check, answer, 0).after(thought{"", p.pick("Verify it.", "Does it match?", "")}))
		if unpacks {
			entries = append(entries, run("tar tzf "+file, fmt.Sprintf("%s_%s_%s/\n%s_%s_%s/LICENSE\n%s_%s_%s/README.md\n%s_%s_%s/%s", name, version, platform, name, version, platform, name, version, platform, name, version, platform, name), 0).after(thought{"", p.pick("And its contents.", "")}))
		}
	}
	return append(entries, say(fmt.Sprintf("All %d archives of %s are sound.", len(platforms), version))), 0
}

// change is a commit of a release and the line about it in the changelog.
type change struct{ sha, subject, section string }

func (p *generator) change() change {
	section := p.pick("Added", "Changed", "Fixed", "Fixed", "Fixed", "Removed")
	verbs := map[string]string{"Added": "feat: add", "Changed": "refactor: move", "Fixed": "fix: handle", "Removed": "chore: drop"}
	return change{p.commit()[:40], verbs[section] + " " + p.phrase(2, 5), section}
}

// changelogWrittenFromCommits reads one commit after the other and writes a line about it; commits of no interest to users get none.
func changelogWrittenFromCommits(p *generator) (entries []entry, _ int) {
	h, number, now := p.harness(), p.between(300, 4000), p.passingTime()
	byHost := p.IntN(3) == 0
	owner, name := p.repository()
	w := wording{
		[]string{"I'll go through the commits since the last release.", "Let me write the changelog, commit by commit."},
		[]string{"Noted.", "That one is in.", "Written.", ""},
		[]string{"Next commit.", "Now `%s`.", "Then `%s`.", "On to the next one."},
	}
	last := "## Unreleased"
	for k := range p.between(6, 14) {
		c, files := p.change(), ""
		number += p.between(1, 9)
		internal := p.IntN(4) == 0
		if internal {
			c.subject = p.pick("ci: ", "test: ", "chore(deps): bump ") + p.phrase(1, 3)
		}
		n := p.between(1, 12)
		for range n {
			files += fmt.Sprintf("\n %s | %d %s", p.path(), p.between(1, 90), strings.Repeat("+", p.between(1, 20))+strings.Repeat("-", p.IntN(9)))
		}
		read := h.shell("git show --stat --format='%h %an %ad%n%s%n%n%b' "+c.sha[:9], fmt.Sprintf("%s %s %s\n%s (#%d)\n\n%s\n%s\n %d files changed", c.sha[:9], p.person(), now(), c.subject, number, capitalized(p.phrase(4, 12))+".", files, n), 0)
		if byHost {
			read = call("get_pull_request", object("owner", owner, "repo", name, "pullNumber", number), content(string(object("number", number, "title", c.subject, "merged_at", now(), "user", p.person(), "changed_files", n, "body", capitalized(p.phrase(4, 20))+"."))))
		}
		entries = append(entries, read.after(w.nextOf(p, k, c.sha[:9])))
		if internal {
			continue
		}
		_, what, _ := strings.Cut(c.subject, ": ")
		line := fmt.Sprintf("- %s: %s (#%d)", c.section, what, number)
		entries = append(entries, h.replace("CHANGELOG.md", last, last+"\n"+line).after(thought{p.pick("Users notice that.", "Worth a line.", ""), p.pick("I'll add it.", "Into the changelog.", "")}))
		last = line
	}
	return entries, 0
}

// actionsPinnedToCommits looks up the commit of one action after the other and writes it into the workflows.
func actionsPinnedToCommits(p *generator) (entries []entry, _ int) {
	h := p.harness()
	actions := p.shuffled("actions/checkout@v4", "actions/setup-node@v4", "actions/setup-python@v5", "actions/setup-go@v5", "actions/setup-java@v4", "actions/cache@v4", "actions/upload-artifact@v4", "actions/download-artifact@v4", "docker/setup-buildx-action@v3", "docker/login-action@v3", "docker/build-push-action@v6", "github/codeql-action@v3", "codecov/codecov-action@v5", "softprops/action-gh-release@v2", "ruby/setup-ruby@v1", "golangci/golangci-lint-action@v6")[:p.between(5, 13)]
	files := []string{".github/workflows/ci.yml", ".github/workflows/release.yml", ".github/workflows/nightly.yml"}
	w := wording{
		[]string{"I'll pin the actions to commits, one by one.", "Let me start with `" + actions[0] + "`."},
		[]string{"Pinned.", "That one is done.", "Done.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "Then `%s`."},
	}
	bySed, lints := p.coin(), p.IntN(3) == 0
	for k, action := range actions {
		name, tag, _ := strings.Cut(action, "@")
		sha := p.commit()[:40]
		ask, answer := "gh api repos/"+name+"/commits/"+tag+" --jq .sha", sha
		if p.IntN(5) == 0 {
			ask, answer = "git ls-remote https://github.com/"+name+" refs/tags/"+tag, sha+"\trefs/tags/"+tag
		}
		entries = append(entries, h.shell(ask, answer, 0).after(w.nextOf(p, k, action)))
		pinned := name + "@" + sha + " # " + tag
		if bySed {
			entries = append(entries, h.shell("sed -i 's|uses: "+action+"$|uses: "+pinned+"|' .github/workflows/*.yml", "", 0).after(thought{"", p.pick("Write it into the workflows.", "Replace the tag.", "")}))
		} else {
			entries = append(entries, h.replace(p.pick(files...), "      - uses: "+action, "      - uses: "+pinned).after(thought{"", p.pick("Replace the tag.", "Pin it.", "")}))
		}
		if lints {
			entries = append(entries, h.shell("grep -c 'uses: "+name+"@"+sha[:7]+"' .github/workflows/*.yml", fmt.Sprintf("%s:%d\n%s:%d\n%s:%d", files[0], p.between(1, 5), files[1], p.IntN(3), files[2], p.IntN(3)), 0))
		}
	}
	return append(entries, h.shell("grep -rnE 'uses: [^ ]+@v[0-9]' .github/workflows || echo none", "none", 0).after(thought{"All are replaced.", "Is any tag left?"})), 0
}

// dependentsTestedWithCandidate installs a release candidate in one dependent project after the other and runs its tests; most of them pass.
func dependentsTestedWithCandidate(p *generator) (entries []entry, _ int) {
	owner, name := p.repository()
	run, version, form := p.patientHarness().shell, fmt.Sprintf("%d.%d.0", p.between(1, 6), p.between(0, 30)), p.IntN(3)
	w := wording{
		[]string{"I'll test the candidate with the projects that depend on it.", "Let me run the dependents' tests, one by one."},
		[]string{"Their tests pass.", "No regression there.", "Green.", "That one works.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "On to `%s`.", "Then `%s`."},
	}
	failures := 0
	for k, project := range p.distinctWords(p.between(5, 10)) {
		project += p.pick("-app", "-plugin", "-server", "")
		tests, broken := p.between(9, 900), p.IntN(6) == 0
		spent := fmt.Sprintf("%d.%02d", p.between(1, 90), p.IntN(100))
		install, installed := fmt.Sprintf("cd /src/%s && pip install -q '%s==%src1' && pytest -q", project, name, version), fmt.Sprintf("%s\n%d passed, %d warnings in %ss", strings.TrimSpace(strings.Repeat(strings.Repeat(".", 72)+"\n", 1+tests/72)), tests, p.IntN(9), spent)
		switch form {
		case 1:
			install, installed = fmt.Sprintf("cd /src/%s && npm i %s@%s-rc.1 --no-audit && npm test", project, name, version), fmt.Sprintf("\nchanged 1 package in %ds\n\n> %s@%d.0.0 test\n> vitest run\n\n Test Files  %d passed (%d)\n      Tests  %d passed (%d)\n   Duration  %ss", p.between(1, 20), project, p.between(1, 9), 1+tests/20, 1+tests/20, tests, tests, spent)
		case 2:
			install, installed = fmt.Sprintf("cd /src/%s && go get example.com/%s@v%s-rc.1 && go test ./...", project, name, version), fmt.Sprintf("go: upgraded example.com/%s => v%s-rc.1", name, version)
			for range p.between(1, 14) {
				installed += fmt.Sprintf("\nok  \texample.com/%s/%s\t%d.%03ds", project, p.word(), p.IntN(9), p.IntN(1000))
			}
		}
		status := 0
		if broken {
			installed, status = installed+fmt.Sprintf("\n\nFAILED %s: the option %s was removed in %s", p.path(), p.word(), version), 1
			failures++
		}
		entries = append(entries, run("git clone -q --depth 1 https://github.com/"+owner+"/"+project+" /src/"+project, "", 0).after(w.nextOf(p, k, project)), run(install, installed, status).after(thought{"", p.pick("Install the candidate and test.", "Now its tests with the candidate.", "")}))
		if broken {
			entries = append(entries, run("echo '- "+project+": uses a removed option' >> rc-notes.md", "", 0).after(thought{"A regression for this project.", "I'll note it."}))
		}
	}
	return append(entries, say(fmt.Sprintf("The candidate is tested; %d of the projects have failures.", failures))), 0
}
