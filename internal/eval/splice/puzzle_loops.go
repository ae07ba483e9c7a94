package splice

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents in terminal benchmarks and puzzles: programs in two languages, games, lost data and flags.

func puzzleLoops() []kind {
	return []kind{
		{name: "polyglot_breaks_in_either_language", build: polyglotBreaksInEitherLanguage},
		{name: "walkthrough_dies_at_same_point", build: walkthroughDiesAtSamePoint},
		{name: "same_fragment_carved_again", build: sameFragmentCarvedAgain},
		{name: "wrong_flag_submitted_again", build: wrongFlagSubmittedAgain},
	}
}

// polyglot is a file that two languages should accept.
type polyglot struct {
	file   string
	heads  []string // first lines of the file
	body   []string
	test   string
	before string         // what the first program of the test prints
	errors [2][][2]string // of each language: the start of a line, and why the language rejects the line
}

// polyglot returns a task for two languages.
func (p *generator) polyglot() polyglot {
	n := p.between(5, 20)
	if p.coin() {
		file := p.pick("main.py.c", "poly.c", "both.py.c")
		return polyglot{
			file,
			[]string{"#define a */", "#if 0", "#include <stdio.h>", "//usr/bin/env python3", "#define def int", "\"\"\" \"/*", "'''*/"},
			[]string{"int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }", "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)", "int main(int argc, char **argv) { printf(\"%d\\n\", fib(atoi(argv[1]))); }", "print(fib(int(sys.argv[1])))", "import sys", "#endif", "*/"},
			fmt.Sprintf("python3 %[1]s %[2]d && gcc -x c %[1]s -o cmain && ./cmain %[2]d", file, n),
			fmt.Sprintln(fibonacci(n)),
			[2][][2]string{
				{{"int ", "SyntaxError: invalid syntax"}, {"*/", "SyntaxError: invalid syntax"}, {"//usr", "SyntaxError: invalid syntax"}, {"'''", "SyntaxError: unterminated triple-quoted string literal"}, {"", "SyntaxError: invalid syntax"}},
				{{"def ", "unknown type name 'def'"}, {"import ", "unknown type name 'import'"}, {"print(", "expected declaration specifiers or '...' before 'fib'"}, {"'''", "empty character constant"}, {"#if 0", "unterminated #if"}, {"", "expected '=', ',', ';', 'asm' or '__attribute__' before '*' token"}},
			},
		}
	}
	file := p.pick("main.rs", "poly.rs", "both.cpp.rs")
	return polyglot{
		file,
		[]string{"/*/*/", "#if 0", "#define fn int", "// /*", "#![allow(unused)]/*", "/* */ /*", "#ifdef __cplusplus"},
		[]string{"fn main() { println!(\"{}\", fib(20)); }", "int main() { std::cout << fib(20) << std::endl; }", "fn fib(n: u64) -> u64 { if n < 2 { n } else { fib(n - 1) + fib(n - 2) } }", "unsigned long fib(unsigned long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }", "#endif", "*/", "#include <iostream>"},
		fmt.Sprintf("rustc %[1]s -o rmain && ./rmain && g++ -x c++ %[1]s -o cmain && ./cmain", file),
		"6765\n",
		[2][][2]string{
			{{"int ", "expected one of `!` or `::`, found `main`"}, {"unsigned ", "expected one of `!` or `::`, found `long`"}, {"#include", "expected `[`, found `include`"}, {"#endif", "expected `[`, found `endif`"}, {"#if", "expected `[`, found `if`"}, {"/*", "unterminated block comment"}, {"", "expected item after attributes"}},
			{{"fn ", "'fn' does not name a type"}, {"#![", "invalid preprocessing directive #!"}, {"/*", "unterminated comment"}, {"#if", "unterminated #if"}, {"*/", "expected unqualified-id before '*' token"}, {"", "expected unqualified-id before numeric constant"}},
		},
	}
}

// fibonacci returns the number at n of the sequence of Fibonacci.
func fibonacci(n int) int {
	a, b := 0, 1
	for range n {
		a, b = b, a+b
	}
	return a
}

// rejection returns what one of the two languages says about a text.
func (g polyglot) rejection(p *generator, language int, text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	errors := g.errors[language]
	reason, at := errors[len(errors)-1][1], len(lines)-1
	for _, n := range p.Perm(len(lines)) {
		for _, e := range errors {
			if e[0] != "" && strings.HasPrefix(lines[n], e[0]) {
				reason, at = e[1], n
			}
		}
	}
	switch {
	case language == 0 && strings.Contains(g.test, "python3"):
		return fmt.Sprintf("  File \"/app/%s\", line %d\n    %s\n    ^\n%s", g.file, at+1, lines[at], reason)
	case language == 0:
		return fmt.Sprintf("error: %s\n --> %s:%d:1\n  |\n%d | %s\n  | ^\n\nerror: aborting due to 1 previous error", reason, g.file, at+1, at+1, lines[at])
	}
	return fmt.Sprintf("%s%s:%d:1: error: %s\n %4d | %s\n      | ^", g.before, g.file, at+1, reason, at+1, lines[at])
}

// polyglotBreaksInEitherLanguage writes a file for two languages anew; what one of them accepts is rejected by the other, in turn.
func polyglotBreaksInEitherLanguage(p *generator) (entries []entry, _ int) {
	h, g := p.harness(), p.polyglot()
	w := wording{
		[]string{"Let me write the file.", "I'll write a first version for both languages."},
		[]string{"One language accepts it, the other does not.", "I see the issue now.", "That broke the other language.", "Still a syntax error.", "The comment trick does not work like this.", ""},
		[]string{"Let me write a clean version.", "Let me try a different approach.", "Let me use the preprocessor to hide the other part.", "I'll rewrite the file with another comment trick.", "Let me think about what both languages accept."},
	}
	for k := range 2 + p.laps() {
		which := k % 2
		if k > 3 && p.IntN(4) == 0 {
			which = p.IntN(2)
		}
		text := p.pick(g.heads...) + "\n" + strings.Join(p.shuffled(append([]string(nil), g.body...)...)[:p.between(4, len(g.body))], "\n") + "\n" + p.pick(g.heads...) + "\n"
		entries = append(entries, h.create("/app/"+g.file, text).after(w.of(p, k)), h.shell(g.test, g.rejection(p, which, text), 1).after(p.runAgain()))
	}
	return entries, 4
}

// textGame is a game that reads commands and ends at one point.
type textGame struct {
	command string // plays the commands of a file
	rooms   []string
	moves   []string
	end     string
	max     int
}

// textGame returns a game.
func (p *generator) textGame() textGame {
	names := p.distinctWords(9)
	g := textGame{max: p.pickInt(100, 250, 350, 430)}
	for _, name := range names {
		g.rooms = append(g.rooms, capitalized(p.pick("north", "south", "dark", "narrow", "old"))+" "+capitalized(name))
		g.moves = append(g.moves, "open "+name, "take "+name)
	}
	g.moves = append(g.moves, "north", "south", "east", "west", "up", "down", "look", "inventory", "turn on lamp", "read "+names[0], "wait")
	g.command = p.pick("./dfrotz -p game.z5 < %s | tail -60", "timeout 20 ./dfrotz -m game.z5 < %s", "python3 play.py --script %s", "./adventure < %s")
	g.end = p.pick(
		"It is pitch black. You are likely to be eaten by a grue.\n>Oh, no! You have walked into the slavering fangs of a lurking grue!\n\n    ****  You have died  ****",
		"The troll's axe removes your head.\n\n    ****  You have died  ****",
		"The "+names[1]+" is locked.\n>The "+names[1]+" is locked.\n>You can't go that way.\n>You can't go that way.\n>[end of input]",
		"The bridge collapses under the weight of the "+names[2]+".\n\n    ****  You have died  ****",
	)
	return g
}

// walkthroughDiesAtSamePoint writes one list of moves after the other without playing step by step; each game ends in the same place with the same score.
func walkthroughDiesAtSamePoint(p *generator) (entries []entry, _ int) {
	h, g, score := p.harness(), p.textGame(), p.pickInt(0, 0, 5, 10, 35)
	reached, base := p.between(2, 6), p.shuffled(slices.Clone(g.moves)...)[:p.between(8, len(g.moves))]
	banner := p.pick("", "Using normal formatting.\nLoading game.z5.\n\n", strings.ToUpper(p.word())+" CAVE\nRelease "+fmt.Sprint(p.between(1, 90))+" / Serial number 880429\n\n")
	w := wording{
		[]string{"Let me write a walkthrough and play it.", "I'll put all commands into a file."},
		[]string{"The game ended before the goal.", "My approach was not successful.", "The score is still low.", "That did not lead to the treasure.", "I died again.", ""},
		[]string{"Let me create a better walkthrough.", "Let me try a more systematic sequence.", "I need to start over with a more accurate walkthrough.", "Let me write a more complete list of commands.", "Let me try a different approach."},
	}
	for k := range p.repeats() {
		file := "walkthrough" + p.pick("", "2", "_final", "_complete", fmt.Sprint(k+1), "_new") + ".txt"
		moves := slices.Clone(base)
		for range p.between(1, 4) {
			at := p.IntN(len(moves))
			if p.coin() {
				moves[at] = p.pick(g.moves...)
			} else {
				moves = slices.Insert(moves, at, p.pick(g.moves...))
			}
		}
		text := banner
		for n, room := range g.rooms[:reached] {
			text += room + "\n" + p.pick("There is nothing special here.", "You are standing in the "+strings.ToLower(room)+".", "A path leads on.") + "\n>"
			for range p.between(0, 4) {
				text += p.pick("Taken.", "You can't see any such thing.", "I don't understand that.", "You can't go that way.", "It is already open.", "Time passes.") + "\n>"
			}
			if n == reached-1 {
				text += g.end
			}
		}
		text += fmt.Sprintf("\n\nYour score is %d (total of %d points), in %d moves.\nThis gives you the rank of Beginner.", score, g.max, p.between(len(moves), 60))
		entries = append(entries, h.create("/app/"+file, strings.Join(moves, "\n")+"\nquit\ny\n").after(w.of(p, k)), h.shell(fmt.Sprintf(g.command, file), text, 0).after(thought{"", p.pick("Now let me play it.", "Let me run it.", "Run the new walkthrough.")}))
	}
	return entries, 2
}

// sameFragmentCarvedAgain looks for a lost text in the image of a disk by other commands; each finds the same two parts of it.
func sameFragmentCarvedAgain(p *generator) (entries []entry, _ int) {
	run, image := p.operator(), p.pick("disk.img", "varsea/disks/a4.dat", "/dev/loop0", "dump.raw", "recovered.bin")
	letters := func(n int) string {
		text := ""
		for range n {
			text += string("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"[p.IntN(34)])
		}
		return text
	}
	head, tail, at := letters(p.between(3, 9)), letters(p.between(3, 9)), p.between(1<<12, 1<<24)
	what := p.pick("PASSWORD=", "flag{", "secret: ", "KEY=", "BEGIN ")
	show := []func() (string, string){
		func() (string, string) {
			return "strings " + image + " | grep -i '" + what + "'", what + head + "\n" + tail
		},
		func() (string, string) {
			return "strings -t x " + image + " | grep -A1 '" + what + "'", fmt.Sprintf("%7x %s%s\n%7x %s", at, what, head, at+512, tail)
		},
		func() (string, string) {
			return "grep -a -o -b '" + what + "[A-Z0-9]*' " + image, fmt.Sprintf("%d:%s%s", at, what, head)
		},
		func() (string, string) {
			return fmt.Sprintf("dd if=%s bs=1 skip=%d count=64 2>/dev/null | hexdump -C", image, at), hex.Dump(append([]byte(what+head), make([]byte, 64-len(what+head))...)) + "00000040"
		},
		func() (string, string) {
			return fmt.Sprintf("dd if=%s bs=1 skip=%d count=%d 2>/dev/null | strings", image, at-p.IntN(64), p.pickInt(256, 512, 1024, 2048)), what + head + "\n" + tail
		},
		func() (string, string) {
			return "python3 -c \"import re; d = open('" + image + "', 'rb').read(); print(re.findall(rb'" + what + "[A-Z0-9]+', d))\"", "[b'" + what + head + "']"
		},
		func() (string, string) {
			return "grep -a '" + p.pick(head, tail, head[:3], tail[len(tail)-3:]) + "' " + image + " | strings | head -" + fmt.Sprint(p.pickInt(5, 10, 20)), what + head + "\n" + tail
		},
	}
	w := wording{
		[]string{"Let me look for `" + what + "` in the image.", "I search the raw data."},
		[]string{"These are the same two parts.", "I still have only the two fragments.", "The middle is missing.", "It is the part that I know.", "I have the beginning, but not the whole.", ""},
		[]string{"Let me search more carefully.", "Let me look at the bytes around it.", "Let me use another tool.", "Let me try a different pattern.", "Maybe it is stored elsewhere in the image.", "Let me extract it in another way."},
	}
	entries = append(entries, run("strings "+image+" | grep '"+what+"'", what+head+"\n"+tail, 0).after(w.of(p, 0)))
	for k := range p.repeats() {
		command, output := show[p.IntN(len(show))]()
		entries = append(entries, run(command, output, 0).after(w.of(p, k+1)))
	}
	return entries, 1
}

// wrongFlagSubmittedAgain submits a flag that is wrong; it runs its solver again, which prints the same flag, or submits the flag with other spaces or letters.
func wrongFlagSubmittedAgain(p *generator) (entries []entry, _ int) {
	run, words := p.operator(), p.phrase(3, 6)
	prefix := p.pick("flag", "CTF", "picoCTF", "HTB", "FLAG")
	joined := strings.ReplaceAll(words, " ", p.pick("_", "_", "-"))
	flag, solver, form, left := prefix+"{"+joined+"}", p.pick("python3 solve.py", "python3 exploit.py", "sage solve.sage", "./decode message.enc"), p.IntN(3), p.between(30, 90)
	wrong := p.pick("Wrong flag!", "Incorrect flag. Try again.", "Sorry, that is not the flag.")
	variants := []string{flag, flag, flag, prefix + "{" + strings.ToLower(joined) + "}", prefix + "{" + words + "}", flag + " ", joined}
	chance := p.pickInt(0, 2, 3)
	w := wording{
		[]string{"We found the flag. Let me submit it.", "This looks like the flag. I submit it."},
		[]string{"The flag was not accepted.", "It says that the flag is wrong.", "Strange, the decryption looks right.", ""},
		[]string{"Let me submit it again.", "Let me try it in another spelling.", "I'll submit the flag once more.", "Maybe the format is different.", "Let me submit it exactly as it was printed."},
	}
	clock := p.passingTime()
	entries = append(entries, run(solver, flag, 0).after(thought{"", p.pick("Let me run the solver.", "Now the solver.")}))
	for k := range p.repeats() {
		given := p.pick(variants...)
		if k < 2 || chance == 0 {
			given = flag
		}
		if k > 0 && chance > 0 && p.IntN(chance+1) == 0 {
			entries = append(entries, run(solver, p.pick("", fmt.Sprintf("[*] key found after %d ms\n", p.between(20, 9000)))+flag, 0).after(thought{p.pick("", "That cannot be."), p.pick("Let me run the solver again.", "Let me check the output once more.")}))
		}
		left--
		e := run("submit '"+given+"'", wrong, 0)
		switch form {
		case 0:
			e = call("submit_flag", object("flag", given), object("correct", false, "message", wrong, "attempts_left", left))
		case 1:
			e = run("curl -s -X POST localhost:8000/submit -d 'flag="+given+"'", fmt.Sprintf("{\"status\":\"incorrect\",\"message\":\"%s\",\"time\":\"%s\"}", wrong, clock()), 0)
		}
		entries = append(entries, e.after(w.of(p, k)))
	}
	return entries, 2
}
