package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that build and examine systems code: long builds, checks, fuzzers and crash dumps.

func nativeLookalikes() []kind {
	return []kind{
		{name: "configure_gets_past_next_check", build: configureGetsPastNextCheck},
		{name: "build_resumed_after_each_timeout", build: buildResumedAfterEachTimeout},
		{name: "harnesses_fuzzed_in_turn", build: harnessesFuzzedInTurn},
		{name: "frames_of_core_inspected", build: framesOfCoreInspected},
	}
}

// configureGetsPastNextCheck runs one configuration command; each time the next library is missing and gets installed, until all are there.
func configureGetsPastNextCheck(p *generator) (entries []entry, _ int) {
	run, project := p.operator(), p.word()
	libraries := p.shuffled("zlib zlib1g-dev", "libxml-2.0 libxml2-dev", "openssl libssl-dev", "libcurl libcurl4-openssl-dev", "ncursesw libncurses-dev", "readline libreadline-dev", "libffi libffi-dev", "sqlite3 libsqlite3-dev", "libpng libpng-dev", "freetype2 libfreetype-dev", "expat libexpat1-dev", "gmp libgmp-dev", "libuv libuv1-dev", "libpcre2-8 libpcre2-dev", "libevent libevent-dev", "liblzma liblzma-dev", "glib-2.0 libglib2.0-dev", "icu-uc libicu-dev")
	command, missing := "./configure --prefix=/usr/local", "checking for %[1]s... no\nconfigure: error: Package requirements (%[1]s >= %[2]s) were not met:\n\nNo package '%[1]s' found\n\nSee `config.log' for more details"
	found, end := "checking for %s... yes\n", "configure: creating ./config.status\nconfig.status: creating Makefile\nconfig.status: creating src/Makefile\nconfig.status: creating config.h"
	switch p.IntN(3) {
	case 0:
		command, missing = "cmake -S . -B build", "CMake Error at CMakeLists.txt:%[3]d (find_package):\n  Could not find a package configuration file provided by \"%[1]s\" (requested version %[2]s)\n\n-- Configuring incomplete, errors occurred!"
		found, end = "-- Found %s\n", "-- Configuring done (4.1s)\n-- Generating done (0.2s)\n-- Build files have been written to: /srv/"+project+"/build"
	case 1:
		command, missing = "meson setup build", "Run-time dependency %[1]s found: NO (tried pkgconfig and cmake)\n\nmeson.build:%[3]d:0: ERROR: Dependency \"%[1]s\" not found (tried pkgconfig and cmake), wanted >=%[2]s\n\nA full log can be found at /srv/build/meson-logs/meson-log.txt"
		found, end = "Run-time dependency %s found: YES\n", "Build targets in project: "+fmt.Sprint(p.between(4, 90))+"\n\nFound ninja-1.11.1 at /usr/bin/ninja"
	}
	w := wording{
		[]string{"Let me configure the project.", "First I configure it and see what is missing."},
		[]string{"That one is found now.", "It gets past that check.", "One more dependency.", "The next library is missing.", ""},
		[]string{"Let me configure again.", "Once more.", "Let me see how far it gets.", "Now what is next?"},
	}
	shown, rounds, short := "checking for gcc... gcc\n", p.between(5, 10), p.coin()
	if !strings.HasPrefix(command, "./") {
		shown = ""
	}
	for k := range rounds {
		name, pack, _ := strings.Cut(libraries[k], " ")
		output := shown + fmt.Sprintf(missing, name, fmt.Sprintf("%d.%d", p.between(1, 3), p.IntN(40)), 20+3*k)
		if short {
			output = output[len(shown):]
		}
		entries = append(entries, run(command, output, 1).after(w.of(p, k)),
			run("apt-get install -y "+pack, fmt.Sprintf("Reading package lists... Done\nBuilding dependency tree... Done\nThe following NEW packages will be installed:\n  %[1]s\n0 upgraded, 1 newly installed, 0 to remove and %[2]d not upgraded.\nNeed to get %[3]d kB of archives.\nSetting up %[1]s:amd64 ...", pack, p.between(2, 30), p.between(40, 9000)), 0).after(thought{"`" + name + "` is missing.", p.pick("Let me install it.", "I'll install its headers.", "")}))
		shown += fmt.Sprintf(found, name)
	}
	return append(entries, run(command, shown+end, 0).after(w.of(p, rounds))), 0
}

// buildResumedAfterEachTimeout runs one build command that is cut off by a time limit; each run goes on where the last one ended, up to the end.
func buildResumedAfterEachTimeout(p *generator) (entries []entry, _ int) {
	run, b := p.patientShell(), p.slowBuild()
	limit, command := p.outOfTime(60*p.pickInt(2, 5, 10)), p.pick(b.resumed...)
	w := wording{
		[]string{"Let me build it. It will take several runs because a command may only take some minutes.", "Now the build."},
		[]string{"It got further.", "It was cut off, but the objects are kept.", "Good progress.", "More is built now.", ""},
		[]string{"Let me continue.", "I run it again, it goes on where it stopped.", "Continue the build.", "Again."},
	}
	rounds := p.between(5, 12)
	for k := range rounds {
		entries = append(entries, run(command, b.lines(p, 98*(k+1)/(rounds+1)+p.IntN(2))+"\n"+limit, 124).after(w.of(p, k)))
	}
	return append(entries, run(command, b.lines(p, 100)+"\n"+b.end, 0).after(w.of(p, rounds))), 0
}

// harnessesFuzzedInTurn runs one fuzz target after the other for a fixed time; each of them finds nothing.
func harnessesFuzzedInTurn(p *generator) (entries []entry, _ int) {
	run, names, seconds, form := p.patientShell(), p.distinctWords(p.between(6, 14)), p.pickInt(30, 60, 120), p.IntN(3)
	verb := p.pick("parse", "decode", "roundtrip")
	w := wording{
		[]string{"I'll run each target for " + fmt.Sprint(seconds) + " seconds.", "Let me fuzz the first target."},
		[]string{"No crash.", "Clean.", "Nothing found there.", "That target holds.", ""},
		[]string{"Next target.", "Now the next one.", "On to `%s`.", "Let me run `%s`."},
	}
	for k, name := range names {
		executions, target, t := p.between(20_000, 9_000_000), verb+"_"+name, w.of(p, k)
		t.next = strings.ReplaceAll(t.next, "%s", target)
		command, output := fmt.Sprintf("cargo fuzz run %s -- -max_total_time=%d", target, seconds), ""
		switch form {
		case 0:
			output = fmt.Sprintf("INFO: Running with entropic power schedule (0xFF, 100).\nINFO: Seed: %d\nINFO: %d files found in /srv/fuzz/corpus/%s\n", p.Uint32(), p.between(2, 900), target)
			for range p.between(1, 20) {
				output += fmt.Sprintf("#%d\tREDUCE cov: %d ft: %d corp: %d/%dKb exec/s: %d rss: %dMb\n", p.between(1000, executions), p.between(200, 900), p.between(900, 3000), p.between(50, 400), p.between(2, 90), executions/seconds, p.between(60, 400))
			}
			output += fmt.Sprintf("Done %d runs in %d second(s)", executions, seconds+1)
		case 1:
			command = fmt.Sprintf("go test -fuzz=Fuzz%s%s -fuzztime=%ds ./%s", capitalized(verb), capitalized(name), seconds, name)
			output = fmt.Sprintf("fuzz: elapsed: 0s, gathering baseline coverage: 0/%d completed\nfuzz: elapsed: %ds, execs: %d (%d/sec), new interesting: %d (total: %d)\nPASS\nok  \tcode.example/%s\t%d.%03ds", p.between(5, 300), seconds, executions, executions/seconds, p.IntN(40), p.between(40, 600), name, seconds, p.IntN(1000))
		default:
			command = fmt.Sprintf("./build/fuzz_%s -max_total_time=%d corpus/%s", target, seconds, name)
			output = fmt.Sprintf("#%d\tDONE   cov: %d ft: %d corp: %d/%dKb lim: 4096 exec/s: %d rss: %dMb\nDone %d runs in %d second(s)", executions, p.between(200, 900), p.between(900, 3000), p.between(50, 400), p.between(2, 90), executions/seconds, p.between(60, 400), executions, seconds+1)
		}
		entries = append(entries, run(command, output, 0).after(t))
	}
	return entries, 0
}

// framesOfCoreInspected prints the variables of one frame of a crash dump after the other.
func framesOfCoreInspected(p *generator) (entries []entry, _ int) {
	run, program, at := p.operator(), "./build/"+p.word()+"d", p.coin()
	core := fmt.Sprintf("core.%d", p.between(300, 90_000))
	head := "[New LWP " + core[5:] + "]\nCore was generated by `" + program + "'.\nProgram terminated with signal SIGSEGV, Segmentation fault.\n"
	w := wording{
		[]string{"Let me look at the innermost frame first.", "I'll go through the frames of the core."},
		[]string{"Nothing wrong in this frame.", "The values are fine here.", "The pointer comes from the caller.", "It was handed in like this.", ""},
		[]string{"Let me go one frame up.", "Next, its caller.", "One level up.", "What did the caller pass?"},
	}
	bad, null, pointer := p.word(), p.between(3, 6), ""
	for k := range p.between(6, 12) {
		if k == 0 {
			pointer = "0x0"
		} else if k == null {
			pointer = fmt.Sprintf("0x7f%010x", p.Int64N(1<<40))
		}
		name, line := p.word()+"_"+p.word(), p.between(20, 900)
		text := fmt.Sprintf("#%d  0x%012x in %s (%s=%s) at src/%s.c:%d\n%d\t%s\n", k, 0x555555554000+p.Int64N(1<<20), name, bad, pointer, p.word(), line, line, p.pick("return "+name+"_locked("+bad+");", "\tmemcpy(dst, "+bad+"->data, "+bad+"->size);", "\tif ("+bad+"->flags & 0x4)", "\terr = "+p.word()+"_lookup("+bad+", key, &found);", "\tlist_for_each("+bad+", head) {"))
		for range p.between(1, 12) {
			text += p.word() + " = " + p.pick("<optimized out>", fmt.Sprint(p.between(-4, 4096)), fmt.Sprintf("0x7ffff%07x", p.IntN(1<<28)), "\""+p.word()+"\"", "{next = 0x0, refs = "+fmt.Sprint(p.between(1, 9))+"}") + "\n"
		}
		if at {
			text = head + text
		}
		entries = append(entries, run(fmt.Sprintf("gdb -q -batch -ex 'frame %d' -ex 'info locals' %s %s", k, program, core), strings.TrimSpace(text), 0).after(w.of(p, k)))
	}
	return entries, 0
}
