package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents at a terminal: one backup, one version pin, one region or one unit after the other.

func sysadminLookalikes() []kind {
	return []kind{
		{name: "backups_verified_one_by_one", build: backupsVerifiedOneByOne},
		{name: "pins_relaxed_until_installed", build: pinsRelaxedUntilInstalled},
		{name: "regions_swept_for_leftovers", build: regionsSweptForLeftovers},
		{name: "failed_units_brought_up_in_turn", build: failedUnitsBroughtUpInTurn},
	}
}

// backupsVerifiedOneByOne tests the backup of one day after the other; each of them is sound, and the outputs differ by sizes and times.
func backupsVerifiedOneByOne(p *generator) (entries []entry, _ int) {
	run, name, files := p.waitingShell(), p.word(), p.between(3, 400)
	form, size, month := p.IntN(3), p.between(100_000, 90_000_000), p.between(1, 12)
	w := wording{
		[]string{"I'll verify the backups, the oldest one first.", "Let me test the first archive."},
		[]string{"That one is fine.", "No errors.", "Sound.", "Good.", ""},
		[]string{"Next day.", "Now the following one.", "Let me test the next backup.", "On to the next archive.", "The next one."},
	}
	for day := range p.between(6, 14) {
		date := fmt.Sprintf("2026-%02d-%02d", month, day+1)
		size += p.between(10, 90_000)
		command, output := fmt.Sprintf("7z t /backup/%s-%s.7z", name, date), fmt.Sprintf("Testing archive: /backup/%s-%s.7z\n--\nPath = /backup/%s-%s.7z\nType = 7z\nPhysical Size = %d\n\nEverything is Ok\n\nFiles: %d\nSize:       %d\nCompressed: %d", name, date, name, date, size, files+day, 3*size, size)
		switch form {
		case 1:
			snapshot := fmt.Sprintf("%08x", p.Uint32())
			command, output = "restic -r /backup/"+name+"-"+date+" check --read-data", fmt.Sprintf("using temporary cache in /var/cache/restic/restic-check-%d\nload indexes\ncheck all packs\ncheck snapshots, trees and blobs\n[0:%02d] 100.00%%  1 / 1 snapshots (%s)\nread all data\n[%d:%02d] 100.00%%  %d / %d packs\nno errors were found", p.between(1e8, 9e8), p.between(1, 59), snapshot, p.between(1, 9), p.IntN(60), files+day, files+day)
		case 2:
			command, output = fmt.Sprintf("pg_restore --list /backup/%s-%s.dump | wc -l && pg_restore -f /dev/null /backup/%s-%s.dump && echo ok", name, date, name, date), fmt.Sprintf("%d\nok", files+200+day/3)
		}
		entries = append(entries, run(command, output, 0).after(w.of(p, day)))
	}
	return entries, 0
}

// pinsRelaxedUntilInstalled installs by one command; each time other packages are in conflict, and one pin is relaxed, until all is installed.
func pinsRelaxedUntilInstalled(p *generator) (entries []entry, _ int) {
	h, packages := harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}, p.shuffled("aiohttp", "boto3", "celery", "click", "cryptography", "django", "fastapi", "flask", "httpx", "jinja2", "pandas", "pydantic", "pyyaml", "redis", "requests", "scipy", "sqlalchemy", "urllib3", "werkzeug")
	file, command := p.pick("requirements.txt", "requirements/base.txt"), "pip install -r "
	separator, ending := "-", " "
	if p.coin() {
		command, separator, ending = "uv pip compile ", "==", "\n"
	}
	version := func(major int) string { return fmt.Sprintf("%d.%d.%d", major+p.IntN(3), p.IntN(20), p.IntN(9)) }
	w := wording{
		[]string{"Let me install the requirements.", "The pins are old. I'll see which of them conflict."},
		[]string{"That conflict is solved, there is another one.", "Now two other packages disagree.", "The next conflict.", "It gets further."},
		[]string{"Let me see what is left.", "Once more.", "Let me resolve again.", "And again with the new pin."},
	}
	rounds := p.between(5, 8)
	for k := range rounds {
		a, b, low, high := packages[2*k], packages[2*k+1], version(1), version(4)
		text := fmt.Sprintf("ERROR: Cannot install -r %[1]s (line %[2]d) and %[3]s==%[4]s because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    The user requested %[3]s==%[4]s\n    %[5]s %[6]s depends on %[3]s>=%[6]s\n\nTo fix this you could try to:\n1. loosen the range of package versions you've specified\n2. remove package versions to allow pip to attempt to solve the dependency conflict\n\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/", file, p.between(1, 60), a, low, b, high)
		if strings.HasPrefix(command, "uv") {
			text = fmt.Sprintf("  × No solution found when resolving dependencies:\n  ╰─▶ Because %[1]s==%[2]s depends on %[3]s>=%[2]s and you require %[3]s==%[4]s, we can conclude that your requirements and %[1]s==%[2]s are incompatible.\n      And because you require %[1]s==%[2]s, we can conclude that your requirements are unsatisfiable.", b, high, a, low)
		}
		entries = append(entries, h.shell(command+file, text, 1).after(w.of(p, k)), h.replace(file, a+"=="+low, a+">="+high+p.pick("", ",<"+fmt.Sprint(p.between(8, 9)))).after(thought{p.pick("", a+" is too old for "+b+"."), p.pick("Let me relax that pin.", "I'll raise "+a+".", "Let me loosen it.")}))
	}
	text := ""
	for _, name := range packages[:p.between(5, len(packages))] {
		text += name + separator + version(6) + ending
	}
	if separator == "-" {
		text = "Installing collected packages: " + strings.Join(packages, ", ") + "\nSuccessfully installed " + text
	}
	return append(entries, h.shell(command+file, strings.TrimSpace(text), 0).after(w.of(p, rounds))), 0
}

// regionsSweptForLeftovers asks one region or account after the other for resources that were left behind; most have none.
func regionsSweptForLeftovers(p *generator) (entries []entry, _ int) {
	run, tag := p.waitingShell(), p.word()
	s := []struct {
		command string
		none    string
		found   func(place string) string
		places  []string
	}{
		{
			"aws ec2 describe-volumes --filters Name=status,Values=available --query 'Volumes[].VolumeId' --region %s", "[]",
			func(string) string {
				return fmt.Sprintf("[\n    \"vol-0%015x\",\n    \"vol-0%015x\"\n]", p.Uint64N(1<<60), p.Uint64N(1<<60))
			},
			strings.Fields("us-east-1 us-east-2 us-west-1 us-west-2 eu-west-1 eu-west-2 eu-west-3 eu-central-1 eu-north-1 ap-south-1 ap-southeast-1 ap-southeast-2 ap-northeast-1 ca-central-1 sa-east-1"),
		},
		{
			"gcloud compute addresses list --filter=status=RESERVED --regions=%s", "Listed 0 items.",
			func(place string) string {
				return fmt.Sprintf("NAME       ADDRESS/RANGE   TYPE      REGION        STATUS\n%s-ip   34.%d.%d.%d   EXTERNAL  %s  RESERVED", tag, p.IntN(250), p.IntN(250), p.IntN(250), place)
			},
			strings.Fields("us-central1 us-east1 us-east4 us-west1 us-west2 europe-west1 europe-west3 europe-west4 europe-north1 asia-east1 asia-northeast1 australia-southeast1"),
		},
		{
			"kubectl get pvc -l app=" + tag + " --context %s -A", "No resources found",
			func(string) string {
				return fmt.Sprintf("NAMESPACE   NAME          STATUS   VOLUME     CAPACITY   AGE\n%s          %s-data-0   Bound    pvc-%08x   20Gi       %dd", p.word(), tag, p.Uint32(), p.between(3, 400))
			},
			strings.Fields("prod-eu prod-us prod-ap stage-eu stage-us dev-a dev-b sandbox edge-1 edge-2 edge-3 demo"),
		},
	}[p.IntN(3)]
	w := wording{
		[]string{"Let me go through them one by one.", "I'll start with the first one."},
		[]string{"Nothing there.", "None.", "That one is clean.", ""},
		[]string{"Next: %s.", "Now %s.", "Let me check %s.", "On to %s."},
	}
	clean := false
	for k, place := range p.shuffled(s.places...)[:p.between(7, 12)] {
		t, output := w.of(p, k), s.none
		if k > 0 {
			t.next = fmt.Sprintf(t.next, place)
		}
		if !clean {
			t.seen = ""
		}
		if clean = p.IntN(6) > 0; !clean {
			output = s.found(place)
		}
		entries = append(entries, run(fmt.Sprintf(s.command, place), output, 0).after(t))
	}
	return entries, 0
}

// failedUnitsBroughtUpInTurn lists the units that have failed, mends one of them, and lists them again; the list gets shorter.
func failedUnitsBroughtUpInTurn(p *generator) (entries []entry, _ int) {
	run, names, logs := p.waitingShell(), p.distinctWords(p.between(4, 8)), p.coin()
	list := func(failed []string) string {
		if len(failed) == 0 {
			return "  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed."
		}
		text := "  UNIT LOAD ACTIVE SUB DESCRIPTION\n"
		for _, name := range failed {
			text += fmt.Sprintf("● %s.service loaded failed failed %s service\n", name, capitalized(name))
		}
		return text + fmt.Sprintf("\nLOAD   = Reflects whether the unit definition was properly loaded.\nACTIVE = The high-level unit activation state, i.e. generalization of SUB.\nSUB    = The low-level unit activation state, values depend on unit type.\n%d loaded units listed.", len(failed))
	}
	w := wording{
		[]string{"Let me see which units have failed.", "First, what is failing?"},
		[]string{"That one runs again.", "One less.", "It is up.", ""},
		[]string{"What is left?", "Let me list them again.", "Let me see the rest.", "Check the list again."},
	}
	for k, name := range names {
		pid, user := p.between(800, 90_000), p.word()
		at := fmt.Sprintf("%02d %02d:%02d:%02d", p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60))
		cause := [][2]string{
			{"Failed to open /etc/" + name + "/" + user + ".yaml: No such file or directory", "install -D -m 644 /usr/share/" + name + "/" + user + ".yaml /etc/" + name + "/" + user + ".yaml"},
			{"bind: address already in use", "sed -i 's/^port = .*/port = " + fmt.Sprint(p.between(2000, 60_000)) + "/' /etc/" + name + ".conf"},
			{"Failed to determine user credentials: No such process", "useradd --system " + user},
			{"open /var/lib/" + name + "/lock: permission denied", "chown -R " + user + " /var/lib/" + name},
			{"Failed at step EXEC spawning /opt/" + name + "/bin/run: Permission denied", "chmod +x /opt/" + name + "/bin/run"},
		}[p.IntN(5)]
		entries = append(entries, run("systemctl --failed", list(names[k:]), 0).after(w.of(p, k)))
		if logs {
			entries = append(entries, run("journalctl -u "+name+" -n "+fmt.Sprint(p.pickInt(3, 5, 10))+" --no-pager", fmt.Sprintf("Jun %[1]s web1 %[2]s[%[3]d]: %[4]s\nJun %[1]s web1 systemd[1]: %[2]s.service: Failed with result 'exit-code'.", at, name, pid, cause[0]), 0).after(thought{"", p.pick("Why did `"+name+"` fail?", "Let me look at `"+name+"`.", "Next is `"+name+"`.")}))
		}
		entries = append(entries, run(cause[1]+" && systemctl restart "+name, "", 0).after(thought{"", p.pick("Let me fix that.", "Fix it and start it.", "")}))
	}
	return append(entries, run("systemctl --failed", list(nil), 0).after(w.of(p, len(names)))), 0
}
