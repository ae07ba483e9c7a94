package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that prove, debug, encode and measure.

func technicalLookalikes() []kind {
	return []kind{
		{name: "lemmas_proved", build: lemmasProved},
		{name: "debugger_stepped", build: debuggerStepped},
		{name: "packets_followed", build: packetsFollowed},
		{name: "segments_encoded", build: segmentsEncoded},
		{name: "files_read_after_summary", build: filesReadAfterSummary},
		{name: "schema_errors_mended", build: schemaErrorsMended},
		{name: "readings_taken", build: readingsTaken},
		{name: "resolvers_asked", build: resolversAsked},
		{name: "keys_through_installer", build: keysThroughInstaller},
	}
}

// lemmasProved proves lemma after lemma; some take two attempts, of which the first leaves a smaller goal.
func lemmasProved(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 6) {
		lemma := [][2]string{{"n ≤ n * n + 1", "nlinarith [Nat.zero_le n]"}, {fmt.Sprintf("0 < n + %d", k+1), "omega"}, {fmt.Sprintf("n %% %d < %d", k+2, k+2), "exact Nat.mod_lt _ (by norm_num)"}}[p.IntN(3)]
		code := fmt.Sprintf("import Mathlib\n\nlemma %s_%d (n : ℕ) : %s := by\n  ", p.word(), k+1, lemma[0])
		if p.coin() {
			goal := strings.ReplaceAll(lemma[0], "n ", "(m + 1) ")
			entries = append(entries, call("lean_run_code", object("code", code+"induction n with\n  | zero => simp\n  | succ m ih => skip"), object("success", false, "diagnostics", []string{fmt.Sprintf("%d:%d: error: unsolved goals\ncase succ\nm : ℕ\nih : %s\n⊢ %s", 5, p.between(2, 30), strings.ReplaceAll(lemma[0], "n ", "m "), goal)})))
		}
		entries = append(entries, call("lean_run_code", object("code", code+lemma[1]), object("success", true, "diagnostics", []string{})))
	}
	return entries, 0
}

// debuggerStepped steps through a program line by line and looks at a variable, whose value changes.
func debuggerStepped(p *generator) (entries []entry, _ int) {
	file, name, line, value := p.word()+".py", p.word(), p.between(10, 200), p.between(1, 40)
	for range p.between(5, 8) {
		line += p.between(1, 3)
		value += p.between(1, 9)
		entries = append(entries,
			call("pdb_command", object("session", "s1", "command", "next"), quoted(fmt.Sprintf("> /app/%s(%d)run()\n-> %s", file, line, fmt.Sprintf("%s = %s.%s(%s)", p.word(), p.word(), p.word(), p.word())))),
			call("pdb_command", object("session", "s1", "command", "p "+name), quoted(fmt.Sprint(value))))
	}
	return entries, 0
}

// packetsFollowed reads stream after stream of a capture; many are handshakes that look alike.
func packetsFollowed(p *generator) (entries []entry, _ int) {
	c, capture := p.console(), p.word()+".pcapng"
	for stream := range p.between(5, 9) {
		port := p.between(40_000, 60_000)
		output := fmt.Sprintf("%d 0.%06d 10.0.0.5 → 10.0.0.%d TCP 74 %d → 443 [SYN] Seq=0 Win=64240\n%d 0.%06d 10.0.0.%d → 10.0.0.5 TCP 74 443 → %d [SYN, ACK] Seq=0 Ack=1\n%d 0.%06d 10.0.0.5 → 10.0.0.%d TLSv1.3 %d Client Hello (SNI=%s.example)", 9*stream+1, p.IntN(1e6), stream+9, port, 9*stream+2, p.IntN(1e6), stream+9, port, 9*stream+4, p.IntN(1e6), stream+9, p.between(500, 700), p.word())
		entries = append(entries, c.run(fmt.Sprintf("tshark -r %s -Y 'tcp.stream eq %d' -c 3", capture, stream), output, 0))
	}
	return entries, 0
}

// segmentsEncoded encodes part after part of a film, each under the same banner.
func segmentsEncoded(p *generator) (entries []entry, _ int) {
	c, film := p.console(), p.word()
	for part := range p.between(5, 8) {
		frames := p.between(1400, 1500)
		output := fmt.Sprintf("ffmpeg version 6.1.1-3 Copyright (c) 2000-2023 the FFmpeg developers\n  built with gcc 13 (Debian)\nInput #0, matroska,webm, from '%s.mkv':\n  Stream #0:0: Video: h264 (High), yuv420p(progressive), 1920x1080, 24 fps\nStream mapping:\n  Stream #0:0 -> #0:0 (h264 (native) -> hevc (libx265))\nOutput #0, mp4, to '%s_%02d.mp4':\nframe= %d fps= %d q=-0.0 Lsize=    %dkB time=00:01:00.00 bitrate=%d.%dkbits/s speed=%d.%dx", film, film, part, frames, p.between(30, 60), p.between(4000, 9000), p.between(900, 1200), p.IntN(10), p.between(1, 2), p.IntN(10))
		entries = append(entries, c.run(fmt.Sprintf("ffmpeg -ss 00:%02d:00 -t 60 -i %s.mkv -c:v libx265 -crf 26 %s_%02d.mp4", part, film, film, part), output, 0))
	}
	return entries, 0
}

// filesReadAfterSummary reads three files again after its context was summarized, and goes on changing them.
func filesReadAfterSummary(p *generator) (entries []entry, _ int) {
	files := []string{"src/" + p.word() + "_a.rb", "src/" + p.word() + "_b.rb", "spec/" + p.word() + "_spec.rb"}
	view := func(file, text string) entry {
		return call("view_file", object("absolute_path", "/srv/work/"+file, "start_line", 1, "end_line", 200), quoted(text))
	}
	change := func(file string) entry {
		return call("replace_in_file", object("path", file, "diff", "------- SEARCH\n"+p.code(1)+"\n=======\n"+p.code(2)+"\n+++++++ REPLACE"), quoted("The content was successfully saved to "+file+"."))
	}
	for _, file := range files {
		entries = append(entries, view(file, p.page()), change(file))
	}
	entries = append(entries, user("This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nThe first half of "+p.phrase(2, 4)+" is done in "+strings.Join(files, ", ")+". Next step: the second half."))
	for _, file := range files {
		entries = append(entries, view(file, p.page()), change(file))
	}
	return append(entries, p.console().run("bundle exec rspec", fmt.Sprintf("Finished in %d.%02d seconds\n%d examples, 0 failures", p.between(1, 9), p.IntN(100), p.between(20, 300)), 0)), 0
}

// schemaErrorsMended answers in JSON; the validator names one error after the other, and each is mended.
func schemaErrorsMended(p *generator) (entries []entry, _ int) {
	fields := p.shuffled("evidence", "risk_level", "next_steps", "citations", "owner", "due_date")[:p.between(3, 5)]
	pairs := []any{"title", p.phrase(2, 4), "score", p.between(1, 10)}
	for _, field := range fields {
		entries = append(entries, say("```json\n"+string(object(pairs...))+"\n```"),
			user("1 validation error for Report\n"+field+"\n  Field required [type=missing]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing"))
		pairs = append(pairs, field, p.phrase(1, 4))
	}
	return append(entries, say("```json\n"+string(object(pairs...))+"\n```"), user("The report is valid. Thank you.")), 0
}

// readingsTaken takes a number of readings that a person asked for, to average them.
func readingsTaken(p *generator) (entries []entry, _ int) {
	n, volts := p.between(8, 12), p.between(3200, 3400)
	entries = append(entries, user(fmt.Sprintf("Please take %d readings of the supply voltage and give me mean and deviation.", n)))
	for k := range n {
		entries = append(entries, call("visa_query", object("resource", "USB0::0x2A8D::0x1301::INSTR", "command", "MEAS:VOLT:DC?"), quoted(fmt.Sprintf("+%d.%03d%03dE+00", volts/1000, volts%1000+p.IntN(4)-k%2, p.IntN(1000)))))
	}
	return append(entries, say(fmt.Sprintf("The mean of the %d readings is %d.%03d V, the deviation 0.%03d V.", n, volts/1000, volts%1000, p.between(1, 3)))), 0
}

// resolversAsked asks resolver after resolver whether a change of a name has arrived; it has at all.
func resolversAsked(p *generator) (entries []entry, _ int) {
	c, name, ip := p.console(), "www."+p.word()+".example", fmt.Sprintf("198.51.100.%d", p.IntN(256))
	for _, resolver := range p.shuffled("1.1.1.1", "8.8.8.8", "9.9.9.9", "208.67.222.222", "94.140.14.14", "185.228.168.9", "76.76.2.0")[:p.between(5, 7)] {
		entries = append(entries, c.run("dig +short A "+name+" @"+resolver, ip, 0))
	}
	return entries, 0
}

// keysThroughInstaller sends the same few keys to an installer, whose pages go by.
func keysThroughInstaller(p *generator) (entries []entry, _ int) {
	for _, page := range []string{"Select a language", "Select your location", "Configure the keyboard", "Configure the network", "Set up users and passwords", "Partition disks", "Install the base system", "Software selection"} {
		keys := p.pick("\n", "\n", "\t\n", "\x1b[B\n")
		entries = append(entries, call("send_keys", object("analysis", "The installer asks: "+page+". I take the default.", "keystrokes", keys, "duration", p.between(1, 9)),
			quoted("Current Terminal Screen:\n┌───────┤ [!] "+page+" ├───────┐\n│ "+p.phrase(4, 9)+"\n│     <Go Back>      <Continue>\n└──────────────┘")))
	}
	return entries, 0
}
