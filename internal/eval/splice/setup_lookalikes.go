package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that set up machines, keep repositories, read files through servers and think aloud.

func setupLookalikes() []kind {
	return []kind{
		{name: "programs_supervised", build: programsSupervised},
		{name: "hunks_staged", build: hunksStaged},
		{name: "folders_mapped", build: foldersMapped},
		{name: "archives_unpacked", build: archivesUnpacked},
		{name: "playbook_gets_further", build: playbookGetsFurther},
		{name: "jobs_scheduled", build: jobsScheduled},
		{name: "thoughts_unfold", build: thoughtsUnfold},
		{name: "documents_collected", build: documentsCollected},
	}
}

// programsSupervised starts program after program under a supervisor, with one form of answer.
func programsSupervised(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for k := range p.between(5, 8) {
		name := fmt.Sprintf("%s_%d", p.word(), k)
		entries = append(entries, h.shell("supervisorctl start "+name, name+": started", 0))
	}
	return entries, 0
}

// hunksStaged looks at file after file and stages it with a commit of its own.
func hunksStaged(p *generator) (entries []entry, _ int) {
	h := p.harness()
	files := p.between(4, 6)
	for k := range files {
		file, topic := p.path(), p.phrase(2, 4)
		entries = append(entries,
			h.shell("git diff --stat -- "+file, fmt.Sprintf(" %s | %d %s%s\n 1 file changed", file, p.between(2, 20), strings.Repeat("+", p.between(1, 9)), strings.Repeat("-", p.IntN(5))), 0),
			h.shell("git add "+file+" && git commit -q -m '"+topic+"' && git status --short | wc -l", fmt.Sprint(files-1-k), 0))
	}
	return entries, 0
}

// foldersMapped lists folder after folder of a server of files; some are empty.
func foldersMapped(p *generator) (entries []entry, _ int) {
	root := "/srv/" + p.word()
	for k := range p.between(6, 10) {
		listing := "[FILE] " + strings.Join(p.words(p.between(2, 5)), ".md\n[FILE] ") + ".md"
		if p.IntN(3) == 0 {
			listing = ""
		}
		entries = append(entries, call("list_directory", object("path", fmt.Sprintf("%s/%s_%d", root, p.word(), k)), content(listing)))
	}
	return entries, 0
}

// archivesUnpacked unpacks an archive that is in an archive, layer after layer, until there is a text.
func archivesUnpacked(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	for range p.between(5, 8) {
		next, form := p.word(), p.IntN(3)
		entries = append(entries, h.shell("file "+name+".bin && "+[]string{"tar xzvf ", "unzip -o ", "7z x "}[form]+name+".bin", name+".bin: "+[]string{"gzip compressed data, from Unix", "Zip archive data, at least v2.0 to extract", "7-zip archive data, version 0.4"}[form]+fmt.Sprintf(", original size %d\n%s.bin", p.between(2000, 90_000), next), 0))
		name = next
	}
	return append(entries, h.shell("cat "+name+".bin", p.phrase(5, 10), 0)), 0
}

// playbookGetsFurther mends what a playbook fails at, task after task.
func playbookGetsFurther(p *generator) (entries []entry, _ int) {
	h, host, ok := p.harness(), p.word()+fmt.Sprint(p.between(1, 9)), 1
	for range p.between(4, 6) {
		ok += p.between(1, 3)
		entries = append(entries,
			h.shell("ansible-playbook site.yml", fmt.Sprintf("TASK [%s] ***\nfatal: [%s]: FAILED! => {\"changed\": false, \"msg\": %q}\n\nPLAY RECAP ***\n%-20s : ok=%d    changed=%d    unreachable=0    failed=1", p.phrase(2, 4), host, p.phrase(4, 9), host, ok, ok/2), 2),
			h.edit("roles/"+p.word()+"/tasks/main.yml"))
	}
	return append(entries, h.shell("ansible-playbook site.yml", fmt.Sprintf("PLAY RECAP ***\n%-20s : ok=%d    changed=%d    unreachable=0    failed=0", host, ok+3, ok/2+1), 0)), 0
}

// jobsScheduled adds job after job to a table, which is shown each time.
func jobsScheduled(p *generator) (entries []entry, _ int) {
	h, table := p.harness(), ""
	for range p.between(4, 7) {
		line := fmt.Sprintf("%d %d * * %s /usr/local/bin/%s_%s.sh", p.IntN(60), p.IntN(24), p.pick("*", "1-5", "0"), p.word(), p.word())
		table += line + "\n"
		entries = append(entries, h.shell("(crontab -l 2>/dev/null; echo '"+line+"') | crontab - && crontab -l", table, 0))
	}
	return entries, 0
}

// thoughtsUnfold thinks step by step about a problem; each thought adds something.
func thoughtsUnfold(p *generator) (entries []entry, _ int) {
	total := p.between(5, 8)
	for k := range total {
		thought := p.pick("First constraint: ", "It follows that ", "An exception is ", "So far I have not considered ", "From this I conclude: ", "A counterexample would be ") + p.phrase(8, 18) + "."
		entries = append(entries, call("sequentialthinking", object("thought", thought, "thoughtNumber", k+1, "totalThoughts", total, "nextThoughtNeeded", k < total-1), content(fmt.Sprintf("{\n  \"thoughtNumber\": %d,\n  \"totalThoughts\": %d,\n  \"nextThoughtNeeded\": %t,\n  \"branches\": [],\n  \"thoughtHistoryLength\": %d\n}", k+1, total, k < total-1, k+1))))
	}
	return entries, 0
}

// documentsCollected asks for document after document; each is sent and accepted.
func documentsCollected(p *generator) (entries []entry, _ int) {
	missing := p.shuffled("driver's license", "proof of address", "vehicle registration", "medical certificate", "bank statement", "payslip")[:p.between(4, 6)]
	for k, document := range missing {
		id := fmt.Sprintf("file_%08x", p.Uint32())
		entries = append(entries,
			say(p.pick("Thank you. Next, please upload your ", "Please upload your ", "Now I need your ")+document+"."),
			user(p.pick("here you go", "uploaded", "there it is")+" ["+id+"]"),
			call("verify_document", object("file_id", id, "type", strings.ReplaceAll(document, " ", "_")), object("file_id", id, "status", "accepted", "missing", append([]string{}, missing[k+1:]...))))
	}
	return append(entries, call("submit_application", object("documents", len(missing)), json.RawMessage(`{"status":"submitted"}`))), 0
}
