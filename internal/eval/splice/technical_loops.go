package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of agents that prove, compile, flash and administer.

func technicalLoops() []kind {
	return []kind{
		{name: "goals_unsolved", build: goalsUnsolved},
		{name: "listener_refuses", build: listenerRefuses},
		{name: "encoder_unknown", build: encoderUnknown},
		{name: "timing_violated", build: timingViolated},
		{name: "start_over_after_summary", build: startOverAfterSummary},
		{name: "output_fails_schema", build: outputFailsSchema},
		{name: "policy_overrides_setting", build: policyOverridesSetting},
		{name: "firmware_panics_again", build: firmwarePanicsAgain},
		{name: "typing_into_pager", build: typingIntoPager},
	}
}

// goalsUnsolved tries tactic after tactic on a theorem that does not hold; the goal that is left is the same.
func goalsUnsolved(p *generator) (entries []entry, _ int) {
	theorems := [][2]string{
		{"dvd_of_dvd_mul_self (a b : ℤ) (h : a ∣ b * b) : a ∣ b", "a b : ℤ\nh : a ∣ b * b\n⊢ a ∣ b"},
		{"card_filter_lt (s : Finset ℕ) (k : ℕ) : (s.filter (· < k)).card ≤ k - 1", "s : Finset ℕ\nk : ℕ\n⊢ (s.filter (· < k)).card ≤ k - 1"},
		{"lt_sq (x : ℝ) (hx : 0 < x) : x < x ^ 2", "x : ℝ\nhx : 0 < x\n⊢ x < x ^ 2"},
	}
	tactics := [][2]string{
		{"simp", "simp made no progress"},
		{"simp_all", "simp_all made no progress"},
		{"omega", "omega could not prove the goal:"},
		{"exact?", "`exact?` could not close the goal. Try `apply?` to see partial suggestions."},
		{"nlinarith", "linarith failed to find a contradiction"},
		{"linarith", "linarith failed to find a contradiction"},
		{"aesop", "aesop: failed to prove the goal after exhaustive search."},
		{"by_contra h'\n  push_neg at h'\n  contradiction", "contradiction failed"},
		{"refine ?_", "unsolved goals"},
	}
	theorem := theorems[p.IntN(3)]
	for k := range p.between(5, 8) {
		if k > 1 && p.IntN(3) == 0 { // what it looks up between does not help
			entries = append(entries, call("loogle_search", object("query", p.phrase(1, 3)), object("hits", p.words(p.between(2, 6)))))
		}
		tactic := tactics[p.IntN(len(tactics))]
		entries = append(entries,
			say(p.pick("Perhaps a stronger tactic closes it: ", "I'll restate the step and use ", "Let me attempt ", "Mathlib should have this, so ", "Different idea: ")+strings.Fields(tactic[0])[0]+"."),
			call("lean_run_code", object("code", "import Mathlib\n\ntheorem "+theorem[0]+" := by\n  "+p.pick("", "-- try again\n  ", "classical\n  ")+tactic[0]), object("success", false, "diagnostics", []string{fmt.Sprintf("%d:%d: error: %s\n%s", p.between(4, 9), p.between(0, 40), tactic[1], theorem[1])})))
	}
	return entries, 3
}

// listenerRefuses connects to a database by other strings and clients; its listener does not know the service.
func listenerRefuses(p *generator) (entries []entry, _ int) {
	c, host, service := p.console(), "db"+fmt.Sprint(p.between(1, 9))+".corp.example", strings.ToUpper(p.word()[:3])+"PRD"
	for k := range p.between(4, 7) {
		if k > 1 && p.IntN(3) == 0 { // what it looks at between does not help
			entries = append(entries, c.run(p.pick("nslookup "+host, "cat $ORACLE_HOME/network/admin/tnsnames.ora", "nc -zv "+host+" 1521", "env | grep -i oracle"), p.phrase(4, 12), 0))
		}
		target := p.pick(service, strings.ToLower(service), service+".corp.example", service+".WORLD")
		if p.coin() {
			command := fmt.Sprintf("python3 - <<'E'\nimport oracledb\nc = oracledb.connect(user='report', password=pw, %s)\nE", p.pick("dsn='"+host+":1521/"+target+"'", "host='"+host+"', port=1521, service_name='"+target+"'", "dsn='"+host+"/"+target+"', retry_count=2"))
			entries = append(entries, c.run(command, fmt.Sprintf("oracledb.exceptions.OperationalError: DPY-6001: Service \"%s\" is not registered with the listener at host \"%s\" port 1521. (CONNECTION_ID=%s) (Similar to ORA-12514)", target, host, p.uuid()[:24]), 1))
			continue
		}
		command := "sqlplus -L -S report/$PW@" + p.pick("//"+host+":1521/"+target, "'(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST="+host+")(PORT=1521))(CONNECT_DATA=(SERVICE_NAME="+target+")))'", host+"/"+target)
		entries = append(entries, c.run(command, "ERROR:\nORA-12514: TNS:listener does not currently know of service requested in connect\ndescriptor\n\n\nSP2-0751: Unable to connect to Oracle.  Exiting SQL*Plus", 1))
	}
	return entries, 1
}

// encoderUnknown asks for an encoder that the program was built without; the banner and the streams differ in what they say.
func encoderUnknown(p *generator) (entries []entry, _ int) {
	c, input := p.console(), p.pick("lecture", "interview", "episode", "concert")+fmt.Sprintf("_%02d", p.between(1, 40))
	seconds := p.between(600, 7000)
	for range p.between(3, 6) {
		check := c.run(p.pick("apt-get install -y libfdk-aac2", "apt-get install -y --reinstall libfdk-aac2", "sudo apt install libfdk-aac2"), "Reading package lists...\nBuilding dependency tree...\nlibfdk-aac2 is already the newest version (2.0.2-1).\n0 upgraded, 0 newly installed, 0 to remove and "+fmt.Sprint(p.between(0, 40))+" not upgraded.", 0)
		if p.coin() {
			check = c.run(p.pick("ldconfig -p | grep fdk", "dpkg -L libfdk-aac2 | grep so", "find / -name 'libfdk*' 2>/dev/null"), "/usr/lib/x86_64-linux-gnu/libfdk-aac.so.2", 0)
		}
		output := fmt.Sprintf("ffmpeg version 6.1.1-3 Copyright (c) 2000-2023 the FFmpeg developers\n  built with gcc 13 (Debian)\n  configuration: --prefix=/usr --enable-gpl --enable-libmp3lame --enable-libopus --enable-libx264 --enable-libx265\nInput #0, mov,mp4,m4a,3gp,3g2,mj2, from '%s.mp4':\n  Metadata:\n    encoder         : Lavf58.29.100\n  Duration: %02d:%02d:%02d.%02d, start: 0.000000, bitrate: %d kb/s\n  Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p, 1280x720, 25 fps\n  Stream #0:1[0x2](und): Audio: pcm_s16le, 48000 Hz, stereo\n[aost#0:%d @ 0x5%011x] Unknown encoder 'libfdk_aac'\n[aost#0:%d @ 0x5%011x] Error selecting an encoder\nError opening output file %s.m4a.\nError opening output files: Encoder not found",
			input, seconds/3600, seconds/60%60, seconds%60, p.IntN(100), p.between(900, 2400), 0, p.Uint64N(1<<40), 0, p.Uint64N(1<<40), input)
		entries = append(entries, check, c.run("ffmpeg "+p.pick("", "-y ", "-hide_banner ")+"-i "+input+".mp4 -vn -c:a libfdk_aac "+p.pick("-b:a 128k", "-vbr 4", "-profile:a aac_he", "-ar 44100 -b:a 96k", "-b:a 160k -cutoff 18000")+p.pick("", " -threads 2", " -strict -2")+" "+input+".m4a", output, 8))
	}
	return entries, 2
}

// timingViolated changes constraints of a design and builds it; the slack goes up and down a little below zero.
func timingViolated(p *generator) (entries []entry, _ int) {
	c, clock, from, to := p.console(), p.pick("clk_200", "sys_clk", "pixel_clk"), p.word()+"_reg", p.word()+"_reg"
	for range p.between(4, 7) {
		change := p.pick("set_max_delay 4.8", "set_multicycle_path 1 -setup", "set_false_path -hold", "set_clock_uncertainty 0.05", "group_path -name crit", "set_property MAX_FANOUT 32") + " " + p.pick("-from", "-through", "-to") + " [get_cells */" + p.word() + "_reg*]"
		output := fmt.Sprintf("INFO: [Place 30-%d] Final Placer Cost = %d\nINFO: [Route 35-16] Router Completed Successfully\nINFO: [Route 35-57] Estimated Timing Summary | WNS=-0.%d | TNS=-%d.%03d | WHS=0.0%d | THS=0.000 |\nCRITICAL WARNING: [Timing 38-282] The design failed to meet the timing requirements. Please see the timing summary report for details.\nSlack (VIOLATED) :        -0.%dns  (required time - arrival time)\n  Source:                 u_core/%s[%d]/C\n  Destination:            u_core/%s[%d]/D\n  Path Group:             %s", p.between(100, 900), p.between(70_000, 90_000), p.between(190, 240), p.between(11, 14), p.IntN(1000), p.between(10, 30), p.between(190, 240), from, p.IntN(32), to, p.IntN(32), clock)
		entries = append(entries,
			call("replace_in_file", object("path", "constraints/top.xdc", "diff", "------- SEARCH\n# timing\n=======\n# timing\n"+change+"\n+++++++ REPLACE"), quoted("The content was successfully saved to constraints/top.xdc.")),
			c.run("vivado -mode batch -source build.tcl -tclargs "+p.pick("Explore", "ExtraTimingOpt", "AggressiveExplore", "Default", "ExtraPostPlacementOpt")+" | tail -20", output, 0))
	}
	return entries, 2
}

// startOverAfterSummary reads the same files after each summary of its context, and gets to the next summary before it changes any.
func startOverAfterSummary(p *generator) (entries []entry, _ int) {
	files := []string{"README.md", "package.json", "src/index.ts", "src/routes/" + p.word() + ".ts", "src/models/" + p.word() + ".ts", "src/services/" + p.word() + ".ts", "test/setup.ts", "test/" + p.word() + ".spec.ts"}
	texts := map[string]string{}
	for _, file := range files {
		texts[file] = p.page()
	}
	task := p.phrase(3, 5)
	for range 3 {
		entries = append(entries, user("This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n"+p.pick("1. Primary request: ", "Analysis: the user wants ", "Summary: ")+task+".\n"+p.pick("Pending: the implementation has not begun. ", "All files were read, no change was made yet. ", "Current work: reading the code base. ")+"Next step: "+p.pick("read the relevant files", "get an overview of the code", "understand the current state")+"."))
		for _, file := range p.shuffled(slices.Clone(files)...) {
			entries = append(entries, call("view_file", object("absolute_path", "/srv/work/"+file, "start_line", 1, "end_line", 200), quoted(texts[file])))
		}
		entries = append(entries, say(p.pick("Now I have a good understanding of the code. ", "I see how it fits together. ", "That gives me the whole picture. ")+"Next I will implement the "+task+"."))
	}
	return entries, 11
}

// outputFailsSchema answers in JSON that lacks one member, and is told so by a validator.
func outputFailsSchema(p *generator) (entries []entry, _ int) {
	field, title := p.pick("evidence", "risk_level", "next_steps", "citations"), p.phrase(2, 4)
	for range p.between(3, 6) {
		answer := object("title", title, p.pick("notes", "remarks", "details", "comment"), p.phrase(5, 14), "score", p.between(1, 10), "tags", p.words(p.between(1, 3)))
		entries = append(entries,
			say(p.pick("```json\n", "Here is the corrected report:\n```json\n", "Apologies for the omission.\n```json\n", "")+string(answer)+p.pick("\n```", "")),
			user(p.pick("1 validation error for Report\n", "Validation failed. Fix the errors and try again.\n1 validation error for Report\n")+field+fmt.Sprintf("\n  Field required [type=missing, input_value=%.40s..., input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing", strings.ReplaceAll(string(answer), "\"", "'"))))
	}
	return entries, 2
}

// policyOverridesSetting sets what a policy of the domain overrides, and starts a script that may not run.
func policyOverridesSetting(p *generator) (entries []entry, _ int) {
	script := `C:\deploy\` + p.word() + `.ps1`
	for range p.between(3, 5) {
		scope := p.pick("CurrentUser", "LocalMachine", "Process")
		start := p.pick("& "+script, "powershell -File "+script, "cd C:\\deploy; .\\"+script[10:], "Invoke-Expression "+script, "pwsh -NoProfile -File "+script)
		entries = append(entries,
			call("run_in_terminal", object("command", "Set-ExecutionPolicy "+p.pick("-ExecutionPolicy ", "")+p.pick("RemoteSigned", "Unrestricted", "Bypass")+" -Scope "+scope+p.pick("", " -Force"), "explanation", "Allow scripts to run", "isBackground", false), quoted("Set-ExecutionPolicy : Windows PowerShell updated your execution policy successfully, but the setting is overridden by a policy defined at a more specific scope.  Due to the override, your shell will retain its current effective execution policy of AllSigned.\nAt line:1 char:"+fmt.Sprint(p.between(1, 40))+"\n    + CategoryInfo          : PermissionDenied: (:) [Set-ExecutionPolicy], SecurityException")),
			call("run_in_terminal", object("command", start, "explanation", p.pick("Run the script", "Start the deployment", "Try the script again"), "isBackground", false), quoted(script[10:]+" : File "+script+" cannot be loaded. The file "+script+" is not digitally signed. You cannot run this script on the current system.\nAt line:1 char:"+fmt.Sprint(p.between(1, 40))+"\n    + FullyQualifiedErrorId : UnauthorizedAccess")))
	}
	return entries, 2
}

// firmwarePanicsAgain flashes one firmware in other ways; it panics at the same address, with other registers.
func firmwarePanicsAgain(p *generator) (entries []entry, _ int) {
	c, pc, size := p.console(), 0x400d0000+p.IntN(1<<16), p.between(180_000, 900_000)
	for range p.between(4, 6) {
		var output strings.Builder
		fmt.Fprintf(&output, "esptool.py v4.7.0\nSerial port /dev/ttyUSB0\nConnecting%s\nChip is ESP32-D0WD-V3 (revision v3.1)\nCompressed %d bytes to %d...\nWrote %d bytes at 0x00010000 in %d.%d seconds (effective %d.%d kbit/s)...\nHash of data verified.\nHard resetting via RTS pin...\n", strings.Repeat(".", p.between(2, 9)), size, size*6/10, size, p.between(4, 14), p.IntN(10), p.between(300, 900), p.IntN(10))
		fmt.Fprintf(&output, "I (%d) boot: Loaded app from partition at offset 0x10000\nI (%d) main_task: Calling app_main()\nGuru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\n\nCore  0 register dump:\nPC      : 0x%08x  PS      : 0x00060%x  A0      : 0x800d%04x  A1      : 0x3ffb%04x\nEXCVADDR: 0x00000000  LBEG    : 0x4000%04x\n\nBacktrace: 0x%08x:0x3ffb%04x\n\nRebooting...", p.between(80, 120), p.between(200, 400), pc, p.between(256, 4000), p.IntN(1<<16), p.IntN(1<<16), p.IntN(1<<16), pc-3, p.IntN(1<<16))
		entries = append(entries, c.run(p.pick("idf.py -p /dev/ttyUSB0 flash monitor", "idf.py erase-flash flash monitor", "idf.py -b 115200 flash monitor", "idf.py fullclean build flash monitor | tail -25", "timeout 40 idf.py -p /dev/ttyUSB0 app-flash monitor", "idf.py -b 460800 -p /dev/ttyUSB0 flash monitor"), output.String(), 0))
	}
	return entries, 1
}

// typingIntoPager types commands while a pager has the terminal; the screen stays at the end of the same text.
func typingIntoPager(p *generator) (entries []entry, _ int) {
	var screen strings.Builder
	for range p.between(5, 9) {
		fmt.Fprintf(&screen, "%07x %s\n", p.IntN(1<<28), p.phrase(3, 8))
	}
	for range p.between(4, 8) {
		keys := p.pick("git status\n", "ls -la\n", "clear\n", "cd /app && make test\n", "echo done\n", "\n", "python3 main.py\n", "cat README.md\n")
		args := object("analysis", p.pick("The command has not run yet. ", "The screen still shows the log. ", "The terminal seems slow. ", "No prompt is visible. ")+p.pick("I will send ", "Now I run ", "Let me go on with ", "The next step is ")+strings.TrimSpace(keys)+".", "keystrokes", keys, "duration", p.between(1, 10))
		entries = append(entries, call("send_keys", args, quoted("Current Terminal Screen:\n"+screen.String()+p.pick("(END)", "(END)", "Pattern not found  (press RETURN)", ":"))))
	}
	return entries, 1
}
