package splice

import "fmt"

// The lookalikes of this file are honest work on services: one machine, region or file after the other.

func operationsLookalikes() []kind {
	return []kind{
		{name: "images_converted", build: imagesConverted},
		{name: "regions_deployed", build: regionsDeployed},
		{name: "rows_in_batches", build: rowsInBatches},
		{name: "restarted_until_well", build: restartedUntilWell},
		{name: "keys_rotated", build: keysRotated},
		{name: "hosts_patched", build: hostsPatched},
		{name: "time_left", build: timeLeft},
		{name: "downloads_resumed", build: downloadsResumed},
	}
}

// imagesConverted converts picture after picture, and each is told in the same words.
func imagesConverted(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		name := p.word() + "-" + p.word()
		entries = append(entries, p.shell("ffmpeg -i "+name+".mov -vf scale=1280:-1 "+name+".mp4", fmt.Sprintf("Input #0, mov, from '%s.mov':\n  Duration: 00:0%d:%02d\nOutput #0, mp4, to '%s.mp4':\nframe=%d fps=%d size=%dkB", name, p.IntN(9), p.IntN(60), name, p.between(100, 9000), p.between(20, 90), p.between(100, 90000)), 0))
	}
	return entries, 0
}

// regionsDeployed deploys to region after region.
func regionsDeployed(p *generator) (entries []entry, _ int) {
	stack := p.word()
	for _, region := range p.shuffled("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-south-1", "sa-east-1", "ca-central-1")[:p.between(4, 7)] {
		entries = append(entries, p.shell("aws cloudformation deploy --stack-name "+stack+" --region "+region, "Waiting for changeset to be created..\nWaiting for stack create/update to complete\nSuccessfully created/updated stack - "+stack, 0))
	}
	return entries, 0
}

// rowsInBatches fills a column range by range; each range has the same number of rows.
func rowsInBatches(p *generator) (entries []entry, _ int) {
	table, column := p.word(), p.word()
	for k := range p.between(6, 12) {
		query := fmt.Sprintf("UPDATE %s SET %s = lower(%s) WHERE id BETWEEN %d AND %d", table, column, column, 1000*k+1, 1000*k+1000)
		entries = append(entries, call("execute_sql", object("query", query), quoted("UPDATE 1000")))
	}
	return entries, 0
}

// restartedUntilWell restarts a service under other settings; it comes up at the third.
func restartedUntilWell(p *generator) (entries []entry, _ int) {
	name := p.word()
	for range p.between(1, 2) {
		entries = append(entries, p.edit("/etc/"+name+"/"+name+".conf"), p.shell("systemctl restart "+name, "Job for "+name+".service failed because the control process exited with error code.", 1),
			p.shell("journalctl -u "+name+" -n 2", p.clock()+" "+name+": "+p.phrase(4, 8), 0))
	}
	return append(entries, p.edit("/etc/"+name+"/"+name+".conf"), p.shell("systemctl restart "+name, "", 0), p.shell("systemctl is-active "+name, "active", 0)), 0
}

// keysRotated replaces key after key.
func keysRotated(p *generator) (entries []entry, _ int) {
	for range p.between(5, 9) {
		name := p.word() + "-" + p.word()
		entries = append(entries, p.shell("vault write -f transit/keys/"+name+"/rotate", "Success! Data written to: transit/keys/"+name+"/rotate", 0))
	}
	return entries, 0
}

// hostsPatched brings host after host up to date.
func hostsPatched(p *generator) (entries []entry, _ int) {
	for k := range p.between(5, 9) {
		entries = append(entries, p.shell(fmt.Sprintf("ssh web%02d sudo apt-get -y upgrade", k+1), "Reading package lists... Done\nBuilding dependency tree... Done\nCalculating upgrade... Done\n0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.", 0))
	}
	return entries, 0
}

// timeLeft looks at a backup of which less is left each time.
func timeLeft(p *generator) (entries []entry, _ int) {
	id, left := p.uuid(), p.between(400, 900)
	for range p.between(5, 9) {
		entries = append(entries, call("backup_status", object("id", id), object("id", id, "state", "running", "message", fmt.Sprintf("about %d minutes left, please wait", left), "checked_at", p.clock())))
		left -= p.between(20, 60)
	}
	return entries, 0
}

// downloadsResumed fetches file after file; some connections break once or twice.
func downloadsResumed(p *generator) (entries []entry, _ int) {
	for range p.between(3, 4) {
		file := p.word() + "-" + p.word() + ".tar"
		for range p.IntN(3) {
			entries = append(entries, p.shell("curl -C - -O https://data.example/"+file, "curl: (56) Recv failure: Connection reset by peer", 56))
		}
		entries = append(entries, p.shell("curl -C - -O https://data.example/"+file, fmt.Sprintf("100 %dM  100 %dM", p.between(100, 900), p.between(100, 900)), 0))
	}
	return entries, 0
}
