package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that set up machines, keep repositories, read files through servers and think aloud.

func setupLoops() []kind {
	return []kind{
		{name: "systemd_absent", build: systemdAbsent},
		{name: "nothing_to_commit", build: nothingToCommit},
		{name: "outside_allowed_directories", build: outsideAllowedDirectories},
		{name: "read_exceeds_limit", build: readExceedsLimit},
		{name: "playbook_fails_at_task", build: playbookFailsAtTask},
		{name: "cron_never_runs", build: cronNeverRuns},
		{name: "thoughts_repeated", build: thoughtsRepeated},
		{name: "upload_unreadable", build: uploadUnreadable},
	}
}

// systemdAbsent starts a service in a container, in which no service manager runs.
func systemdAbsent(p *generator) (entries []entry, _ int) {
	h, unit := p.harness(), p.pick("postgresql", "redis-server", "docker", "ssh", "mysql", "cron")
	commands := p.shuffled("systemctl start %s", "sudo systemctl start %s", "systemctl enable --now %s", "systemctl restart %s.service", "systemctl status %s", "systemctl daemon-reload && systemctl start %s", "sudo systemctl unmask %s", "systemctl --user start %s", "timedatectl; systemctl is-active %s")
	for _, command := range commands[:p.between(4, 7)] {
		output := "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down"
		if p.IntN(4) == 0 {
			output = "Failed to connect to bus: No such file or directory"
		}
		entries = append(entries, h.shell(fmt.Sprintf(command, unit), output, 1))
	}
	return entries, 1
}

// nothingToCommit stages and commits in other ways, although there is no change.
func nothingToCommit(p *generator) (entries []entry, _ int) {
	h, branch, topic := p.harness(), p.pick("main", "develop", "fix-"+p.word()), p.phrase(2, 4)
	upstream := p.pick("", "Your branch is up to date with 'origin/"+branch+"'.\n\n")
	for range p.between(5, 8) {
		message := p.pick("Fix ", "fix: ", "Update ", "chore: ") + topic
		command := p.pick("git commit -m '"+message+"'", "git add -A && git commit -m '"+message+"'", "git add . && git commit -am '"+message+"'", "git status", "git add src/ && git commit -m '"+message+"'", "git commit --all --message='"+message+"'", "git add --all && git status")
		entries = append(entries, h.shell(command, "On branch "+branch+"\n"+upstream+"nothing to commit, working tree clean", 1))
	}
	return entries, 1
}

// outsideAllowedDirectories reads paths that a file server does not serve.
func outsideAllowedDirectories(p *generator) (entries []entry, _ int) {
	root, name := "/srv/"+p.word(), p.word()
	for range p.between(4, 8) {
		path := p.pick("/home/user/", "/Users/"+name+"/", "~/", "/", "/home/"+name+"/", "/tmp/") + p.pick("Documents", "Desktop/"+name, name+".md", "Downloads/"+name+".pdf", "projects/"+name)
		tool := p.pick("list_directory", "read_text_file", "directory_tree", "get_file_info", "search_files")
		args := object("path", path)
		if tool == "search_files" {
			args = object("path", path, "pattern", "**/*"+name+"*")
		}
		entries = append(entries, failed(tool, args, "Access denied - path outside allowed directories: "+path+" not in "+root))
	}
	return entries, 1
}

// readExceedsLimit reads a file that is too large, with limits that do not help, since it is one line.
func readExceedsLimit(p *generator) (entries []entry, _ int) {
	file, tokens := "/app/"+p.word()+p.pick(".min.js", ".json", "-bundle.js", ".geojson"), p.between(30_000, 900_000)
	for k := range p.between(4, 7) {
		pairs := []any{"file_path", file}
		if k > 0 && p.IntN(4) > 0 {
			pairs = append(pairs, "offset", p.pickInt(0, 1), "limit", p.pickInt(1, 5, 10, 50, 100, 500, 1000))
		}
		entries = append(entries, failed("Read", object(pairs...), fmt.Sprintf("File content (%d tokens) exceeds maximum allowed tokens (25000). Use offset and limit parameters to read specific portions of the file, or search for specific content instead of reading the whole file.", tokens)))
	}
	return entries, 1
}

// playbookFailsAtTask plays a playbook with other options; it fails at one task, for one reason.
func playbookFailsAtTask(p *generator) (entries []entry, _ int) {
	h, host := p.harness(), p.word()+fmt.Sprint(p.between(1, 9))
	failure := [][2]string{
		{"Gathering Facts", `{"msg": "Missing sudo password"}`},
		{"Gathering Facts", `{"ansible_facts": {}, "changed": false, "msg": "The module interpreter '/usr/bin/python3' was not found."}`},
		{"Install packages", `{"changed": false, "msg": "Failed to lock apt for exclusive operation: E:Could not open lock file /var/lib/apt/lists/lock - open (13: Permission denied)"}`},
	}[p.IntN(3)]
	task, reason := failure[0], failure[1]
	commands := p.shuffled("ansible-playbook site.yml", "ansible-playbook -i inventory.ini site.yml", "ansible-playbook site.yml -b", "ansible-playbook site.yml --become-user=root", "ansible-playbook site.yml -vvv | tail -15", "ansible-playbook site.yml --limit "+host, "ansible-playbook site.yml -e ansible_become=true", "ANSIBLE_HOST_KEY_CHECKING=False ansible-playbook site.yml", "ansible-playbook site.yml --start-at-task='"+task+"'")
	for _, command := range commands[:p.between(4, 7)] {
		entries = append(entries, h.shell(command, fmt.Sprintf("PLAY [all] %s\n\nTASK [%s] %s\nfatal: [%s]: FAILED! => %s\n\nPLAY RECAP %s\n%-26s : ok=%d    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0", strings.Repeat("*", p.between(40, 69)), task, strings.Repeat("*", p.between(30, 60)), host, reason, strings.Repeat("*", p.between(40, 69)), host, p.IntN(2)), 2))
	}
	return entries, 1
}

// cronNeverRuns installs the line of a job in other forms, and waits for a log that does not appear.
func cronNeverRuns(p *generator) (entries []entry, _ int) {
	h, job := p.harness(), p.word()
	log := "/var/log/" + job + ".log"
	for range p.between(4, 6) {
		line := p.pick("* * * * * ", "*/1 * * * * ", "* * * * * root ", "@every_minute ") + p.pick("/usr/local/bin/"+job+".sh", "/bin/bash /usr/local/bin/"+job+".sh", "cd /app && ./"+job+".sh") + p.pick(" >> "+log+" 2>&1", " > "+log, " &>> "+log)
		look := [][2]string{{"cat " + log, "cat: " + log}, {"tail -5 " + log, "tail: cannot open '" + log + "' for reading"}, {"ls -la " + log, "ls: cannot access '" + log + "'"}}[p.IntN(3)]
		entries = append(entries,
			h.shell(p.pick("echo '"+line+"' | crontab -", "(crontab -l; echo '"+line+"') | crontab -", "echo '"+line+"' > /etc/cron.d/"+job), "", 0),
			h.shell(fmt.Sprintf("sleep %d; %s", p.pickInt(60, 65, 70, 90), look[0]), look[1]+": No such file or directory", 1))
	}
	return entries, 2
}

// thoughtsRepeated thinks the same again, under a new number, and does nothing.
func thoughtsRepeated(p *generator) (entries []entry, _ int) {
	a, b := p.phrase(2, 3), p.phrase(2, 3)
	for k := range p.between(5, 9) {
		thought := p.pick("I need to consider ", "Let me think about ", "So the question is ", "Wait, going back to ", "Let me reconsider ", "To be careful, I should think through ") + p.pick("whether the "+a+" depends on the "+b, "how the "+a+" relates to the "+b, "the "+a+" and the "+b) + p.pick(". I have to decide which comes first.", ". Either could come first.", ". It is not clear which comes first.", ". Then I can start.")
		total := k + p.between(2, 5)
		entries = append(entries, call("sequentialthinking", object("thought", thought, "thoughtNumber", k+1, "totalThoughts", total, "nextThoughtNeeded", true), content(fmt.Sprintf("{\n  \"thoughtNumber\": %d,\n  \"totalThoughts\": %d,\n  \"nextThoughtNeeded\": true,\n  \"branches\": [],\n  \"thoughtHistoryLength\": %d\n}", k+1, total, k+1))))
	}
	return entries, 1
}

// uploadUnreadable asks for a document; each picture that is sent is refused by the same check.
func uploadUnreadable(p *generator) (entries []entry, _ int) {
	document := p.pick("driver's license", "proof of address", "vehicle registration", "medical certificate")
	for k := range p.between(3, 5) {
		id, request := fmt.Sprintf("file_%08x", p.Uint32()), "Please upload a photo of your "+document+"."
		if k > 0 {
			request = p.pick("I could not read it. Please send your "+document+" once more.", "Unfortunately the picture is not readable. Could you upload the "+document+" again?", "Please make sure the "+document+" is fully visible and upload it again.")
		}
		entries = append(entries,
			say(request),
			user(p.pick("here you go", "Here it is.", "uploaded", "a picture of it")+" ["+id+"]"),
			call("verify_document", object("file_id", id, "type", strings.ReplaceAll(document, " ", "_")), object("file_id", id, "status", "rejected", "reason", "UNREADABLE", "confidence", fmt.Sprintf("0.%02d", p.between(8, 31)))))
	}
	return entries, 3
}
