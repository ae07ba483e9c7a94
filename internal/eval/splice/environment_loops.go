package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents at a shell that bring up programs. The agent says what a model says at that step.

func environmentLoops() []kind {
	return []kind{
		{name: "server_never_answers", build: serverNeverAnswers},
		{name: "lost_commit_searched", build: lostCommitSearched},
		{name: "database_login_fails", build: databaseLoginFails},
		{name: "container_unhealthy", build: containerUnhealthy},
		{name: "export_lost_between_calls", build: exportLostBetweenCalls},
		{name: "cuda_out_of_memory", build: cudaOutOfMemory},
	}
}

// serverNeverAnswers starts a server in the background in other ways; nothing listens on its port.
func serverNeverAnswers(p *generator) (entries []entry, _ int) {
	run, port := p.commands(), p.pickInt(3000, 5000, 8000, 8080)
	program := p.pick("python app.py", "python -m uvicorn main:app --port "+fmt.Sprint(port), "node server.js", "flask run --port "+fmt.Sprint(port), "npm start")
	words := wording{
		first: []string{"Now let me start the server and test it.", "Let me start the server in the background.", "I'll run the server and query it."},
		seen:  []string{"The connection is refused.", "The server is not responding.", "Still connection refused.", "Nothing is listening on port " + fmt.Sprint(port) + ".", "The server does not seem to have started."},
		next:  []string{"Let me start it again in the background.", "Let me wait a bit longer before the request.", "Let me start it differently.", "Let me kill any old process and start it again.", "Let me restart it and check again.", "Maybe it needs more time to start."},
	}
	for round := range p.between(4, 7) {
		log := p.pick("/tmp/server.log", "server.log", "/dev/null", "/tmp/out.log")
		start := p.pick(program+" &", "nohup "+program+" > "+log+" 2>&1 &", "("+program+" > "+log+" 2>&1 &)", "setsid "+program+" >/dev/null 2>&1 &", "pkill -f '"+strings.Fields(program)[0]+"'; nohup "+program+" &", "screen -dmS server "+program)
		host := p.pick("localhost", "localhost", "127.0.0.1", "0.0.0.0")
		refused := fmt.Sprintf("curl: (7) Failed to connect to %s port %d after %d ms: Couldn't connect to server", host, port, p.IntN(3))
		check := p.pick("sleep 3 && curl -s -S http://", "sleep 5; curl -sS http://", "sleep 2 && curl -sSf http://", "sleep 10; curl -i -sS http://") + fmt.Sprintf("%s:%d/%s", host, port, p.pick("", "health", "api"))
		if p.IntN(3) == 0 {
			entries = append(entries, run(start+"\n"+check, fmt.Sprintf("[1] %d\n%s", p.between(200, 9000), refused), 7).after(words.of(p, round)))
			continue
		}
		entries = append(entries,
			run(start, fmt.Sprintf("[1] %d", p.between(200, 9000)), 0).after(words.of(p, round)),
			run(check, refused, 7).after(thought{next: p.pick("", "Let me check if it responds.", "Now the request.", "Testing the endpoint:")}))
	}
	return entries, 2
}

// lostCommitSearched looks for a commit in every listing of Git; each shows the same three commits.
func lostCommitSearched(p *generator) (entries []entry, _ int) {
	run, what := p.commands(), p.phrase(2, 3)
	hashes, subjects := make([]string, 3), make([]string, 3)
	for k := range hashes {
		hashes[k], subjects[k] = fmt.Sprintf("%07x", p.IntN(1<<28)), p.pick("Add ", "Fix ", "Update ")+p.phrase(2, 4)
	}
	words := wording{
		first: []string{"Let me look for the lost commit.", "First I check the history for the " + what + " change."},
		seen:  []string{"The commit is not in there.", "Only the three commits I already know.", "I don't see the " + what + " change.", "Nothing about " + what + ".", "That is the same history again."},
		next:  []string{"Let me look elsewhere in the repository.", "It could be dangling. Let me look at another listing.", "Let me check all refs.", "Let me look once more, with other options.", "Git must still have it somewhere.", "Let me list it in another way."},
	}
	short := fmt.Sprintf("%s %s\n%s %s\n%s %s", hashes[0], subjects[0], hashes[1], subjects[1], hashes[2], subjects[2])
	moves := fmt.Sprintf("%s HEAD@{0}: commit: %s\n%s HEAD@{1}: commit: %s\n%s HEAD@{2}: commit (initial): %s", hashes[0], subjects[0], hashes[1], subjects[1], hashes[2], subjects[2])
	for round := range p.between(6, 11) {
		command, output := "", ""
		switch p.IntN(5) {
		case 0:
			command, output = p.pick("git reflog", "git reflog --all", "git reflog show HEAD", "git log -g --oneline"), moves
		case 1:
			command = p.pick("git fsck --lost-found", "git fsck --unreachable --no-reflogs", "git fsck --full --dangling", "git stash list", "git log --all --grep='"+strings.Fields(what)[0]+"'", "git log --all -S'"+strings.Fields(what)[0]+"' --oneline")
		case 2:
			command, output = p.pick("git branch -a -v", "git branch -av --no-abbrev | cut -c1-80", "git show-ref; git branch -v"), "* main "+hashes[0]+" "+subjects[0]
		default:
			command = p.pick("git log --oneline", "git log --oneline --all", "git log --oneline --graph --all", "git log --oneline -20", "git rev-list --all --oneline", "git log --all --oneline --decorate")
			output = short
		}
		entries = append(entries, run(command, output, 0).after(words.of(p, round)))
	}
	return entries, 2
}

// databaseLoginFails connects to PostgreSQL with other strings and edits its access rules; the password stays wrong.
func databaseLoginFails(p *generator) (entries []entry, _ int) {
	run, role, base := p.commands(), p.word(), p.word()
	words := wording{
		first: []string{"Let me connect to the database.", "First I check the connection to PostgreSQL.", "Let me look at the tables."},
		seen:  []string{"Password authentication failed.", "Still not authenticated.", "The same FATAL error.", "The login still fails.", "That password is not accepted either."},
		next:  []string{"Let me try with other credentials.", "Let me pass the password in another way.", "Let me try the default credentials.", "Let me try to connect differently.", "Maybe this works."},
	}
	secret := func() string { return p.pick("postgres", role, "password", "secret", role+"123", "") }
	for round := range p.between(4, 9) {
		command := p.pick(
			"PGPASSWORD="+secret()+" psql -h localhost -U "+role+" -d "+base+" -c '\\dt'", "psql -h 127.0.0.1 -U "+role+" "+base+" -c 'SELECT 1'",
			"psql postgresql://"+role+":"+secret()+"@localhost:5432/"+base+" -c '\\l'", "echo 'localhost:5432:*:"+role+":"+secret()+"' > ~/.pgpass && chmod 600 ~/.pgpass && psql -h localhost -U "+role+" -d "+base,
			"sed -i 's/scram-sha-256/trust/' /etc/postgresql/*/main/pg_hba.conf; psql -h localhost -U "+role+" -d "+base+" -c '\\dt'",
			"python3 -c \"import psycopg2; psycopg2.connect(host='localhost', user='"+role+"', password='"+secret()+"', dbname='"+base+"')\"")
		refused := fmt.Sprintf("connection to server at \"localhost\" (%s), port 5432 failed: FATAL:  password authentication failed for user \"%s\"", p.pick("127.0.0.1", "127.0.0.1", "::1"), role)
		output := "psql: error: " + refused
		if strings.HasPrefix(command, "python3") {
			output = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n  File \"/usr/lib/python3/dist-packages/psycopg2/__init__.py\", line 122, in connect\n    conn = _connect(dsn, connection_factory=connection_factory, **kwasync)\npsycopg2.OperationalError: " + refused
		}
		entries = append(entries, run(command, output, 2).after(words.of(p, round)))
	}
	return entries, 1
}

// containerUnhealthy changes a compose file; one container stays unhealthy, and what depends on it does not start.
func containerUnhealthy(p *generator) (entries []entry, _ int) {
	h, project, service := p.harness(), p.word(), p.pick("db", "postgres", "kafka", "redis", "elasticsearch")
	name := project + "-" + service + "-1"
	words := wording{
		first: []string{"Let me bring the stack up.", "I'll adjust the health check and start the services.", "Let me fix the compose file and start it."},
		seen:  []string{"The " + service + " container is still unhealthy.", "It fails in the same way.", service + " does not become healthy.", "The dependency failed to start again.", "Same result: " + name + " is unhealthy."},
	}
	before := "      interval: 5s"
	for round := range p.between(3, 6) {
		parts := [][2]string{
			{fmt.Sprintf("      interval: %ds", p.between(2, 30)), "Let me check less often."},
			{fmt.Sprintf("      retries: %d", p.between(5, 30)), "I'll raise the number of retries."},
			{fmt.Sprintf("      start_period: %ds", p.between(10, 120)), "Let me increase the start period."},
			{"      test: [\"CMD-SHELL\", \"exit 0\"]", "Let me simplify the health check."},
			{fmt.Sprintf("      timeout: %ds", p.between(3, 20)), "Let me give the check more time."},
			{"      test: [\"CMD\", \"nc\", \"-z\", \"localhost\", \"5432\"]", "Let me change the health check command."},
		}
		part := parts[p.IntN(len(parts))]
		after := part[0]
		output := fmt.Sprintf(" Network %s_default  Created\n Container %s  Creating\n Container %s  Started\n Container %s  Waiting\n Container %s  Error %d.%ds\ndependency failed to start: container %s is unhealthy", project, name, name, name, name, p.between(10, 60), p.IntN(10), name)
		if p.IntN(3) == 0 {
			output = strings.TrimPrefix(output, " Network "+project+"_default  Created\n")
		}
		entries = append(entries,
			h.replace(p.pick("docker-compose.yml", "docker-compose.yml", "compose.yaml"), before, after).after(words.then(p, round, part[1])),
			h.shell(p.pick("docker compose up -d", "docker compose down -v && docker compose up -d", "docker compose up -d --force-recreate", "docker compose up -d --wait", "docker compose up -d --build "+service), output, 1).after(p.runAgain()))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, h.shell("docker compose ps", fmt.Sprintf("NAME      IMAGE     SERVICE   CREATED          STATUS                      PORTS\n%s   %s   %s   %d seconds ago   Up %d seconds (unhealthy)", name, service, service, p.between(20, 59), p.between(10, 19)), 0).after(thought{next: p.pick("Let me check the status.", "")}))
		}
		before = after
	}
	return entries, 2
}

// exportLostBetweenCalls sets a variable in one call and needs it in the next; each call has a shell of its own.
func exportLostBetweenCalls(p *generator) (entries []entry, _ int) {
	run, name := p.commands(), strings.ToUpper(p.word())+"_"+p.pick("API_KEY", "HOME", "TOKEN", "URL")
	script, value := p.word()+".py", p.uuid()[:12]
	words := wording{
		first: []string{"The script needs " + name + ". Let me set it.", "First I set the environment variable.", "I'll export " + name + "."},
		seen:  []string{"The variable is still not set.", "It says that " + name + " is missing, although I have just exported it.", "The export did not take effect.", "Strange, the environment variable is gone.", "Still the KeyError."},
		next:  []string{"Let me export it again.", "Let me set it in another way.", "I'll set it once more before I run the script.", "Let me make sure it is set.", "Let me define it so that the script sees it."},
	}
	for round := range p.between(4, 7) {
		export := p.pick("export "+name+"="+value, "export "+name+"=\""+value+"\"", "echo 'export "+name+"="+value+"' >> ~/.bashrc && source ~/.bashrc", "echo '"+name+"="+value+"' > .env && source .env", "declare -x "+name+"="+value, "echo '"+name+"="+value+"' >> /etc/environment && . /etc/environment", name+"="+value)
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/%s\", line 9, in <module>\n    value = os.environ[\"%s\"]\n            ~~~~~~~~~~^^^^^^^^^^\n  File \"<frozen os>\", line 685, in __getitem__\nKeyError: '%s'", script, name, name)
		entries = append(entries,
			run(export, "", 0).after(words.of(p, round)),
			run(p.pick("python "+script, "python3 "+script, "cd /app && python "+script, "python -u "+script), output, 1).after(p.runAgain()))
	}
	return entries, 3
}

// cudaOutOfMemory trains with smaller and smaller settings; another program has all memory of the GPU.
func cudaOutOfMemory(p *generator) (entries []entry, _ int) {
	run, model, total := p.commands(), p.word(), p.pick("14.75", "23.65", "39.39", "79.15")
	free, other := fmt.Sprintf("%d.%d MiB", p.between(3, 19), p.between(10, 99)), p.between(1000, 60_000)
	words := wording{
		first: []string{"Let me start the training.", "I'll run the training script now.", "Now train the model."},
		seen:  []string{"CUDA is out of memory.", "Still out of memory, even with the smaller batch.", "The same OutOfMemoryError.", "It does not fit into the GPU memory.", "The GPU has almost no free memory."},
		next:  []string{"Let me reduce the batch size.", "Let me try with a smaller batch.", "Let me retry with settings that need less memory.", "I'll lower the memory use further.", "Let me try again with other options."},
	}
	for round := range p.between(4, 8) {
		command := p.pick("", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True ", "CUDA_VISIBLE_DEVICES=0 ") + "python train.py --model " + model + " --batch-size " + fmt.Sprint([]int{32, 16, 8, 4, 2, 1}[min(round, 5)]) + p.pick("", " --fp16", " --gradient-checkpointing", " --max-length "+fmt.Sprint(64*p.between(1, 8)), " --grad-accum "+fmt.Sprint(p.pickInt(4, 8, 16)))
		want := p.pick("20.00 MiB", "64.00 MiB", "32.00 MiB", "128.00 MiB")
		output := fmt.Sprintf("Loading checkpoint shards: 100%%|██████████| 2/2 [00:0%d<00:00]\nTraceback (most recent call last):\n  File \"/app/train.py\", line %d, in <module>\n    model.to(device)\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of %s GiB of which %s is free. Process %d has %s GiB memory in use. Of the allocated memory %d.%02d MiB is allocated by PyTorch.", p.between(1, 9), 61, want, total, free, other, total, p.between(1, 9), p.IntN(100))
		entries = append(entries, run(command, output, 1).after(words.of(p, round)))
	}
	return entries, 1
}
