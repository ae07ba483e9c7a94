package splice

import (
	"cmp"
	"fmt"
	"strings"
)

// The loops of this file are those of coding agents at a terminal whose build, signature, pipeline or quoting never gets right.

func releaseLoops() []kind {
	return []kind{
		{name: "profile_not_found", build: profileNotFound},
		{name: "style_file_missing", build: styleFileMissing},
		{name: "failed_jobs_rerun", build: failedJobsRerun},
		{name: "quote_never_closes", build: quoteNeverCloses},
		{name: "prompt_waits_for_keys", build: promptWaitsForKeys},
		{name: "disk_stays_full", build: diskStaysFull},
		{name: "pattern_finds_nothing", build: patternFindsNothing},
		{name: "release_checklist_again", build: releaseChecklistAgain},
	}
}

// profileNotFound builds an app with other signing settings; no provisioning profile matches.
func profileNotFound(p *generator) (entries []entry, _ int) {
	h, app := p.harness(), p.word()
	bundle := "com.acme." + app
	for range p.between(5, 8) {
		command := "xcodebuild -scheme " + app + " -configuration " + p.pick("Debug", "Release") + p.pick("", " -sdk iphoneos", " -destination 'generic/platform=iOS'", " archive") +
			p.pick("", " CODE_SIGN_STYLE=Automatic", " CODE_SIGN_STYLE=Manual", " DEVELOPMENT_TEAM=9ZXK4T2P7L", " -quiet", " CODE_SIGN_IDENTITY='Apple Development'") + " 2>&1 | tail -" + fmt.Sprint(p.between(5, 40))
		var output strings.Builder
		for _, unit := range p.words(p.between(0, 5)) {
			fmt.Fprintf(&output, "CompileSwift normal arm64 /srv/%s/Sources/%s.swift (in target '%s' from project '%s')\n", app, unit, app, app)
		}
		fmt.Fprintf(&output, "/srv/%s/%s.xcodeproj: error: No profiles for '%s' were found: Xcode couldn't find any %s provisioning profiles matching '%s'. (in target '%s' from project '%s')\n** %s FAILED **",
			app, app, bundle, p.pick("iOS App Development", "iOS App Store", "iOS Ad Hoc"), bundle, app, app, p.pick("BUILD", "BUILD", "ARCHIVE"))
		entries = append(entries,
			say(p.pick("It could be the signing style. I'll switch it and build again.", "The team may be wrong, another build with it set.", "Let me try the build with other signing settings.", "Maybe the archive action resolves the profile.")),
			h.shell(command, output.String(), 65))
	}
	return entries, 3
}

// styleFileMissing typesets a document; between pages of output one style file is missing.
func styleFileMissing(p *generator) (entries []entry, _ int) {
	h, paper, style := p.harness(), p.word(), p.word()
	for range p.between(4, 7) {
		engine := p.pick("pdflatex", "xelatex", "lualatex", "latexmk -pdf", "latexmk -xelatex")
		banner := map[string]string{"xelatex": "XeTeX", "latexmk -xelatex": "XeTeX", "lualatex": "LuaHBTeX"}[engine]
		var output strings.Builder
		fmt.Fprintf(&output, "This is %s, Version 3.14159265 (TeX Live 2023)\nrestricted \\write18 enabled.\nentering extended mode\n(./%s.tex\nLaTeX2e <2023-11-01> patch level 1\n", cmp.Or(banner, "pdfTeX"), paper)
		for _, used := range p.words(p.between(4, 12)) {
			fmt.Fprintf(&output, "(/usr/share/texlive/texmf-dist/tex/latex/%s/%s.sty)\n", used, used)
		}
		fmt.Fprintf(&output, "\n! LaTeX Error: File `%s.sty' not found.\n\nType X to quit or <RETURN> to proceed,\nor enter new name. (Default extension: sty)\n\nEnter file name: \n! Emergency stop.\n<read *> \n         \nl.%d \\usepackage\n                {%s}^^M\n!  ==> Fatal error occurred, no output PDF file produced!", style, p.between(3, 30), style)
		try := h.shell(p.pick("texhash", "kpsewhich "+style+".sty || true", "sudo mktexlsr"), "", 0)
		if p.coin() {
			try = h.shell("tlmgr "+p.pick("", "--usermode ")+"install "+style, "tlmgr: package repository https://mirror.ctan.example/systems/texlive/tlnet (not verified: gpg unavailable)\ntlmgr install: package "+style+" not present in repository.", 1)
		}
		entries = append(entries, try, h.shell(engine+" -interaction=nonstopmode "+paper+".tex", output.String(), 1))
	}
	return entries, 2
}

// failedJobsRerun starts the failed jobs of a run again, without a change, and they fail again.
func failedJobsRerun(p *generator) (entries []entry, _ int) {
	h, run, job := p.harness(), 9_000_000_000+p.IntN(1e9), p.pick("integration", "e2e (chromium)", "build-arm64", "package")
	for k := range p.between(3, 6) {
		entries = append(entries,
			h.shell(fmt.Sprintf("gh run rerun %d --failed%s", run, p.pick("", " --debug")), fmt.Sprintf("✓ Requested rerun (failed jobs) of run %d", run), 0),
			h.shell(fmt.Sprintf("gh run watch %d --exit-status --interval %d", run, p.between(5, 30)), fmt.Sprintf("X main CI · %d\nTriggered via push about %d minutes ago\n\nJOBS\n✓ lint in %ds (ID %d)\nX %s in %dm%ds (ID %d)\n  ✓ Set up job\n  ✓ Run actions/checkout@v4\n  X Run make %s\n\nANNOTATIONS\nX Process completed with exit code 2.\n%s: .github#%d", run, 9*k+p.between(9, 16), p.between(20, 40), p.between(2e10, 3e10), job, p.between(3, 6), p.IntN(60), p.between(2e10, 3e10), strings.Fields(job)[0], job, p.between(20, 29)), 1),
			say(p.pick("It may have been a flake. I'll rerun it.", "Let me rerun the failed job once more.", "Failed again, but this looks like runner noise. Rerunning.", "I'll give it another run, with debug logging perhaps.")))
	}
	return entries, 3
}

// quoteNeverCloses writes a program into a command line, in which a quote stays open each time.
func quoteNeverCloses(p *generator) (entries []entry, _ int) {
	h, file := p.harness(), p.word()
	for range p.between(4, 8) {
		lines := p.between(6, 20)
		opening := p.pick("python3 -c \"", "node -e \"", "cat > /tmp/"+file+".py << EOF\n", "bash -c '", "perl -e \"")
		entries = append(entries,
			h.shell(opening+p.code(lines)+p.pick("\nprint('don't')\"", "\nprint(f\"{x}\")'", "\necho \"it's\"", "\n'''"), fmt.Sprintf("bash: -c: line %d: unexpected EOF while looking for matching `%s'", lines+p.IntN(3), p.pick("\"", "'")), 2))
	}
	return entries, 1
}

// promptWaitsForKeys starts a generator that asks which template to use, and nobody can press a key.
func promptWaitsForKeys(p *generator) (entries []entry, _ int) {
	h, app := p.harness(), p.word()
	for range p.between(4, 7) {
		command := p.pick("", "CI=1 ", "yes '' | ", "printf '\\n\\n' | ", "echo y | ", "timeout 60 ") + p.pick("npm create vite@latest ", "npx create-vite ", "npm init vite ") + app + p.pick("", " -- --template", " --yes", " < /dev/null")
		output := fmt.Sprintf("Need to install the following packages:\ncreate-vite@%d.%d.%d\nOk to proceed? (y) \n\n◆  Select a framework:\n│  ● Vanilla\n│  ○ Vue\n│  ○ React\n│  ○ Svelte\n└\n%s", p.between(5, 7), p.IntN(4), p.IntN(9), p.pick("Command timed out after 60.0 seconds", "^C", "Terminated", "[The command has no new output after 30 seconds. Send keys to interact.]"))
		entries = append(entries, h.shell(command, output, 124))
	}
	return entries, 1
}

// diskStaysFull deletes caches that free nothing, looks at the disk and builds, and the disk is full.
func diskStaysFull(p *generator) (entries []entry, _ int) {
	h, device := p.harness(), p.pick("/dev/vda1", "overlay", "/dev/nvme0n1p2")
	for range p.between(3, 5) {
		clean := p.pick("docker system prune -f", "docker builder prune -f", "docker image prune -f")
		freed := "Total reclaimed space: 0B"
		if p.coin() {
			clean, freed = p.pick("apt-get clean", "rm -rf ~/.cache/pip", "npm cache clean --force", "go clean -cache", "rm -rf /tmp/*.tmp"), ""
		}
		entries = append(entries,
			h.shell(clean, freed, 0),
			h.shell("df -h "+p.pick("/", "/workspace", "/tmp"), fmt.Sprintf("Filesystem      Size  Used Avail Use%% Mounted on\n%s   20G   20G  %dK 100%% /", device, p.between(4, 60)), 0),
			h.shell(p.pick("make dist", "make package", "npm run build", "make dist 2>&1 | tail"), fmt.Sprintf("%s: error writing '/tmp/%s%04x.o': No space left on device\nmake: *** [Makefile:%d: dist] Error 1", p.pick("tar", "cc1", "ld", "cp"), p.pick("cc", "go-build", "tmp"), p.IntN(1<<16), p.between(20, 90)), 2))
	}
	return entries, 3
}

// patternFindsNothing rewrites a pattern, and it finds nothing in each form.
func patternFindsNothing(p *generator) (entries []entry, _ int) {
	h, page, name := p.harness(), p.word(), p.word()
	for range p.between(5, 9) {
		pattern := p.pick(`<div class="`+name+`">(.*?)</div>`, `class=.`+name+`.[^>]*>([^<]+)`, `(?s)`+name+`.*?(\d+\.\d+)`, `"`+name+`":\s*"([^"]+)"`, `\b`+name+`\b[^\d]*([\d,.]+)`, `data-`+name+`='([^']*)'`)
		code := p.pick("print(re.findall(r'''%s''', html))", "print([m.group(1) for m in re.finditer(r'''%s''', html)])", "print(list(re.compile(r'''%s''').findall(html)))")
		entries = append(entries, h.shell("python3 -c \"import re; html = open('"+page+".html').read(); "+fmt.Sprintf(code, pattern)+"\"", "[]", 0))
	}
	return entries, 1
}

// releaseChecklistAgain goes through the checks of a release from the beginning, and never releases.
func releaseChecklistAgain(p *generator) (entries []entry, _ int) {
	h, name, version := p.harness(), p.word(), fmt.Sprintf("%d.%d.0", p.between(1, 4), p.IntN(30))
	head := fmt.Sprintf("%07x", p.IntN(1<<28))
	checks := [][2]string{
		{"git status --short", ""},
		{"git log -1 --oneline", head + " Prepare " + version},
		{"cat VERSION", version},
		{"head -5 CHANGELOG.md", "# Changelog\n\n## " + version + "\n\n- " + p.phrase(4, 8)},
		{"git tag --points-at HEAD", ""},
		{"git fetch --tags --dry-run", ""},
		{"grep -n version pyproject.toml", "3:version = \"" + version + "\""},
		{"ls dist", name + "-" + version + "-py3-none-any.whl\n" + name + "-" + version + ".tar.gz"},
		{"twine check dist/*", "Checking dist/" + name + "-" + version + "-py3-none-any.whl: PASSED\nChecking dist/" + name + "-" + version + ".tar.gz: PASSED"},
		{"cat .github/workflows/release.yml | head -3", "on:\n  push:\n    tags: ['v*']"},
	}
	for range 3 {
		for _, check := range checks {
			entries = append(entries, h.shell(check[0], check[1], 0))
		}
		took := fmt.Sprintf("%d.%02ds", p.between(8, 14), p.IntN(100))
		entries = append(entries, h.shell("pytest -q", "312 passed in "+took, 0),
			say(p.pick("Before I tag the release, let me make sure that everything is in order.", "I should double-check the state before releasing "+version+".", "Let me verify the whole checklist from the start, to be safe.")))
	}
	return entries, 12
}
