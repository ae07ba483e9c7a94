package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents at a shell that bring up programs. The agent says what is done and what comes next.

func environmentLookalikes() []kind {
	return []kind{
		{name: "containers_become_healthy", build: containersBecomeHealthy},
		{name: "server_brought_up", build: serverBroughtUp},
		{name: "tables_copied", build: tablesCopied},
		{name: "batch_size_halved", build: batchSizeHalved},
	}
}

// containersBecomeHealthy looks at a stack after pauses; one more container is healthy each time.
func containersBecomeHealthy(p *generator) (entries []entry, _ int) {
	run, project := p.commands(), p.word()
	services := p.shuffled("db", "redis", "kafka", "api", "worker", "web", "search")[:p.between(3, 5)]
	up := p.between(4, 9)
	for healthy := range len(services) + 1 {
		var output strings.Builder
		output.WriteString("NAME                SERVICE   STATUS")
		for k, service := range services {
			state := "health: starting"
			if k < healthy {
				state = "healthy"
			}
			fmt.Fprintf(&output, "\n%s-%s-1   %s   Up %d seconds (%s)", project, service, service, up, state)
		}
		up += p.between(15, 40)
		t := thought{fmt.Sprintf("%d of %d containers are healthy.", max(healthy-1, 0), len(services)), p.pick("Let me give them some time and look again.", "I'll wait for the rest.", "The others are still starting, so I wait.")}
		if healthy == 0 {
			t = thought{"The stack has been started.", "Let me look at the state of the containers."}
		}
		entries = append(entries, run(fmt.Sprintf("sleep %d && docker compose ps", p.pickInt(10, 15, 20, 30)), output.String(), 0).after(t))
	}
	return entries, 0
}

// serverBroughtUp starts a server, reads why it does not come up, and mends that; each time it is another cause.
func serverBroughtUp(p *generator) (entries []entry, _ int) {
	h, port, name := p.harness(), p.pickInt(3000, 5000, 8000), strings.ToUpper(p.word())
	causes := [][3]string{
		{"Error: Cannot find module 'express'", "npm install express", "express is not installed"},
		{"Error: " + name + "_URL is not set", "echo " + name + "_URL=redis://localhost:6379 >> .env", "the variable " + name + "_URL is missing"},
		{fmt.Sprintf("Error: listen EADDRINUSE: address already in use :::%d", port), fmt.Sprintf("fuser -k %d/tcp", port), "an old process has the port"},
		{"Error: connect ECONNREFUSED 127.0.0.1:6379", "redis-server --daemonize yes", "Redis is not running"},
		{"SyntaxError: Unexpected token '}' in JSON at position 212", "sed -i '9s/,$//' config.json", "config.json has a trailing comma"},
		{"Error: EACCES: permission denied, open '/var/log/app.log'", "touch /var/log/app.log && chmod 666 /var/log/app.log", "the log file is not writable"},
	}
	p.Shuffle(len(causes), func(i, j int) { causes[i], causes[j] = causes[j], causes[i] })
	for k, cause := range causes[:p.between(3, 5)] {
		seen := "That cause is removed."
		if k == 0 {
			seen = ""
		}
		entries = append(entries,
			h.shell("(node server.js > server.log 2>&1 &); sleep 2; tail -n 4 server.log", "node:internal/process\n"+cause[0]+"\n    at Object.<anonymous> (/app/server.js:"+fmt.Sprint(p.between(1, 80))+":11)", 0).after(thought{seen, p.pick("Let me start the server and read its log.", "Starting the server.", "Let me start it.")}),
			h.shell(cause[1], p.pick("", "done"), 0).after(thought{"The log says that " + cause[2] + ".", p.pick("Let me fix that.", "I'll take care of it.", "That is easy to mend.")}))
	}
	return append(entries,
		h.shell("(node server.js > server.log 2>&1 &); sleep 2; tail -n 4 server.log", fmt.Sprintf("listening on port %d", port), 0).after(thought{next: "Let me start the server and read its log."}),
		h.shell(fmt.Sprintf("curl -s localhost:%d/health", port), `{"status":"ok"}`, 0).after(thought{"The server listens now.", "Let me query it."})), 0
}

// tablesCopied copies table after table into another database and compares the number of rows.
func tablesCopied(p *generator) (entries []entry, _ int) {
	run, from, to, done := p.commands(), p.word()+"_old", p.word(), ""
	for _, table := range p.distinct(p.between(3, 6)) {
		rows := p.between(0, 90_000)
		entries = append(entries,
			run("pg_dump -t "+table+" --data-only "+from+" | psql -q "+to, fmt.Sprintf("COPY %d", rows), 0).after(p.nextItem(done, "the table "+table)),
			run(fmt.Sprintf("psql -At -c 'SELECT count(*) FROM %s' %s", table, to), fmt.Sprint(rows), 0).after(thought{fmt.Sprintf("%d rows were copied.", rows), "Let me verify the count of " + table + "."}))
		done = "the table " + table
	}
	return entries, 0
}

// batchSizeHalved halves the batch of a training until it fits into the memory of the GPU.
func batchSizeHalved(p *generator) (entries []entry, _ int) {
	run, size, want := p.commands(), p.pickInt(128, 256), p.between(9, 30)*1024
	for range p.between(2, 4) {
		output := fmt.Sprintf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.%02d GiB. GPU 0 has a total capacity of 23.65 GiB of which %d.%02d GiB is free.", want/1024, p.IntN(100), p.between(1, 4), p.IntN(100))
		entries = append(entries, run(fmt.Sprintf("python train.py --epochs 1 --batch-size %d", size), output, 1).after(thought{p.pick("It asked for less memory than before.", "That is closer to what fits.", ""), fmt.Sprintf(p.pick("Let me try a batch of %d.", "A batch of %d is next.", "I halve the batch to %d.", "Let me see if %d fits."), size)}))
		size, want = size/2, want/2
	}
	loss := float64(p.between(180, 290)) / 100
	output := fmt.Sprintf("epoch 1/1 step 100 loss %.3f mem %d.%dGB\nepoch 1/1 step 200 loss %.3f\nsaved checkpoint to runs/1/last.pt", loss, p.between(12, 21), p.IntN(10), loss*0.8)
	return append(entries, run(fmt.Sprintf("python train.py --epochs 1 --batch-size %d", size), output, 0).after(thought{"That needs about half as much.", fmt.Sprintf("A batch of %d should fit.", size)})), 0
}
