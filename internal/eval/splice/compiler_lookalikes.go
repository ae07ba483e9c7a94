package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of coding agents at compilers and sources.

func compilerLookalikes() []kind {
	return []kind{
		{name: "patches_pushed", build: patchesPushed},
		{name: "features_checked_alone", build: featuresCheckedAlone},
		{name: "types_asked", build: typesAsked},
	}
}

// patchesPushed applies the patches of a package to a new release by one and the same command; some need to be mended.
func patchesPushed(p *generator) (entries []entry, _ int) {
	w, words, said := p.workbench(), p.distinct(p.between(11, 18)), thought{next: "I'll push the patches onto the new release."}
	top := ""
	for k, word := range words {
		patch := fmt.Sprintf("%04d-%s-%s.patch", k+1, p.pick("fix", "use", "disable", "add", "drop"), word)
		top = patch
		file, line := p.pick("src/", "lib/", "include/")+word+p.pick(".c", ".h"), p.between(20, 900)
		applied := fmt.Sprintf("Applying patch debian/patches/%s\npatching file %s\n", patch, file)
		now := fmt.Sprintf("\nNow at patch debian/patches/%s", patch)
		if k > 0 && p.IntN(5) == 0 {
			before, after := p.code(1), p.code(2)
			entries = append(entries,
				w.shell("quilt push", applied+fmt.Sprintf("Hunk #1 FAILED at %d.\n1 out of 2 hunks FAILED -- rejects in file %s\nPatch debian/patches/%s does not apply (enforce with -f)", line, file, patch), 1).after(said),
				w.shell("quilt push -f", applied+fmt.Sprintf("Hunk #1 FAILED at %d.\n1 out of 2 hunks FAILED -- saving rejects to file %s.rej\nApplied patch debian/patches/%s (forced; needs refresh)", line, file, patch), 1).after(thought{"This one does not apply to the new source.", p.pick("I'll force it and mend the hunk.", "Let me apply it by force and look at the reject.")}),
				w.replace(file, before, after).after(thought{next: p.pick("The context has changed. I'll do this hunk by hand.", "Let me make the change by hand.")}),
				w.shell("quilt refresh", "Refreshed patch debian/patches/"+patch, 0).after(thought{next: p.pick("Refresh the patch.", "Now the patch can be refreshed.", "")}))
			said = thought{"That patch is refreshed.", p.pick("On with the next.", "Next patch.")}
			continue
		}
		entries = append(entries, w.shell("quilt push", applied+p.pick("", "", fmt.Sprintf("Hunk #1 succeeded at %d (offset %d lines).\n", line, p.between(1, 40)), fmt.Sprintf("Hunk #2 succeeded at %d with fuzz 1.\n", line))+now, 0).after(said))
		said = thought{fmt.Sprintf("Patch %d of %d applies.", k+1, len(words)), p.pick("Next.", "The next one.", "Push the next.")}
	}
	return append(entries, w.shell("quilt push", "File series fully applied, ends at patch debian/patches/"+top, 2).after(said)), 0
}

// featuresCheckedAlone compiles a crate with each of its features alone; most of them compile, and the others get an import.
func featuresCheckedAlone(p *generator) (entries []entry, _ int) {
	w, crate, version := p.workbench(), p.word(), fmt.Sprintf("0.%d.%d", p.between(1, 30), p.IntN(12))
	done := ""
	for _, feature := range p.distinct(p.between(9, 15)) {
		command := "cargo check --no-default-features --features " + feature
		said := p.nextItem(done, feature)
		if p.IntN(4) == 0 {
			file, line, name := "src/"+feature+".rs", p.between(8, 240), capitalized(p.word())
			output := fmt.Sprintf("    Checking %s v%s (/srv/src/%s)\nerror[E0433]: failed to resolve: use of undeclared type `%s`\n  --> %s:%d:%d\n   |\n%d |     let inner = %s::new(limit);\n   |                 %s use of undeclared type `%s`\n\nFor more information about this error, try `rustc --explain E0433`.\nerror: could not compile `%s` (lib) due to 1 previous error", crate, version, crate, name, file, line, 17, line, name, strings.Repeat("^", len(name)), name, crate)
			entries = append(entries,
				w.shell(command, output, 101).after(said),
				w.replace(file, "use std::io;", "use std::io;\nuse crate::core::"+name+";").after(thought{"With " + feature + " alone, " + name + " is not in scope.", p.pick("It needs its own import.", "I'll import it.")}))
			said = p.runAgain()
		}
		entries = append(entries, w.shell(command, fmt.Sprintf("    Checking %s v%s (/srv/src/%s)\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in %d.%02ds", crate, version, crate, p.between(1, 6), p.IntN(100)), 0).after(said))
		done = feature
	}
	return entries, 0
}

// typesAsked asks an interpreter of Haskell for the type of name after name; each answer is a line.
func typesAsked(p *generator) (entries []entry, _ int) {
	module, session := capitalized(p.word())+"."+capitalized(p.word()), p.between(1, 9)
	kinds := p.distinct(4)
	for k := range kinds {
		kinds[k] = capitalized(kinds[k])
	}
	prompt := "ghci> "
	send := func(chars, output string, said thought) {
		entries = append(entries, call("write_stdin", object("session_id", session, "chars", chars+"\n", "yield_time_ms", 1000), quoted(fmt.Sprintf("Chunk ID: %06x\nWall time: 1.0%02d seconds\nProcess running with session ID %d\nOutput:\n%s%s\n%s", p.IntN(1<<24), p.IntN(100), session, chars, output, prompt))).after(said))
	}
	send(":load src/"+strings.ReplaceAll(module, ".", "/")+".hs", fmt.Sprintf("\n[1 of 1] Compiling %s ( src/%s.hs, interpreted )\nOk, one module loaded.", module, strings.ReplaceAll(module, ".", "/")), thought{next: "I'll load the module and ask for the types of its functions."})
	for _, name := range p.distinct(p.between(9, 15)) {
		verb := p.pick("decode", "encode", "lookup", "insert", "fold", "with", "run", "to", "from") + capitalized(name)
		a, b := kinds[p.IntN(len(kinds))], kinds[p.IntN(len(kinds))]
		types := p.pick(a+" -> "+b, a+" -> IO "+b, a+" -> Maybe "+b, "("+b+" -> a) -> "+a+" -> [a]", "Monad m => "+a+" -> m ()", "Int -> "+a+" -> Either String "+b, a+" -> Text")
		send(":type "+verb, "\n"+verb+" :: "+types, thought{next: fmt.Sprintf(p.pick("What is the type of %s?", "Now %s.", "Next, %s.", "And %s?"), verb)})
	}
	return entries, 0
}
